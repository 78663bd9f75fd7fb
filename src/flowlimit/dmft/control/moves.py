"""What a solve does next: the state it is in, its five moves, and the rule that chooses among them.

The rule is a pure function without arrays, so that it can be tested over all states by itself: from every state a solve
ends within `PathSettings.most_moves` moves. The driver looks at the deadline and at the user's stop before every move.
"""

import enum
import math
from dataclasses import dataclass

from ...results.spread import student_factor
from ..settings import PathSettings


class Move(enum.Enum):
    """What a solve can do."""

    REPLICATE = "run more replicas"
    PART = "judge the bias"
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

    ``target`` is the number of replicas that there shall be before error bars are looked at; ``parted`` of them were
    solved with each part of their paths, too, without which the bias is infinite. ``unsettled`` says that a block of
    the newest replicas did not settle. ``has_paths`` says that there is memory for the next level.
    """

    replicas: int = 0
    target: int = 0
    parted: int = 0
    level: int = 0
    splits: int = 0
    short: Shortfall = UNKNOWN
    unsettled: bool = False
    has_paths: bool = True

    def can_split(self, settings: PathSettings) -> bool:
        """Whether panels may be halved; steps may not."""
        return self.splits < settings.splits

    def can_climb(self, settings: PathSettings) -> bool:
        """Whether there is a next level of paths."""
        return self.has_paths and self.level < settings.last_level


@dataclass(frozen=True)
class Choice:
    """A move, and for more replicas or more of them in parts how many there shall be."""

    move: Move
    target: int = 0


STEADY = 1
"""Level of paths from which on equations that do not settle are not for want of paths."""
PAIR = 2
"""A multiple of this many replicas is run: two cores have work."""
DOUBTFUL = 0.5
"""Part of the requested accuracy above which a bias that few replicas tell is asked of more before it costs more."""
SPLIT, CLIMB, END = Choice(Move.SPLIT), Choice(Move.CLIMB), Choice(Move.END)


def choose(settings: PathSettings, state: State) -> Choice:
    """Return what to do next."""
    if state.unsettled:
        return _after_unsettled(settings, state)
    if state.replicas >= min(settings.first_look, state.target) and state.short.total <= 1.0:
        return END  # no more than are needed, whatever was planned
    if state.replicas < state.target:
        return Choice(Move.REPLICATE, state.target)
    if not state.parted:
        return _before_parts(settings, state)
    return (_after_first_look if state.replicas < settings.replicas else _after_all)(settings, state)


def _after_unsettled(settings: PathSettings, state: State) -> Choice:
    """With few paths equations may be unstable at late times, however short the panels. Steps have none to split.

    Below level 0 more paths are tried first: they cost no more than a second try with shorter panels.
    """
    panels = settings.splits > 0
    if panels and state.level < 0 and state.can_climb(settings):
        return CLIMB
    if state.can_split(settings):
        return SPLIT
    return CLIMB if panels and state.level < STEADY and state.can_climb(settings) else END


def _before_parts(settings: PathSettings, state: State) -> Choice:
    """Judge the bias, unless the spread or the panels say already that this is not the answer."""
    if state.short.time > 1.0 and state.can_split(settings):
        return SPLIT
    return CLIMB if _is_too_wide(settings, state) and state.can_climb(settings) else Choice(Move.PART, 1)


def _is_too_wide(settings: PathSettings, state: State) -> bool:
    spread = state.short.statistical / student_factor(state.replicas)
    return spread**2 * state.replicas > settings.hopeless * settings.most_replicas


def _after_first_look(settings: PathSettings, state: State) -> Choice:
    """Leave what cannot be mended by replicas at once, or run as many as it takes: they at least narrow the bars."""
    short, all_replicas = state.short, Choice(Move.REPLICATE, settings.replicas)
    if short.time > 1.0:
        return SPLIT if state.can_split(settings) else all_replicas
    if short.bias > DOUBTFUL and state.parted < settings.parted:
        return Choice(Move.PART, settings.parted)  # what one says may be chance
    hopeless = short.bias > settings.hopeless or _is_too_wide(settings, state)
    if hopeless and state.can_climb(settings):
        return CLIMB
    needed = replicas_needed(settings, state.replicas, short)
    few = state.replicas < needed < settings.replicas
    return Choice(Move.REPLICATE, needed + needed % PAIR) if few else all_replicas


def _after_all(settings: PathSettings, state: State) -> Choice:
    short = state.short
    if short.time > settings.time_part and state.can_split(settings):
        return SPLIT
    needed = replicas_needed(settings, state.replicas, short)
    if short.bias <= settings.bias_part and state.replicas < needed <= settings.most_replicas:
        return Choice(Move.REPLICATE, needed + -needed % settings.batch)
    if DOUBTFUL < short.bias <= settings.hopeless and state.parted < state.replicas:
        return Choice(Move.PART, min(2 * state.parted, state.replicas))  # what a few say of it may be chance
    if state.can_climb(settings):
        return CLIMB
    return SPLIT if short.time > short.bias and state.can_split(settings) else END


def replicas_needed(settings: PathSettings, done: int, short: Shortfall) -> int:
    """Return how many replicas bring the spread down to what the bias and the time error leave; one too many if none.

    Student's factor is that of so many replicas.

    Examples
    --------
    >>> replicas_needed(PathSettings(), 8, Shortfall(statistical=1.2, bias=0.0, time=0.0, total=1.2))
    11
    """
    room = max(1.0 - short.bias**2 - short.time**2, settings.spread_room)
    known = settings.spread_margin * done * (short.statistical / student_factor(done)) ** 2 / room
    enough = (count for count in range(done, settings.most_replicas + 1) if known * student_factor(count) ** 2 <= count)
    return next(enough, settings.most_replicas + 1)
