"""What is measured of a solve: the simulation's curves and the user's observables, as coordinate averages."""

from collections.abc import Mapping
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int

from ..numerics.blocks import Blocks
from ..results import PathSample
from ..types import Observable
from .grid import Grid
from .problem import Problem
from .shards import on_devices, read_columns, without_history
from .site import NodeTheta, Site
from .state import Paths, Rows
from .steps.sampled_side import centre, teachers_of

NEGLIGIBLE = 1e-3
"""Roots of errors below this part of their start (errors below 1e-6 of it) need no relative accuracy."""
OWN = ("penalty", "norm_1", "w_squared")
"""Averages taken at the nodes, before the user's."""
SAMPLED = ("train_error", "test_error", "loss", "test_error_bar")
"""Averages of the samples side of steps, after the user's."""


@dataclass(frozen=True)
class Measure:
    """Averages over paths at a block's nodes. Two with the same functions are one static argument of the program."""

    observables: tuple[tuple[str, Observable], ...]
    sampled: bool = False  # whether the samples side is stochastic
    direct: bool = False  # whether the samples side adds its own averages, at the end: on steps

    def __call__(
        self, site: Site, block: Blocks, theta: NodeTheta, w: Float[Array, "q *outputs M"], paths: Paths
    ) -> Float[Array, "q observables"]:
        """Return the averages, one column each."""
        every_output = lambda values: values.reshape(w.shape[0], -1, w.shape[-1]).sum(axis=1)
        values = [site.penalty(block.times, theta), every_output(jnp.abs(w)), every_output(w**2)]
        values += [jax.vmap(jax.vmap(f, in_axes=-1), in_axes=(0, None))(w, paths.w_star) for _, f in self.observables]
        return paths.total(jnp.stack([value @ paths.probability for value in values], axis=1))

    @property
    def judged(self) -> tuple[str, ...]:
        """Curves that the requested accuracy is for; an error of a sampled side may jump, like 0-1 errors."""
        return ("loss" if self.sampled else "train_error", "test_error")

    @property
    def count(self) -> int:
        """Number of averages."""
        return len(OWN) + len(self.observables) + len(SAMPLED) * self.direct


@dataclass(frozen=True)
class Solution:
    """One replica's operators over its nodes, R_w, G = I - R_f and the root of C_f, and its averages there.

    Several outputs take turns in rows and columns of the operators.
    """

    R_w: np.ndarray
    G: np.ndarray
    L: np.ndarray
    averages: np.ndarray
    L_w: np.ndarray | None = None  # of a stochastic samples side: root of C_w, its first columns along w*
    C_w: np.ndarray | None = None  # of steps with a closed side, from the paths: noise in residuals hides it in L
    initial: np.ndarray | None = None  # of panels: the averages and the test error at time 0

    @property
    def root_w(self) -> np.ndarray:
        """Root of C_w + sigma^2: G^-1 L, since C_f = G (C_w + sigma^2) G^T."""
        return self.L + self.R_w @ self.L if self.L_w is None else self.L_w


def read_solution(problem: Problem, rows: Rows, nodes: int) -> Solution:
    """Take a solution from the device, without the room that was not used."""
    outputs = problem.site.outputs
    end = nodes * outputs
    cut = lambda x: np.asarray(x)[:end, :end]
    averages = np.asarray(rows.averages)[:end:outputs]
    closed_steps = problem.explicit and problem.samples is None
    C_w = cut(_correlation(problem.mesh, problem.paths, rows)) if closed_steps else None
    initial = None if rows.initial is None else np.asarray(rows.initial)
    return Solution(cut(rows.R_w), cut(rows.G), cut(rows.L), averages, _root_w(rows, end), C_w, initial)


@eqx.filter_jit
def _correlation(mesh: Mesh | None, paths: Paths, rows: Rows) -> Float[Array, "N N"]:
    """Return C_w from all paths."""
    own = lambda paths, rows: paths.total((rows.W * paths.probability[None]) @ rows.W.T)
    return on_devices(mesh, own, paths, rows, like=0.0)


def _root_w(rows: Rows, end: int) -> np.ndarray | None:
    if rows.samples is None:
        return None
    return np.concatenate([np.asarray(rows.samples.along)[:end], np.asarray(rows.samples.L_w)[:end, :end]], axis=1)


def read_paths(grid: Grid, problem: Problem, rows: Rows, solution: Solution) -> PathSample:
    """Take the paths from the device: z = sqrt(delta) L normals, g = z/delta + G (w - w*) + r w*."""
    mesh, site, delta = problem.mesh, problem.site, float(problem.setting.aspect_ratio)
    end, paths = len(solution.L), without_history(mesh, problem.paths)
    W, normals = (read_columns(mesh, problem.paths, x)[:end] for x in (rows.W, problem.paths.normals))
    z = np.sqrt(delta) * solution.L @ normals
    g = z / delta + solution.G @ W
    if rows.samples is not None:
        g = g + np.asarray(rows.samples.stein)[:end] @ np.asarray(teachers_of(paths).e)
    w = W + np.tile(np.asarray(centre(site, paths)), (grid.nodes, 1))
    shaped = lambda x: x.reshape(grid.nodes, *site.flow.outputs, -1)
    w_star, probability = np.asarray(paths.w_star), np.asarray(paths.probability)
    return PathSample(grid.times, shaped(w), shaped(g), shaped(z), w_star, probability, grid.edges)


Values = Mapping[str, Float[np.ndarray, "saves"]]


def curves_of(measure: Measure, grid: Grid, solution: Solution) -> Values:
    """Return the curves of one replica at the saved times.

    Errors are squared norms of interpolated roots: the roots are as smooth as paths, errors only half as resolved.
    """
    curves = _curves(measure, grid.to_saves, solution)
    if solution.initial is None:
        return curves
    return {
        name: np.where(grid.saves > 0.0, curves[name], value)
        for name, value in starts_of(measure, grid, solution).items()
    }


def starts_of(measure: Measure, grid: Grid, solution: Solution) -> Mapping[str, float]:
    """Return the curves of one replica at time 0."""
    if solution.initial is None:  # the first step is time 0
        first = _curves(measure, grid.interpolate(np.zeros(1)), solution)
        return {name: float(value[0]) for name, value in first.items()}
    *averages, error = map(float, solution.initial)  # outputs of weights that have not seen the data are as on new data
    own = {"train_error": error, "test_error": error, "loss": 0.5 * error + averages[0]}
    own |= {"norm_1": averages[1], "norm_2": float(np.sqrt(max(averages[2], 0.0)))}
    return own | {name: averages[len(OWN) + i] for i, (name, _) in enumerate(measure.observables)}


def _curves(measure: Measure, from_nodes: Float[np.ndarray, "saves nodes"], solution: Solution) -> Values:
    square = lambda root: np.sum((from_nodes @ root) ** 2, axis=1)
    averages = from_nodes @ solution.averages
    if measure.direct:
        train, test, loss, _ = averages[:, -len(SAMPLED) :].T
    else:
        train, test = square(solution.L), square(solution.root_w)
        loss = 0.5 * train
    curves = {
        "train_error": train,
        "test_error": test,
        "loss": loss + averages[:, 0],
        "norm_1": averages[:, 1],
        "norm_2": np.sqrt(np.maximum(averages[:, 2], 0.0)),
    }
    return curves | {name: averages[:, len(OWN) + i] for i, (name, _) in enumerate(measure.observables)}


def time_errors(measure: Measure, grid: Grid, solution: Solution) -> Values:
    """Return the time error of each curve: what spectral tails leave open, of its panel and of those before.

    Steps have none; a test error that is a numerical integral has that integral's error.
    """
    if grid.edges is None:  # steps have no error in time
        errors = {name: np.zeros(len(grid.saves)) for name in curves_of(measure, grid, solution)}
        return errors | ({"test_error": grid.to_saves @ solution.averages[:, -1]} if measure.direct else {})
    tail = lambda values: grid.spread(grid.carried(grid.tails(values)))
    train, test = (_root_error(grid, root) for root in (solution.L, solution.root_w))
    of_average = [tail(solution.averages[:, [i]]) for i in range(measure.count)]
    size = np.sqrt(np.maximum(grid.to_saves @ solution.averages[:, 2], 0.0))
    errors = {
        "train_error": train,
        "test_error": test,
        "loss": 0.5 * train + of_average[0],
        "norm_1": of_average[1],
        "norm_2": np.minimum(of_average[2] / np.maximum(2.0 * size, 1e-300), np.sqrt(of_average[2])),
    }
    errors |= {name: of_average[len(OWN) + i] for i, (name, _) in enumerate(measure.observables)}
    known = grid.saves == 0.0 if solution.initial is not None else np.zeros(len(grid.saves), dtype=bool)
    return {name: np.where(known, 0.0, error) for name, error in errors.items()}


def _root_error(grid: Grid, root: np.ndarray) -> np.ndarray:
    """Return the time error of a squared root's norm; tails are handed on relative to the root's size."""
    relative = grid.spread(grid.carried(_relative_tails(grid, root)))
    at_saves = np.linalg.norm(grid.to_saves @ root, axis=1)
    return 2.0 * at_saves * np.maximum(at_saves, _floor(root)) * relative


def error_sources(grid: Grid, solution: Solution) -> Mapping[str, Int[np.ndarray, "panels"]]:
    """Return, for either error, the panel that each panel's time error comes from."""
    roots = {"train_error": solution.L, "test_error": solution.root_w}
    return {name: grid.sources(_relative_tails(grid, root)) for name, root in roots.items()}


def _relative_tails(grid: Grid, root: np.ndarray) -> np.ndarray:
    smallest = np.linalg.norm(root, axis=1).reshape(-1, grid.order).min(axis=1)
    return grid.tails(root) / np.maximum(smallest, _floor(root))


def _floor(root: np.ndarray) -> float:
    return NEGLIGIBLE * float(np.linalg.norm(root[0])) + np.finfo(float).tiny
