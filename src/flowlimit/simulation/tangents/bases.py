"""Courses in time that steps are kicked along: polynomials on panels of steps, whose lengths grow with time.

Kicks at every step along fresh probes say more than is needed and are noisy: residuals answer to a kick for many steps,
so that what the others leave of noise grows with their number. What is asked for is smooth in time after the first
steps, and so may kicks be: a few polynomials on each panel. Together with the first steps they are an orthonormal basis
Phi, one probe for each, and tr(dr/de)/n acts on functions of time as T Phi^T, T the traces along these probes.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.polynomial import legendre

EXACT = 8
"""First steps, with a probe for each: descent moves fastest there."""
ORDER = 5
"""Polynomials on a panel."""


@dataclass(frozen=True)
class Basis:
    """Orthonormal courses over nodes.

    Attributes
    ----------
    courses
        Their values.
    sees
        Whether residuals at a node can depend on a kick along a course.
    panel
        Number of the panel that a node is in.
    """

    courses: Float[np.ndarray, "nodes courses"]
    sees: Bool[np.ndarray, "nodes courses"]
    panel: Int[np.ndarray, "nodes"]

    def upto(self, nodes: int) -> "Basis":
        """Return it for the first nodes alone."""
        return Basis(self.courses[:nodes], self.sees[:nodes], self.panel[:nodes])


def each_node(sees: Bool[np.ndarray, "nodes nodes"]) -> Basis:
    """Return a course for each node."""
    return Basis(np.eye(len(sees)), sees, np.arange(len(sees)))


def step_basis(steps: int, *, exact: bool = False) -> Basis:
    """Return the courses for so many steps; ``exact``: a course for each step.

    Examples
    --------
    >>> basis = step_basis(100)
    >>> basis.courses.shape, bool(np.allclose(basis.courses.T @ basis.courses, np.eye(28)))
    ((100, 28), True)
    """
    edges = list(range(steps)) if exact else _edges(steps)
    panel = np.searchsorted(edges, np.arange(steps), side="right") - 1
    parts = [_polynomials(int(count)) for count in np.bincount(panel)]
    courses = np.zeros((steps, sum(part.shape[1] for part in parts)))
    sees, column = np.zeros(courses.shape, dtype=bool), 0
    for first, part in zip(edges, parts, strict=True):
        own = slice(column, column + part.shape[1])
        courses[first : first + len(part), own] = part
        sees[first + 1 :, own] = True
        column = own.stop
    return Basis(courses, sees, panel)


def _edges(steps: int) -> list[int]:
    """Return where panels begin: each is as long as all time before it, the last may be up to twice as long.

    One that is short is single steps.
    """
    edges, first = list(range(min(EXACT, steps))), EXACT
    while first < steps:
        last = 2 * first if steps >= 3 * first else steps
        edges += range(first, last) if last - first <= ORDER else [first]
        first = last
    return edges


def _polynomials(count: int) -> Float[np.ndarray, "count order"]:
    """Return orthonormal polynomials over so many steps."""
    x = np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(1)
    return np.linalg.qr(legendre.legvander(x, min(ORDER, count) - 1))[0]
