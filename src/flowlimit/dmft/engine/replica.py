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
    """Operators of earlier solves on the same nodes; zeros if there are none.

    Iterations begin with ``R_w`` and ``L``. What a replica settles at depends on ``goal`` alone: its innovations are
    those that the replica has, and its normals are turned towards it. So all replicas of a solve have one goal.
    """

    R_w: Float[Array, "N N"]
    L: Float[Array, "N N"]
    goal: Float[Array, "N N"]  # a root like L


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
