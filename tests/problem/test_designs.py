"""Designs: entries of mean 0 and variance 1/dim, rows that do not depend on how many there are."""

import jax
import numpy as np
import pytest

import flowlimit as fl

DESIGNS = [
    fl.GaussianDesign(),
    fl.BinaryDesign(),
    fl.StudentDesign(9.0),
    fl.IIDDesign(fl.Bernoulli(0.3)),
    fl.IIDDesign(fl.SparseRademacher(0.2)),
    fl.IIDDesign(fl.Empirical([0.0, 1.0, 5.0])),
]


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_entries_are_standardised(design):
    """Mean and variance within 5 of their standard errors."""
    samples, dim = 300, 500
    x = np.asarray(design.sample(jax.random.key(0), samples, dim)) * np.sqrt(dim)
    count = x.size
    assert abs(x.mean()) < 5.0 / np.sqrt(count)
    assert abs((x**2).mean() - 1.0) <= 5.0 * (x**2).std() / np.sqrt(count) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=repr)
def test_rows_do_not_depend_on_their_number(design):
    few, many = (np.asarray(design.sample(jax.random.key(1), samples, 20)) for samples in (3, 100))
    assert np.allclose(few, many[:3], rtol=1e-15)


def test_binary_has_two_values():
    x = np.asarray(fl.BinaryDesign().sample(jax.random.key(0), 10, 16))
    assert set(np.unique(x)) == {-0.25, 0.25}


def test_matrix_design_is_the_matrix():
    matrix = np.arange(6.0).reshape(2, 3)
    design = fl.MatrixDesign(matrix)
    assert (np.asarray(design.sample(jax.random.key(0), 2, 3)) == matrix).all()


def test_refusals():
    with pytest.raises(ValueError, match="variance 0, needs a law that varies"):
        fl.IIDDesign(fl.PointMass(1.0))
    with pytest.raises(ValueError, match=r"matrix: given shape \(3,\)"):
        fl.MatrixDesign(np.ones(3))
    with pytest.raises(ValueError, match="not finite; impute"):
        fl.MatrixDesign(np.full((2, 2), np.nan))
    with pytest.raises(TypeError, match="law: given 'normal', needs a Law"):
        fl.IIDDesign("normal")
