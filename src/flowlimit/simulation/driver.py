"""The loop around an engine: batches of trials, groups of models, chunks of time, progress and early ends."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jax.sharding import PartitionSpec

from ..numerics.devices import any_process, put, read
from ..problem.tasks import Task
from .data import Part, shared_data, without_matrix
from .engine import RUNNING, State
from .flows import FlowEngine
from .plan import Group, Plan
from .programs import TRIAL, Setting, Trials, advance, draw, share, start
from .schedule import next_piece

SECONDS_A_CHUNK = 0.5
ROUGHER = 10.0
"""The first batch of trials of a flow is run again with a tolerance this much larger, to measure the time error."""
Report = Callable[[float, str], Any]


@dataclass
class Collected:
    """What the trials of one model gave so far."""

    values: list[dict[str, np.ndarray]] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    w_star: list[np.ndarray] = field(default_factory=list)
    steps: int = 0
    failed: list[int] = field(default_factory=list)
    """Why the model ended too early, in each trial in which it did: `State.status`."""
    moved: dict[str, np.ndarray] = field(default_factory=dict)
    """How far each curve of a flow moves when the solver is made rougher."""


def first_trial(collected: Collected) -> Collected:
    """Return what the first trial alone gave."""
    lists = {name: getattr(collected, name)[:1] for name in ("values", "weights", "w_star")}
    return replace(collected, failed=collected.failed[:1], **lists)


@dataclass
class Path:
    """One group of models on one batch of trials, as it runs; arrays have axes (trial, model, ...)."""

    state: State
    values: list[dict[str, np.ndarray]] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    saved: int = 0
    stopped: bool = False


def run(plan: Plan, report: Report) -> tuple[dict[int, Collected], bool]:
    """Run a plan. Returns what each model gave, and whether the caller stopped it early."""
    collected = {member: Collected() for group in plan.groups for member in group.members}
    shared, at_once = share(plan.mesh, plan.rows, shared_data(plan.task, plan.draws)), plan.at_once
    task = without_matrix(plan.task) if isinstance(plan.task, Task) else None
    batches = range(0, plan.trials, at_once)
    own = Part()
    for turn, first in enumerate(batches):
        # The last batch may run trials beyond the number asked for: not kept, and cheaper than a new program.
        trials = put(plan.mesh, first + np.arange(at_once), PartitionSpec(TRIAL))
        if task is not None:
            own = Part()  # let go of the last batch's data before the next is drawn
            own = draw(plan.mesh, plan.rows, task, plan.dim, shared, plan.key, trials, plan.draws)
        for index, group in enumerate(plan.groups):
            before, all_parts = turn * len(plan.groups) + index, len(batches) * len(plan.groups)

            def tell(fraction: float, done: int = before, of: int = all_parts, trial: int = first + 1) -> bool:
                return bool(report((done + fraction) / of, f"trial {trial} of {plan.trials}"))

            setting = Setting(plan.mesh, plan.rows, group.engine, group.flow, shared, plan.observables)
            path = _follow(plan, setting, own, trials, tell)
            whole = path.saved == len(plan.saves) or not path.stopped
            # Whole trials are kept; of one that was stopped midway, only the first, which is all there is.
            if whole or not collected[group.members[0]].values:
                _keep(collected, plan, group, path, min(at_once, plan.trials - first), _targets(own, shared, at_once))
            if path.stopped:
                return collected, path.saved < len(plan.saves) or before + 1 < all_parts
            if turn == 0 and isinstance(group.engine, FlowEngine):
                rough = _follow(plan, setting._replace(engine=group.engine.rougher(ROUGHER)), own, trials, _silent)
                _compare(collected, group, path, rough)
    return collected, False


def _follow(plan: Plan, setting: Setting, own: Part, trials: Trials, tell: Callable[[float], bool]) -> Path:
    """Run one group on one batch of trials, from time 0 to the last save, an early end or a stop."""
    path = Path(start(setting, own, plan.key, trials))
    position, budget = 0.0, setting.engine.budget
    while path.saved < len(plan.saves) and not path.stopped:
        piece = next_piece(plan.saves, plan.weights, path.saved, position, budget, setting.engine.slots)
        began = time.perf_counter()
        path.state, recorded = advance(setting, own, path.state, piece.chunk)
        path.values.append({name: read(value)[..., : piece.saved] for name, value in recorded.values.items()})
        if not any_process(plan.mesh, time.perf_counter() - began > SECONDS_A_CHUNK / 2.0):
            budget *= 2.0
        if piece.wants_weights:
            path.weights.append(read(recorded.weights))
        path.saved, position = path.saved + piece.saved, float(read(path.state.position)[0])
        path.stopped = any_process(plan.mesh, tell(path.saved / len(plan.saves)))
        if (read(path.state.status) != RUNNING).all():
            break
    return path


def _silent(fraction: float) -> bool:
    return False


def _joined(path: Path) -> dict[str, np.ndarray]:
    """Curves of a path, with axes (trial, model, time)."""
    return {name: np.concatenate([part[name] for part in path.values], axis=-1) for name in path.values[0]}


def _targets(own: Part, shared: Part, trials: int) -> list[np.ndarray] | None:
    """Return the target of each trial, None where it is unknown."""
    if own.w_star is not None:
        return list(read(own.w_star))
    return None if shared.w_star is None else [read(shared.w_star)] * trials


def _keep(
    collected: dict[int, Collected], plan: Plan, group: Group, path: Path, trials: int, w_star: list[np.ndarray] | None
) -> None:
    """Sort what a path gave by model and trial; what a run that broke off did not reach is NaN."""
    missing = 0 if path.stopped else len(plan.saves) - path.saved
    padding = [(0, 0), (0, 0), (0, missing)]
    curves = {name: np.pad(value, padding, constant_values=np.nan) for name, value in _joined(path).items()}
    status, steps = read(path.state.status), read(path.state.steps)
    for row, member in enumerate(group.members):
        target = collected[member]
        for trial in range(trials):
            target.values.append({name: value[trial, row] for name, value in curves.items()})
            weights = np.full((len(plan.weights), *group.flow.outputs, plan.dim), np.nan)
            for index, reached in enumerate(path.weights):
                weights[index] = reached[trial, row]
            target.weights.append(weights)
            if w_star is not None:
                target.w_star.append(w_star[trial])
            target.steps += int(steps[trial, row])
            if status[trial, row] != RUNNING:
                target.failed.append(int(status[trial, row]))


def _compare(collected: dict[int, Collected], group: Group, path: Path, rough: Path) -> None:
    """Note how far curves move, in the mean over a batch of trials, when the solver is made rougher."""
    fine, coarse = _joined(path), _joined(rough)
    for name, value in fine.items():
        saved = min(value.shape[-1], coarse[name].shape[-1])
        with np.errstate(invalid="ignore"):
            moved = np.abs(coarse[name][..., :saved] - value[..., :saved]).mean(axis=0)
        for row, member in enumerate(group.members):
            collected[member].moved[name] = moved[row]
