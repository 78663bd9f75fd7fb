"""The samples side of the limit, inverted: from a run's residuals and tangents to its test error, with its errors.

Kick the residuals by e. In the limit r = u - R_w (r + e) for every sample, where u has the law of a new sample's
residual, so that the trace F = tr(dr/de)/n is G - I with G = (I + R_w)^-1, r = G u, and

    C_w + sigma^2 11^T = (I + F)^-1 C_f (I + F)^-T,    C_f = r r^T/n,    eq. (dmft_Cf) solved for C_w.

An intercept that was fitted, by taking means away from X and y, takes one of n directions from all residuals: the trace
of I is then 1 - 1/n, and I + F that much less.

With A = (I + F)^-1 the estimate is the mean of u_i(t)^2, u = A r. Its errors:

- probes: F is a mean over probes; to first order the estimate moves by -2 (A dF C_u)(t, t), C_u = u u^T/n.
- samples: u_i are residuals that sample i would have if it were left out, so a first part is the variance of u_i^2
  over n. A second one comes from pairs, of which each has moved what the other is measured by: with M(t) = sum over s
  of (A dr/de)(t, s) C_u(s, t), it is 4/n^2 times the sum of M_ij M_ji over i and j that
  differ. Taken is that of M_ij^2, which is no smaller, and the same where responses are symmetric. For least squares,
  n > d, both parts add up to 2 T^2/n (1 + d/n)/(1 - d/n), which is exact.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...results.spread import student_factor
from .bases import Basis
from .path import TangentPath

Times = Float[np.ndarray, "times"]
Factor = Float[np.ndarray, "times _"]
Nodes = Float[np.ndarray, "nodes samples"]
CENTRED = 1e-10
"""Means of residuals over their size at time 0, below which they are 0 to rounding."""


@dataclass(frozen=True)
class Inverted:
    """Errors at the saved times, and roots of the covariance of the estimate's own errors.

    ``probes_root`` and ``samples_root`` times independent standard normals are draws of these errors.
    """

    train_error: Times
    test_error: Times
    left_out: Float[np.ndarray, "times samples"]
    """u: for each sample the residual that it would have if it were left out."""
    slip: Times
    """Error of u in time over its size: what courses or panels leave of it."""
    probes_root: Factor
    samples_root: Factor

    @property
    def probes_stderr(self) -> Times:
        """Standard error from the number of probes."""
        return np.sqrt((self.probes_root**2).sum(axis=1))

    @property
    def samples_stderr(self) -> Times:
        """Standard error from the number of samples."""
        return np.sqrt((self.samples_root**2).sum(axis=1))


@np.errstate(over="ignore", invalid="ignore")  # of runs that diverge
def invert(path: TangentPath) -> Inverted:
    """Return the test error of a run at its saved times."""
    traces = traces_of(path)
    A = np.linalg.inv(_free(path.residuals) * np.eye(len(path.residuals)) + traces.mean(axis=0))
    u = A @ path.residuals
    U, r = path.readout @ u, path.readout @ path.residuals
    C = u @ U.T / u.shape[1]
    return Inverted(
        train_error=(r**2).mean(axis=1),
        test_error=(U**2).mean(axis=1),
        left_out=U,
        slip=path.residual_slip + path.readout @ _missed(path.residuals, u, path.basis),
        probes_root=_probes_root(path.readout @ A, traces, C),
        samples_root=np.hstack([_own_root(U), _pairs_root(path, path.readout @ A, C)]),
    )


def _free(residuals: Nodes) -> float:
    """Return the part of directions that is left to residuals: all of them, or all but that of an intercept.

    Residuals have mean 0 at all times, to rounding, only if X and y were centred.
    """
    means, size = np.abs(residuals.mean(axis=1)), np.sqrt((residuals[:1] ** 2).mean())
    return 1.0 - (means <= CENTRED * size).all() / residuals.shape[1]


def _missed(r: Nodes, u: Nodes, basis: Basis) -> Float[np.ndarray, "nodes"]:
    """Return how much of u the courses miss, over its size, at each node the most of its panel.

    Judged by r, as smooth as u and without the noise of probes.
    """
    size = lambda x: np.sqrt((x**2).mean(axis=1))
    missed = size(r - basis.courses @ (basis.courses.T @ r)) / np.maximum(size(u), np.finfo(float).tiny)
    most = np.zeros(basis.panel.max(initial=0) + 1)
    np.maximum.at(most, basis.panel, missed)
    return most[basis.panel]


def traces_of(path: TangentPath) -> Float[np.ndarray, "probes nodes nodes"]:
    """Return F of every probe: how the mean residual at a node moves with a kick of the same sample at another."""
    responses, probes = (np.moveaxis(x, 1, 0) for x in (path.responses, path.probes))
    samples, basis = path.residuals.shape[1], path.basis
    return np.where(basis.sees, responses @ probes.transpose(0, 2, 1) / samples, 0.0) @ basis.courses.T


def _probes_root(LA: Float[np.ndarray, "times nodes"], traces: np.ndarray, C: np.ndarray) -> Factor:
    count = len(traces)
    moved = [-2.0 * np.einsum("tj,jt->t", LA @ (one - traces.mean(axis=0)), C) for one in traces]
    return student_factor(count) / np.sqrt(count * (count - 1.0)) * np.stack(moved, axis=1)


def _own_root(U: Float[np.ndarray, "times samples"]) -> Factor:
    """Return a root of the covariance over samples of u^2, divided by their number."""
    squares, count = U**2, U.shape[1]
    return (squares - squares.mean(axis=1, keepdims=True)) / np.sqrt(count * (count - 1.0))


def _pairs_root(path: TangentPath, LA: np.ndarray, C: np.ndarray) -> Factor:
    """Return a root of what pairs of samples add: M(t) along one direction, without its mean on the diagonal."""
    samples = path.residuals.shape[1]
    moved = (LA @ path.slow.reshape(len(path.slow), -1)).reshape(len(LA), path.slow.shape[1], samples)
    along = np.einsum("tk,tki->ti", _courses(path, LA, C), moved)  # M(t) times the direction
    own = along @ path.direction / samples
    return 2.0 / samples * (along - own[:, None] * path.direction)


def _courses(path: TangentPath, LA: np.ndarray, C: np.ndarray) -> Float[np.ndarray, "times shapes"]:
    """Return C_u(s, t) for every saved t as a combination of slow courses in s, fitted where a kick can be felt."""
    fits = []
    for row, column in zip(LA != 0.0, C.T, strict=True):
        felt = row.copy()
        felt[: felt.nonzero()[0].max(initial=0)] = True
        fits.append(np.linalg.lstsq(path.shapes[felt], column[felt], rcond=1e-10)[0])
    return np.array(fits).reshape(len(LA), path.shapes.shape[1])
