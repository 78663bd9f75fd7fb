"""Compiled programs kept between processes: where, for whom, how many, and that the second process finds them."""

import subprocess
import sys
from pathlib import Path

import pytest

from flowlimit import program_cache

QUICK = """
import flowlimit as fl

fl.keep_programs()
print(fl.fixed_point(fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.1, target=fl.Normal())))
"""


def run():
    """Return what a new process prints about a fixed point."""
    return subprocess.run([sys.executable, "-c", QUICK], capture_output=True, text=True, check=True).stdout


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A cache of this test alone; what keep_programs sets is undone."""
    for name in ("jax_compilation_cache_dir", *program_cache.SETTINGS):
        monkeypatch.setenv(name.upper(), "")
        monkeypatch.delenv(name.upper())
    monkeypatch.setenv(program_cache.SWITCH, str(tmp_path / "programs"))
    monkeypatch.setattr(program_cache, "_tell_jax", lambda place: None)
    return tmp_path / "programs"


def test_a_second_process_compiles_nothing(home):
    said = run()
    kept = program_cache.kept_programs()
    assert kept.folder.parent == home
    assert 0 < kept.size < program_cache.MOST_BYTES
    assert (run(), program_cache.kept_programs()) == (said, kept)


def test_folders_tell_processors_and_versions_apart(home, monkeypatch):
    first = program_cache.keep_programs()
    monkeypatch.setattr(program_cache, "processor", lambda: "another")
    second = program_cache.keep_programs()
    monkeypatch.setattr(program_cache, "__version__", "9.9")
    third = program_cache.keep_programs()
    assert len({first, second, third}) == 3
    assert all(place.parent == home for place in (first, second, third))
    assert first.stat().st_mode & 0o777 == 0o700


def test_folders_do_not_pile_up(home, monkeypatch):
    for number in range(program_cache.MOST_FOLDERS + 2):
        monkeypatch.setattr(program_cache, "__version__", f"1.{number}")
        last = program_cache.keep_programs()
    assert len(list(home.iterdir())) == program_cache.MOST_FOLDERS
    assert last.is_dir()


def test_a_folder_that_others_can_write_is_not_used(home):
    program_cache.keep_programs().chmod(0o777)
    with pytest.warns(UserWarning, match="can be written by others"):
        assert program_cache.keep_programs() is None


def test_a_folder_that_cannot_be_made_is_told(home):
    home.write_text("a file")
    with pytest.warns(UserWarning, match="compiled programs are not kept"):
        assert program_cache.keep_programs() is None


def test_it_can_be_turned_off(monkeypatch):
    monkeypatch.setenv(program_cache.SWITCH, "off")
    assert program_cache.keep_programs() is None
    assert program_cache.kept_programs() is None


def test_jaxs_own_variable_decides(monkeypatch, tmp_path):
    monkeypatch.setenv(program_cache.GIVEN, str(tmp_path))
    assert program_cache.keep_programs() == tmp_path
    assert program_cache.keep_programs(tmp_path / "given").parent == tmp_path / "given"


def test_a_program_that_is_damaged_is_compiled_again(home):
    before = run()
    for path in Path(program_cache.kept_programs().folder).glob("*-cache"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert run() == before
