"""Compiled programs on disk: a later process finds them, and no wrong one."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from flowlimit.numerics import kept
from flowlimit.numerics.compiling import compiled
from flowlimit.numerics.kept import ENDING, Call, forget, kept_program
from flowlimit.numerics.kinds import UnknownKindError
from flowlimit.numerics.programs import clear_programs

LIMIT = """
import sys
import jax
import flowlimit as fl

traced = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, seconds, **_: traced.append(seconds) if name.endswith("jaxpr_trace_duration") else None
)

class Own(fl.DiagonalLinear):
    def weight(self, t, theta):
        return FACTOR * fl.DiagonalLinear.weight(self, t, theta)

model = Own(0.3, weight_decay=0.1) if FACTOR else fl.DiagonalLinear(0.3)
fl.keep_programs(sys.argv[1])
task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
limit = fl.solve_dmft(model, task, fl.GradientDescent(0.1, num_steps=3), rtol=0.3, throw=False)
print(limit.train_error.tolist(), sum(traced) if FACTOR == 0 else "")
"""


def run(folder, factor=0):
    kept_variables = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "FLOWLIMIT_"))}
    code = LIMIT.replace("FACTOR", str(factor))
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True, env=kept_variables
    )
    errors, seconds = done.stdout.rsplit(" ", 1)
    return errors, seconds.strip()


def files(folder):
    return sorted(folder.rglob(f"*{ENDING}"))


def test_a_second_process_traces_nothing_large(tmp_path):
    errors, first = run(tmp_path)
    known = files(tmp_path)
    again, second = run(tmp_path)
    assert (again, files(tmp_path)) == (errors, known)  # bit by bit
    assert len(known) >= 3
    assert float(second) < 0.3 * float(first)
    for path in known:  # damaged: made again
        path.write_bytes(path.read_bytes()[:-100])
    assert run(tmp_path)[0] == errors


def test_a_model_of_the_users_is_not_kept(tmp_path):
    """Its methods may change under the same name."""
    one = run(tmp_path, factor=1.0)
    assert not any(b"advance_blocks" in path.read_bytes() for path in files(tmp_path))
    assert run(tmp_path, factor=2.0) != one


def doubled(x, *, times):
    return {"twice": 2 * x, "said": times}


doubled.__module__ = "flowlimit.tests"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv(kept.PROGRAMS, str(tmp_path))
    monkeypatch.setattr(kept, "_PROGRAMS", {})
    return tmp_path


def test_results_that_are_no_arrays(folder):
    for _ in range(2):  # made, then read
        call = Call(doubled, ((np.arange(3.0),), {"times": "two"}), donate=False)
        found = kept_program(call, dict)(call)
        np.testing.assert_array_equal(found["twice"], [0.0, 2.0, 4.0])
        assert found["said"] == "two"
        kept._PROGRAMS.clear()
    assert len(files(folder)) == 1


def test_other_settings_are_another_kind(folder):
    for precision in ("float32", "highest"):
        with jax.default_matmul_precision(precision):
            assert kept_program(Call(doubled, ((jnp.zeros(2),), {"times": 1}), donate=False), dict)
    assert len(files(folder)) == 2


def test_other_versions_are_another_kind(folder, monkeypatch):
    for number in ("1", "2"):
        monkeypatch.setattr(kept, "_versions", lambda own=number: own)
        kept._PROGRAMS.clear()
        assert kept_program(Call(doubled, ((jnp.zeros(2),), {"times": 1}), donate=False), dict)
    assert len(files(folder)) == 2


def test_another_processor_is_another_kind(folder, monkeypatch):
    """A folder may be inherited by a job on another kind of node: machine code for more than it has ends a process."""
    for name in ("one", "another"):
        monkeypatch.setattr(kept, "processor", lambda own=name: own)
        kept._PROGRAMS.clear()
        assert kept_program(Call(doubled, ((jnp.zeros(2),), {"times": 1}), donate=False), dict)
    assert len(files(folder)) == 2


def test_files_do_not_pile_up(folder, monkeypatch):
    for size in range(1, 7):
        if size == 2:
            monkeypatch.setattr(kept, "MOST_BYTES", int(3.5 * files(folder)[0].stat().st_size))
        assert kept_program(Call(doubled, ((jnp.zeros(size),), {"times": 1}), donate=False), dict)
    assert len(files(folder)) == 3


def test_nothing_is_kept_unless_asked_for(monkeypatch, folder):
    monkeypatch.delenv(kept.PROGRAMS)
    assert kept_program(Call(doubled, ((jnp.zeros(2),), {"times": 1}), donate=False), dict) is None
    assert not files(folder)


def test_a_folder_that_others_can_write_is_not_read(folder):
    """Whoever can plant a file there could run code here, also if the variable was set without our check."""
    folder.chmod(0o777)
    assert kept_program(Call(doubled, ((jnp.zeros(2),), {"times": 1}), donate=False), dict) is None
    assert not files(folder)


def test_what_fails_is_left_to_the_usual_way(folder):
    def fails(x):
        raise ValueError("no")

    fails.__module__, fails.__qualname__ = "flowlimit.tests", "fails"
    assert kept_program(Call(fails, ((jnp.zeros(2),), {}), donate=False), dict) is None
    assert not files(folder)


def drawn(key, times):
    """A number for each key, and the next key."""
    first, second = jax.random.split(key)
    return times * jax.random.normal(first, (2,)), second


def test_keys_among_arguments_and_results(folder, monkeypatch):
    """Kept as their numbers: what is read from the folder draws the same, and another generator is another kind."""
    monkeypatch.setattr(drawn, "__module__", "flowlimit.tests")
    key, other = jax.random.key(0), jax.random.key(0, impl="rbg")
    numbers, following = drawn(key, 2.0)
    for _ in range(2):
        call = Call(drawn, ((key, 2.0), {}), donate=False)
        found = kept_program(call, dict)(call)
        np.testing.assert_array_equal(found[0], numbers)
        assert found[1] == following
        forget()
    assert len(files(folder)) == 1
    call = Call(drawn, ((other, 2.0), {}), donate=False)
    np.testing.assert_array_equal(kept_program(call, dict)(call)[0], drawn(other, 2.0)[0])
    assert len(files(folder)) == 2


def test_a_lambda_has_no_kind():
    with pytest.raises(UnknownKindError):
        _ = Call(lambda x: x, ((jnp.zeros(2),), {}), donate=False).kind


def test_kept_programs_are_compiled_ahead(folder, traced):
    """With arrays like results of theirs, which are bound to a device: others would be another program."""
    program = compiled(doubled)
    like = program.blank(jnp.zeros(3), times=1)
    assert (like["twice"].tolist(), like["said"]) == ([0.0] * 3, 1)
    first = program(jnp.ones(3), times=1)
    program.ahead(like["twice"], times=1)
    assert not traced(lambda: program(first["twice"], times=1))
    assert len(files(folder)) == 1


ROOT = """
import jax.numpy as jnp
from flowlimit.numerics.kept import Call, kept_program

def root(x):
    return jnp.linalg.cholesky(x)

root.__module__ = "flowlimit.tests"
call = Call(root, ((4.0 * jnp.eye(2),), {}), donate=False)
print(kept_program(call, dict)(call).tolist())
"""


def test_a_factorisation_is_found_by_a_process_that_lowers_none(folder):
    """A program alone does not load what its factorisations call: the process would end with a segmentation fault."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", ROOT], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "[[2.0, 0.0], [0.0, 2.0]]\n"), done.stderr
    assert len(files(folder)) == 1


def called_back(x):
    return jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


called_back.__module__ = "flowlimit.tests"


def test_a_program_that_calls_this_process_is_not_written(folder):
    call = Call(called_back, ((jnp.ones(2),), {}), donate=False)
    np.testing.assert_array_equal(kept_program(call, dict)(call), [1.0, 1.0])
    assert not files(folder)


def test_programs_that_are_dropped_are_read_again(folder):
    call = Call(doubled, ((jnp.zeros(2),), {"times": 1}), donate=False)
    first = kept_program(call, dict)
    assert kept_program(call, dict) is first
    clear_programs()
    assert kept_program(call, dict) is not first
    assert len(files(folder)) == 1


def test_what_was_read_from_jaxs_cache_is_not_written(folder):
    """A program that jax has read is without its code when it is written again: a later process could not run it."""
    variables = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(folder),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    code = ROOT.replace("jnp.linalg.cholesky(x)", "2.0 * jnp.sin(x) * jnp.cumsum(x, axis=0)")
    said = set()
    for process in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables)
        said.add(done.stdout)
        assert len(files(folder)) == (process == 0)
        for path in files(folder):
            path.unlink()  # so that the next process makes it again, of what jax has kept
    assert len(said) == 1
