"""Exponents: of curves whose powers are known, of lazy networks against theory, and what is refused."""

import itertools

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.numerics.powers import crossover, find_powers, local_slopes

LINEAR = fl.DiagonalLinear(1e5)  # so far from 0 that its end is the linear model's


def powers(x, y, stderr=None, **options):
    stderr = np.zeros_like(x) if stderr is None else stderr
    options = {"tolerance": 0.03, "decades": 1.0} | options
    return find_powers(x, y, stderr, local_slopes(x, y, stderr, window=0.5), **options)


def test_two_powers_and_a_plateau():
    """x^-1/2, then x^-2, then a floor, with sharp crossovers at 100 and 1e5: exponents, ends and crossovers."""
    x = np.geomspace(1.0, 1e8, 321)
    y = np.maximum(np.minimum(x**-0.5, 1e3 * x**-2.0), 1e-7)
    found = powers(x, y)
    assert [one.exponent for one in found] == pytest.approx([-0.5, -2.0, 0.0], abs=1e-6)
    assert [crossover(*pair) for pair in itertools.pairwise(found)] == pytest.approx([100.0, 1e5], rel=1e-2)
    assert max(one.stderr for one in found) < 0.01  # windows at the ends of ranges


def test_a_bent_curve_has_no_power():
    x = np.geomspace(1.0, 1e4, 161)
    assert powers(x, np.exp(-0.1 * np.log(x) ** 2)) == []


def test_bars_cover():
    """Noise of 2% on a power: the exponent is within 4 of its standard errors, which are a few hundredths at most."""
    rng = np.random.default_rng(0)
    x = np.geomspace(1.0, 1e3, 61)
    (found,) = powers(x, x**-0.7 * (1.0 + 0.02 * rng.normal(size=61)), 0.02 * x**-0.7)
    assert abs(found.exponent + 0.7) < 4.0 * found.stderr
    assert 0.0 < found.stderr < 0.06


@pytest.fixture(scope="module")
def found():
    """From 30 to 3000 samples, where neither the first features nor the dim is felt."""
    task = fl.Regression(1.0, noise_var=0.0, features=fl.PowerLaw(100_000, capacity=2.5, source=3.0))
    at = np.geomspace(30, 3000, 17) / 100_000
    return fl.scaling(fl.fixed_point, LINEAR, task, along="aspect_ratio", at=at)


def test_samples(found):
    assert found.exponent == pytest.approx(-2.0, abs=0.02)
    assert found.exponent_stderr < 0.02
    assert found.plateaus == () == found.crossovers
    assert "0.0003 to 0.03: power -1.99" in repr(found)
    assert found.to_xarray().slope.sizes == {"point": 17}


def test_a_list_and_between(found):
    """A list of closed forms is read like the verb's own answers."""
    tasks = [
        fl.Regression(x, noise_var=0.0, features=fl.PowerLaw(100_000, capacity=2.5, source=3.0)) for x in found.x[:5]
    ]
    again = fl.scaling([fl.fixed_point(LINEAR, task) for task in tasks], along="aspect_ratio", decades=0.3)
    assert np.allclose(again.value, found.value[:5], rtol=1e-12)


def test_a_sweep(found):
    """A sweep over the aspect ratio, in any order, is the verb's own curve."""
    task = fl.Regression(1.0, noise_var=0.0, features=fl.PowerLaw(100_000, capacity=2.5, source=3.0))
    table = fl.sweep(fl.fixed_point, LINEAR, task, over={"task.aspect_ratio": found.x[4::-1].tolist()})
    again = fl.scaling(table, along="aspect_ratio", decades=0.3)
    assert np.allclose(again.value, found.value[:5], rtol=1e-12)
    assert np.allclose(again.slope[2], found.slope[2], rtol=1e-9)
    with pytest.raises(ValueError, match=r"needs one over task\.features\.dim alone"):
        fl.scaling(table, along="dim")


def test_dim():
    """Of a lazy network with samples in proportion to the dim: each point is the fixed point at that dim."""
    task = fl.Regression(0.5, noise_var=0.0, features=fl.PowerLaw(100, capacity=2.5, source=3.0))
    dims = [100.0, 150.0, 200.0, 300.0]
    found = fl.scaling(fl.fixed_point, LINEAR, task, along="dim", at=dims, decades=0.3, window=1.0)
    assert found.x.tolist() == dims
    last = fl.Regression(0.5, noise_var=0.0, features=fl.PowerLaw(300, capacity=2.5, source=3.0))
    assert found.value[-1] == float(fl.fixed_point(LINEAR, last).test_error)


def test_time():
    """Runs are read from their first step on, with their standard errors; the noise is taken away."""
    task = fl.Regression(2.0, noise_var=0.1, features=fl.Spectrum([1.0, 0.1], [1.0, 1.0]))
    runs = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.2, num_steps=20), dim=20, trials=4, key=0)
    found = fl.scaling(runs, along="time", less=0.1)
    assert np.allclose(found.x, runs.times[1:])
    assert np.allclose(found.value, runs.test_error[1:] - 0.1)
    assert np.allclose(found.stderr, runs.test_error_stderr[1:])
    with pytest.raises(ValueError, match="needs save_at= of the verb"):
        fl.scaling(fl.simulate, fl.Linear(), task, along="time", at=[1.0])


def test_the_picture(found):
    above, below = fl.plot.scaling(found, labels=["linear"], expected=[-2.0])
    assert above.get_xscale() == "log"
    assert below.get_ylabel() == "local slope"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda found: fl.scaling(found, along="space"), "along: given 'space', needs one of time"),
        (lambda found: fl.scaling(fl.fixed_point), "without a problem"),
        (lambda found: fl.scaling(fl.fixed_point, LINEAR, None, along="dim"), "at: given none"),
        (lambda found: fl.scaling([], along="dim", at=[1.0]), "which only a verb takes"),
        (lambda found: fl.plot.scaling(), "found: given none"),
        (lambda found: fl.plot.scaling(found, labels=["a", "b"]), "labels: given 2, needs 1"),
    ],
)
def test_refuses(found, call, words):
    with pytest.raises(ValueError, match=words):
        call(found)


def test_refuses_what_has_no_curve(found):
    with pytest.raises(TypeError, match="needs a limit or runs for along='time'"):
        fl.scaling(found)
    with pytest.raises(TypeError, match="a sweep or a verb"):
        fl.scaling(found, along="dim")
