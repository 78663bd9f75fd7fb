"""A solve's plan: the problem in the solver's terms, its path counts level by level, and what is refused."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..numerics.streams import Purpose, stream
from ..problem.flow import make_flow
from ..problem.laws import Law
from ..problem.losses import SquaredLoss
from ..problem.models import Model
from ..problem.tasks import Regression, Task
from ..problem.trainings import StepClock, Training
from ..types import PRNGKey
from .block import Problem, Reference
from .grid import ORDER, room_for
from .measure import Measure, Solution
from .modes import Rotation
from .paths import Cloud, Counts, doubled_room, draw_cloud, live_strata, make_paths, stratum_count
from .sample_paths import make_sample_paths
from .site import Site, make_site
from .state import SamplePaths, Setting, memory_bytes

FIRST_PATHS, LEVEL_FACTOR = 512, 4
FEW_PARTS = (2, 2, 4, 8)
"""One path in so many serves the responses, level by level: these cost more and need fewer."""
ITERATION_PART = 3e-3
"""Part of the requested accuracy to which a block's two sides must agree."""


@dataclass(frozen=True)
class Plan:
    """What is solved, how well, and with how much memory."""

    site: Site
    task: Task
    key: PRNGKey
    rtol: float
    measure: Measure
    memory_limit: int | float

    @property
    def explicit(self) -> bool:
        """Whether time runs in steps."""
        return isinstance(self.site.flow.clock, StepClock)

    @property
    def law(self) -> Law:
        """Law of the target."""
        return self.task.target

    @property
    def sampled(self) -> bool:
        """Whether the samples side is stochastic: for every loss but the squared one, which closes."""
        return not isinstance(self.task.loss, SquaredLoss)

    def counts(self, level: int, nodes: int) -> Counts | None:
        """Return the paths of a level, with fewer responses where memory asks for it; None if there is no memory."""
        paths = FIRST_PATHS * LEVEL_FACTOR**level
        few = paths // FEW_PARTS[min(level, len(FEW_PARTS) - 1)]
        while self.bytes(Counts(paths, few), nodes) > self.memory_limit:
            few //= 2
            if few < 32:
                return None
        return Counts(paths, few)

    def bytes(self, counts: Counts, nodes: int) -> int:
        """Return the memory of one replica."""
        strata, k = stratum_count(self.law), max(1, int(np.prod(self.site.shape)))
        order = 1 if self.explicit else ORDER
        one = memory_bytes(room_for(nodes), order, k, strata * counts.paths, strata * counts.few)
        return 2 * one if self.sampled else one

    def cloud(self, nodes: int, counts: Counts, replica: int, rotation: Rotation | None) -> Cloud:
        """Return one replica's normals."""
        seed = np.asarray(jax.random.key_data(stream(self.key, Purpose.PATHS, replica)))
        rng = np.random.default_rng(seed)
        return draw_cloud(self.site, self.law, room_for(nodes), nodes, counts, rotation, rng)

    def problem(
        self,
        nodes: int,
        counts: Counts,
        replica: int,
        *,
        rotation: Rotation | None = None,
        reference: Solution | None = None,
        half: bool = False,
    ) -> Problem:
        """Return one replica's problem; with ``half`` the first half of its net, in arrays of the same shape."""
        own = Counts(counts.paths // 2, counts.few // 2) if half else counts
        paths = make_paths(self.site, self.law, live_strata(self.law), own, self.cloud(nodes, own, replica, rotation))
        noise_var = self.task.noise_var if isinstance(self.task, Regression) else jnp.zeros(())
        setting = Setting(self.task.aspect_ratio, noise_var, jnp.asarray(ITERATION_PART * self.rtol))
        room = room_for(nodes)
        known = (None, None) if reference is None else (reference.R_w, reference.L)
        first = Reference(*(_with_room(operator, room) for operator in known))
        samples = self._samples(nodes, counts, replica, half=half) if self.sampled else None
        every = doubled_room(paths) if half else paths
        return Problem(self.site, setting, every, first, self.measure, self.explicit, samples)

    def _samples(self, nodes: int, counts: Counts, replica: int, *, half: bool) -> SamplePaths:
        seed = np.asarray(jax.random.key_data(stream(self.key, Purpose.OUTPUTS, replica)))
        strata, rng = stratum_count(self.law), np.random.default_rng(seed)
        paths, few = strata * counts.paths, strata * counts.few
        return make_sample_paths(self.task.loss, room_for(nodes), nodes, paths, few, rng, half=half)


def _with_room(operator: np.ndarray | None, room: int) -> Float[Array, "room room"]:
    if operator is None:
        return jnp.zeros((room, room))
    return jnp.asarray(np.pad(operator, (0, room - operator.shape[0])))


def make_plan(
    model: Model,
    task: Task,
    training: Training,
    *,
    key: PRNGKey,
    rtol: float,
    measure: Measure,
    memory_limit: int | float,
) -> Plan:
    """Turn a problem into a plan."""
    return Plan(make_site(make_flow(model, task, training)), task, key, rtol, measure, memory_limit)
