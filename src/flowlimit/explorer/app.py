"""The explorer as an application on this machine."""

import secrets
import sys
import threading
import webbrowser
from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

import panel as pn
from bokeh.io import curdoc
from tornado.routing import Rule

from ..program_cache import keep_programs
from .answers import TURNS, coarse_limit, theory_of
from .crowd import Crowd
from .door import Door
from .inputs import Inputs
from .page import Page
from .place import Place, checked_names, find_place
from .reply import Answer

TITLE = "flowlimit explorer"
NARROW = """
@media (max-width: 800px) {
  #content { flex-direction: column; height: auto; overflow: visible; }
  #sidebar { width: auto; max-width: none; height: auto; border-right: none; }
  #main { overflow: visible; height: auto; padding: 0; }
  #container, body { height: auto; overflow: auto; }
}
"""
"""On a narrow window controls stand above the pictures."""
LIFETIME, LOOK = 30_000, 2_000
"""Milliseconds after which a session without a browser is forgotten, and between looks at which ones are."""
LARGEST = 2**20
"""Bytes of a request or a message: a browser sends the numbers of some sliders."""
OPEN = (
    "warning: --address {} lets others reach this page. Who has the token in the address above can make this machine "
    "compute; what is sent is not encrypted. For yourself, ssh -L is better."
)


class Plain(pn.template.VanillaTemplate):
    """Panel's lightest page, without its font, which is fetched from elsewhere."""

    _resources: ClassVar[dict[str, Any]] = {"css": {}}

    def server_doc(self, doc: Any = None, title: str | None = None, location: Any = True) -> Any:
        """Return the page's document; its list of models is made once, not again with every part that is added."""
        with (doc or curdoc()).models.freeze():
            return super().server_doc(doc, title, location)


def make_page() -> Any:
    """Return one session's page."""
    page = Page()
    return Plain(title=TITLE, sidebar=[page.controls()], main=[page.main()], sidebar_width=330, raw_css=[NARROW])


def make_server(place: Place, *, trusted: frozenset[str] = frozenset(), token: str | None = None) -> Any:
    """Return a server with a door: it listens, and answers once its loop runs."""
    crowd = Crowd(lambda: server.get_sessions("/"))
    server = pn.io.server.get_server(
        {"/": make_page},
        port=place.port,
        address=place.address,
        title=TITLE,
        check_unused_sessions_milliseconds=LOOK,
        unused_session_lifetime_milliseconds=LIFETIME,
        websocket_max_message_size=LARGEST,
        http_server_kwargs={"max_body_size": LARGEST},
        sign_sessions=True,  # sessions are those that this server made
        secret_key=secrets.token_bytes(32),
        include_headers=[],  # nothing of a request but its arguments is kept in the page
        include_cookies=[],
        log_function=crowd.made,
    )
    tornado = server._tornado
    door = Door(place.names, trusted, token, crowd.reply)
    tornado.default_router.rules.insert(0, Rule(door, Answer))
    # Bokeh's own list of names knows localhost alone.
    names = place.names | trusted
    tornado.websocket_origins.update({*names, *(f"{name}:{server.port}" for name in names)})
    return server


def serve(port: int = 0, *, address: str = "127.0.0.1", allow: Iterable[str] = (), show: bool = True) -> None:
    """Serve the explorer until Ctrl-C, on loopback unless another address is given; it asks nothing of the internet.

    It may be asked by the names of loopback, by the name of its address, and by those that ``allow`` lists. Beyond
    loopback it asks for a token, which is in the address that is printed.
    """
    place, trusted = find_place(address, port), checked_names(allow)
    keep_programs()
    pn.extension()
    token = secrets.token_urlsafe(32) if place.is_open else None
    server = make_server(place, trusted=trusted, token=token)
    url = f"http://{place.name}:{server.port}/" + (f"?token={token}" if token else "")
    print(f"the explorer is at {url}", flush=True)
    if place.is_open:
        print(OPEN.format(address), file=sys.stderr, flush=True)
    # The first page's problem is solved before anyone opens it: solving compiles.
    threading.Thread(target=solve_first, daemon=True).start()
    if show:
        server.io_loop.add_callback(partial(webbrowser.open, url))
    server.start()
    server.io_loop.start()


def solve_first() -> None:
    """Solve the first page's problem, in turns like any other: what a moved slider asks for is compiled then."""
    never = lambda: False
    for compute in (lambda: coarse_limit(Inputs(), never), lambda: theory_of(Inputs())):
        with TURNS.turn("quick", never):
            compute()
