"""A replica: one whole solve with independent paths, as compiled programs see it."""

from collections.abc import Callable

import equinox as eqx
from jax.sharding import Mesh
from jaxtyping import Array, Float

from ...numerics.blocks import Blocks
from ..settings import Iteration
from .merging import Merging
from .site import NodeTheta, Site
from .state import Paths, SamplePaths, TaskNumbers

Observe = Callable[[Site, Blocks, NodeTheta, Float[Array, "q *outputs M"], Paths], Float[Array, "q observables"]]


class Reference(eqx.Module):
    """Operators of an earlier solve on the same nodes, to start iterations from; zeros if there is none."""

    R_w: Float[Array, "N N"]
    L: Float[Array, "N N"]


class Replica(eqx.Module):
    """What stays the same from block to block.

    N rows and M paths are those of the arrays in ``paths``; rows of blocks not reached yet have no meaning.
    """

    site: Site
    setting: TaskNumbers
    paths: Paths
    reference: Reference
    observe: Observe = eqx.field(static=True)
    iteration: Iteration | None = eqx.field(static=True)  # of panels; None where time runs in steps
    samples: SamplePaths | None = None  # a stochastic samples side; none for the squared loss, which closes
    merging: Merging | None = None  # of histories with fewer rows than there are steps
    mesh: Mesh | None = eqx.field(static=True, default=None)  # devices that paths are spread over

    @property
    def explicit(self) -> bool:
        """Whether time runs in steps."""
        return self.iteration is None
