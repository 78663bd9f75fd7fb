"""Kernels and curves of given operators: values, error bars, several outputs, time errors; no solve."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import legendre

from flowlimit.dmft.control.errors import student_factor
from flowlimit.dmft.readout.curves import curves_of, time_errors
from flowlimit.dmft.readout.grid import Grid
from flowlimit.dmft.readout.kernels import _outputs_last, make_kernels
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import Solution
from flowlimit.numerics.blocks import panels, steps

ORDER = 8

RNG = np.random.default_rng(0)
SIZES = np.array([0.3, 0.1, 0.2, 0.4])
GRID = Grid(steps(jnp.asarray(SIZES)), None, np.array([0.0, 0.3]))


def replica():
    """Operators of a solve in steps, consistent with each other: G = (I + R_w)^-1, C_f = L L^T."""
    R = np.tril(RNG.normal(size=(4, 4)), -1) * 0.3
    L = np.tril(RNG.normal(size=(4, 4)))
    return Solution(R, np.linalg.inv(np.eye(4) + R), L, np.zeros((4, 3)))


def test_kernels_and_their_spread():
    """Means of replicas, with standard errors times Student's factor; C_w + noise = (I + R) C_f (I + R)^T."""
    replicas, noise = [replica() for _ in range(3)], 0.2
    kernels, operators = make_kernels(GRID, replicas, noise)
    C_f = np.stack([one.L @ one.L.T for one in replicas])
    C_w = np.stack([(np.eye(4) + x.R_w) @ x.L @ x.L.T @ (np.eye(4) + x.R_w).T - noise for x in replicas])
    R_w = np.stack([one.R_w / SIZES[None] for one in replicas])
    R_f = np.stack([(np.eye(4) - one.G) / SIZES[None] for one in replicas])
    for name, values in {"C_f": C_f, "C_w": C_w, "R_w": R_w, "R_f": R_f}.items():
        assert getattr(kernels, name) == pytest.approx(values.mean(axis=0), abs=1e-12), name
        stderr = student_factor(3) * values.std(axis=0, ddof=1) / np.sqrt(3)
        assert kernels.stderr[name] == pytest.approx(stderr, abs=1e-7), name
    assert pytest.approx(np.tri(4, k=-1) * SIZES[None]) == operators.S


def test_kernels_of_several_outputs():
    """Outputs take turns in the rows: K[t, s, a, b] is the entry of row (t, a) and column (s, b)."""
    square = RNG.normal(size=(6, 6))
    kernel = _outputs_last(square, 3)
    for t, s, a, b in np.ndindex(3, 3, 2, 2):
        assert kernel[t, s, a, b] == square[2 * t + a, 2 * s + b]


def test_curves_and_time_errors_of_a_rough_root():
    """Errors are squares of roots, so an unresolved e in a root of size 1 is an error of 2 e; a loss has half of it."""
    edges, rough = np.array([0.0, 1.0]), 1e-4
    grid = Grid(panels(edges, ORDER), edges, np.array([0.25, 1.0]))
    local = 2.0 * grid.times - 1.0
    L = np.zeros((ORDER, ORDER))
    L[:, 0] = 1.0 + rough * legendre.legval(local, np.eye(ORDER)[-1])
    averages = np.tile([0.5, 0.7, 4.0], (ORDER, 1))
    solution, measure = Solution(np.zeros_like(L), np.eye(ORDER), L, averages), Measure(())
    curves, errors = curves_of(measure, grid, solution), time_errors(measure, grid, solution)
    wave = rough * legendre.legval(2.0 * grid.saves - 1.0, np.eye(ORDER)[-1])
    assert curves["train_error"] == pytest.approx((1.0 + wave) ** 2)
    assert curves["loss"] == pytest.approx(0.5 * (1.0 + wave) ** 2 + 0.5)
    assert (curves["norm_1"][0], curves["norm_2"][0]) == pytest.approx((0.7, 2.0))
    assert errors["train_error"] == pytest.approx([2.0 * rough] * 2, rel=1e-3)
    assert errors["loss"] == pytest.approx([rough] * 2, rel=1e-3)
