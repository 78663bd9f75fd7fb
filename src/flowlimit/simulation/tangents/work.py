"""What a run with tangents needs, and which of the two ways it takes: steps, or panels of a flow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...numerics.compiling import compiled
from ...numerics.streams import Purpose, stream
from ...problem.clocks import Positions
from ...problem.flow import Flow
from ...problem.tasks import DataSource
from ...types import PRNGKey, ThetaRows
from ..data import Data, Draws, Part, join, shared_data
from ..plan import any_length, flow_engine
from ..start import init_normals
from .panels import follow_flow
from .path import TangentPath
from .probes import Probes, Slow
from .steps import follow_steps

Report = Callable[[float, str], Any]


@dataclass(frozen=True)
class TangentWork:
    """A flow on concrete data, the positions that are saved, and how many probes there are."""

    flow: Flow
    task: DataSource
    saves: Positions
    probes: int
    key: PRNGKey
    draws: Draws
    rtol: float


def follow(work: TangentWork, report: Report) -> TangentPath:
    """Run the flow and its tangents; ``report(fraction, message)`` may end the work by returning True."""
    data = join(shared_data(work.task, work.draws), Part())
    samples, dim = data.X.shape
    theta = _start(any_length(work.flow), data, stream(work.key, Purpose.INIT, 0))
    seed = np.asarray(jax.random.key_data(stream(work.key, Purpose.PROBES))).tolist()
    slow = Slow(samples, float(work.flow.clock.times_at(work.saves[-1:])[0]) or 1.0, seed)
    probes = Probes(work.probes, samples, seed)
    clock = work.flow.clock.steps
    if clock is not None:
        return follow_steps(any_length(work.flow), data, theta, probes, slow, clock, work.saves, report)
    engine = flow_engine(work.flow, dim, samples / dim, work.rtol, None)
    return follow_flow(work.flow, data, theta, probes, slow, engine, work.saves, report)


@compiled
def _start(flow: Flow, data: Data, key: PRNGKey) -> ThetaRows:
    dim = data.X.shape[1]
    normals = init_normals(key, dim, flow.num_normals, data.strata)
    w_star = jnp.zeros((*flow.teachers, dim)) if data.w_star is None else data.w_star
    return flow.init_rows(normals, w_star)
