"""Random slider moves in a real Chromium for some minutes: errors, dead pages, latency and memory of the server.

The first page of a new server is timed, and at the end one that is opened anew. Every fifth move waits for all of
the answer. Programs are kept in a new folder unless ``--kept`` names one: a second run with it is a later server.

    python benchmarks/explorer_soak.py --minutes 30

Needs the extras explore and dev, and a Chromium.
"""

import argparse
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SERVE = "from flowlimit.explorer.app import serve; serve({}, show=False)"
KEYS = ("ArrowLeft", "ArrowRight", "PageUp", "PageDown")
SLIDERS = 6
KNOWN = re.compile(r"known to ([\d.e+-]+)%")


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def start(port: int, kept: str) -> subprocess.Popen:
    own = os.environ | {"FLOWLIMIT_CACHE": kept}
    server = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SERVE.format(port)], env=own)
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.2)
    return server


def soak(page, server: subprocess.Popen, minutes: float) -> None:
    waits, sharp, fine, sizes, errors, began = [], [], [], [], [], time.perf_counter()
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: errors.append(str(e)))
    while time.perf_counter() - began < 60.0 * minutes:
        page.locator(".noUi-handle").nth(random.randrange(SLIDERS)).focus()
        asked = time.perf_counter()
        page.keyboard.press(random.choice(KEYS))
        page.wait_for_timeout(100)
        page.get_by_text("limit known to").wait_for(timeout=180_000)
        waits.append(time.perf_counter() - asked - 0.1)
        sizes.append(memory(server.pid))
        if len(waits) % 5 == 0:
            until(page, partial(differs, KNOWN.findall(words_of(page))))
            sharp.append(time.perf_counter() - asked - 0.1)
            until(page, lambda words: "being refined" not in words)
            fine.append(time.perf_counter() - asked - 0.1)
        page.wait_for_timeout(random.choice((0, 500, 3000)))
        if len(waits) % 50 == 0:
            print(f"{len(waits)} moves, {sizes[-1]:.0f} MB, {len(errors)} errors", flush=True)
    half = len(sizes) // 2
    print(f"{len(waits)} moves; errors: {errors or 'none'}")
    share = lambda waits: (
        f"median {np.median(waits):.2f} s, nine in ten {np.quantile(waits, 0.9):.2f} s" if waits else "none"
    )
    print(f"slider to coarse curve: {share(waits)}\nslider to the finer limit: {share(sharp)} ({len(sharp)})")
    print(f"slider to all of the answer: {share(fine)}")
    print(f"memory: {sizes[0]:.0f} MB first, {sizes[half]:.0f} MB half way, {sizes[-1]:.0f} MB last")


def share(waits: list[float]) -> str:
    """Return the median of waits, and what nine in ten are below."""
    return f"median {np.median(waits):.2f} s, nine in ten {np.quantile(waits, 0.9):.2f} s" if waits else "none"


def words_of(page) -> str:
    """Return what the page says of its limit."""
    return page.get_by_text("limit known to").first.inner_text()


def differs(known: list[str], words: str) -> bool:
    """Whether the limit is known to another accuracy, or nothing more will come."""
    return KNOWN.findall(words) != known or "being refined" not in words


def until(page, enough) -> None:
    """Wait until the words of the limit are enough."""
    while not enough(words_of(page)):
        page.wait_for_timeout(100)


def first_picture(browser, address: str, which: str):
    """Return a page that is opened anew; print how long it takes."""
    began = time.perf_counter()
    page = browser.new_page(viewport={"width": 1400, "height": 1100})
    page.goto(address)
    page.locator(".card-errors canvas").first.wait_for(timeout=180_000)
    page.get_by_text("limit known to").wait_for(timeout=180_000)
    print(f"first picture of {which}: {time.perf_counter() - began:.2f} s", flush=True)
    return page


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--port", type=int, default=5199)
    parser.add_argument("--kept", default=None, help="folder of kept programs")
    given = parser.parse_args()
    random.seed(0)
    began = time.perf_counter()
    server = start(given.port, given.kept or tempfile.mkdtemp())
    print(f"server: {time.perf_counter() - began:.2f} s")
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), headless=True, args=QUIET)
            address = f"http://127.0.0.1:{given.port}/"
            page = first_picture(browser, address, "a new server")
            soak(page, server, given.minutes)
            page.close()
            time.sleep(10.0)
            first_picture(browser, address, "a page opened anew")
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
