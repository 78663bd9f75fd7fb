"""Deliberate faults, planted one at a time in a copy of the source, each of which a named test must catch.

python benchmarks/mutations.py [--only N ...] [--workers k]

The list is benchmarks/mutations.toml: a file, the text that is replaced, what is planted, what it means, and the tests
that catch it. The checkout is never edited. The named tests must pass on the source as it is, and fail with the fault.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
PLACE = "src/flowlimit"
TIMEOUT = 1200.0
"""Seconds for the tests of one fault; a fault that makes them hang is caught, as it would be seen."""
# Compiling is most of the time, and what is compiled is small; rounding is all that these flags change.
QUICK = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
CAUGHT, PASSED = 1, 0
"""Exit codes of pytest: some tests failed, all passed. Others (no test found, a usage error) prove nothing."""


@dataclass(frozen=True)
class Fault:
    """One entry of the list."""

    number: int
    file: str
    old: str
    new: str
    meaning: str
    caught_by: tuple[str, ...]

    @property
    def count(self) -> int:
        """How often the text that is replaced occurs."""
        path = ROOT / PLACE / self.file
        return path.read_text().count(self.old) if path.exists() else 0

    def plant(self, source: Path) -> None:
        """Plant the fault in a copy of the source."""
        path = source / "flowlimit" / self.file
        path.write_text(path.read_text().replace(self.old, self.new))


def read_list(path: Path = LIST) -> list[Fault]:
    """Return all faults, numbered from 1."""
    entries = tomllib.loads(path.read_text())["fault"]
    return [
        Fault(number, one["file"], one["old"], one["new"], one["meaning"], tuple(one["caught_by"]))
        for number, one in enumerate(entries, start=1)
    ]


def run_tests(source: Path, tests: list[str], cache: Path, *more: str) -> tuple[int | None, str]:
    """Run tests on some source; their exit code, or None if they did not end, and the end of what they print."""
    # Programs are cached by their content, so a cache cannot hide a fault.
    cached = {"JAX_COMPILATION_CACHE_DIR": str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    quiet = {"JAX_PLATFORMS": "cpu", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1", "NPROC": "1"}
    given = os.environ | cached | quiet | {"PYTHONPATH": str(source), "XLA_FLAGS": QUICK}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-n", "0", "--no-header", "--tb=line", *more, *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=given, capture_output=True, text=True, check=False, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return None, "no end"
    return done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def try_fault(fault: Fault, cache: Path) -> tuple[str, float, str]:
    """Plant one fault and run its tests; what happened, the seconds, and what the tests printed."""
    began = time.perf_counter()
    if fault.count != 1:
        return f"NOT PLANTED: the text occurs {fault.count} times", 0.0, ""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        fault.plant(source)
        code, printed = run_tests(source, list(fault.caught_by), cache, "-x")
    if code is None or code == CAUGHT:
        word = "caught"
    else:
        word = "SURVIVED" if code == PASSED else f"NOT RUN: pytest's exit code {code}"
    return word, time.perf_counter() - began, printed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="numbers of faults to plant, all unless given")
    parser.add_argument("--workers", type=int, default=1, help="faults that are tried at once")
    options = parser.parse_args()
    every = read_list()
    unknown = set(options.only or ()) - {fault.number for fault in every}
    if unknown:
        parser.error(f"--only: given {min(unknown)}, needs numbers from 1 to {len(every)}")
    faults = [fault for fault in every if not options.only or fault.number in options.only]
    with tempfile.TemporaryDirectory() as own:
        cache = Path(os.environ.get("JAX_COMPILATION_CACHE_DIR", own))
        began = time.perf_counter()
        tests = list(dict.fromkeys(test for fault in faults for test in fault.caught_by))
        code, printed = run_tests(ROOT / "src", tests, cache)
        if code != PASSED:
            sys.exit(f"{printed}\nthe named tests do not pass on the source as it is (exit code {code})")
        print(f"{len(tests)} tests pass without a fault, {time.perf_counter() - began:.0f} s\n", flush=True)
        print("| fault | file | meaning | caught by | seconds |\n|---|---|---|---|---|", flush=True)
        survivors = 0
        with ThreadPoolExecutor(options.workers) as pool:
            tried = pool.map(lambda fault: (fault, *try_fault(fault, cache)), faults)
            for fault, word, seconds, output in tried:
                by = fault.caught_by[0].removeprefix("tests/") if word == "caught" else word
                print(f"| {fault.number} | {fault.file} | {fault.meaning} | {by} | {seconds:.0f} |", flush=True)
                if word != "caught":
                    survivors += 1
                    print(output, file=sys.stderr, flush=True)
    seconds = time.perf_counter() - began
    print(f"\n{len(faults) - survivors} of {len(faults)} faults caught, {seconds:.0f} s in all")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
