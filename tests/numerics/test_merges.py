"""Merged histories: how many rows they have, where steps stand, and what products over them are."""

from functools import cache

import numpy as np
import pytest

from flowlimit.numerics.merges import merging_matrices, plan_merges

ORDER = 16


@cache
def basis_of(steps):
    """Return the rows of a history after so many steps, each as a combination of all steps."""
    merges, rows = plan_merges(steps, ORDER), np.zeros((0, steps))
    matrices = merging_matrices(ORDER, merges.highest + 1)
    for step in range(steps):
        assert merges.places[step] == len(rows)
        rows = np.vstack([rows, np.eye(steps)[step]])
        for start, level in zip(merges.starts[step], merges.levels[step], strict=True):
            if start:  # the first block is never merged
                two = rows[start : start + 2 * ORDER]
                rows = np.vstack([rows[:start], matrices[level] @ two, rows[start + 2 * ORDER :]])
    return rows


@pytest.mark.parametrize("steps", [50, 400, 800])
def test_rows_are_orthonormal(steps):
    rows = basis_of(steps)
    np.testing.assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-12)


def test_rows_grow_like_the_logarithm():
    counts = [plan_merges(steps, ORDER).rows for steps in (1000, 10_000)]
    assert counts[0] < 250
    assert max(np.diff(counts)) < 200  # per decade


@pytest.mark.parametrize(
    "kernel",
    [lambda age, s: np.exp(-0.3 * age), lambda age, s: 1.0 / (1.0 + age), lambda age, s: np.exp(-1.0 / (1.0 + s))],
    ids=["forgets fast", "forgets slowly", "remembers the beginning"],
)
def test_products_with_responses(kernel):
    """A sum over all steps of a response times anything is the sum over the rows."""
    steps = 800
    rows, s = basis_of(steps), np.arange(steps)
    response = kernel(steps - s, s)
    anything = np.random.default_rng(0).normal(size=steps)
    exact = response @ anything
    assert abs((rows @ response) @ (rows @ anything) - exact) < 1e-9 * np.linalg.norm(response) * np.sqrt(steps)
