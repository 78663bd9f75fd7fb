"""Who is let in: looked at for every request, a websocket's too, before any other rule of the server."""

import re
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from tornado.httputil import HTTPServerRequest
from tornado.routing import Matcher

from .reply import Reply

PATHS = re.compile(r"/|/ws|/favicon\.ico|/static/.*")
"""All that a page asks for. Panel's others import modules by name, or make sessions for pages of other servers."""
Check = Callable[[HTTPServerRequest], Reply | None]


class Door(Matcher):
    """Matches requests that are not let in, with what they are told.

    A page of any site can let the site's name mean 127.0.0.1 for a moment, and then the browser takes this server for
    that site. So requests must ask for a name in ``names``, and come from a page of that name
    and port, or of a name in ``trusted``: names of a proxy that asks by another one.
    """

    def __init__(self, names: frozenset[str], trusted: frozenset[str], token: str | None, crowd: Check) -> None:
        self._names, self._trusted, self._token = names | trusted, trusted, token
        self._checks: tuple[Check, ...] = (self._host, self._origin, self._kind, self._key, crowd)

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """Return what the handler `Answer` is given; None for who may pass."""
        reply = next((reply for check in self._checks if (reply := check(request)) is not None), None)
        return None if reply is None else {"target_kwargs": {"reply": reply}}

    def _host(self, request: HTTPServerRequest) -> Reply | None:
        if request.host_name in self._names:
            return None
        return Reply(
            403,
            f"Asked for {request.host_name!r:.200}, which is not a name of this server. If it is one, start it with "
            f"flowlimit explore --allow-host and this name.",
        )

    def _origin(self, request: HTTPServerRequest) -> Reply | None:
        origin = request.headers.get("Origin")
        if origin is None:
            return None
        if origin.partition("://")[2].lower() == request.host.lower() or _host_of(origin) in self._trusted:
            return None
        return Reply(403, f"Asked by a page of {origin!r:.200}, which is not one of this server.")

    def _kind(self, request: HTTPServerRequest) -> Reply | None:
        """Refuse what no page asks for, and pages as pictures or frames of other pages, which ask without a user."""
        if not PATHS.fullmatch(request.path):
            return Reply(404, "There is nothing here: the explorer is at /.")
        if request.method != "GET" or "Transfer-Encoding" in request.headers or _length(request) != "0":
            return Reply(405, "The explorer answers GET requests without a body.", {"Allow": "GET"})
        if request.path == "/" and request.headers.get("Sec-Fetch-Dest", "document") != "document":
            return Reply(403, "The explorer is not a part of other pages: open its address.")
        return None

    def _key(self, request: HTTPServerRequest) -> Reply | None:
        """Ask for the token; given once in the address it is kept by the browser, away from the address."""
        if self._token is None:
            return None
        cookie = cookie_name(request)
        if cookie in request.cookies and self._is_token(request.cookies[cookie].value):
            return None
        given = {name: values[-1].decode(errors="replace") for name, values in request.query_arguments.items()}
        if request.path == "/" and self._is_token(given.pop("token", "")):
            return Reply(302, "", {"Location": f"/?{urlencode(given)}", "Set-Cookie": _cookie(cookie, self._token)})
        return Reply(403, "A token is needed: open the address that flowlimit explore printed when it started.")

    def _is_token(self, given: str) -> bool:
        assert self._token is not None
        return secrets.compare_digest(given.encode(), self._token.encode())


def cookie_name(request: HTTPServerRequest) -> str:
    """Return the cookie's name: browsers send cookies of one server to another port's, too."""
    return f"flowlimit-{request.host.rpartition(':')[2] if ':' in request.host else '80'}"


def _cookie(name: str, token: str) -> str:
    return f"{name}={token}; HttpOnly; SameSite=Lax; Path=/"


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).hostname
    except ValueError:
        return None


def _length(request: HTTPServerRequest) -> str:
    return request.headers.get("Content-Length", "0")
