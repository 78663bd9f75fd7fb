"""Strict tests: double precision, rank promotion raises, warnings fail (pyproject.toml), array types are checked."""

import jax
import matplotlib as mpl
import pytest
from hypothesis import settings

import flowlimit as fl

mpl.use("agg")
jax.config.update("jax_numpy_rank_promotion", "raise")
# the same examples every time; no deadline, since the first example compiles
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture
def task():
    return fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))


@pytest.fixture
def dataset():
    """A small data set in plain NumPy, the same in every test."""
    import numpy as np

    rng = np.random.default_rng(7)
    samples, dim = 40, 60
    X = rng.normal(size=(samples, dim)) / np.sqrt(dim)
    w_star = (rng.random(dim) < 0.2).astype(float)
    return fl.Dataset(X, X @ w_star + 0.1 * rng.normal(size=samples), w_star, noise_var=0.01)
