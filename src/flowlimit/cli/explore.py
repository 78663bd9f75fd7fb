"""`flowlimit explore`: the explorer in a browser."""

from typing import Annotated

import typer

from .grammar import Option


def explore(
    port: Annotated[int, Option(help="Port; any free one unless given.", min=0, max=65535)] = 0,
    address: Annotated[str, Option(help="Address to listen at: this machine alone unless given.")] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        Option(help="A name by which the page may be asked for, beside this machine's own; may be repeated."),
    ] = None,
    show: Annotated[bool, Option(help="Open a browser.")] = True,
) -> None:
    """Open the explorer: sliders, curves with bands and a live experiment. Ctrl-C ends it.

    An address beyond this machine asks visitors for a token, which is in the address that is printed.
    """
    from flowlimit.explorer.place import checked_names, find_place

    find_place(address, port)
    names = checked_names(allow_host or ())
    try:
        from flowlimit.explorer.app import serve
    except ImportError:
        raise RuntimeError("explore needs Panel: pip install 'flowlimit[explore]'") from None
    typer.echo("starting; Ctrl-C ends it")
    serve(port, address=address, allow=names, show=show)
