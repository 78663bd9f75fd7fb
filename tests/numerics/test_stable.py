import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowlimit.numerics.stable import power_difference, scaled_cosh, scaled_sinh, smooth_step, truncate
from flowlimit.numerics.streams import Purpose, as_key, stream


@given(st.floats(-30, 30), st.floats(-30, 30))
def test_scaled_functions_equal_their_definition(log_scale, x):
    a, b = jnp.array(log_scale), jnp.array(x)
    assert float(scaled_sinh(a, b)) == pytest.approx(np.exp(log_scale) * np.sinh(x), rel=1e-13)
    assert float(scaled_cosh(a, b)) == pytest.approx(np.exp(log_scale) * np.cosh(x), rel=1e-13)


@pytest.mark.parametrize("x", [-3.0, 0.0, 1e-9, 0.5, 0.999, 1.001, 3.0])
def test_scaled_sinh_has_its_derivative(x):
    derivative = jax.grad(scaled_sinh, argnums=1)(jnp.array(0.7), jnp.array(x))
    assert float(derivative) == pytest.approx(np.exp(0.7) * np.cosh(x), rel=1e-13)
    curvature = jax.grad(jax.grad(scaled_sinh, argnums=1), argnums=1)(jnp.array(0.7), jnp.array(x))
    assert float(curvature) == pytest.approx(np.exp(0.7) * np.sinh(x), rel=1e-13)


def test_scaled_functions_do_not_overflow():
    assert float(scaled_sinh(jnp.array(-2000.0), jnp.array(2000.0))) == 0.5
    assert float(scaled_cosh(jnp.array(-2000.0), jnp.array(-2000.0))) == 0.5


@given(st.floats(-3, 3), st.floats(-3, 3), st.integers(2, 6))
def test_power_difference(x, y, power):
    scale = max(abs(x), abs(y)) ** power
    value = float(power_difference(jnp.array(x), jnp.array(y), power))
    assert abs(value - (x**power - y**power)) <= 1e-14 * scale + 1e-300


def test_power_difference_does_not_cancel():
    x, h = 1e4, 1e-9  # x^2 - (x - h)^2 = 2 x h - h^2 is 1e-13 of x^2
    exact = ((x + (x - h)) * (x - (x - h))) / 1.0
    assert float(power_difference(jnp.array(x), jnp.array(x - h), 2)) == pytest.approx(exact, rel=1e-15)


def test_smooth_step_is_smooth_and_monotone():
    x = jnp.linspace(-0.5, 1.5, 4001)
    value = jax.vmap(smooth_step)(x)
    slope = jax.vmap(jax.grad(smooth_step))(x)
    assert bool(jnp.isfinite(slope).all())
    assert bool((slope >= 0.0).all())
    # e^{-1/x}/(e^{-1/x} + e^{-1/(1-x)}), the paper's definition, written plainly
    inside = np.linspace(0.05, 0.95, 19)
    plain = np.exp(-1 / inside) / (np.exp(-1 / inside) + np.exp(-1 / (1 - inside)))
    assert np.allclose(jax.vmap(smooth_step)(jnp.asarray(inside)), plain, rtol=1e-13)
    assert np.allclose(np.gradient(np.asarray(value), np.asarray(x))[2:-2], slope[2:-2], atol=1e-4)


def test_truncation_is_idle_below_its_bound():
    x = jnp.linspace(-2.0, 2.0, 101)
    assert bool((jax.vmap(lambda x: truncate(x, jnp.array(2.0)))(x) == x).all())


def test_streams_are_distinct_and_do_not_depend_on_each_other():
    key = as_key(3)
    keys = [stream(key, purpose, index) for purpose in Purpose for index in range(5)]
    assert len({tuple(np.asarray(jax.random.key_data(k)).tolist()) for k in keys}) == len(keys)


@pytest.mark.parametrize("key", ["0", 1.5, True, None, 2**70])
def test_keys_that_are_refused(key):
    with pytest.raises((TypeError, ValueError), match="key: given"):
        as_key(key)
