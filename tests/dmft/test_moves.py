"""The rule of a solve by itself: from every state, whatever the error bars do, it ends within a bound on moves."""

import ast
import itertools
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from flowlimit.dmft import moves
from flowlimit.dmft.moves import BATCH, LAST_LEVEL, MOST_MOVES, REPLICAS, SPLITS, Move, Shortfall, State, choose

PARTS = (0.1, 0.65, 0.85, 1.05, 1e3)
SHORTFALLS = [Shortfall(*parts, math.hypot(*parts)) for parts in itertools.product(PARTS, repeat=3)] + [moves.UNKNOWN]
CORNER = Shortfall(statistical=0.1, bias=0.85, time=0.65, total=math.hypot(0.1, 0.85, 0.65))
"""Where no number of replicas is enough, the bias is small enough not to climb and the time error not to split."""


def moved(state, choice):
    """The state after a move that changes no error bar: the worst that can happen."""
    if choice.move is Move.REPLICATE:
        done = min(state.replicas + BATCH, choice.target)
        return replace(state, replicas=done, target=choice.target)
    fresh = {"replicas": 0, "target": moves.FIRST_LOOK, "unsettled": False}
    if choice.move is Move.SPLIT:
        return replace(state, **fresh, splits=state.splits + 1)
    return replace(state, **fresh, level=state.level + 1)


@cache
def count_moves(state):
    """Moves until the end; a circle would be a recursion without one."""
    choice = choose(state)
    if choice.move is Move.END:
        return 0
    after = moved(state, choice)
    assert after != state, f"{choice} does nothing to {state}"
    assert after.splits <= SPLITS
    assert after.level <= LAST_LEVEL
    return 1 + count_moves(after)


@pytest.mark.parametrize("has_panels", [True, False])
@pytest.mark.parametrize("has_paths", [True, False])
def test_every_state_ends(has_panels, has_paths):
    """Over a grid of shortfalls, replicas, levels, splits, and blocks that do not settle."""
    states = itertools.product(SHORTFALLS, (0, 4, 8, 24), (-1, LAST_LEVEL), (0, SPLITS), (False, True))
    for short, replicas, level, splits, unsettled in states:
        target = max(replicas, moves.FIRST_LOOK)
        state = State(replicas, target, level, splits, short, unsettled, has_panels, has_paths)
        assert count_moves(state) <= MOST_MOVES


def test_the_corner_that_never_ended():
    """With eight replicas one more does not help here: the rule climbs, or splits where it cannot, or ends."""
    state = State(replicas=REPLICAS, target=REPLICAS, short=CORNER)
    assert choose(state).move is Move.CLIMB
    assert choose(replace(state, has_paths=False)).move is Move.END
    worse_in_time = Shortfall(0.1, 0.65, 0.8, math.hypot(0.1, 0.65, 0.8))
    assert choose(replace(state, has_paths=False, short=worse_in_time)).move is Move.SPLIT


def test_what_is_met_ends_and_what_is_hopeless_climbs():
    met = Shortfall(0.5, 0.5, 0.5, math.hypot(0.5, 0.5, 0.5))
    assert choose(State(replicas=4, short=met)).move is Move.END
    biased = Shortfall(1.0, 5.0, 0.0, math.hypot(1.0, 5.0))
    assert choose(State(replicas=4, short=biased)).move is Move.CLIMB
    last = State(replicas=4, short=biased, level=LAST_LEVEL)  # nowhere to go: more replicas at least narrow the bars
    assert (choose(last).move, choose(last).target) == (Move.REPLICATE, REPLICAS)
    wide = Shortfall(1.2, 0.0, 0.0, 1.2)
    assert choose(State(replicas=8, target=8, short=wide)).target == 14


def test_blocks_that_do_not_settle():
    assert choose(State(unsettled=True)).move is Move.SPLIT
    assert choose(State(unsettled=True, has_panels=False)).move is Move.END
    assert choose(State(unsettled=True, splits=SPLITS)).move is Move.END


def test_the_rule_is_without_jax():
    """A short file that imports nothing but plain Python and the standard error's factor."""
    text = Path(moves.__file__).read_text()
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imports}
    assert names == {"enum", "math", "dataclasses", "results.spread"}
    assert len(text.splitlines()) < 200
