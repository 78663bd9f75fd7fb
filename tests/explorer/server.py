"""The explorer's server as its visitors see it, without a browser: requests, and websockets of Bokeh's protocol."""

import asyncio
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

from bokeh.client.websocket import WebSocketClientConnectionWrapper
from bokeh.document import Document
from bokeh.document.events import MessageSentEvent
from bokeh.events import DocumentReady
from bokeh.protocol import Protocol
from bokeh.protocol.receiver import Receiver
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

SERVE = "from flowlimit.explorer.app import serve; serve({}, show=False)"


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(log):
    """Yield the port of a server in a process of its own, on loopback."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port = own.getsockname()[1]
    with log.open("w") as out:
        process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SERVE.format(port)], stdout=out, stderr=out)
        try:
            while not answers(port):
                assert process.poll() is None, log.read_text()
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()
            process.wait(20)


async def get(port, path="/", **headers):
    """Return the answer to a GET."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = HTTPRequest(
        f"http://127.0.0.1:{port}{path}", headers=named, request_timeout=120.0, follow_redirects=False
    )
    AsyncHTTPClient.configure(None, max_clients=100)
    return await AsyncHTTPClient().fetch(request, raise_error=False)


async def page_token(port, **headers):
    """Return the token of a new page, with which its browser opens a websocket; asked again while told to wait."""
    for _ in range(100):
        answer = await get(port, **headers)
        if answer.code == 200:
            return re.search(r'"token":"([^"]+)"', answer.body.decode())[1]
        assert answer.code == 503, answer.body
        await asyncio.sleep(1.0)
    raise AssertionError("told to wait a hundred times")


async def opened(port, token, **headers):
    """Open a page's websocket; return who has it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = HTTPRequest(f"ws://127.0.0.1:{port}/ws", headers=named, request_timeout=60.0)
    visitor = Visitor(await websocket_connect(request, subprotocols=["bokeh", token]))
    await visitor.take()  # what is sent before the server's first message is not heard
    return visitor


class Visitor:
    """Receives what a browser would."""

    def __init__(self, own):
        self.socket, self.receiver = WebSocketClientConnectionWrapper(own), Receiver(Protocol())

    async def ask(self, kind, *given):
        """Send a message; take messages up to its answer."""
        message = Protocol().create(kind, *given)
        await message.send(self.socket)
        while (reply := await self.take()).header.get("reqid") != message.header["msgid"]:
            pass
        return reply

    async def take(self):
        """Return the next message."""
        while (message := await self.receiver.consume(await self.socket.read_message())) is None:
            pass
        return message

    async def load(self):
        """Pull the page and say that it is there."""
        await self.ask("PULL-DOC-REQ")
        await self.ask("PATCH-DOC", [MessageSentEvent(Document(), "bokeh_event", DocumentReady())])
