"""The explorer's server among people, and among pages of other sites in its user's browser."""

import asyncio
import threading
import time

import pytest

pytest.importorskip("panel")

import panel as pn
from server import get, opened, page_token, running
from tornado.httpclient import HTTPClientError

from flowlimit.explorer import app
from flowlimit.explorer.place import Place

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")]

EVIL = "evil.example"
TOKEN = "a-token"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="module")
def port(log):
    with running(log) as own:
        yield own


def test_a_websocket_by_a_foreign_name_is_refused(port):
    """A site whose name means 127.0.0.1 for a moment is, to the browser, this server's own."""

    async def visit():
        token = await page_token(port)
        foreign = {"Host": f"{EVIL}:{port}", "Origin": f"http://{EVIL}:{port}"}
        for headers in (foreign, {"Origin": f"http://{EVIL}"}, {"Origin": "http://127.0.0.1:1"}, {"Origin": "null"}):
            with pytest.raises(HTTPClientError) as refused:
                await opened(port, token, **headers)
            assert refused.value.code == 403
        local = await opened(port, token, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")
        await local.ask("SERVER-INFO-REQ")
        local.socket.close()

    asyncio.run(visit())


def test_a_page_by_a_foreign_name_is_refused(port):
    async def visit():
        refused = await get(port, Host=EVIL)
        assert refused.code == 403
        assert f"'{EVIL}'" in refused.body.decode()
        assert "--allow-host" in refused.body.decode()
        assert (await get(port, Sec_Fetch_Dest="image")).code == 403
        assert (await get(port, "/static/js/bokeh.min.js", Host=EVIL)).code == 403

    asyncio.run(visit())


def test_no_module_is_imported_by_an_address(port, log):
    """Panel serves files of components, and imports what a path names: `this` prints when it is imported."""
    assert asyncio.run(get(port, "/components/this/Name/css/file.css")).code == 404
    assert "Zen of Python" not in log.read_text()


def test_thirty_requests_do_not_stop_the_server(port):
    """Others are answered meanwhile, and who is not is told so; pages that no browser opens are forgotten."""

    async def visit():
        mine = await opened(port, await page_token(port))
        await asyncio.sleep(3.0)  # the server rests after a page; then it makes one more
        pages, waits = asyncio.gather(*(get(port) for _ in range(30))), []
        while not pages.done():
            began = time.perf_counter()
            await mine.ask("SERVER-INFO-REQ")
            waits.append(time.perf_counter() - began)
            await asyncio.sleep(0.1)
        codes = [page.code for page in await pages]
        assert codes.count(200) <= 3
        assert codes.count(200) + codes.count(503) == 30
        assert "asks again by itself" in next(page for page in await pages if page.code == 503).body.decode()
        print(f"{codes.count(200)} pages; an open one waited at most {max(waits):.1f} s")
        assert max(waits) < 15.0  # for one page, on a busy machine
        await page_token(port)  # soon there is room again
        mine.socket.close()

    asyncio.run(visit())


async def visited(act, **options):
    """Act on a server in this process."""
    pn.extension()
    server = app.make_server(Place("127.0.0.1", "127.0.0.1", 0), **options)
    server.start()
    try:
        async with asyncio.timeout(120.0):
            return await act(server.port)
    finally:
        server.stop()


def test_sessions_beyond_the_most_are_told(monkeypatch):
    monkeypatch.setattr("flowlimit.explorer.crowd.MOST_SESSIONS", 1)

    async def act(port):
        visitor = await opened(port, await page_token(port))
        await visitor.load()
        full = await get(port)
        assert full.code == 503
        assert "has 1 pages open and takes no more" in full.body.decode()
        assert int(full.headers["Retry-After"]) > 0
        with pytest.raises(HTTPClientError, match="403"):
            await opened(port, "not.a-token")
        visitor.socket.close()

    asyncio.run(visited(act))


def test_work_ends_with_its_page(monkeypatch):
    """The session is kept for a while, in which nothing is computed. A request may have replaced another by then."""
    ends = []

    def endless(inputs, stop):
        own = threading.Event()
        ends.append(own)
        while not stop():
            time.sleep(0.05)
        own.set()

    monkeypatch.setattr("flowlimit.explorer.worker.coarse_limit", endless)
    computing = lambda: bool(ends) and not ends[-1].is_set()

    async def act(port):
        visitor = await opened(port, await page_token(port))
        await visitor.load()
        while not computing():
            await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        assert computing()
        visitor.socket.close()
        assert await asyncio.to_thread(ends[-1].wait, 4.0)

    asyncio.run(visited(act))


def test_a_token_is_asked_for_beyond_loopback():
    async def act(port):
        for path in ("/", "/?token=", "/?token=a-toke", "/?token=%C3%BC", "/static/js/bokeh.min.js?token=a-token"):
            assert (await get(port, path)).code == 403
        welcome = await get(port, f"/?theme=dark&token={TOKEN}")
        assert (welcome.code, welcome.headers["Location"]) == (302, "/?theme=dark")
        cookie, *kind = welcome.headers["Set-Cookie"].split("; ")
        assert kind == ["HttpOnly", "SameSite=Lax", "Path=/"]
        page = await get(port, Cookie=cookie)
        assert page.code == 200
        assert TOKEN not in page.body.decode()
        token = await page_token(port, Cookie=cookie)
        with pytest.raises(HTTPClientError, match="403"):
            await opened(port, token)
        visitor = await opened(port, token, Cookie=cookie)
        await visitor.ask("SERVER-INFO-REQ")
        visitor.socket.close()

    asyncio.run(visited(act, token=TOKEN))


def test_a_name_of_a_proxy_is_trusted():
    async def act(port):
        token = await page_token(port, Host="ours.example")
        for headers in ({"Origin": "https://ours.example"}, {"Host": "ours.example", "Origin": "https://ours.example"}):
            visitor = await opened(port, token, **headers)
            await visitor.ask("SERVER-INFO-REQ")
            visitor.socket.close()

    asyncio.run(visited(act, trusted=frozenset({"ours.example"})))
