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
    names = [name for name in dict.fromkeys(name for one in flat for name in one) if name != "model.kind"]
    differing = [name for name in names if len({repr(one.get(name)) for one in flat}) > 1]
    kinds = [str(one.get("model.kind", "runs")) for one in flat]
    labels = []
    for one, kind in zip(flat, kinds, strict=True):
        words = [_words(name, one[name]) for name in differing if name in one]
        prefix = [kind] if len(set(kinds)) > 1 or not words else []
        labels.append(", ".join([*prefix, *words]))
    if len(set(labels)) == len(labels):
        return labels
    return [f"{label} ({index})" for index, label in enumerate(labels, start=1)]


def _words(name: str, value: Any) -> str:
    *_, noun, field = ("", *name.split("."))
    return str(value) if field == "kind" else f"{field if field != 'function' else noun} {_number(value)}"


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _number(value: Any) -> str:
    if isinstance(value, list):
        return f"<{len(value)} numbers>"
    return f"{value:g}" if isinstance(value, float) else str(value)
