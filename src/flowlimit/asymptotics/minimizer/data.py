"""A model on concrete data, and which of the paper's three penalties its flow minimises."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...problem.models import Model
from ...problem.tasks import Dataset, DataSource
from ...types import Scalar
from ..case import Case, check_model


class DataProblem(eqx.Module):
    """What a checked pair of model and data comes to."""

    data: Dataset
    weight_decay: Scalar
    log_scale: Float[Array, "*dim"]  # log alpha^2, of all coordinates or of each
    case: Case = eqx.field(static=True)


def data_problem(model: Model, dataset: Dataset) -> DataProblem:
    """Return the problem; the init scale may be an array over coordinates."""
    if not isinstance(dataset, DataSource) or dataset.is_random:
        raise TypeError(f"dataset: given {type(dataset).__name__}, needs fl.Dataset(X, y)")
    network = check_model(model)
    samples, dim = dataset.X.shape
    scale = network.fixed_scale()
    if scale is None:
        raise TypeError("model: given a law for init_scale, needs a number or an array with one entry per coordinate")
    if scale.ndim and scale.shape != (dim,):
        raise ValueError(f"model: given an init_scale of shape {scale.shape}, needs ({dim},) or a number")
    case: Case = "ridgeless" if samples >= dim else "interpolating"
    return DataProblem(
        dataset, network.weight_decay, 2.0 * jnp.log(scale), "lasso" if network.weight_decay > 0.0 else case
    )
