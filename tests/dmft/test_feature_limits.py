"""Limits of features of unequal variances: their derivatives, what a file keeps, and the error of strata."""

import numpy as np
import pytest

import flowlimit as fl

pytestmark = pytest.mark.slow

STEPS = fl.GradientDescent(0.5, num_steps=6)


def solve(capacity, **options):
    features = fl.PowerLaw(30, capacity=capacity, source=1.5)
    task = fl.Regression(2.0, noise_var=0.1, features=features)
    return fl.solve_dmft(fl.Linear(), task, STEPS, rtol=1e-3, key=0, **options)


@pytest.fixture(scope="module")
def limit():
    return solve(1.2)


def test_derivative_by_the_capacity(limit):
    """Central differences of width 1e-3 miss about 1e-7; `Linear` has no sampling error."""
    slope = fl.derivative(limit, "task.features.capacity").test_error
    assert np.allclose(slope, (solve(1.2005).test_error - solve(1.1995).test_error) / 1e-3, atol=1e-6)


def test_a_file_keeps_the_variances(limit, tmp_path):
    fl.save(limit, tmp_path / "limit.zarr")
    again = fl.load(tmp_path / "limit.zarr")
    assert again == limit
    assert np.array_equal(again.paths.variance, limit.paths.variance)


def test_the_error_of_strata_is_in_the_bar(limit):
    """The bias is what fewer nodes change, and it bounds the distance to the limit of the coordinates one by one."""
    exact = limit.task.features.coordinates()
    task = fl.Regression(2.0, noise_var=0.1, features=exact)
    truth = fl.solve_dmft(fl.Linear(), task, STEPS, rtol=1e-3, key=0)
    away = np.abs(limit.test_error - truth.test_error)[1:]
    assert (limit.bias["test_error"][1:] > 0.0).all()
    assert (away < limit.bias["test_error"][1:] + 1e-12).all()


def test_more_coordinates_than_strata_are_sampled():
    """A spectrum of 200 coordinates: within 4 standard errors of the same law by quadrature, which is exact."""
    law = fl.PowerLaw(200, capacity=1.2, source=1.5)
    solved = [
        fl.solve_dmft(fl.Linear(), fl.Regression(2.0, noise_var=0.1, features=own), STEPS, rtol=0.05, key=0)
        for own in (law, law.coordinates())
    ]
    exact, sampled = solved
    assert np.abs(sampled.test_error - exact.test_error)[1:].max() > 0.0
    assert (np.abs(sampled.test_error - exact.test_error) < 4.0 * sampled.test_error_stderr + 1e-12).all()
