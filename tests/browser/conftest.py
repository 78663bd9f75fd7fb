"""A server of the explorer in a process of its own, and a headless Chromium."""

import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
SERVE = "from flowlimit.explorer.app import serve; serve({}, show=False)"


def free_port():
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return own.getsockname()[1]


@pytest.fixture(scope="session")
def server():
    port = free_port()
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", SERVE.format(port)])
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert process.poll() is None, "the server ended"
        time.sleep(0.1)
    yield process, f"http://127.0.0.1:{port}/"
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("CI needs a Chromium: apt-get install chromium")
        pytest.skip("needs a Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, headless=True, args=QUIET)
        yield browser
        browser.close()
