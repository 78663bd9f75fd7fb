"""Many sessions of the explorer at once, by websockets on loopback: who is answered, how soon, and the memory it takes.

Each session opens a page as a browser does, moves sliders at random and waits until the page says how well the limit
is known. It notes when it is told to wait: by the server, before there is a page, or by the page's status. More pages
are opened meanwhile and left without a websocket, as by a program that only reads.

    python benchmarks/explorer_sessions.py --sessions 20 --minutes 10

Needs the extra explore.
"""

import argparse
import asyncio
import json
import random
import re
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.client.websocket import WebSocketClientConnectionWrapper
from bokeh.protocol import Protocol
from bokeh.protocol.receiver import Receiver
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

SERVE = "from flowlimit.explorer.app import serve; serve({}, show=False)"
AGAIN = 3.0
"""Seconds after which who was told to wait asks again, as a browser does."""
ANSWERED = ("limit known to", "no limit")
STATUS = (*ANSWERED, "solving", "waiting")
"""How what the page says begins, with an answer and without one."""
LONGEST = 120.0
"""Seconds in which a session must be answered or told to wait."""


@dataclass
class Seen:
    """What all sessions saw."""

    waits: list[float] = field(default_factory=list)
    told: int = 0
    refused: int = 0
    opened: int = 0
    heard: set[int] = field(default_factory=set)
    silent: list[str] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)

    def report(self) -> str:
        """Return the figures, in lines."""
        waits, sizes = self.waits or [np.nan], self.sizes or [np.nan]
        return (
            f"{self.opened} pages opened, {len(self.heard)} sessions answered or told to wait\n"
            f"{len(self.waits)} requests answered, half of them within {np.median(waits):.1f} s, nine in ten within "
            f"{np.quantile(waits, 0.9):.1f} s, the last within {max(waits):.1f} s\n"
            f"told to wait: {self.told} times by the page, {self.refused} times by the server\n"
            f"neither answered nor told within {LONGEST:.0f} s: {self.silent or 'none'}\n"
            f"memory of the server: {sizes[0]:.0f} MB first, {sizes[len(sizes) // 2]:.0f} MB half way, "
            f"{sizes[-1]:.0f} MB last, {max(sizes):.0f} MB at most"
        )


class Session:
    """A page as its browser has it: its sliders, and the words of its status."""

    def __init__(self, connection: Any) -> None:
        self.socket, self.receiver = WebSocketClientConnectionWrapper(connection), Receiver(Protocol())
        self.sliders: list[dict[str, Any]] = []
        self.words = ""

    async def take(self) -> Any:
        """Return the next message; note what it says."""
        while (message := await self.receiver.consume(await self.socket.read_message())) is None:  # pyright: ignore
            pass
        if message.msgtype == "PATCH-DOC":
            said = [event["new"] for event in message.content["events"] if event.get("attr") == "text"]
            self.words = next((words for words in reversed(said) if words.startswith(STATUS)), self.words)
        return message

    async def send(self, kind: str, content: dict[str, Any]) -> Any:
        """Send a message; return its answer."""
        header = {"msgid": uuid.uuid4().hex, "msgtype": kind}
        message = Protocol().assemble(json.dumps(header), "{}", json.dumps(content))
        await message.send(self.socket)
        while (reply := await self.take()).header.get("reqid") != message.header["msgid"]:
            pass
        return reply

    async def load(self) -> None:
        """Pull the page, and say that it is there."""
        await self.take()  # the server's first message
        reply = await self.send("PULL-DOC-REQ", {})
        self.sliders = [part for part in objects(reply.content) if part["name"] == "Slider"]
        ready = {"type": "event", "name": "document_ready", "values": {"type": "map"}}
        event = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ready}
        await self.send("PATCH-DOC", {"events": [event]})

    async def move(self) -> None:
        """Move one of the sliders to a random place."""
        own = random.choice(self.sliders)
        low, high, step = (own["attributes"].get(name, 1) for name in ("start", "end", "step"))
        place = low + step * random.randint(0, round((high - low) / step))
        change = {"kind": "ModelChanged", "model": {"id": own["id"]}, "new": place}
        self.words = ""
        await self.send("PATCH-DOC", {"events": [change | {"attr": name} for name in ("value", "value_throttled")]})


def objects(part: Any) -> Iterator[dict[str, Any]]:
    """Yield the models of a document as it is sent."""
    if isinstance(part, dict):
        if part.get("type") == "object":
            yield part
        part = list(part.values())
    for one in part if isinstance(part, list | tuple) else ():
        yield from objects(one)


async def new_page(port: int, number: int, seen: Seen) -> str:
    """Return the token of a new page; asks again while told to wait."""
    while True:
        request = HTTPRequest(f"http://127.0.0.1:{port}/", request_timeout=LONGEST)
        answer = await AsyncHTTPClient().fetch(request, raise_error=False)
        if found := re.search(r'"token":"([^"]+)"', answer.body.decode()):
            return found[1]
        assert answer.code == 503, answer.body
        seen.refused += 1
        seen.heard.add(number)
        await asyncio.sleep(AGAIN)


async def visit(port: int, number: int, until: float, seen: Seen) -> None:
    """Open a page, move sliders and wait for answers until it is time."""
    try:
        async with asyncio.timeout(until - time.monotonic()):
            token = await new_page(port, number, seen)
            session = Session(await websocket_connect(f"ws://127.0.0.1:{port}/ws", subprotocols=["bokeh", token]))
            try:
                await stay(session, number, seen)
            finally:
                session.socket.close()
    except TimeoutError:
        return


async def stay(session: Session, number: int, seen: Seen) -> None:
    """Move sliders and wait for answers, without end."""
    await session.load()
    seen.opened += 1
    while True:
        await session.move()
        await answered(session, number, seen)
        await pause(session, random.choice((1.0, 5.0, 20.0)))


async def answered(session: Session, number: int, seen: Seen) -> None:
    """Wait for the limit of the newest request; being told to wait counts as a sign of life."""
    began = time.perf_counter()
    while not session.words.startswith(ANSWERED):
        before = session.words
        try:
            async with asyncio.timeout(LONGEST):
                while session.words == before:
                    await session.take()
        except TimeoutError:
            return seen.silent.append(f"session {number}: {before}")
        seen.told += session.words.startswith("waiting")
        seen.heard.add(number)
    return seen.waits.append(time.perf_counter() - began)


async def pause(session: Session, seconds: float) -> None:
    """Look at the page for a while."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                await session.take()
    except TimeoutError:
        return


async def read_only(port: int, until: float) -> None:
    """Ask for pages that are never opened."""
    while time.monotonic() < until:
        await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/", raise_error=False, request_timeout=LONGEST)
        await asyncio.sleep(10.0)


async def weigh(pid: int, until: float, seen: Seen) -> None:
    """Note the memory of the server in MB."""
    while time.monotonic() < until:
        seen.sizes.append(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6)
        await asyncio.sleep(2.0)


@contextmanager
def serving() -> Any:
    """Yield a server of its own process, and its port."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port = own.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SERVE.format(port)])
    try:
        while not answers(port):
            assert server.poll() is None, "the server ended"
            time.sleep(0.2)
        yield server.pid, port
    finally:
        server.terminate()
        server.wait(20)


def answers(port: int) -> bool:
    """Whether somebody listens at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def load(sessions: int, minutes: float) -> Seen:
    """Let sessions come one after another, a second apart; return what they saw."""
    seen = Seen()
    with serving() as (pid, port):
        until = time.monotonic() + 60.0 * minutes
        watch = [asyncio.create_task(weigh(pid, until, seen)), asyncio.create_task(read_only(port, until))]
        visits = []
        for number in range(sessions):
            visits.append(asyncio.create_task(visit(port, number, until, seen)))
            await asyncio.sleep(1.0)
        await asyncio.gather(*visits, *watch)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    random.seed(0)
    seen = asyncio.run(load(given.sessions, given.minutes))
    print(f"{given.sessions} sessions, {given.minutes:g} minutes\n{seen.report()}")
    sys.exit(bool(seen.silent) or len(seen.heard) < given.sessions)


if __name__ == "__main__":
    main()
