"""`flowlimit explore`: the explorer in a browser."""

from typing import Annotated

import typer

from .grammar import Option


def explore(
    port: Annotated[int, Option(help="Port; any free one unless given.", min=0, max=65535)] = 0,
    address: Annotated[str, Option(help="Address to listen at: this machine alone unless given.")] = "127.0.0.1",
    show: Annotated[bool, Option(help="Open a browser.")] = True,
) -> None:
    """Open the explorer: sliders, curves with bands and a live experiment. Ctrl-C ends it."""
    check_free(address, port)
    try:
        from flowlimit.explorer.app import serve
    except ImportError:
        raise RuntimeError("explore needs Panel: pip install 'flowlimit[explore]'") from None
    typer.echo("starting; Ctrl-C ends it")
    serve(port, address=address, show=show)


def check_free(address: str, port: int) -> None:
    """Refuse an address or a port that cannot be listened at, before anything is computed."""
    import socket

    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except OSError as error:
        why = error.strerror or error
        raise ValueError(f"--address, --port: given {address} and {port}, which cannot be listened at: {why}") from None
