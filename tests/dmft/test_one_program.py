"""One kind of problem, one set of compiled programs."""

import pytest

import flowlimit as fl
from flowlimit.numerics import streams


@pytest.mark.slow
def test_other_numbers_compile_nothing(task, traced):
    """Another accuracy, horizon, key, aspect ratio, init scale and noise of the same kind, at one level of paths."""
    solve = lambda scale, task, horizon, **options: fl.solve_dmft(
        fl.DiagonalLinear(scale), task, fl.GradientFlow(horizon), throw=False, **options
    )
    streams._words.cache_clear()  # else other tests may have drawn the first solve's seeds, with programs since dropped
    solve(0.3, task, 5.0, rtol=0.25)
    denser = fl.Regression(0.7, noise_var=0.02, target=fl.Bernoulli(0.2))
    assert not traced(lambda: solve(0.3, task, 5.0, rtol=0.21))
    assert not traced(lambda: solve(0.3, task, 11.0, rtol=0.25, key=3))
    assert not traced(lambda: solve(0.5, denser, 8.0, rtol=0.25))
