"""Words for axes and legends."""

from collections.abc import Mapping, Sequence
from typing import Any

NAMES = {
    "train_error": "training error",
    "test_error": "test error",
    "loss": "loss",
    "norm_1": r"$|w|_1 / d$",
    "norm_2": r"$|w|_2 / \sqrt{d}$",
}


def axis_name(curve: str) -> str:
    """Return the name of a curve as an axis shows it."""
    return NAMES.get(curve, curve.replace("_", " "))


def result_labels(results: Sequence[Any]) -> list[str]:
    """Name results by what tells them apart: the entries of their problems that differ.

    Results that are alike are named by their model.
    """
    flat = [_flatten(result.provenance.get("problem", {})) for result in results]
    names = [name for name in dict.fromkeys(name for one in flat for name in one) if not name.endswith("kind")]
    differing = [name for name in names if len({repr(one.get(name)) for one in flat}) > 1]
    kinds = [str(one.get("model.kind", "runs")) for one in flat]
    labels = []
    for one, kind in zip(flat, kinds, strict=True):
        words = [f"{name.rpartition('.')[2]} {_number(one[name])}" for name in differing if name in one]
        prefix = [kind] if len(set(kinds)) > 1 or not words else []
        labels.append(", ".join([*prefix, *words]))
    return labels


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
