"""Where panels lie: in time, or, where steps have unequal sizes, in step numbers.

Panels that sum over steps are polynomials in the step number. A schedule of step sizes eta enters as the panel's
polynomial nearest to it over all of its steps: with its values at the nodes, ``inner * eta`` sums what the steps add,
and ``inner @ eta`` is the time since the panel's first step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import jax
import numpy as np
from jaxtyping import Array, Float

from ...numerics.blocks import Blocks, Edges, panels, step_counts
from ...numerics.gauss import gauss_rule
from ...problem.clocks import Clock, Schedule

Numbers = Float[np.ndarray, "steps"]
Places = Float[np.ndarray, "_"]


@dataclass(frozen=True)
class Ruler:
    """What panels sum over: an integral (step 0), steps of one size, or, in step numbers, steps of scheduled sizes."""

    step: float = 0.0
    sizes: Numbers | None = None  # of all steps, and of as many after the last as panels may go on for
    read: tuple[Schedule, ...] = ()  # what else differs from step to step, read by time

    def panels(self, edges: Edges, order: int) -> Blocks:
        """Return panels between edges, which lie in time or in step numbers, as operators in time."""
        own = panels(edges, order, self.step)
        if self.sizes is None:
            return own
        sizes = self.sizes_on(edges, order)
        inner, weights = np.asarray(own.inner) * sizes[:, None, :], np.asarray(own.weights) * sizes
        times = self.times(edges[:-1] + 0.5)[:, None] + inner.sum(axis=2)
        return Blocks(*map(jax.device_put, (times, inner, weights)))

    def sizes_on(self, edges: Edges, order: int) -> Float[np.ndarray, "panels nodes"]:
        """Return the sizes of steps at the nodes, over `step`."""
        if self.sizes is None:
            return np.ones((len(edges) - 1, order))
        return np.stack([_nearest(self.sizes[own], order)[0] for own in self._steps(edges)])

    def unresolved(self, edges: Edges, order: int) -> float:
        """Return how far schedules on one panel are from polynomials, relative to their largest values there.

        What is read by time is compared with the polynomial at the nodes, too, which are between steps. A panel that
        has all its steps as nodes leaves nothing.
        """
        if not (self.read or self.sizes is not None) or step_counts(edges, self.step)[0] == order:
            return 0.0
        (own,) = self._steps(edges)
        off = 0.0 if self.sizes is None else _nearest(self.sizes[own], order)[1]
        for one in self.read:
            numbers = np.asarray(one.numbers)
            values, apart = _nearest(numbers[np.minimum(np.arange(own.start, own.stop), len(numbers) - 1)], order)
            at_nodes = np.asarray(_read(one, self.panels(edges, order).times[0]))
            off = max(off, apart, float(np.abs(at_nodes - values).max() / _size(values)))
        return off

    def times(self, places: Places) -> Places:
        """Return the times of places."""
        return places if self.sizes is None else np.interp(places, *self._known)

    def places(self, times: Places) -> Places:
        """Return the places of times; of scheduled steps, to the nearest half step."""
        if self.sizes is None:
            return times
        numbers, starts = self._known
        return np.rint(2.0 * np.interp(times, starts, numbers)) / 2.0

    def _steps(self, edges: Edges) -> list[slice]:
        first = np.rint(edges / self.step + 0.5).astype(int)
        return [slice(left, right) for left, right in pairwise(first.tolist())]

    @cached_property
    def _known(self) -> tuple[Places, Places]:
        """Return the numbers of steps, from that before the first on, and their times."""
        assert self.sizes is not None
        starts = np.r_[-self.sizes[0], 0.0, np.cumsum(self.sizes)]
        return np.arange(-1.0, len(starts) - 1.0), starts


IN_TIME = Ruler()
"""Of flows: panels integrate."""


def ruler_of(clock: Clock, order: int, schedules: Sequence[Schedule] = ()) -> Ruler:
    """Return the ruler of a clock, for panels of ``order`` nodes."""
    if clock.steps is None:
        return IN_TIME
    if clock.steps.is_even:  # with a schedule of the decay, panels lie in time all the same
        return Ruler(float(clock.steps.step_size), None, tuple(schedules))
    sizes = np.asarray(clock.steps.step_size)
    return Ruler(1.0, np.r_[sizes, np.full(order + 1, sizes[-1])], tuple(schedules))


@jax.jit
def _read(schedule: Schedule, times: Float[Array, "nodes"]) -> Float[Array, "nodes"]:
    return jax.vmap(schedule.at)(times)


def _nearest(schedule: Numbers, order: int) -> tuple[Float[np.ndarray, "order"], float]:
    """Return the nodes' values of the polynomial nearest to a panel's schedule, and by how much it is off.

    Nodes' values of polynomials are orthogonal over the steps with the nodes' weights, as Gauss rules make them.
    """
    count = len(schedule)
    if count == order:
        return schedule, 0.0
    rule = gauss_rule(order, float(count))
    to_steps = rule.at((np.arange(count) + 0.5) / count)
    values = to_steps.T @ schedule / (count * rule.weights)
    return values, float(np.abs(to_steps @ values - schedule).max() / _size(schedule))


def _size(numbers: np.ndarray) -> float:
    return float(np.abs(numbers).max()) or 1.0  # a schedule may be 0 on a whole panel
