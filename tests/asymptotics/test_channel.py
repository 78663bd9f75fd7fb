"""Averages over the scalar channel against a plain quadrature in x and w*; slopes against differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.asymptotics.channel import make_channel
from flowlimit.asymptotics.shrinkage import MirrorThreshold, SoftThreshold

TAU, STRENGTH, SCALE = 0.4, 0.3, 0.25
LAWS = [fl.BernoulliGauss(0.2), fl.SparseRademacher(0.3, value=2.0)]


def mirror(x):
    """Return w with w + strength asinh(w/scale) = x, by bisection."""
    low, high = -np.abs(x), np.abs(x)
    for _ in range(48):
        middle = (low + high) / 2
        above = middle + STRENGTH * np.arcsinh(middle / SCALE) > x
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return middle


def soft(x):
    return np.sign(x) * np.maximum(np.abs(x) - STRENGTH, 0.0)


def average(law, function):
    """E[f(w*, x)] on even grids of ten sigmas: trapezoidal sums of smooth functions, kinks cost 1e-6."""
    u = np.linspace(-10.0, 10.0, 4001)
    density = np.exp(-(u**2) / 2) * (u[1] - u[0]) / np.sqrt(2 * np.pi)
    total = 0.0
    for probability, mean, std in zip(*map(np.asarray, law.strata()), strict=True):
        v, share = (u[::100], density[::100] * 100) if std else (np.zeros(1), np.ones(1))
        w_star = mean + std * v
        total += probability * share @ np.stack([function(one, one + TAU * u) @ density for one in w_star])
    return total


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("kind", ["soft", "mirror"])
def test_moments(law, kind):
    shrinkage, shrink = {"soft": (SoftThreshold(), soft), "mirror": (MirrorThreshold(jnp.log(SCALE)), mirror)}[kind]
    moments = jax.jit(lambda tau: shrinkage.moments(make_channel(law, tau), jnp.asarray(STRENGTH)))(jnp.asarray(TAU))
    slope = {"soft": lambda x: (np.abs(x) > STRENGTH) * 1.0, "mirror": lambda x: 1 / (1 + STRENGTH / root(mirror(x)))}
    assert float(moments.error) == pytest.approx(average(law, lambda s, x: (shrink(x) - s) ** 2), rel=1e-5)
    mean = average(law, lambda s, x: slope[kind](x))
    rough = 4e-3 if kind == "soft" else 1e-6  # a jump costs a trapezoidal sum its height times the spacing
    assert float(moments.slope) == pytest.approx(mean, abs=rough)
    assert float(moments.deficit) == pytest.approx(1.0 - mean, abs=rough)


def root(w):
    return np.sqrt(w**2 + SCALE**2)


@pytest.mark.parametrize("shrinkage", [SoftThreshold(), MirrorThreshold(jnp.log(SCALE))], ids=["soft", "mirror"])
def test_slopes(shrinkage):
    x, strength = jnp.array([-2.0, -0.1, 0.05, 0.7]), jnp.asarray(STRENGTH)
    slope = jax.vmap(jax.grad(lambda x: shrinkage.shrink(x, strength)))(x)
    assert np.asarray(shrinkage.slope(x, strength)) == pytest.approx(np.asarray(slope))
