"""Parameters of a figure, read from the file beside it: what the paper states, what it leaves open, small sizes."""

import tomllib
from importlib import resources
from types import SimpleNamespace
from typing import Any

PARTS = ("stated", "chosen")


def read_parameters(name: str, *, quick: bool) -> SimpleNamespace:
    """Return the parameters of a module of figures by name; the quick size replaces some.

    Examples
    --------
    >>> read_parameters("ends", quick=False).dim
    500
    """
    known = read_file(name)
    values = {key: value for part in PARTS for key, value in known.get(part, {}).items()}
    unknown = sorted(set(known.get("quick", {})) - set(values))
    if unknown:
        raise ValueError(f"{name}.toml: [quick] has {', '.join(unknown)}, which [stated] and [chosen] do not")
    return SimpleNamespace(**(values | (known.get("quick", {}) if quick else {})))


def read_file(name: str) -> dict[str, Any]:
    """Return a file of parameters as it stands."""
    text = (resources.files("flowlimit.paper") / "figures" / f"{name}.toml").read_text()
    return tomllib.loads(text)
