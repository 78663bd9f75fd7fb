"""The stabilised solver: its order, its stability, and its cost on a stiff problem."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from flowlimit.numerics.chebyshev import RungeKuttaChebyshev

RATES = jnp.array([1.0, 30.0, 1000.0])


def field(t, y, rates):
    """Linear relaxation to a moving target, plus a nonlinearity."""
    return -rates * (y - jnp.sin(t + jnp.arange(3.0))) - y**3


@jax.jit
def fixed_steps(step, rates, radius):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        RungeKuttaChebyshev(lambda t, y, args: radius),
        0.0,
        2.0,
        step,
        jnp.array([1.0, 0.5, 0.0]),
        args=rates,
        max_steps=100_000,
    )
    return solution.ys[0]


@pytest.mark.slow
@pytest.mark.parametrize("stages", [2, 5, 20])
def test_order_two(stages):
    """At a fixed number of stages (the radius given is what needs that many) the error falls as the step squared."""
    rates = RATES / 200.0
    reference = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Dopri8(),
        0.0,
        2.0,
        0.002,
        jnp.array([1.0, 0.5, 0.0]),
        args=rates,
    ).ys[0]
    steps = np.array([0.04, 0.02, 0.01])
    radius = ((stages - 0.5) ** 2 - 1.0) / 1.54 * (stages > 2)
    errors = [float(jnp.abs(fixed_steps(h, rates, radius / h) - reference).max()) for h in steps]
    orders = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert orders == pytest.approx(2.0, abs=0.1)


def test_stable_at_any_step():
    """One step of 1 is a thousand times the limit of an explicit method; the stages make up for it."""
    assert bool(jnp.isfinite(fixed_steps(1.0, RATES, 1100.0)).all())
    assert float(jnp.abs(fixed_steps(1.0, RATES, 1100.0)).max()) < 2.0


def test_damps_stiff_modes():
    """A stiff mode far from equilibrium decays in a large step and does not oscillate on."""
    decay = diffrax.ODETerm(lambda t, y, args: -1e4 * y)
    solver = RungeKuttaChebyshev(lambda t, y, args: jnp.array(1e4))
    y, *_ = solver.step(decay, jnp.array(0.0), jnp.array(1.0), jnp.ones(()), None, jnp.array(-1e4), False)
    assert abs(float(y)) < 0.8


def test_error_estimate_is_of_order_three():
    """The estimate of one step falls as its cube, so that step sizes are chosen by the true order."""
    growth = diffrax.ODETerm(lambda t, y, args: jnp.cos(t) * y)
    solver = RungeKuttaChebyshev(lambda t, y, args: jnp.array(1.0))
    start, one = jnp.array(0.3), jnp.ones(())
    sizes = np.array([0.04, 0.02])
    steps = [solver.step(growth, start, start + h, one, None, jnp.cos(start) * one, False) for h in sizes]
    estimates, off = ([float(abs(step[1])) for step in steps], [float(step[0]) for step in steps])
    off = [abs(y - np.exp(np.sin(0.3 + h) - np.sin(0.3))) for y, h in zip(off, sizes, strict=True)]
    assert np.log2(estimates[0] / estimates[1]) == pytest.approx(3.0, abs=0.2)
    assert 0.1 < off[1] / estimates[1] < 10.0
