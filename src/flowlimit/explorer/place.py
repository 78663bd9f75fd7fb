"""Where the explorer listens, and the names by which it may be asked."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import NamedTuple

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine to itself."""
NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")


class Place(NamedTuple):
    """An address of this machine and a port that are free to listen at."""

    given: str
    address: str
    port: int

    @property
    def is_open(self) -> bool:
        """Whether others than this machine reach it."""
        return not ipaddress.ip_address(self.address.partition("%")[0]).is_loopback

    @property
    def name(self) -> str:
        """What to type in a browser: this machine's name if all of its addresses are listened at."""
        if ipaddress.ip_address(self.address.partition("%")[0]).is_unspecified:
            return socket.gethostname().lower()
        return as_host(self.given)

    @property
    def names(self) -> frozenset[str]:
        """Names by which it may be asked, with no more said."""
        return frozenset({*LOOPBACK, self.name, as_host(self.address)})


def find_place(address: str, port: int) -> Place:
    """Return where to listen, or refuse what cannot be listened at.

    Examples
    --------
    >>> find_place("localhost", 0).is_open
    False
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address or "-", port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except (OSError, UnicodeError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(
            f"--address, --port: given {address or repr(address)} and {port}, which cannot be listened at: {why}; "
            f"needs an address of this machine and a free port, e.g. --address 127.0.0.1 --port 0"
        ) from None
    return Place(address, str(place[0]), port)


def checked_names(names: Iterable[str]) -> frozenset[str]:
    """Return names as browsers send them, or refuse what is none.

    Examples
    --------
    >>> sorted(checked_names(["Cluster.Example.org", "::1"]))
    ['[::1]', 'cluster.example.org']
    """
    hosts = {name: as_host(name) for name in names}
    for name, host in hosts.items():
        if not (host.startswith("[") or NAME.fullmatch(host)):
            raise ValueError(
                f"--allow-host: given {name!r}, needs a name as it stands in the browser's address, without http:// "
                f"and without a port, e.g. --allow-host explorer.example.org"
            )
    return frozenset(hosts.values())


def as_host(name: str) -> str:
    """Return a name or an address as it stands in a URL."""
    try:
        return f"[{ipaddress.IPv6Address(name.strip('[]'))}]"
    except ValueError:
        return name.lower()
