"""Progress of long work: nothing, a bar, or the caller's own function, which may end the work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = bool | Callable[[float, str], Any]


@contextmanager
def reporter(progress: Progress, title: str) -> Iterator[Callable[[float, str], Any]]:
    """Yield a function ``(fraction, message)``; the work ends early if it returns True."""
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress: given {progress!r:.200}, needs True, False or a function (fraction, message)")
    if callable(progress):
        yield progress
    elif progress:
        from rich.progress import Progress as Bar  # slow to import

        with Bar(transient=True) as bar:
            task = bar.add_task(title, total=1.0)
            yield lambda fraction, message: bar.update(task, completed=fraction, description=f"{title}: {message}")
    else:
        yield lambda fraction, message: None
