"""Initialisations: theta(0) of all models on one data set."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..numerics.balanced import balanced_normals
from ..problem.flow import Flow
from ..types import PRNGKey, ThetaRows
from .data import Data, Strata
from .engine import ThetaModels


def initial_theta(flow: Flow, data: Data, key: PRNGKey) -> ThetaModels:
    """Draw theta(0); the models of a group share their normals, as they share the data."""
    dim = data.X.shape[1]
    normals = init_normals(key, dim, flow.num_normals, data.strata)
    # Without a target no start can depend on it.
    w_star = jnp.zeros((*flow.teachers, dim)) if data.w_star is None else data.w_star

    def one(flow: Flow) -> ThetaRows:
        return flow.init_rows(normals, w_star)

    return eqx.filter_vmap(one, in_axes=(eqx.if_array(0),))(flow)


def init_normals(key: PRNGKey, dim: int, columns: int, strata: Strata | None) -> Float[Array, "dim columns"]:
    """Return the normals of all coordinates, those of alike coordinates with the composition of their law."""
    return jax.random.normal(key, (dim, columns)) if strata is None else balanced_normals(key, strata, columns)
