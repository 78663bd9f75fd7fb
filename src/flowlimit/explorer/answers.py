"""What the explorer computes: closed forms at once, a coarse limit, runs, and then a finer limit."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ..asymptotics.fixed_point import FixedPoint, fixed_point
from ..asymptotics.rate import Rate, convergence_rate
from ..asymptotics.timescales import Timescales, timescales
from ..dmft.solvers import PanelSolver
from ..results import Code, FlowlimitError, Limit, Runs
from ..sweeps.verb import sweep
from ..verbs.simulate import simulate
from ..verbs.solve import solve_dmft
from .inputs import PRESETS, SLIDERS, Inputs
from .room import Room, Shape
from .turns import Stop, Turns

Numbers = Float[np.ndarray, "_"]
COARSE, FINE = 0.9, 0.02
"""Accuracies that limits are solved to: a first look, and one to stay with."""
QUICK = PanelSolver(first_look=3, parted=1)
"""For the first look: with fewer replicas its band is wider, and there sooner."""
PATIENCE = 60.0, 10.0
"""Seconds for the finer limit, and the least that is left of them if others wait."""
COARSE_PATIENCE = 600.0, 60.0
"""The same for the first look, without which a page shows nothing: on a busy machine compiling alone takes a minute."""
TRIALS, KEY, SCALES = 4, 0, 25
MOST_KEPT = 32
ASKED_AGAIN = frozenset(inputs.bounded() for inputs in (Inputs(), *PRESETS.values()))
"""The first page and what a menu shows: their coarse limits stay, others go as new ones come."""
_KEPT: dict[Inputs, Limit] = {}
_TRADE_OFFS: dict[tuple[float, ...], "TradeOff | None"] = {}
_KEEPING = threading.Lock()
"""Pages' threads share what is kept: one may drop what another has just seen there."""
ROOM = Room()
TURNS = Turns(ROOM)
"""Sessions share the machine: whatever is computed below is computed in a turn."""
LAWS_AT, LAW_POINTS = 24, 400
"""Times at which the law of w is shown, and points that its density at the fixed point is drawn at."""


class Theory(NamedTuple):
    """Closed forms; None where there is none for this problem."""

    point: FixedPoint | None
    rate: Rate | None
    times: Timescales | None


class TradeOff(NamedTuple):
    """Rates and test errors at the fixed point over init scales, without weight decay."""

    scales: Numbers
    gamma: Numbers
    test_error: Numbers


@dataclass
class Found:
    """What is known so far of the current inputs."""

    theory: Theory = field(default_factory=lambda: Theory(None, None, None))
    limit: Limit | None = None
    runs: Runs | None = None
    trade_off: TradeOff | None = None

    @property
    def records(self) -> list[Limit | Runs]:
        """Results in time that there are."""
        return [one for one in (self.limit, self.runs) if one is not None and len(one.times)]

    def words(self, *, done: bool) -> str:
        """Say how well the limit is known, and what closed forms say."""
        if self.limit is None or self.limit.result.code is Code.STOPPED:
            return "solving ..."
        if not self.limit.replicas:
            return f"no limit: {self.limit.result.message}"
        curves = [self.limit[name] for name in ("train_error", "test_error")]
        worst = max(float(curve.stderr.max() / np.abs(curve.value).max()) for curve in curves)
        known = f"limit known to {200.0 * worst:.2g}% of its largest value, at two standard errors"
        return f"{known}{'' if done else '; being refined ...'}\n{'; '.join(self._closed_forms())}"

    def _closed_forms(self) -> Iterator[str]:
        point, rate, _ = self.theory
        if point is not None:
            train, test = float(point.train_error), float(point.test_error)
            yield f"fixed point: test error {test:.4g}, training error {train:.4g}"
        if rate is not None:
            yield f"rate {float(rate.gamma):.4g}" if rate.kind == "exponential" else "sub-exponential rate"

    def numbers(self) -> dict[str, Any]:
        """Return the curves as plain numbers."""
        return {
            type(record).__name__.lower(): {
                "time": record.times.tolist(),
                **{name: curve.value.tolist() for name, curve in record.curves.items()},
                **{f"{name}_stderr": curve.stderr.tolist() for name, curve in record.curves.items()},
            }
            for record in self.records
        }


def theory_of(inputs: Inputs) -> Theory:
    """Return the fixed point of training, how fast it is reached, and through which phases."""
    model, task, _ = inputs.nouns
    closed = lambda verb: _or_none(lambda: verb(model, task))
    rate = closed(convergence_rate)
    point = closed(fixed_point) if rate is None else rate.point
    if point is not None:
        point.density(np.zeros(LAW_POINTS))  # compiled here: pages draw in the server's loop, where all would wait
    return Theory(point, rate, closed(timescales))


def trade_off_of(inputs: Inputs) -> TradeOff | None:
    """Return the trade-off at this task, at depth 2: the same wherever the other sliders are."""
    of_task = _task_of(inputs)
    with _KEEPING:
        if of_task in _TRADE_OFFS:
            return _TRADE_OFFS[of_task]
    found = _trade_off(inputs)
    with _KEEPING:
        while len(_TRADE_OFFS) >= MOST_KEPT:
            del _TRADE_OFFS[next(iter(_TRADE_OFFS))]
        _TRADE_OFFS[of_task] = found
    return found


def has_trade_off(inputs: Inputs) -> bool:
    """Whether the trade-off at this task is known already."""
    with _KEEPING:
        return _task_of(inputs) in _TRADE_OFFS


def _task_of(inputs: Inputs) -> tuple[float, ...]:
    return inputs.aspect_ratio, inputs.noise_var, inputs.sparsity, inputs.capacity


def _trade_off(inputs: Inputs) -> TradeOff | None:
    model, task, _ = inputs.nouns
    low, high = SLIDERS["init_scale"].low, 10.0
    scales = np.geomspace(low, high, SCALES)
    table = _or_none(
        lambda: sweep(
            convergence_rate, model.replaced(weight_decay=0.0, depth=2), task, over={"model.init_scale": scales}
        )
    )
    if table is None:
        return None
    return TradeOff(scales, table["gamma"].to_numpy(), table["test_error"].to_numpy())


def coarse_limit(inputs: Inputs, stop: Stop) -> Limit:
    """Return a first look at the limit; some are kept, since the first page and presets are asked for repeatedly."""
    known = kept_limit(inputs)
    if known is not None:
        return known
    found = limit_of(inputs, COARSE, stop, patience=TURNS.share("quick", *COARSE_PATIENCE), solver=QUICK)
    if found.replicas and found.result.code is not Code.STOPPED:
        with _KEEPING:
            others = [other for other in _KEPT if other not in ASKED_AGAIN]
            for other in others[: len(others) + 1 - MOST_KEPT]:
                del _KEPT[other]
            _KEPT[inputs] = found
    return found


def kept_limit(inputs: Inputs) -> Limit | None:
    """Return the coarse limit if it is known already."""
    with _KEEPING:
        return _KEPT.get(inputs)


def fine_limit(inputs: Inputs, stop: Stop) -> Limit:
    """Return a limit to stay with: the coarse one if there was not enough time for a finer one."""
    found = limit_of(inputs, FINE, stop, patience=TURNS.share("slow", *PATIENCE))
    return found if found.replicas else kept_limit(inputs) or found


def limit_of(
    inputs: Inputs, rtol: float, stop: Stop, patience: float = PATIENCE[0], solver: PanelSolver | None = None
) -> Limit:
    """Return the limit; what was found so far if it was stopped or took more seconds than ``patience``."""
    options = {"rtol": rtol, "key": KEY, "solver": solver, "time_limit": patience, "throw": False}
    return solve_dmft(*inputs.nouns, **options, progress=lambda *_: stop())


def runs_of(inputs: Inputs, stop: Stop) -> Runs:
    """Return a few trials at a small dim, with weights at the times that laws are shown at."""
    ROOM.note(_shape(inputs))
    times = law_times(inputs)
    options = {"dim": inputs.dim, "trials": TRIALS, "key": KEY, "weights_at": times}
    return simulate(*inputs.nouns, **options, throw=False, progress=lambda *_: stop())


def has_runs_compiled(inputs: Inputs) -> bool:
    """Whether runs of these inputs begin at once: a new number of samples is another program."""
    return ROOM.knows(_shape(inputs))


def _shape(inputs: Inputs) -> Shape:
    return inputs.nouns[1].samples(inputs.dim), inputs.dim, inputs.depth


def law_times(inputs: Inputs) -> Numbers:
    """Return the times at which laws are shown: even in log t."""
    return np.geomspace(1e-3 * inputs.horizon, inputs.horizon, LAWS_AT)


def _or_none(compute: Callable[[], Any]) -> Any:
    try:
        return compute()
    except (ValueError, TypeError, NotImplementedError, FlowlimitError):  # no closed form at this depth, no rate here
        return None
