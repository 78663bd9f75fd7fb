"""A disk that loses what was not synced: a model of what is left of a folder when the machine's power goes.

A file has the data it had when it was last synced, a folder the names it had then. Everything else is gone.
"""

import os
from pathlib import Path


class PowerLost(BaseException):
    """The machine is off."""


class Disk:
    """Listens to `os.fsync`, and ends everything at one of its calls."""

    def __init__(self, last: int) -> None:
        self.last, self.calls = last, 0
        self.data: dict[int, bytes] = {}
        self.names: dict[int, dict[str, int]] = {}
        self.real = os.fsync

    def fsync(self, handle: int) -> None:
        self.calls += 1
        if self.calls > self.last:
            raise PowerLost
        self.real(handle)
        path, inode = Path(os.readlink(f"/proc/self/fd/{handle}")), os.fstat(handle).st_ino
        if path.is_dir():
            self.names[inode] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self.data[inode] = path.read_bytes()

    def restore(self, folder: Path, into: Path) -> None:
        """Write what is left of a folder to another one."""
        into.mkdir()
        self._write(folder.stat().st_ino, into)

    def _write(self, inode: int, into: Path) -> None:
        for name, own in self.names.get(inode, {}).items():
            if own in self.names:
                (into / name).mkdir()
                self._write(own, into / name)
            else:
                (into / name).write_bytes(self.data.get(own, b""))
