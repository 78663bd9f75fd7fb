"""Compiled programs are dropped near the system's limit on memory maps, and only then."""

import jax
import jax.numpy as jnp
import pytest

from flowlimit.numerics import programs


@pytest.mark.slow
@pytest.mark.skipif(not programs.MAPS.exists(), reason="memory maps are counted on Linux only")
@pytest.mark.parametrize(("allowed", "dropped"), [(2, True), (10**9, False)])
def test_programs_are_dropped_near_the_limit_only(allowed, dropped, tmp_path, monkeypatch):
    (tmp_path / "allowed").write_text(f"{allowed}\n")
    monkeypatch.setattr(programs, "ALLOWED", tmp_path / "allowed")
    compilations = []

    def double(x):
        compilations.append(x)  # seen when it is traced, so not by a program that was kept
        return 2.0 * x

    program = jax.jit(double)
    program(jnp.ones(3))
    assert programs.drop_programs() is dropped
    assert program(jnp.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert len(compilations) == 1 + dropped


def test_nothing_is_done_where_maps_are_not_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "MAPS", tmp_path / "none")
    assert not programs.drop_programs()
