"""`flowlimit template`: job scripts and manifests for clusters, to redirect into a file and change."""

from typing import Annotated

import typer


def template(
    name: Annotated[str | None, typer.Argument(help="Which one; all names are listed if none is given.")] = None,
) -> None:
    """Print a job script for Slurm or a manifest for Kubernetes, to be changed where its header says so."""
    from flowlimit.sweeps.templates import names, read

    typer.echo("\n".join(names()) if name is None else read(name), nl=name is None)
