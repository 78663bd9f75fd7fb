"""A solve's plan: the problem in the solver's terms, its path counts level by level, and what is refused."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jax.sharding import Mesh

from ...numerics.blocks import Edges
from ...numerics.devices import Devices, usable_cores
from ...numerics.memory import PROGRAMS, gibibytes
from ...numerics.merges import Merges, plan_merges
from ...problem.clocks import Clock, Schedule
from ...problem.flow import make_flow
from ...problem.laws import Target
from ...problem.models import Model
from ...problem.tasks import Task
from ...problem.trainings import Training
from ...types import PRNGKey
from ..engine.history import CHUNK
from ..engine.shards import AXIS
from ..engine.site import Site, is_linear, make_site
from ..engine.state import memory_bytes, sample_bytes
from ..readout.measure import Measure
from ..readout.ruler import Ruler, ruler_of
from ..sampling.paths import (
    Counts,
    Live,
    crowd,
    live_strata,
    stratum_count,
)
from ..sampling.sample_paths import balanced_counts
from ..settings import PanelSettings, PathSettings, StepSettings
from .span import Span, span_of

PATHS_PER_MOMENT = 2.5
"""Paths for each dimension whose moments are matched: half of them, too, can match all."""
DRAWN = 4
"""Arrays of normals for all steps that drawing them takes."""
KEPT = 4
"""Operators that are kept of each replica."""
MOVING = 2
"""Arrays of a replica at once, at most, while it moves to larger ones: the old, the new, and a copy of the longest."""
CURVES = 3
"""Arrays over the saved times for each curve of a replica: its values, those with half the paths, and time errors."""
STEP_GROWTH, PANEL_GROWTH = 1.34, 2.0
"""Factor between the lengths that arrays may have: few of them, so that compiled programs are used again.

Of steps the number is known, and memory counts; a pilot of panels comes to know it while it goes on.
"""
STEP_CHUNKS, PANEL_CHUNKS = 3, 6
"""Chunks of the shortest arrays: on panels a dozen of them fit, so that a pilot's program serves the replicas, too."""
LEADING = 64
"""Modes of z that are quasi-random where steps are many: the others matter little, and points are even in the first."""
KICKED = 1
"""First level of thousands of steps that kick each path: kicks are pseudo-random, few paths become unstable late."""
MATCHED_PART, SHOWS = 0.5, 0.2
"""Dimensions per path whose moments are matched, and the accuracy up to which it shows that others are not."""
EXACT_RESPONSES = 2
"""Paths per stratum that serve the responses of a linear model, where all paths have the same."""


@dataclass(frozen=True)
class Plan:
    """What is solved, how well, and with how much memory."""

    site: Site
    task: Task
    settings: PathSettings
    key: PRNGKey
    rtol: float
    measure: Measure
    memory_limit: float  # bytes
    clock: Clock
    schedules: tuple[Schedule, ...] = ()  # numbers that steps read by their time
    mesh: Mesh | None = None  # devices that paths are spread over

    @property
    def explicit(self) -> bool:
        """Whether steps are solved one by one."""
        return self.settings.iteration is None

    @cached_property
    def ruler(self) -> Ruler:
        """What panels lie on."""
        return ruler_of(self.clock, self.settings.order, self.schedules)

    @cached_property
    def span(self) -> Span:
        """Where panels lie."""
        return span_of(self.clock, self.settings.order, self.ruler)

    @property
    def panels(self) -> PanelSettings:
        """The settings of a plan that solves panels."""
        assert isinstance(self.settings, PanelSettings)
        return self.settings

    @property
    def law(self) -> Target:
        """Law of a coordinate."""
        return self.task.law

    @cached_property
    def strata(self) -> Live | None:
        """Strata of the law that paths are drawn in, one by one; None if there are too many."""
        return live_strata(self.law)

    @property
    def rough_law(self) -> Target | None:
        """A rougher rule for the law, which replicas of half the paths have; None if the law is its strata."""
        features = self.task.feature_law
        return None if features is None else features.coarser()

    @property
    def sampled(self) -> bool:
        """Whether the samples side is stochastic: for every loss but the squared one, which closes."""
        return not self.task.loss.closes

    @cached_property
    def exact(self) -> bool:
        """Whether matched moments make the answer exact, so that few paths are enough."""
        known = self.task.feature_law is None or self.strata is not None
        linear = not self.sampled and known and is_linear(self.site)
        steps = self.clock.save_count
        return linear and not (self.explicit and self._too_large(self._matched(steps), steps))

    def rows(self, nodes: int) -> int:
        """Return the rows of operators over that many nodes: one for each output."""
        return nodes * self.site.outputs

    def room(self, nodes: int) -> int:
        """Return the rows that arrays have space for: one of a few numbers, each a multiple of a chunk."""
        chunks, growth = (STEP_CHUNKS, STEP_GROWTH) if self.explicit else (PANEL_CHUNKS, PANEL_GROWTH)
        room = chunks * CHUNK
        while room < self.rows(nodes):
            room = -(-int(growth * room) // CHUNK) * CHUNK
        return room

    def merges(self, nodes: int) -> Merges | None:
        """Return how old steps are merged; None where all are kept."""
        whole = not self.explicit or self.site.outputs > 1 or nodes <= self.settings.whole_history
        return None if whole else plan_merges(self.room(nodes), CHUNK)

    def history(self, nodes: int) -> int:
        """Return the rows of the history that steps see: one for each step, or fewer."""
        merges = self.merges(nodes)
        return self.room(nodes) if merges is None else -(-merges.rows // CHUNK) * CHUNK

    def leading(self, nodes: int) -> int | None:
        """Return how many modes are quasi-random; None for all."""
        return None if self.merges(nodes) is None else LEADING

    def counts(self, level: int, nodes: int) -> Counts | None:
        """Return the paths of a level, with fewer responses where memory asks for it; None if there is no memory."""
        own, strata = self.settings, crowd(self.strata)
        if self.exact and level <= 0:
            matched = self._matched(nodes)
            return None if self._too_large(matched, nodes) else matched
        paths = max(int(own.first_paths * float(own.level_factor) ** level) // strata, 4)
        merged = self.merges(nodes) is not None and not self.sampled
        fewest = max(own.fewest_response_paths // strata, 2)
        few = max(own.responses(paths, level, merged=merged), min(fewest, paths) if merged else 1)
        while self._too_large(Counts(paths, few), nodes):
            few //= 2
            if few < fewest:
                return None
        return Counts(paths, few)

    def settled_level(self, level: int, nodes: int) -> int:
        """Return the level to begin with: 0 in place of one below with too few paths for the moments of all normals.

        It would show in the bars.
        """
        counts = self.counts(level, nodes)
        matched = 0 if counts is None else MATCHED_PART * counts.paths
        crowded = not self.exact and self.rtol < SHOWS and self.rows(nodes) > matched
        return max(level, 0) if crowded else level

    def _matched(self, nodes: int) -> Counts:
        """Return the paths whose moments can all be matched."""
        kicks = nodes * self.site.parameters * (self.site.flow.noise.temperature is not None)
        normals = self.law.draw_normals + self.site.flow.num_normals + self.rows(nodes) + kicks
        matched = math.ceil(PATHS_PER_MOMENT * normals)
        return Counts(max(self.settings.fewest_paths, 1 << (matched - 1).bit_length()), EXACT_RESPONSES)

    def _too_large(self, counts: Counts, nodes: int) -> bool:
        return self._least_memory(counts, nodes) > self.memory_limit

    def can_move(self, counts: Counts, nodes: int) -> bool:
        """Return whether a replica's arrays fit beside those that they come from."""
        return PROGRAMS + MOVING * self.bytes(counts, nodes) <= self.memory_limit

    def workers(self, counts: Counts, nodes: int) -> int:
        """Return how many replicas are solved at once: as cores and memory allow."""
        if self.mesh is not None:  # programs of several devices wait for each other: two at once could wait for ever
            return 1
        free = self.memory_limit - self._least_memory(counts, nodes)
        return max(1, min(self.settings.most_workers, usable_cores(), 1 + int(free // self.bytes(counts, nodes))))

    def memory(self, counts: Counts, nodes: int) -> int:
        """Return the bytes that a solve adds to the process, or to each device's."""
        more = self.workers(counts, nodes) - 1
        return self._least_memory(counts, nodes) + more * self.bytes(counts, nodes)

    def _least_memory(self, counts: Counts, nodes: int) -> int:
        """Return the same with one replica at a time: programs, a replica, and what is kept of all of them."""
        return PROGRAMS + self.bytes(counts, nodes) + 8 * self.settings.replicas * self._kept(nodes)

    def _kept(self, nodes: int) -> int:
        """Return the numbers that are kept of each replica."""
        if self.merges(nodes) is None:
            return KEPT * self.rows(nodes) ** 2
        return self.history(nodes) * (KEPT * self.history(nodes) + nodes)

    def held_from(self, edges: Edges | None) -> float | None:
        """Return where panels stop before the clock does; None if they do not, and for steps one by one."""
        return None if edges is None else self.span.held_from(edges)

    def refusal(self, nodes: int, level: int | None = None) -> str | None:
        """Say why so many nodes do not fit into the memory allowed, with paths of that level; None if they do."""
        level = min(self.first_level, 0) if level is None else level
        if self.counts(level, nodes) is not None:
            return None
        paths = self.settings.first_paths * self.settings.level_factor ** max(level, 0)
        fewest = Counts(paths, self.settings.fewest_response_paths)
        needed = self._least_memory(fewest, nodes)
        return (
            f"{nodes} nodes need {gibibytes(needed)}, the limit is {gibibytes(self.memory_limit)}; raise "
            f"memory_limit=, or take fewer steps or a larger rtol"
        )

    def known_refusal(self, saves: int) -> str | None:
        """Say what is known not to fit before anything is solved: steps one by one, or curves at so many times."""
        if self.explicit:
            return self.refusal(self.clock.save_count)
        needed = 8 * saves * CURVES * (self.measure.count + 2) * self.settings.replicas
        if needed <= self.memory_limit:
            return None
        return (
            f"curves at {saves} times need {gibibytes(needed)}, the limit is {gibibytes(self.memory_limit)}; raise "
            f"memory_limit=, or say which times are wanted, e.g. save_at=np.linspace(0, {self.clock.end:g}, 101)"
        )

    @property
    def first_level(self) -> int:
        """The level of paths to begin with."""
        if self._is_kicked_often and not self.exact:
            return min(KICKED, self.settings.last_level)
        if self.rtol >= self.settings.rough:
            return self.settings.lowest_level
        return 0 if self.rtol > self.settings.sharp or self.exact else min(1, self.settings.last_level)

    @property
    def _is_kicked_often(self) -> bool:
        return self.site.flow.noise.temperature is not None and self.merges(self.clock.save_count) is not None

    def bytes(self, counts: Counts, nodes: int) -> int:
        """Return the memory of one replica on each device."""
        strata, k, noise = stratum_count(self.strata), self.site.parameters, self.site.flow.noise
        own = lambda paths: -(-paths // (1 if self.mesh is None else self.mesh.size))
        room, rows, paths, few = self.room(nodes), self.history(nodes), *(own(strata * count) for count in counts)
        one = memory_bytes(rows, self.settings.order, k, paths, few)
        one += 8 * room * (k * paths * (noise.temperature is not None) + 2 * rows * noise.on_samples)
        if rows < room:  # all steps' normals as they are drawn, what rows are of them, and copies of merged responses
            one += 8 * (room * (DRAWN * paths + rows) + 2 * few * rows**2)
        if not self.sampled:
            return one
        samples = Counts(*(own(number) for number in self.sample_counts(counts)))
        more = 8 * (DRAWN * room * samples.paths + 2 * samples.few * rows**2) * (rows < room)
        return one + more + sample_bytes(rows, *samples)

    def sample_counts(self, counts: Counts) -> Counts:
        """Return the paths of the samples side: those of all strata together, as errors of one sample may jump."""
        strata, own = stratum_count(self.strata), self.settings
        return balanced_counts(
            Counts(own.sample_paths * strata * counts.paths, own.sample_response_paths * strata * counts.few)
        )


def make_plan(
    model: Model,
    task: Task,
    training: Training,
    *,
    settings: PathSettings | None = None,
    key: PRNGKey,
    rtol: float,
    measure: Measure,
    memory_limit: int | float,
    devices: Devices | None = None,
) -> Plan:
    """Turn a problem into a plan, with the default settings of its clock unless others are given."""
    flow, clock = make_flow(model, task, training), training.clock
    settings = settings or (StepSettings() if clock.in_steps else PanelSettings())
    own = replace(measure, sampled=not task.loss.closes, direct=settings.iteration is None)
    mesh = None if devices is None else Mesh(np.array(devices), (AXIS,))
    if clock.steps is not None and settings.iteration is not None:
        flow = replace(flow, clock=clock.steps.without_end)  # no program for every number of steps
    return Plan(
        make_site(flow), task, settings, key, rtol, own, float(memory_limit), clock, training.schedules or (), mesh
    )
