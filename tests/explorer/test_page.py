"""A page's changes as its browser receives them, without a browser: in order, after load, from the server's thread."""

import asyncio
import threading

import pytest

pytest.importorskip("panel")

import matplotlib.pyplot as plt
import panel as pn
from bokeh.client.websocket import WebSocketClientConnectionWrapper
from bokeh.document import Document
from bokeh.document.events import MessageSentEvent
from bokeh.document.models import DocumentModelManager
from bokeh.events import DocumentReady
from bokeh.protocol import Protocol
from bokeh.protocol.receiver import Receiver
from bokeh.server.session import ServerSession
from bokeh.util.token import generate_jwt_token, generate_session_id
from matplotlib.figure import Figure as MatplotlibFigure
from panel.io.state import set_curdoc
from tornado.websocket import websocket_connect

from flowlimit.explorer.app import make_page
from flowlimit.explorer.inputs import Inputs
from flowlimit.explorer.page import Page


class Told:
    """A worker that computes nothing: answers come from the test."""

    def __init__(self, publish, is_seen):
        Told.publish, Told.asked = publish, []

    def ask(self, inputs):
        Told.asked.append(inputs)

    def end(self):
        pass


class Browser:
    """Receives what a browser would, and notes references to models that it does not have."""

    def __init__(self):
        self.known, self.unknown, self.words = set(), [], []

    async def open(self, port):
        token = generate_jwt_token(generate_session_id(), expiration=300)
        own = await websocket_connect(f"ws://127.0.0.1:{port}/ws", subprotocols=["bokeh", token])
        self.socket, self.receiver = WebSocketClientConnectionWrapper(own), Receiver(Protocol())
        await self.ask("PULL-DOC-REQ")

    async def ask(self, kind, *given):
        """Send a message; return how many changes of the page came before its answer."""
        message = Protocol().create(kind, *given)
        await message.send(self.socket)
        return await self.listen(lambda reply: reply.header.get("reqid") == message.header["msgid"])

    async def listen(self, enough):
        """Take messages up to one that is enough; return how many changes of the page there were."""
        changes = 0
        while True:
            message = await self.receiver.consume(await self.socket.read_message())
            if message is not None:
                changes += message.msgtype == "PATCH-DOC"
                self.take(message.content)
                if enough(message):
                    return changes

    def done(self):
        return bool(self.words) and "being refined" not in self.words[-1]

    def take(self, part):
        if isinstance(part, list | tuple):
            for one in part:
                self.take(one)
        elif isinstance(part, dict) and part.get("type") != "bytes":  # those have ids, too
            if part.get("type") == "object" and "id" in part:
                self.known.add(part["id"])
            elif set(part) == {"id"} and part["id"] not in self.known:
                self.unknown.append(part["id"])
            if part.get("attr") == "text" and "limit" in part["new"]:
                self.words.append(part["new"])
            for one in part.values():
                self.take(one)


def publish(found):
    """Give all parts of an answer, as a worker's thread does."""
    parts = [(name, getattr(found, name)) for name in ("limit", "theory", "trade_off", "runs")]
    tell = lambda: [Told.publish(Inputs(), name, part) for name, part in [*parts, ("done", None)]]
    thread = threading.Thread(target=tell)
    thread.start()
    thread.join()


async def visit(found, sessions):
    server = pn.io.server.get_server({"/": make_page}, port=0, show=False, start=True)
    browser = Browser()
    try:
        async with asyncio.timeout(300.0):
            await browser.open(server.port)
            publish(found)
            await asyncio.sleep(0.2)
            assert await browser.ask("SERVER-INFO-REQ") == 0  # no change before the page has loaded
            await browser.ask("PATCH-DOC", [MessageSentEvent(Document(), "bokeh_event", DocumentReady())])
            await browser.listen(lambda _: browser.done())
            assert Told.asked == [Inputs()]
            browser.words.clear()
            [connection] = sessions.pop()._subscribed_connections
            with await connection._socket.write_lock.acquire():  # as if the browser were slow to take a message
                publish(found)
                await asyncio.sleep(0.2)
            await browser.listen(lambda _: browser.done())
    finally:
        browser.socket.close()
        server.stop()
    return browser


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # Panel's, about the names of widgets
def test_changes_come_in_order_after_load_from_one_thread(found, monkeypatch):
    """Numbers for a model that the browser does not have are lost: "reference p2281 isn't known"."""
    monkeypatch.setattr("flowlimit.explorer.page.Worker", Told)
    threads, sessions, patched = set(), set(), ServerSession._document_patched

    def note(session, event):
        threads.add(threading.get_ident())
        sessions.add(session)
        patched(session, event)

    monkeypatch.setattr(ServerSession, "_document_patched", note)
    browser = asyncio.run(visit(found, sessions))
    assert browser.unknown == []
    assert threads == {threading.get_ident()}
    assert ["being refined" in words for words in browser.words] == [True, False]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_words_of_a_curve_stay_while_the_rest_waits(found, monkeypatch):
    """The first page waits for closed forms that the server itself computes: "1 of other pages first"."""
    monkeypatch.setattr("flowlimit.explorer.page.Worker", Told)
    page = Page()
    Told.publish(page.inputs, "waiting", "solving ...")
    assert page.status.text == "solving ..."
    Told.publish(page.inputs, "limit", found.limit)
    Told.publish(page.inputs, "waiting", "waiting for a turn: 1 of other pages first ...")
    assert page.status.text.startswith("limit known to")


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_page_lists_its_models_once(monkeypatch):
    """Panel adds part after part, and Bokeh then looks through all that is there: twice the time of a page."""
    monkeypatch.setattr("flowlimit.explorer.page.Worker", Told)
    looked, recompute = [], DocumentModelManager.recompute
    monkeypatch.setattr(DocumentModelManager, "recompute", lambda self: looked.append(1) or recompute(self))
    document = Document()
    with set_curdoc(document):
        page = make_page()
        looked.clear()
        page.server_doc(document)
    assert len(looked) == 1
    assert len(list(document.models)) > 100


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_downloaded_figure_is_closed(found, monkeypatch):
    """Pyplot keeps figures that are not closed, be it because drawing fails; 20 of them make it warn."""
    monkeypatch.setattr("flowlimit.explorer.page.Worker", Told)
    page, before = Page(), plt.get_fignums()
    page.found = found
    assert page._figure().read().startswith(b"\x89PNG")
    monkeypatch.setattr(MatplotlibFigure, "savefig", lambda *given, **more: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        page._figure()
    assert plt.get_fignums() == before
