"""Sobol points are those of SciPy."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import qmc

from flowlimit.numerics.sobol import BITS, sobol_points


@pytest.mark.parametrize(("points", "dims"), [(1, 1), (2, 1), (64, 2), (1024, 100), (128, 3000)])
def test_points_are_those_of_scipy(points, dims):
    own = sobol_points(points, dims, np.random.default_rng(7))
    np.testing.assert_array_equal(
        own, qmc.Sobol(dims, scramble=True, bits=BITS, rng=np.random.default_rng(7)).random(points)
    )


def test_the_generator_gives_others_each_time():
    rng = np.random.default_rng(0)
    assert not np.array_equal(sobol_points(8, 2, rng), sobol_points(8, 2, rng))


def test_too_many_dimensions_are_refused():
    with pytest.raises(ValueError, match="given 30000, needs at most 21201"):
        sobol_points(2, 30_000, np.random.default_rng(0))


def test_a_limit_does_not_wait_for_scipy_stats():
    """Its import takes about a second."""
    code = """
import sys
import flowlimit as fl
fl.solve_dmft(fl.Linear(), fl.Regression(2.0, noise_var=0.1, target=fl.Normal()), fl.GradientDescent(0.1, num_steps=3))
print("scipy.stats" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
