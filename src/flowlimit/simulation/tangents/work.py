"""What a run with tangents needs, and which of the two ways it takes: steps, or panels of a flow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...numerics.compiling import compiled
from ...numerics.streams import Purpose, stream
from ...problem.clocks import Positions
from ...problem.flow import Flow
from ...problem.tasks import DataSource
from ...types import PRNGKey
from ..data import Draws, Part, join, shared_data
from ..plan import any_length, flow_engine, stack_flows
from ..start import initial_theta
from .panels import follow_flow
from .path import TangentPath
from .probes import Probes, Slow
from .steps import follow_steps

Report = Callable[[float, str], Any]
_start = compiled(initial_theta)


@dataclass(frozen=True)
class TangentWork:
    """Flows of one kind on concrete data, the positions that are saved, and how many probes there are."""

    flows: Sequence[Flow]
    task: DataSource
    saves: Positions
    probes: int
    key: PRNGKey
    draws: Draws
    rtol: float
    exact: bool = False
    """Whether there is a probe for every step; else for every course, and courses are smooth after the first steps."""


def follow(work: TangentWork, report: Report) -> list[TangentPath]:
    """Run flows and their tangents; ``report(fraction, message)`` may end the work by returning True.

    All see the same probes, so that what probes leave is common to them. Steps are taken by all together; panels
    of a flow are chosen by its residuals, so that flows run one after another, by one program.
    """
    data = join(shared_data(work.task, work.draws), Part())
    samples, dim = data.X.shape
    stacked = stack_flows([any_length(flow) for flow in work.flows])
    theta = _start(stacked, data, stream(work.key, Purpose.INIT, 0))
    seed = np.asarray(jax.random.key_data(stream(work.key, Purpose.PROBES))).tolist()
    first = work.flows[0]
    slow = Slow(samples, float(first.clock.times_at(work.saves[-1:])[0]) or 1.0, seed)
    probes = Probes(work.probes, samples, seed)
    clock = first.clock.steps
    if clock is not None:
        return follow_steps(stacked, data, theta, probes, slow, clock, work.saves, report, exact=work.exact)
    paths, count = [], len(work.flows)
    for done, flow in enumerate(work.flows):
        own = lambda fraction, message, done=done: report((done + fraction) / count, message)
        engine = flow_engine(flow, dim, samples / dim, work.rtol, None)
        paths.append(follow_flow(flow, data, theta[done], probes, slow, engine, work.saves, own))
    return paths
