"""The rule of a solve by itself: from every state, whatever the error bars do, it ends within a bound on moves."""

import ast
import itertools
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from flowlimit.dmft.control import moves
from flowlimit.dmft.control.moves import Move, Shortfall, State, choose
from flowlimit.dmft.settings import PanelSettings, StepSettings

PANELS, STEPS = PanelSettings(), StepSettings()
PARTS = (0.1, 0.65, 0.85, 1.05, 1e3)
SHORTFALLS = [Shortfall(*parts, math.hypot(*parts)) for parts in itertools.product(PARTS, repeat=3)] + [moves.UNKNOWN]
CORNER = Shortfall(statistical=0.1, bias=0.85, time=0.65, total=math.hypot(0.1, 0.85, 0.65))
"""Where no number of replicas is enough, the bias is small enough not to climb and the time error not to split."""


def moved(settings, state, choice):
    """The state after a move that changes no error bar: the worst that can happen."""
    if choice.move is Move.REPLICATE:
        done = min(state.replicas + settings.batch, choice.target)
        return replace(state, replicas=done, target=choice.target)
    if choice.move is Move.PART:
        assert choice.target <= state.replicas
        return replace(state, parted=choice.target)
    fresh = {"replicas": 0, "target": settings.first_look, "unsettled": False, "parted": 0}
    if choice.move is Move.SPLIT:
        return replace(state, **fresh, splits=state.splits + 1)
    return replace(state, **fresh, level=state.level + 1)


@cache
def count_moves(settings, state):
    """Moves until the end; a circle would be a recursion without one."""
    choice = choose(settings, state)
    if choice.move is Move.END:
        return 0
    after = moved(settings, state, choice)
    assert after != state, f"{choice} does nothing to {state}"
    assert after.splits <= max(settings.splits, state.splits)
    assert after.level <= settings.last_level
    return 1 + count_moves(settings, after)


@pytest.mark.parametrize("settings", [PANELS, STEPS, PanelSettings(replicas=4, most_replicas=9, batch=3, splits=1)])
@pytest.mark.parametrize("has_paths", [True, False])
def test_every_state_ends(settings, has_paths):
    """Over a grid of shortfalls, replicas, levels, splits, and blocks that do not settle."""
    states = itertools.product(
        SHORTFALLS, (0, 4, 8, 24), (0, 2, 4), (-1, settings.last_level), (0, settings.splits), (False, True)
    )
    for short, replicas, parted, level, splits, unsettled in states:
        target = max(replicas, settings.first_look)
        state = State(replicas, target, min(parted, replicas), level, splits, short, unsettled, has_paths)
        assert count_moves(settings, state) <= settings.most_moves


def test_the_corner_that_never_ended():
    """With eight replicas one more does not help here: the rule climbs, or splits where it cannot, or ends."""
    state = State(replicas=8, target=8, parted=8, short=CORNER)
    assert choose(PANELS, state).move is Move.CLIMB
    assert choose(PANELS, replace(state, has_paths=False)).move is Move.END
    worse_in_time = Shortfall(0.1, 0.65, 0.8, math.hypot(0.1, 0.65, 0.8))
    assert choose(PANELS, replace(state, has_paths=False, short=worse_in_time)).move is Move.SPLIT


def test_what_is_met_ends_and_what_is_hopeless_climbs():
    met = Shortfall(0.5, 0.5, 0.5, math.hypot(0.5, 0.5, 0.5))
    assert choose(PANELS, State(replicas=4, parted=2, short=met)).move is Move.END
    assert choose(PANELS, State(replicas=6, target=8, parted=2, short=met)).move is Move.END  # fewer than were planned
    assert choose(PANELS, State(replicas=2, target=4, short=met)).move is Move.REPLICATE  # too few to tell
    assert (
        choose(STEPS, State(replicas=2, target=2, parted=1, short=met)).move is Move.END
    )  # a quick look that was enough
    biased = Shortfall(1.0, 5.0, 0.0, math.hypot(1.0, 5.0))
    assert choose(PANELS, State(replicas=4, parted=2, short=biased)).move is Move.CLIMB
    last = State(replicas=4, parted=2, short=biased, level=3)  # nowhere to go: more replicas at least narrow the bars
    assert choose(PANELS, last) == moves.Choice(Move.REPLICATE, PANELS.replicas)
    wide = Shortfall(1.2, 0.0, 0.0, 1.2)
    # 1.1 * 8 * 1.2^2 replicas with the factor of 8; that of more is smaller: 11, in batches of two
    assert choose(PANELS, State(replicas=8, target=8, parted=2, short=wide)).target == 12


def test_the_bias_is_judged_before_an_answer_and_again_before_a_climb():
    """Parts cost a share of what more paths do: what one replica says of a bias may be chance, and is asked of two."""
    unknown = Shortfall(0.5, math.inf, 0.1, math.inf)
    assert choose(PANELS, State(replicas=4, target=4, short=unknown)) == moves.Choice(Move.PART, 1)
    told = State(replicas=4, target=4, parted=1, short=Shortfall(1.1, 0.6, 0.1, math.hypot(1.1, 0.6, 0.1)))
    assert choose(PANELS, told) == moves.Choice(Move.PART, PANELS.parted)
    assert choose(PANELS, replace(told, short=Shortfall(0.7, 0.6, 0.1, 0.93))).move is Move.END  # that will do
    assert choose(PANELS, replace(told, short=Shortfall(1.1, 5.0, 0.1, 5.2))).move is Move.PART  # before a climb, too
    hopeless = replace(unknown, statistical=50.0)  # whatever the bias
    assert choose(PANELS, State(replicas=4, target=4, short=hopeless)).move is Move.CLIMB
    doubtful = State(replicas=8, target=8, parted=2, short=Shortfall(0.5, 1.5, 0.1, math.hypot(0.5, 1.5, 0.1)))
    assert choose(PANELS, doubtful) == moves.Choice(Move.PART, 4)
    assert choose(PANELS, replace(doubtful, parted=8)).move is Move.CLIMB


def test_after_the_first_look_come_as_many_replicas_as_it_takes():
    """With four of them the factor on the spread is 3.1, with six 1.8."""
    look = lambda spread: choose(
        PANELS, State(replicas=4, target=4, parted=1, short=Shortfall(spread, 0.1, 0.0, spread))
    )
    assert look(1.1) == moves.Choice(Move.REPLICATE, 6)
    assert look(3.0) == moves.Choice(Move.REPLICATE, PANELS.replicas)  # more of them would be a guess


def test_blocks_that_do_not_settle():
    assert choose(PANELS, State(unsettled=True, level=-1)).move is Move.CLIMB  # cheaper than shorter panels
    assert choose(PANELS, State(unsettled=True)).move is Move.SPLIT
    assert choose(STEPS, State(unsettled=True)).move is Move.END
    assert choose(PANELS, State(unsettled=True, splits=PANELS.splits)).move is Move.CLIMB  # few paths may be the reason
    assert choose(PANELS, State(unsettled=True, splits=PANELS.splits, level=1)).move is Move.END
    assert choose(PANELS, State(unsettled=True, splits=PANELS.splits, has_paths=False)).move is Move.END


def test_the_rule_is_without_jax():
    """A short file that imports nothing but plain Python, its numbers and the standard error's factor."""
    text = Path(moves.__file__).read_text()
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports}
    assert names == {"enum", "math", "dataclasses", "results.spread", "settings"}
    assert len(text.splitlines()) < 200
