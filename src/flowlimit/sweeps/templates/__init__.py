"""Job scripts and manifests for clusters, to copy and change: ``flowlimit template NAME`` prints one.

They are files of this folder. The tests submit these files to a scheduler, or validate them.
"""

from importlib.resources import files


def names() -> list[str]:
    """Return the names of all templates.

    Examples
    --------
    >>> "slurm_array.sh" in names()
    True
    """
    here = files(__name__).iterdir()
    return sorted(entry.name for entry in here if entry.is_file() and not entry.name.startswith(("_", ".")))


def read(name: str) -> str:
    """Return the text of a template.

    Examples
    --------
    >>> read("slurm_array.sh").splitlines()[0]
    '#!/bin/bash'
    """
    if name not in names():
        raise ValueError(f"template: given {name!r}, needs one of {', '.join(names())}")
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
