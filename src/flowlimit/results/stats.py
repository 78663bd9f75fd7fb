"""What a computation cost and how it was set up, as typed records."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SolveStats:
    """Settings and counts of a solved limit. A count is 0, and ``level`` None, if no replica was solved.

    Attributes
    ----------
    seconds
        Wall time of the solve, compilation included.
    rtol
        Relative accuracy that was asked for.
    nodes
        Times at which the kernels are known.
    level
        Level of paths: each has four times the paths of the one below.
    paths, response_paths
        Paths per stratum, for the curves and for the responses.
    replicas, part_replicas
        Whole solves with all paths, and those with half or a quarter of them that judge the bias.
    devices
        Devices that the paths were spread over.
    memory_bytes
        Estimate of what the solve adds to the process, in bytes per device.
    edges
        Edges of the panels in time, half a step before their first step where they sum over steps; None for steps.
    held_from
        Time from which on the training was at rest: later values of curves are those at this time, and their time error
        is what they moved by before it. None if all times were solved.
    """

    seconds: float = 0.0
    rtol: float = 0.0
    nodes: int = 0
    level: int | None = None
    paths: int = 0
    response_paths: int = 0
    replicas: int = 0
    part_replicas: int = 0
    devices: int = 1
    memory_bytes: int = 0
    edges: tuple[float, ...] | None = None
    held_from: float | None = None


@dataclass(frozen=True)
class RunStats:
    """Settings and counts of finite-size runs.

    Attributes
    ----------
    seconds
        Wall time of the call, compilation included.
    steps
        Steps of all trials together: of gradient descent, or of the integrator.
    devices
        Devices that trials were spread over.
    memory_bytes
        Estimate of what the runs add to the process, in bytes.
    draws
        "balanced" if targets, label noise and initialisations have their laws' composition, or "independent".
    rtol, solver
        Relative accuracy of the weights along a flow, and the integrator's name; None for steps.
    """

    seconds: float = 0.0
    steps: int = 0
    devices: int = 1
    memory_bytes: int = 0
    draws: str = "balanced"
    rtol: float | None = None
    solver: str | None = None


@dataclass(frozen=True)
class EstimateStats:
    """Settings and counts of an estimated test error.

    Attributes
    ----------
    seconds
        Wall time of the call, compilation included.
    samples, dim
        Size of the data.
    probes
        Tangents that traces were measured along.
    nodes
        Times at which the run was kicked: its steps, or nodes of panels.
    steps
        Steps of descent, or of the integrator.
    rtol
        Relative accuracy of the weights along a flow; None for steps.
    """

    seconds: float = 0.0
    samples: int = 0
    dim: int = 0
    probes: int = 0
    nodes: int = 0
    steps: int = 0
    rtol: float | None = None
