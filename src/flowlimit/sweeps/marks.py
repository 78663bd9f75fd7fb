"""Marks of blocks that are done: small files, each with a checksum of what it says."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..numerics.disk import put_text


def put_mark(path: Path, mark: Mapping[str, Any]) -> None:
    """Write a mark, whole or not at all."""
    put_text(path, json.dumps({**mark, "sum": _sum(mark)}))


def read_mark(path: Path) -> dict[str, Any] | None:
    """Return a mark that is as it was written, else None."""
    try:
        mark = json.loads(path.read_text())
        own = mark.pop("sum")
        return mark if own == _sum(mark) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _sum(mark: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(mark, sort_keys=True).encode())
