"""Results for other programs: netCDF, CSV and JSON, each file whole or not there."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from ..numerics.disk import write_file
from ..results import ClosedForm, Record, Selection


def export(result: Record | ClosedForm | Selection, path: Path) -> None:
    """Write the numbers of a result in the format of the path's ending."""
    write_file(path, lambda beside: WRITERS[path.suffix](result, beside))


def plain(result: Any) -> dict[str, Any]:
    """Return a result as JSON holds it, with null for what is no finite number."""
    if isinstance(result, ClosedForm):
        return {name: _finite(value) for name, value in result.to_dict().items()}
    outcome = getattr(result, "result", None)
    said = {} if outcome is None else {"result": str(outcome.code), "message": outcome.message}
    numbers = result.numbers() if isinstance(result, Record | Selection) else result
    return said | {name: _finite(np.asarray(value).tolist()) for name, value in numbers.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_netcdf(result: Any, path: Path) -> None:
    result.to_xarray().to_netcdf(path, engine="scipy")


def _write_csv(result: Any, path: Path) -> None:
    columns = _columns(result)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _write_json(result: Any, path: Path) -> None:
    path.write_text(json.dumps(plain(result), indent=1))


def _columns(result: Any) -> dict[str, list[Any]]:
    """Return a row per time of a result in time; one row of a closed form; a row per model and time of a selection."""
    if isinstance(result, Selection):
        return result.columns()
    if isinstance(result, ClosedForm):
        return {name: [value] for name, value in result.to_dict().items()}
    data = result.to_xarray()
    return {str(name): data[name].to_numpy().tolist() for name in ("time", *data.data_vars)}


WRITERS = {".nc": _write_netcdf, ".csv": _write_csv, ".json": _write_json}
