"""`flowlimit explore`: the explorer in a browser."""

from typing import Annotated

import typer

from .grammar import Option


def explore(
    port: Annotated[int, Option(help="Port; any free one unless given.")] = 0,
    address: Annotated[str, Option(help="Address to listen at: this machine alone unless given.")] = "127.0.0.1",
    show: Annotated[bool, Option(help="Open a browser.")] = True,
) -> None:
    """Open the explorer: sliders, curves with bands and a live experiment. Ctrl-C ends it."""
    try:
        from flowlimit.explorer.app import serve
    except ImportError:
        raise RuntimeError("explore needs Panel: pip install 'flowlimit[explore]'") from None
    typer.echo("starting; Ctrl-C ends it")
    serve(port, address=address, show=show)
