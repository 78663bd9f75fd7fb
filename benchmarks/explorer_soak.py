"""Random slider moves in a real Chromium for some minutes: errors, dead pages, latency and memory of the server.

At the end a page is opened anew, for the time to its first picture.

    python benchmarks/explorer_soak.py --minutes 30

Needs the extras explore and dev, and a Chromium.
"""

import argparse
import random
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SERVE = "from flowlimit.explorer.app import serve; serve({}, show=False)"
KEYS = ("ArrowLeft", "ArrowRight", "PageUp", "PageDown")
SLIDERS = 6


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def start(port: int) -> subprocess.Popen:
    server = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SERVE.format(port)])
    while socket.socket().connect_ex(("127.0.0.1", port)):
        time.sleep(0.2)
    return server


def soak(page, server: subprocess.Popen, minutes: float) -> None:
    waits, sizes, errors, began = [], [], [], time.perf_counter()
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
        page.wait_for_timeout(random.choice((0, 500, 3000)))
        if len(waits) % 50 == 0:
            print(f"{len(waits)} moves, {sizes[-1]:.0f} MB, {len(errors)} errors", flush=True)
    half = len(sizes) // 2
    print(f"{len(waits)} moves; errors: {errors or 'none'}")
    print(f"slider to coarse curve: median {np.median(waits):.2f} s, nine in ten {np.quantile(waits, 0.9):.2f} s")
    print(f"memory: {sizes[0]:.0f} MB first, {sizes[half]:.0f} MB half way, {sizes[-1]:.0f} MB last")


def first_picture(browser, address: str) -> None:
    """Open the page anew, when nothing is being computed any more."""
    time.sleep(60.0)
    began = time.perf_counter()
    page = browser.new_page(viewport={"width": 1400, "height": 1100})
    page.goto(address)
    page.locator(".card-errors canvas").first.wait_for(timeout=180_000)
    page.get_by_text("limit known to").wait_for(timeout=180_000)
    print(f"first picture: {time.perf_counter() - began:.2f} s")


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--port", type=int, default=5199)
    given = parser.parse_args()
    random.seed(0)
    server = start(given.port)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), headless=True, args=QUIET)
        page = browser.new_page(viewport={"width": 1400, "height": 1100})
        address = f"http://127.0.0.1:{given.port}/"
        page.goto(address)
        page.get_by_text("limit known to").wait_for(timeout=180_000)
        soak(page, server, given.minutes)
        page.close()
        first_picture(browser, address)
        browser.close()
    server.terminate()


if __name__ == "__main__":
    main()
