"""`flowlimit doctor`: what is installed and what it can do."""

from typing import Annotated

import typer

EXTRAS = {
    "explore": ("the explorer in the browser", ("panel", "bokeh")),
    "cluster": ("sweeps on a cluster", ("distributed", "dask", "dask_jobqueue")),
    "data": ("the gene expression data set", ("SurvSet",)),
    "verify": ("tests against other solvers", ("sklearn", "cvxpy", "clarabel")),
    "docs": ("building the docs", ("sphinx", "sphinx_design", "pydata_sphinx_theme", "sphinx_gallery", "myst_nb")),
    "dev": ("tests, lint and types", ("beartype", "hypothesis", "pytest", "xdist", "ruff", "pyright", "pre_commit")),
}
COMMANDS = {
    "chromium": "tests of the explorer in a real browser",
    "slurmctld": "tests of job arrays on a real Slurm",
}
CORE = ("jax", "jaxlib", "equinox", "diffrax", "numpy", "scipy", "xarray", "zarr", "matplotlib")


def doctor(
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Show what works with what instead, asked of the code.")
    ] = False,
) -> None:
    """Show versions, devices, precision and extras; exit 1 if something needed does not work."""
    if matrix:
        _show_matrix()
        return
    import importlib.metadata
    import importlib.util
    import platform
    import shutil
    import sys

    from rich.console import Console
    from rich.table import Table

    console = Console()
    problems = []
    table = Table(show_header=False, box=None)
    table.add_row("flowlimit", importlib.metadata.version("flowlimit"))
    table.add_row("python", f"{sys.version.split()[0]} on {platform.system()} {platform.machine()}")
    for name in CORE:
        table.add_row(name, importlib.metadata.version(name))
    try:
        table.add_row(*_devices())
        table.add_row(*_precision())
    except Exception as error:  # whatever breaks here is what the user came to see
        problems.append(f"jax does not compute: {error}")
    table.add_row("compiled programs", _programs())
    for extra, (purpose, modules) in EXTRAS.items():
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
        # a backslash keeps rich from reading [extra] as markup
        state = f"no ({', '.join(missing)} missing): pip install 'flowlimit\\[{extra}]'" if missing else "yes"
        table.add_row(purpose, state)
    for command, purpose in COMMANDS.items():
        found = shutil.which(command) is not None
        table.add_row(purpose, "yes" if found else f"no ({command} missing): install it with your system's packages")
    console.print(table)
    for problem in problems:
        console.print(f"[red]{problem}[/red]")
    if problems:
        raise SystemExit(1)
    console.print("[green]ready[/green]")


def _devices() -> tuple[str, str]:
    import jax

    return "devices", ", ".join(str(device) for device in jax.devices())


def _precision() -> tuple[str, str]:
    import jax.numpy as jnp

    from flowlimit.numerics.precision import own_settings

    with own_settings():
        third = jnp.array(1.0) / 3.0
    if third.dtype != jnp.float64 or abs(float(third) * 3.0 - 1.0) > 1e-15:
        raise RuntimeError(f"numbers are {third.dtype}, double precision is needed")
    return "precision", "double, within flowlimit's own calls"


def _programs() -> str:
    from flowlimit.program_cache import SWITCH, kept_programs

    kept = kept_programs()
    if kept is None:
        return f"not kept between processes ({SWITCH}=off)"
    return f"{kept.number} kept, {kept.size / 1e6:.0f} MB, in {kept.folder} ({SWITCH}=off turns this off)"


def _show_matrix() -> None:
    from rich.console import Console
    from rich.table import Table

    from flowlimit.verbs.matrix import matrix

    rows = matrix()
    table = Table("model", "task", *rows[0].verbs)
    for index, row in enumerate(rows):
        first = not index or rows[index - 1].model != row.model
        table.add_row(row.model if first else "", row.task, *row.verbs.values())
    Console().print(table)
