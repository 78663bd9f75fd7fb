"""The explorer as an application on this machine."""

import threading
from typing import Any, ClassVar

import panel as pn

from ..program_cache import keep_programs
from .answers import coarse_limit
from .inputs import Inputs
from .page import Page

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
LIFETIME = 10_000
"""Milliseconds after which a session that was closed is forgotten, with its worker."""


class Plain(pn.template.VanillaTemplate):
    """Panel's lightest page, without its font, which is fetched from elsewhere."""

    _resources: ClassVar[dict[str, Any]] = {"css": {}}


def make_page() -> Any:
    """Return one session's page."""
    page = Page()
    return Plain(title=TITLE, sidebar=[page.controls()], main=[page.main()], sidebar_width=330, raw_css=[NARROW])


def serve(port: int = 0, *, address: str = "127.0.0.1", show: bool = True, threaded: bool = False) -> Any:
    """Serve the explorer on loopback, unless another address is given; it asks nothing of the internet."""
    keep_programs()
    pn.extension()
    # The first page's problem is solved before anyone opens it: solving compiles.
    threading.Thread(target=coarse_limit, args=(Inputs(), lambda: False), daemon=True).start()
    options: dict[str, Any] = {"port": port, "address": address, "show": show, "title": TITLE, "threaded": threaded}
    options |= {"check_unused_sessions_milliseconds": LIFETIME // 2, "unused_session_lifetime_milliseconds": LIFETIME}
    return pn.serve({"/": make_page}, **options)
