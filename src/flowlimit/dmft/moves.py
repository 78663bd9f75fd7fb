"""What a solve does next: the state it is in, its four moves, and the rule that chooses among them.

The rule is a pure function without arrays, so that it can be tested over all states by itself: from every state a solve
ends within `MOST_MOVES` moves. The driver looks at the deadline and at the user's stop before every move.
"""

import enum
import math
from dataclasses import dataclass

from ..results.spread import student_factor

FIRST_LOOK = 4
"""Replicas after which error bars are looked at for the first time."""
REPLICAS, MOST_REPLICAS = 8, 24
"""Replicas that an answer has, unless the first look was enough; and the most that a spread is reduced by."""
BATCH = 2
"""Replicas that one move adds at least."""
FIRST_LEVEL, LAST_LEVEL = -1, 3
"""Levels of paths: each has four times as many as the one before."""
SPLITS = 6
"""How often panels may be split after the pilot."""
HOPELESS = 2.0
"""Excess over the most replicas, or over the bias allowed, at which a first look is enough for the next level."""
TIME_PART, BIAS_PART = 0.7, 0.9
"""Parts of the accuracy asked for above which a time error needs shorter panels, and a bias more paths."""
ROOM, MARGIN = 0.1, 1.1
"""Least part of the squared accuracy that is left to the spread, and what the replicas needed are multiplied by."""


class Move(enum.Enum):
    """What a solve can do."""

    REPLICATE = "run more replicas"
    SPLIT = "halve panels"
    CLIMB = "take more paths"
    END = "end"


@dataclass(frozen=True)
class Shortfall:
    """By which factor each part of the error exceeds what was asked for, at worst; below 1 all is well."""

    statistical: float
    bias: float
    time: float
    total: float


UNKNOWN = Shortfall(math.inf, math.inf, math.inf, math.inf)
"""Before there are error bars."""


@dataclass(frozen=True)
class State:
    """What the rule sees of a solve.

    ``target`` is the number of replicas that there shall be before error bars are looked at. ``unsettled`` says that a
    block of the newest replicas did not settle. ``has_panels`` says that time can be resolved better, ``has_paths``
    that there is memory for the next level.
    """

    replicas: int = 0
    target: int = FIRST_LOOK
    level: int = 0
    splits: int = 0
    short: Shortfall = UNKNOWN
    unsettled: bool = False
    has_panels: bool = True
    has_paths: bool = True

    @property
    def can_split(self) -> bool:
        """Whether panels may be halved."""
        return self.has_panels and self.splits < SPLITS

    @property
    def can_climb(self) -> bool:
        """Whether there is a next level of paths."""
        return self.has_paths and self.level < LAST_LEVEL


@dataclass(frozen=True)
class Choice:
    """A move, and for more replicas how many there shall be."""

    move: Move
    target: int = 0


SPLIT, CLIMB, END = Choice(Move.SPLIT), Choice(Move.CLIMB), Choice(Move.END)
MOST_MOVES = (1 + SPLITS + LAST_LEVEL - FIRST_LEVEL) * (MOST_REPLICAS // BATCH + 1)
"""Between two of the splits and climbs lie replicas, which come at least two at a time."""


def choose(state: State) -> Choice:
    """Return what to do next."""
    if state.unsettled:
        return SPLIT if state.can_split else END
    if state.replicas < state.target:
        return Choice(Move.REPLICATE, state.target)
    if state.short.total <= 1.0:
        return END
    return _after_first_look(state) if state.replicas < REPLICAS else _after_all(state)


def _after_first_look(state: State) -> Choice:
    """Leave what cannot be mended by replicas at once, or run them all: they at least narrow the bars."""
    short = state.short
    if short.time > 1.0:
        return SPLIT if state.can_split else Choice(Move.REPLICATE, REPLICAS)
    spread = short.statistical / student_factor(state.replicas)
    hopeless = short.bias > HOPELESS or spread**2 * state.replicas > HOPELESS * MOST_REPLICAS
    return CLIMB if hopeless and state.can_climb else Choice(Move.REPLICATE, REPLICAS)


def _after_all(state: State) -> Choice:
    short = state.short
    if short.time > TIME_PART and state.can_split:
        return SPLIT
    needed = replicas_needed(state.replicas, short)
    if short.bias <= BIAS_PART and state.replicas < needed <= MOST_REPLICAS:
        return Choice(Move.REPLICATE, needed + needed % BATCH)
    if state.can_climb:
        return CLIMB
    return SPLIT if short.time > short.bias and state.can_split else END


def replicas_needed(done: int, short: Shortfall) -> int:
    """Return how many replicas bring the spread down to what the bias and the time error leave; one too many if none.

    Examples
    --------
    >>> replicas_needed(8, Shortfall(statistical=1.2, bias=0.0, time=0.0, total=1.2))
    13
    """
    room = max(1.0 - short.bias**2 - short.time**2, ROOM)
    needed = MARGIN * done * short.statistical**2 / room
    return math.ceil(needed) if needed <= MOST_REPLICAS else MOST_REPLICAS + 1
