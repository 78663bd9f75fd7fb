"""What is kept of a solved replica: its operators and averages over the nodes, and its paths if asked for."""

from dataclasses import dataclass

import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float

from ...numerics.compiling import compiled
from ...results import PathSample
from ..engine.merging import Merging
from ..engine.replica import Replica
from ..engine.shards import on_devices, read_columns, without_history
from ..engine.state import Paths, Rows
from ..engine.steps.sampled_side import centre, teachers_of
from .grid import Grid


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
    basis: np.ndarray | None = None  # of a history with fewer rows than steps: its normals, of those of all steps

    @property
    def whole(self) -> bool:
        """Whether operators have a row for each node: not where old steps are merged."""
        return self.basis is None

    @property
    def root_w(self) -> np.ndarray:
        """Root of C_w + sigma^2: G^-1 L, since C_f = G (C_w + sigma^2) G^T."""
        return self.L + self.R_w @ self.L if self.L_w is None else self.L_w


def read_solution(replica: Replica, rows: Rows, nodes: int) -> Solution:
    """Take a solution from the device, without the rows that were not used."""
    if replica.merging is not None:
        return _merged_solution(rows, replica.merging, nodes)
    outputs = replica.site.outputs
    end = nodes * outputs
    cut = lambda x: np.asarray(x)[:end, :end]
    averages = np.asarray(rows.averages)[:end:outputs]
    closed_steps = replica.explicit and replica.samples is None
    C_w = cut(_correlation(replica.mesh, replica.paths, rows)) if closed_steps else None
    initial = None if rows.initial is None else np.asarray(rows.initial)
    return Solution(cut(rows.R_w), cut(rows.G), cut(rows.L), averages, _root_w(rows, end), C_w, initial)


def _merged_solution(rows: Rows, merging: Merging, nodes: int) -> Solution:
    """Return the operators over the rows of the history after the last step."""
    last, order = nodes - 1, merging.matrices.shape[1]
    end = int(merging.places[last]) + 1 - order * int(merging.counts[last])
    R_w, G, L = (np.asarray(x)[:end, :end] for x in (rows.R_w, rows.G, rows.L))
    averages = np.asarray(rows.averages)[:nodes]
    return Solution(R_w, G, L, averages, basis=np.asarray(rows.basis)[:end, :nodes])


@compiled
def _correlation(mesh: Mesh | None, paths: Paths, rows: Rows) -> Float[Array, "N N"]:
    """Return C_w from all paths."""
    own = lambda paths, rows: paths.total((rows.W * paths.probability[None]) @ rows.W.T)
    return on_devices(mesh, own, paths, rows, like=0.0)


def _root_w(rows: Rows, end: int) -> np.ndarray | None:
    if rows.samples is None:
        return None
    return np.concatenate([np.asarray(rows.samples.along)[:end], np.asarray(rows.samples.L_w)[:end, :end]], axis=1)


def read_paths(grid: Grid, replica: Replica, rows: Rows, solution: Solution) -> PathSample:
    """Take the paths from the device: z = sqrt(delta) L normals, g = z/delta + G (w - w*) + r w*."""
    mesh, site, delta = replica.mesh, replica.site, float(replica.setting.aspect_ratio)
    end, paths = len(solution.L), without_history(mesh, replica.paths)
    W, normals = (read_columns(mesh, replica.paths, x)[:end] for x in (rows.W, replica.paths.normals))
    z = np.sqrt(delta) * solution.L @ normals
    g = z / delta + solution.G @ W
    if rows.samples is not None:
        g = g + np.asarray(rows.samples.stein)[:end] @ np.asarray(teachers_of(paths).e)
    w = W + np.tile(np.asarray(centre(site, paths)), (grid.nodes, 1))
    shaped = lambda x: x.reshape(grid.nodes, *site.flow.outputs, -1)
    w_star, probability = np.asarray(paths.w_star), np.asarray(paths.probability)
    edges = None if grid.edges is None else grid.ruler.times(grid.edges)
    if paths.root is None:
        return PathSample(grid.times, shaped(w), shaped(g), shaped(z), w_star, probability, edges)
    root = np.asarray(paths.root)  # of weights and gradients that theta itself has and sees
    w, g, z, w_star = w / root[None], g * root[None], z * root[None], w_star / root
    return PathSample(grid.times, shaped(w), shaped(g), shaped(z), w_star, probability, edges, root**2)
