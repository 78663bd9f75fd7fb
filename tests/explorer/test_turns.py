"""The queue over all sessions: bounded, in order, left by who no longer waits; programs go when nobody computes."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

pytest.importorskip("panel")

import jax

from flowlimit.explorer import answers, room
from flowlimit.explorer.changes import Changes
from flowlimit.explorer.inputs import Inputs
from flowlimit.explorer.room import Room
from flowlimit.explorer.turns import Turns
from flowlimit.explorer.worker import Worker
from flowlimit.numerics import programs

NEVER = lambda: False


class Busy:
    """Counts who computes at the same time."""

    def __init__(self):
        self.now, self.most, self.lock = 0, 0, threading.Lock()

    def compute(self):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now -= 1


def test_one_computes_in_each_line_in_order():
    turns, busy, order = Turns(Room()), {"quick": Busy(), "slow": Busy()}, []

    def work(number):
        line = "slow" if number % 2 else "quick"
        with turns.turn(line, NEVER) as mine:
            assert mine
            order.append(number)
            busy[line].compute()

    with ThreadPoolExecutor(10) as pool, turns.turn("slow", NEVER), turns.turn("quick", NEVER):
        for number in range(10):
            pool.submit(work, number)
            time.sleep(0.03)
        assert order == []
    assert len(order) == 10
    assert [number for number in order if number % 2] == [1, 3, 5, 7, 9]
    assert [number for number in order if not number % 2] == [0, 2, 4, 6, 8]
    assert (busy["quick"].most, busy["slow"].most) == (1, 1)


@pytest.mark.parametrize("seconds", [0.2, 60.0])
def test_what_may_take_long_gives_way(monkeypatch, seconds):
    """It begins when nobody waits for something quick, or after some seconds: with many users somebody always does."""
    monkeypatch.setattr("flowlimit.explorer.turns.GIVES_WAY", seconds)
    turns, order = Turns(Room()), []

    def slow():
        with turns.turn("slow", NEVER):
            order.append("slow")

    with ThreadPoolExecutor(1) as pool, turns.turn("quick", NEVER):
        pool.submit(slow)
        time.sleep(1.0)
        order.append("quick")
    assert order == (["slow", "quick"] if seconds < 1.0 else ["quick", "slow"])


def test_who_no_longer_waits_leaves_the_line():
    turns, gone, told = Turns(Room()), threading.Event(), []
    with ThreadPoolExecutor(1) as pool, turns.turn("slow", NEVER):

        def wait():
            with turns.turn("slow", gone.is_set, told.append) as mine:
                return mine

        waiting = pool.submit(wait)
        while not told:
            time.sleep(0.01)
        assert turns.share("slow", 60.0, 10.0) == 30.0
        gone.set()
        assert waiting.result(5.0) is False
        assert turns.share("slow", 60.0, 10.0) == 60.0
    assert told == [1]


def test_programs_are_dropped_when_nobody_computes(monkeypatch):
    """Also not by the verbs themselves, which drop programs near the limit on memory maps."""
    cleared, computing = [], []
    monkeypatch.setattr(room, "MOST_SHAPES", 1)
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(list(computing)))
    own = Room()
    turns = Turns(own)

    def work(number):
        with turns.turn("slow" if number % 2 else "quick", NEVER):
            computing.append(number)
            own.note((number, 1, 2))
            assert not programs.drop_programs()
            time.sleep(0.01)
            computing.remove(number)

    monkeypatch.setattr(programs, "are_many", lambda: True)
    monkeypatch.setattr(room, "are_many", lambda: False)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(30)))
    assert cleared
    assert all(others == [] for others in cleared)
    assert programs.drop_programs()  # outside of a turn as ever


def test_programs_are_dropped_when_memory_has_grown(monkeypatch):
    """And only once for each growth: what is held after it is not of programs."""
    held, cleared = [1e9], []
    monkeypatch.setattr(room, "resident_bytes", lambda: held[0])
    monkeypatch.setattr(room, "are_many", lambda: False)
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(held[0]))
    own = Room()
    turns = Turns(own)
    for now in (1.5e9, 2.0e9, 2.2e9, 2.2e9, 3.0e9, 3.3e9):
        held[0] = now
        with turns.turn("quick", NEVER) as mine:
            assert mine
    assert cleared == [2.2e9, 3.3e9]


def test_runs_do_not_clear_programs_themselves(monkeypatch):
    """Runs of a new shape noted that there are many, and cleared the programs that others were using."""
    cleared = []
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(1))
    monkeypatch.setattr(answers, "ROOM", Room())
    monkeypatch.setattr(answers, "simulate", lambda *given, **more: 1 / 0)  # no runs are needed here
    for scale in range(60):
        with pytest.raises(ZeroDivisionError):
            answers.runs_of(Inputs(aspect_ratio=0.1 + 0.04 * scale), NEVER)
    assert not cleared


def test_who_waits_for_a_turn_is_told(monkeypatch):
    words, answered = [], threading.Event()
    monkeypatch.setattr("flowlimit.explorer.worker.coarse_limit", lambda inputs, stop: answered.set())
    monkeypatch.setattr("flowlimit.explorer.worker.theory_of", lambda inputs: None)
    monkeypatch.setattr("flowlimit.explorer.worker.QUIET", 100.0)
    worker = Worker(lambda inputs, name, found: words.append((name, found)))
    with answers.TURNS.turn("quick", NEVER):
        worker.ask(Inputs())
        while not words:
            time.sleep(0.01)
        assert not answered.is_set()
    assert answered.wait(5.0)
    worker.end()
    assert words[:2] == [("waiting", "waiting for a turn: 1 of other pages first ..."), ("waiting", "solving ...")]


def test_a_page_that_comes_back_is_answered(monkeypatch):
    """Nothing is computed while nobody sees the page; a request that was stopped by that is taken up again."""
    seen, asked, stopped = threading.Event(), threading.Semaphore(0), threading.Event()

    def compute(inputs, stop):
        asked.release()
        while not stop() and not stopped.is_set():
            time.sleep(0.01)
        stopped.set()

    monkeypatch.setattr("flowlimit.explorer.worker.coarse_limit", compute)
    monkeypatch.setattr("flowlimit.explorer.worker.theory_of", lambda inputs: None)
    monkeypatch.setattr("flowlimit.explorer.worker.QUIET", 100.0)
    parts = []
    worker = Worker(lambda inputs, name, found: parts.append(name), seen.is_set)
    worker.ask(Inputs())
    assert not asked.acquire(timeout=0.5)
    seen.set()
    assert asked.acquire(timeout=5.0)
    seen.clear()
    assert stopped.wait(5.0)
    assert parts == []
    seen.set()
    assert asked.acquire(timeout=5.0)
    while "theory" not in parts:
        time.sleep(0.01)
    worker.end()
    assert parts == ["limit", "theory"]


def test_a_session_that_is_being_ended_is_not_seen():
    """It loses its context first: its worker began to compute once more."""
    changes = Changes()
    assert changes.are_seen()  # no server
    changes._served, changes._document = True, SimpleNamespace(session_context=None)
    assert not changes.are_seen()
    for count in (0, 1):
        session = SimpleNamespace(connection_count=count)
        changes._document = SimpleNamespace(session_context=SimpleNamespace(session=session))
        assert changes.are_seen() == bool(count)
