"""What a command leaves behind: text or JSON on the terminal, a picture, a file."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

Option = typer.Option
Picture = Annotated[Path | None, Option("--plot", help="Write a picture (.png or .pdf).")]
Out = Annotated[Path | None, Option("--out", help="Write the numbers: .zarr, .nc, .csv or .json.")]
Json = Annotated[bool, Option("--json", help="Print JSON for machines in place of text.")]
NOT_MET, FAILED = 3, 4
"""Exit codes: an answer less accurate than asked for, and no answer."""


def check_new(out: Path | None) -> None:
    """Refuse a path that exists or cannot be written, before the work and not after it."""
    if out is None:
        return
    if out.suffix not in WRITERS:
        raise ValueError(f"--out: given {out}, needs a name that ends in {', '.join(WRITERS)}")
    if out.exists():
        raise FileExistsError(f"--out: {out} exists; give another path")


def give(result: Any, *, as_json: bool, out: Path | None = None, text: str | None = None) -> None:
    """Print a result, and write it if a path is given."""
    if as_json:
        typer.echo(json.dumps(_plain(result), indent=1))
    else:
        typer.echo(text if text is not None else f"{result}")
    if out is not None:
        WRITERS[out.suffix](result, out)
        typer.echo(f"wrote {out}", err=as_json)


def draw(results: Any, plot: Path | None) -> None:
    """Draw curves of results, if a path is given."""
    if plot is None:
        return
    import matplotlib as mpl

    import flowlimit as fl

    mpl.use("agg")
    fl.plot.curves(results)[0].figure.savefig(plot, dpi=200)
    typer.echo(f"wrote {plot}", err=True)


def end(outcomes: Sequence[Any]) -> None:
    """End with an exit code that says how results ended; their messages go to the terminal."""
    from flowlimit.results import Code

    bad = [outcome for outcome in outcomes if outcome.code is not Code.SUCCESSFUL]
    for outcome in bad:
        typer.secho(f"{outcome.code}: {outcome.message}", err=True, fg="red")
    if bad:
        soft = all(outcome.code in (Code.TOLERANCE, Code.TIMEOUT, Code.STOPPED) for outcome in bad)
        raise typer.Exit(NOT_MET if soft else FAILED)


def _plain(result: Any) -> dict[str, Any]:
    import numpy as np

    from flowlimit.sweeps.rows import values_of

    numbers = {name: _finite(np.asarray(value).tolist()) for name, value in values_of(result).items()}
    outcome = getattr(result, "result", None)
    said = {} if outcome is None else {"result": str(outcome.code), "message": outcome.message}
    return said | numbers


def _finite(value: Any) -> Any:
    """Return plain numbers with null for what JSON has no word for."""
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_zarr(result: Any, out: Path) -> None:
    import flowlimit as fl

    if not isinstance(result, fl.Limit | fl.Runs):
        raise ValueError(f"--out: {out}: a {type(result).__name__} is a few numbers, needs .json or .csv")
    fl.save(result, out)


def _write_netcdf(result: Any, out: Path) -> None:
    import xarray as xr

    xr.Dataset(_columns(result)).to_netcdf(out, engine="scipy")


def _write_csv(result: Any, out: Path) -> None:
    import csv

    import numpy as np

    columns = {name: np.atleast_1d(values) for name, (_, values) in _columns(result).items()}
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _write_json(result: Any, out: Path) -> None:
    out.write_text(json.dumps(_plain(result), indent=1))


def _columns(result: Any) -> dict[str, Any]:
    """Return the numbers that are one a time, or one at all."""
    import numpy as np

    from flowlimit.sweeps.rows import values_of

    values = {name: np.asarray(value) for name, value in values_of(result).items()}
    length = values["time"].shape if "time" in values else ()
    dims = ["time"] if length else []
    return {name: (dims, value) for name, value in values.items() if value.shape == length}


WRITERS = {".zarr": _write_zarr, ".nc": _write_netcdf, ".csv": _write_csv, ".json": _write_json}
