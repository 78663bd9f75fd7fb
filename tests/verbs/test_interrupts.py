"""Ctrl-C and SIGTERM: what there is so far comes back, and a second Ctrl-C ends at once."""

import os
import signal
import threading
import time

import pytest

import flowlimit as fl
from flowlimit.verbs.interrupts import heeded

LONG = fl.GradientDescent(0.01, num_steps=2_000_000)
SAVES = range(0, 20_001, 200)


@pytest.fixture(autouse=True)
def as_in_a_terminal():
    """Ctrl-C raises; a shell that starts the tests in the background has it ignored, and so would we."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def later(*signals, after=0.2):
    """Send signals to this process once somebody heeds them, one after the other."""

    def send():
        while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            time.sleep(0.01)
        for number in signals:
            time.sleep(after)
            os.kill(os.getpid(), number)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_runs_come_back_as_far_as_they_got(task, number):
    fl.simulate(fl.Linear(), task, LONG, dim=50, trials=2, save_at=SAVES, progress=lambda *_: True)  # compiles
    sender, began = later(number), time.perf_counter()
    runs = fl.simulate(fl.Linear(), task, LONG, dim=50, trials=2, save_at=SAVES, progress=False)
    sender.join()
    assert time.perf_counter() - began < 20.0
    assert runs.result.code is fl.Code.STOPPED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_second_one_ends_at_once():
    sender = later(signal.SIGINT, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), heeded() as wish:
        time.sleep(10.0)
    sender.join()
    assert wish.made


def test_handlers_of_a_program_stay():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with heeded() as wish:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        assert seen == [1]
        assert not wish.made
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads_leave_signals_alone(task):
    done = []
    steps = fl.GradientDescent(0.1, num_steps=5)
    work = lambda: done.append(fl.simulate(fl.Linear(), task, steps, dim=20, trials=1))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done[0].result.code is fl.Code.SUCCESSFUL


def test_a_sweep_is_ended_at_once_and_keeps_its_blocks(task, tmp_path):
    def verb(model, task, *, x):
        if x == 3.0:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5.0)
        return x

    def again(model, task, *, x):
        return x

    over, path = {"x": [0.0, 1.0, 2.0, 3.0, 4.0]}, tmp_path / "a.zarr"
    with pytest.raises(KeyboardInterrupt):
        fl.sweep(verb, fl.Linear(), task, over=over, store=path, block_size=1)
    assert fl.open_sweep(path).missing == 2
