"""One replica of a problem: what stays the same from block to block."""

from collections.abc import Callable

import equinox as eqx
from jax.sharding import Mesh
from jaxtyping import Array, Float

from ..numerics.blocks import Blocks
from .site import NodeTheta, Site
from .state import Paths, SamplePaths, Setting

Observe = Callable[[Site, Blocks, NodeTheta, Float[Array, "q *outputs M"], Paths], Float[Array, "q observables"]]


class Reference(eqx.Module):
    """Operators of an earlier solve on the same nodes, to start iterations from; zeros if there is none."""

    R_w: Float[Array, "N N"]
    L: Float[Array, "N N"]


class Problem(eqx.Module):
    """What stays the same from block to block."""

    site: Site
    setting: Setting
    paths: Paths
    reference: Reference
    observe: Observe = eqx.field(static=True)
    explicit: bool = eqx.field(static=True)  # time runs in steps
    samples: SamplePaths | None = None  # a stochastic samples side; none for the squared loss, which closes
    mesh: Mesh | None = eqx.field(static=True, default=None)  # devices that paths are spread over
