"""`flowlimit init`: a problem with comments, to change."""

from pathlib import Path
from typing import Annotated

import typer


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("problem.toml"),
) -> None:
    """Write a commented problem in TOML."""
    from .problem_file import TEMPLATE

    if file.exists():
        raise FileExistsError(f"{file} exists; give another name")
    file.write_text(TEMPLATE.format(command="flowlimit solve", name=file))
    typer.echo(f"wrote {file}; next: flowlimit solve {file} --plot limit.png, or flowlimit check {file}")
