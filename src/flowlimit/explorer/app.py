"""The explorer as an application on this machine."""

from typing import Any

import panel as pn
from panel.theme.fast import Fast

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


def make_page() -> Any:
    """Return one session's page."""
    page = Page()
    look = {"sidebar_width": 300, "font_url": "", "font": "system-ui", "raw_css": [NARROW]}
    return pn.template.FastListTemplate(title=TITLE, sidebar=[page.controls()], main=[page.main()], **look)


def serve(port: int = 0, *, address: str = "127.0.0.1", show: bool = True, threaded: bool = False) -> Any:
    """Serve the explorer on loopback, unless another address is given; it asks nothing of the internet."""
    Fast._resources.pop("font", None)  # it is fetched from elsewhere; the browser's own font will do
    pn.extension("plotly")
    options: dict[str, Any] = {"port": port, "address": address, "show": show, "title": TITLE, "threaded": threaded}
    options |= {"check_unused_sessions_milliseconds": LIFETIME // 2, "unused_session_lifetime_milliseconds": LIFETIME}
    return pn.serve({"/": make_page}, **options)
