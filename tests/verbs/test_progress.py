"""A bar where somebody watches, after a while, that goes when the work is done; nothing elsewhere."""

import io
import json
import os
import re
import subprocess
import sys
import threading

import pytest

from flowlimit.verbs.bar import WIPE, Bar, Lines, Terminal
from flowlimit.verbs.progress import reporter

SOON = """
import sys, threading, time
import flowlimit as fl
from flowlimit.verbs import progress
progress.SECONDS = 0.2
def work(how=None, seconds=0.5):
    with progress.reporter(how, "work") as report:
        report(0.5, "half")
        time.sleep(seconds)
"""
DESCENT = "fl.Linear(), fl.Regression(2.0, noise_var=0.1, target=fl.Normal()), fl.GradientDescent(0.5, num_steps=3)"


def at_a_terminal(code, **environment):
    """Run code whose errors go to a terminal; return what it printed, and what the terminal was sent."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", code]
    known = {name: value for name, value in os.environ.items() if name != "FLOWLIMIT_PROGRESS"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=known | {"TERM": "xterm"} | environment
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # how Linux says that nobody holds the other end
        pass
    os.close(ours)
    printed = process.communicate()[0]
    assert process.returncode == 0, shown.decode()
    return printed, shown.decode()


def titles(shown):
    """Return the first word of each bar that was drawn, after its time."""
    return re.findall(r"\d:\d\d  (\w+)", shown)


def test_quick_work_shows_nothing_and_loads_nothing():
    code = f"{SOON}\nprogress.SECONDS = 2.0\nwork(seconds=0)\nprint(threading.active_count(), 'rich' in sys.modules)"
    assert at_a_terminal(code) == ("1 False\n", "")


def test_slow_work_shows_a_bar_on_standard_error_and_erases_it():
    """Nothing is told while it sleeps, as while a compilation blocks; two seconds are what users have."""
    code = f"{SOON}\nprogress.SECONDS = 2.0\nwork(seconds=2.7)\nprint(threading.active_count())"
    printed, shown = at_a_terminal(code)
    assert printed == "1\n"
    lines = shown.split(WIPE)
    assert len(lines) >= 3
    assert (lines[0], lines[-1]) == ("", "")
    assert all(re.search(r"50% 0:0[2-9]  work: half$", line) for line in lines[1:-1])


@pytest.mark.parametrize(
    "quiet",
    [
        "work(False)",
        "work(lambda fraction, message: None)",
        "thread = threading.Thread(target=work); thread.start(); thread.join()",
        "with progress.reporter(lambda *_: None, 'outer'): work()",
        "import multiprocessing; multiprocessing.get_context('fork').Pool(1).map(work, [None])",
    ],
)
def test_nothing_is_shown(quiet):
    assert at_a_terminal(f"{SOON}\n{quiet}")[1] == ""


@pytest.mark.parametrize("environment", [{"FLOWLIMIT_PROGRESS": "0"}, {"TERM": "dumb"}])
def test_the_environment_says_that_nobody_watches(environment):
    assert at_a_terminal(f"{SOON}\nwork()", **environment)[1] == ""


def test_true_overrides_the_environment():
    assert "work: half" in at_a_terminal(f"{SOON}\nwork(True)", FLOWLIMIT_PROGRESS="0")[1]


def test_verbs_show_one_bar_after_the_other():
    code = f"{SOON}\nprogress.SECONDS = 1e-3\nfl.check({DESCENT}, dims=(20, 40), trials=2)"
    shown = at_a_terminal(code)[1]
    assert list(dict.fromkeys(titles(shown))) == ["solve", "simulate"]
    assert titles(shown) == sorted(titles(shown), reverse=True)
    assert shown.endswith(WIPE)


def test_a_sweep_shows_its_own_bar_alone():
    code = f"{SOON}\nprogress.SECONDS = 1e-3\nfl.sweep(fl.solve_dmft, {DESCENT}, over={{'key': [0, 1]}})"
    assert set(titles(at_a_terminal(code)[1])) == {"sweep"}


def test_the_command_prints_json_alone_on_standard_output():
    words = ["flowlimit", "solve-dmft", "--step-size", "0.5", "--num-steps", "3", "--rtol", "0.1", "--json"]
    code = f"{SOON}\nprogress.SECONDS = 1e-3\nsys.argv = {words}\nfrom flowlimit.cli.app import main; main()"
    printed, shown = at_a_terminal(code)
    assert json.loads(printed)["result"] == "successful"
    assert "solve" in shown
    assert shown.endswith(WIPE)


def test_wrong_values_are_refused():
    """In a process without the tests' type checks, which refuse them too."""
    code = f"""{SOON}
for verb in (fl.solve_dmft, fl.check):
    for wrong in (1, 'yes', []):
        try: verb({DESCENT}, progress=wrong)
        except TypeError as error: print(error)
"""
    needs = "needs None (a bar if somebody watches), True, False or a function (fraction, message)"
    line = [f"progress: given {wrong}, {needs}" for wrong in ("1", "'yes'", "[]")]
    assert at_a_terminal(code)[0].splitlines() == 2 * line


def test_an_error_passes_through_and_leaves_no_thread(capsys):
    def work(progress):
        with reporter(progress, "work") as report:
            report(0.5, "half")
            raise ZeroDivisionError

    before = threading.active_count()
    for progress in (True, False, None, lambda fraction, message: 1 / 0):
        with pytest.raises(ZeroDivisionError):
            work(progress)
    assert threading.active_count() == before


def test_nothing_under_pytest_unless_asked_for(capsys, monkeypatch):
    monkeypatch.setattr("flowlimit.verbs.progress.SECONDS", 1e-3)
    for progress, needed in ((None, ""), (True, "work")):
        with reporter(progress, "work"):
            threading.Event().wait(0.05)
        printed = capsys.readouterr()
        assert printed.out == ""
        assert (needed in printed.err) if needed else printed.err == ""


def test_a_file_gets_lines():
    stream = io.StringIO()
    with Bar("work", Lines(stream), after=0.0) as move:
        move(2.0, "done")
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


def test_a_terminal_without_unicode_and_one_that_went_away():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    screen = Terminal(stream)
    screen.show("━━── é")
    assert stream.buffer.getvalue().decode() == f"{WIPE}##-- ?"
    stream.close()
    with Bar("work", screen, after=0.0):
        pass


@pytest.mark.parametrize(("environment", "left"), [("1", [{}]), ("0", [])])
def test_a_notebook_is_left_with_nothing_to_see(environment, left, monkeypatch):
    """An output that was shown cannot be deleted: it is left without content, and there is none if told so."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("FLOWLIMIT_PROGRESS", environment)
    cell = nbformat.v4.new_code_cell(f"{SOON}\nprint('before')\nwork(seconds=1.5)\nprint('after')")
    notebook, shown = nbformat.v4.new_notebook(cells=[cell]), []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, *place):
            shown.append(message["content"].get("data", {}).get("text/plain", ""))
            return super().process_message(message, *place)

    Client(notebook, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert [one["data"] for one in outputs if one["output_type"] == "display_data"] == left
    assert [one["text"] for one in outputs if one["output_type"] == "stream"] in (
        ["before\n", "after\n"],
        ["before\nafter\n"],
    )
    assert any("work: half" in text for text in shown) == bool(left)
