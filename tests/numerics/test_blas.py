"""Threads of linear algebra: one while somebody asks for it, all after that."""

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits

import flowlimit as fl
from flowlimit.dmft.control import replicas
from flowlimit.numerics.blas import one_thread_each

MOVABLE = set()
"""Libraries that can have two threads; other tests may have loaded one that always has one."""


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["filepath"] in MOVABLE}


@pytest.fixture(autouse=True)
def _two_threads():
    scipy.linalg.det(np.eye(2))
    with threadpool_limits(2, user_api="blas"):
        MOVABLE.clear()
        MOVABLE.update(
            pool["filepath"] for pool in threadpool_info() if pool["user_api"] == "blas" and pool["num_threads"] == 2
        )
        yield


def test_the_last_one_sets_threads_free():
    first, second = one_thread_each(), one_thread_each()
    first.__enter__()
    second.__enter__()
    assert threads() == {1}
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == {2}


def test_an_error_sets_threads_free():
    with pytest.raises(ZeroDivisionError), one_thread_each():
        _ = 1 / 0
    assert threads() == {2}


def test_a_limit_is_solved_with_one_thread_per_replica(monkeypatch):
    seen, march = [], replicas.march

    def watched(*args):
        seen.append(threads())
        return march(*args)

    monkeypatch.setattr(replicas, "march", watched)
    task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    fl.solve_dmft(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=3))
    assert seen
    assert all(own == {1} for own in seen)
    assert threads() == {2}
