"""What the theory asks of a user's functions: weight, drift and residual without jumps, with derivatives that tell.

The limit is proved for Lipschitz maps. A jump, or a derivative that automatic differentiation does not see (rounding, a
sign, a stopped gradient), would give a limit that is wrong without a sign of it, so it is looked for: along a line, the
integral of the derivative must be the difference of the values. Kinks pass.
"""

from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..types import Scalar
from .flow import Flow
from .functions import is_users
from .losses import Loss
from .models import Model

POINTS = 1000
"""Points of a line: a jump shows as its whole height, a kink as a thousandth."""
ALLOWED = 0.03
REACH = 2.0
"""How far lines go from an initialisation and from 0; outputs go twice as far from 0."""


def check_conditions(model: Model, loss: Loss, flow: Flow) -> None:
    """Refuse a user's model or loss that jumps; those of the package are known not to."""
    if is_users(model):
        for name, missed in zip(("weight", "drift"), _model_jumps(flow), strict=True):
            _refuse(missed, f"model: given {model!r}, whose {name} jumps or has a derivative that misses a change")
    if is_users(loss):
        _refuse(
            _residual_jump(flow),
            f"loss: given {loss!r}, whose derivative jumps or has a derivative that misses a change (a hinge, a sign)",
        )


def _refuse(missed: Scalar, words: str) -> None:
    if float(missed) > ALLOWED:
        raise ValueError(f"{words}; the limit needs functions without jumps, so make it smooth, e.g. jnp.tanh(50 x)")


@compiled
def _model_jumps(flow: Flow) -> tuple[Scalar, Scalar]:
    normals = jax.random.normal(jax.random.key(1), (flow.num_normals,))
    start, t = flow.init(normals, jnp.ones(flow.teachers)), jnp.zeros(())
    along = REACH * jnp.cos(1.0 + jnp.arange(start.size, dtype=float)).reshape(start.shape)  # no axis is special
    g = jnp.ones(flow.outputs)
    centres = (start, jnp.zeros_like(start))  # a sign jumps at 0, which a start may be far from
    return (
        _most(_missed(lambda x, centre=centre: flow.readout(t, centre + x * along)) for centre in centres),
        _most(_missed(lambda x, centre=centre: flow.drift(t, centre + x * along, g)) for centre in centres),
    )


def _most(missed: Iterable[Scalar]) -> Scalar:
    """Return the largest; a line that leaves the domain (NaN, infinite) says nothing."""
    each = jnp.stack(list(missed))
    return jnp.max(jnp.where(jnp.isfinite(each), each, 0.0))


@compiled
def _residual_jump(flow: Flow) -> Scalar:
    along = 2.0 * REACH * jnp.cos(1.0 + jnp.arange(max(1, sum(flow.outputs)), dtype=float)).reshape(flow.outputs)
    label = (jnp.full(flow.teachers, 0.7), jnp.array(0.3))
    return _missed(lambda x: flow.loss.residual(x * along, *label))


def _missed(function: Callable[[Scalar], Float[Array, "*shape"]]) -> Scalar:
    """Return what the integral of the derivative over [-1, 1] misses, relative to the ways gone."""
    width = 2.0 / POINTS
    middles = -1.0 + width * (jnp.arange(POINTS) + 0.5)
    slope = jax.vmap(lambda x: jax.jvp(function, (x,), (jnp.ones(()),))[1].ravel())(middles)
    value = jax.vmap(lambda x: function(x).ravel())(jnp.linspace(-1.0, 1.0, POINTS + 1))
    steps = jnp.diff(value, axis=0)
    missed, gone = jnp.sum(steps - width * slope, axis=0), jnp.sum(jnp.abs(steps), axis=0)
    return jnp.max(jnp.abs(missed) / jnp.maximum(gone, 1e-12))
