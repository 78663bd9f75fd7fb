"""The numbers of a result in time by name: what tables, JSON and other programs read."""

from typing import Any

from .record import Record
from .runs import Runs


def numbers_of(record: Record) -> dict[str, Any]:
    """Return times, curves and their standard errors; of runs also the errors of every trial, and weights if kept."""
    curves = {name: curve.value for name, curve in record.curves.items()}
    errors = {f"{name}_stderr": curve.stderr for name, curve in record.curves.items()}
    return {"time": record.times} | curves | errors | (_trials(record) if isinstance(record, Runs) else {})


def _trials(runs: Runs) -> dict[str, Any]:
    values = {f"{name}_trials": runs.values[name] for name in ("train_error", "test_error") if name in runs.values}
    kept = {"weights": runs.weights, "w_star": runs.w_star}
    return values | {name: value for name, value in kept.items() if value is not None}
