"""Every number that decides how a limit is found, with its default, in one record per kind of clock.

The packages of this folder read these records; `solvers` adds the algorithm to them and is what users hold. Numbers
that rounding or the machine decides (floors of innovations, chunks of arrays) are named where they are used.
"""

from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, NamedTuple

LARGEST_LEVEL = 8
"""Of paths: more than this many levels above the first have no memory anywhere."""


ORDERS = (4, 16)
"""Nodes per panel: the last two coefficients must tell the error, and systems of all nodes are solved on every path."""


class Iteration(NamedTuple):
    """How a panel's two sides are iterated: what compiled programs read of a `PanelSettings`."""

    most: int
    followed: float
    most_followed: int
    chosen: float
    chosen_after: int
    settled_factor: float


@dataclass(frozen=True, kw_only=True)
class PathSettings:
    """Numbers of paths and of replicas, and the rule for more of them.

    Parameters
    ----------
    first_paths, level_factor, lowest_level, last_level
        Paths per stratum of the target: ``first_paths * level_factor**level``, for levels from ``lowest_level`` (for
        accuracies from ``rough`` on) to ``last_level``. A power of two, as quasi-random points ask for.
    rough, sharp
        Values of rtol: from ``rough`` on a solve begins at ``lowest_level``, below ``sharp`` at level 1, else at 0.
    response_parts
        One path in so many also serves the responses, for levels 0, 1, ...; the last number holds for all levels
        after. Responses cost more and need fewer paths.
    fewest_paths, fewest_response_paths
        Paths of a limit that matched moments make exact, and the fewest for responses that a lack of memory leads to.
    sample_paths, sample_response_paths
        Paths of a stochastic samples side for each one of the weights side, all and those for responses.
    first_look, replicas, most_replicas, batch
        Replicas after which error bars are first looked at, that an answer has unless fewer are enough, that a spread
        is reduced by at most, and that are added before error bars are looked at again.
    parted
        Replicas that are solved with each half or quarter of their paths, too, before what that changes counts as too
        large a bias. Where the first of them changes little, it is the only one.
    hopeless
        Factor by which bias or spread exceed what replicas can mend, at which a first look leads to more paths.
    bias_part
        Part of the requested accuracy above which the bias needs more paths.
    spread_room, spread_margin
        Least part of the squared accuracy that is left to the spread, and a factor on the replicas it needs.
    most_workers
        Replicas that are solved at once, if cores and memory allow it.
    iteration_part
        Part of rtol to which the two sides must agree, and to which innovations of the noise are resolved.
    """

    first_paths: int = 512
    level_factor: int = 4
    lowest_level: int = -1
    last_level: int = 3
    rough: float = 0.05
    sharp: float = 3e-3
    response_parts: tuple[int, ...] = (4, 8, 8, 16)
    fewest_paths: int = 128
    fewest_response_paths: int = 32
    sample_paths: int = 4
    sample_response_paths: int = 2
    first_look: int = 4
    replicas: int = 8
    most_replicas: int = 24
    batch: int = 4
    parted: int = 2
    hopeless: float = 2.0
    bias_part: float = 0.9
    spread_room: float = 0.1
    spread_margin: float = 1.1
    most_workers: int = 4
    iteration_part: float = 3e-3

    splits = 0
    """How often blocks may be halved: steps cannot."""
    time_part = 1.0
    order = 1
    """Nodes per block."""
    whole_history = 0
    """Panels are few: none are merged."""

    @property
    def iteration(self) -> Iteration | None:
        """How a block is iterated; None where it need not be."""
        return None

    def responses(self, paths: int, level: int, *, merged: bool) -> int:
        """Return how many of a level's paths serve the responses; ``merged`` says whether old steps are merged."""
        parts = self._parts(merged=merged)
        return paths // parts[min(max(level, 0), len(parts) - 1)]

    def _parts(self, *, merged: bool) -> tuple[int, ...]:
        return self.response_parts

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), field.default)
        for name in ("first_paths", "fewest_paths", "fewest_response_paths", "level_factor"):
            if (value := getattr(self, name)) & (value - 1):
                raise ValueError(f"{name}: given {value}, needs a power of two, e.g. {name}={1 << value.bit_length()}")
        if not 1 <= self.parted <= self.first_look:
            raise ValueError(
                f"parted: given {self.parted}, which is more than first_look={self.first_look}; take parted="
                f"{self.first_look} or fewer"
            )
        if not 2 <= self.first_look <= self.replicas <= self.most_replicas:
            raise ValueError(
                f"replicas: given first_look={self.first_look}, replicas={self.replicas}, most_replicas="
                f"{self.most_replicas}; needs 2 <= first_look <= replicas <= most_replicas"
            )
        if not self.lowest_level <= 0 <= self.last_level <= LARGEST_LEVEL:
            raise ValueError(
                f"last_level: given lowest_level={self.lowest_level}, last_level={self.last_level}; needs "
                f"lowest_level <= 0 <= last_level <= {LARGEST_LEVEL}"
            )
        if self.first_paths * float(self.level_factor) ** self.lowest_level < self.fewest_response_paths:
            raise ValueError(
                f"first_paths: given {self.first_paths}, which leaves less than fewest_response_paths="
                f"{self.fewest_response_paths} at lowest_level={self.lowest_level}; take more first_paths"
            )

    @property
    def most_moves(self) -> int:
        """Bound on the moves of a solve: between two of the splits and climbs lie replicas, ``batch`` at a time.

        A batch may be cut short at the first look, at the number that an answer has, and once between; the bias is
        judged with one replica, and then with twice as many each time.
        """
        cut = sum(count % self.batch > 0 for count in (self.first_look, self.replicas))
        levels = self.last_level - self.lowest_level
        return (1 + self.splits + levels) * (
            -(-self.most_replicas // self.batch) + cut + 3 + self.most_replicas.bit_length()
        )


@dataclass(frozen=True, kw_only=True)
class StepSettings(PathSettings):
    """Trainings in steps: every step is solved, so that time has no error.

    Parameters
    ----------
    whole_history
        Steps up to which all are kept as they are, and with them kernels and paths. Of more steps the old ones are
        merged: what a step sees of them grows like the logarithm of their number.
    merged_response_parts
        ``response_parts`` where old steps are merged and the loss is squared. There responses are nearly all of the
        cost, and late ones are told by all paths, too (Stein's lemma).
    quick_look
        Replicas that are solved without modes of the noise known where matched moments make the answer exact. Elsewhere
        one is, as a pilot for the others.
    """

    whole_history: int = 512
    merged_response_parts: tuple[int, ...] = (16, 64, 64, 64)
    quick_look: int = 2

    def _parts(self, *, merged: bool) -> tuple[int, ...]:
        return self.merged_response_parts if merged else self.response_parts


@dataclass(frozen=True, kw_only=True)
class PanelSettings(PathSettings):
    """Flows: Gauss-Legendre panels, on each of which both sides are iterated until they agree.

    Parameters
    ----------
    order
        Nodes per panel, from 4 to 16.
    panel_part
        Part of rtol that the relative spectral tail of a panel may have.
    safety, growth, shrink
        Factor on the length that a tail predicts for the next panel; the most by which a panel is longer than the one
        before; and the least and the most that is left of a panel that was too long.
    shortest
        Part of the horizon below which a panel is not shortened: the flow is then said to diverge.
    splits, split_part, time_part
        How often panels may be halved after the pilot; part of rtol above which a time error at a saved time halves
        the panel that it comes from; and the part of the accuracy above which it does so after all replicas.
    most_iterations
        Of a panel.
    followed, most_followed
        Relative change down to which, and steps in which, paths follow the first guess of the operators.
    chosen, chosen_after
        Relative change below which, and iterations after which, the innovations of a panel are no longer chosen anew.
    settled_factor
        Factor on the agreement asked for up to which a panel still counts as settled.
    rest_factor, rest_part
        Curves are held from time t on where both errors changed by less than the part ``rest_part`` of rtol from t over
        ``rest_factor`` to t, and are at the fixed point. With a factor above the horizon, all of it is solved.
    """

    order: int = 8
    panel_part: float = 0.1
    safety: float = 0.85
    growth: float = 2.5
    shrink: tuple[float, float] = (0.2, 0.75)
    shortest: float = 1e-10
    splits: int = 6
    split_part: float = 0.175
    time_part: float = 0.7
    most_iterations: int = 50
    followed: float = 1e-3
    most_followed: int = 8
    chosen: float = 1e-2
    chosen_after: int = 10
    settled_factor: float = 100.0
    rest_factor: float = 2.0
    rest_part: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        least, most = ORDERS
        if not least <= self.order <= most:
            raise ValueError(f"order: given {self.order}, needs an int from {least} to {most}, e.g. order=8")
        if not self.shrink[0] <= self.shrink[-1] < 1.0 < self.growth:
            raise ValueError(f"shrink: given {self.shrink} and growth={self.growth}, needs shrink below 1 < growth")

    @property
    def iteration(self) -> Iteration:
        """What compiled programs read."""
        own = self.most_iterations, self.followed, self.most_followed, self.chosen, self.chosen_after
        return Iteration(*own, self.settled_factor)


def _check(name: str, value: Any, default: Any) -> None:
    """Refuse what is of another kind than the default, or not positive (levels and splits may be 0 or less)."""
    kind = Real if isinstance(default, float) else int
    entries, like = (value, default) if isinstance(default, tuple) else ((value,), (default,))
    kind = int if isinstance(like[0], int) else Real
    good = isinstance(entries, tuple) and len(entries) > 0
    good = good and all(isinstance(entry, kind) and not isinstance(entry, bool) for entry in entries)
    free = name.endswith("_level") or name == "splits"
    if not good or not all(0.0 < float(entry) < float("inf") for entry in entries if not free):
        words = "whole numbers" if kind is int else "numbers"
        raise ValueError(f"{name}: given {value!r}, needs {words} above 0, e.g. {name}={default!r}")
