"""Folders are replaced whole: at every moment the old one or the new one has the name."""

import subprocess
import sys
from pathlib import Path

import pytest

from flowlimit.numerics import disk


def put(text):
    return lambda folder: (folder.mkdir(), (folder / "text").write_text(text))


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_is_replaced(tmp_path, monkeypatch, exchanges):
    """Also where two names cannot change places."""
    if not exchanges:
        monkeypatch.setattr(disk, "_exchange", lambda one, other: False)
    for text in ("old", "new"):
        disk.write_folder(tmp_path / "a", put(text))
        assert (tmp_path / "a" / "text").read_text() == text
        disk.check_folder(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux lets two names change places")
def test_one_of_two_is_there_at_every_moment(tmp_path):
    """A process that is killed at its first rename, or at any later one: its folder is whole."""
    program = """
import os, pathlib, sys
from flowlimit.numerics import disk
put = lambda text: lambda folder: (folder.mkdir(), (folder / "text").write_text(text))
disk.write_folder(pathlib.Path(sys.argv[1]), put("old"))
pathlib.Path.rename = lambda self, other: os._exit(9)
disk.write_folder(pathlib.Path(sys.argv[1]), put("new"))
"""
    folder = tmp_path / "a"
    assert subprocess.run([sys.executable, "-c", program, str(folder)], check=False).returncode == 0
    disk.check_folder(folder)
    assert (folder / "text").read_text() == "new"


def test_a_folder_that_cannot_be_filled_leaves_the_old_one(tmp_path):
    disk.write_folder(tmp_path / "a", put("old"))

    def fails(folder: Path):
        folder.mkdir()
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        disk.write_folder(tmp_path / "a", fails)
    assert (tmp_path / "a" / "text").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
