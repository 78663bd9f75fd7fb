"""Random damage to stores of limits, runs and sweeps: it is noticed, or no value that is returned changes.

    python benchmarks/store_damage.py --cases 1000 --key 0

Each case takes a copy of a store and damages it once: a single bit of a file, its end, the file itself, or a folder
with all that is in it. Then everything is read. A sweep is also run again: whatever was damaged, it must end with the
numbers that it had, or be refused.
"""

import argparse
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import flowlimit as fl

TASK = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
STEPS = fl.GradientDescent(0.25, num_steps=6)
AXES = {"x": [float(i) for i in range(20)]}


def squares(model: Any, task: Any, *, x: float) -> dict[str, Any]:
    return {"square": x**2, "curve": np.array([x, 2.0 * x, np.nan])}


def sweep(path: Path) -> fl.Table:
    return fl.sweep(squares, fl.Linear(), TASK, over=AXES, store=path, block_size=3)


def stores(folder: Path) -> dict[str, Path]:
    """Make one store of each kind."""
    paths = {kind: folder / f"{kind}.zarr" for kind in ("limit", "runs", "sweep")}
    fl.save(fl.solve_dmft(fl.Linear(), TASK, STEPS, rtol=0.1), paths["limit"])
    fl.save(fl.simulate(fl.Linear(), TASK, STEPS, dim=30, trials=3, weights_at=[1.0]), paths["runs"])
    sweep(paths["sweep"])
    return paths


def values(kind: str, path: Path) -> dict[str, bytes]:
    """Return everything that a reader gets, bit for bit."""
    if kind != "sweep":
        tree = fl.load(path).to_datatree()
        arrays = {f"{group.path}/{name}": group[str(name)] for group in tree.subtree for name in group.variables}
        said = {"attributes": repr(sorted(tree.attrs.items())).encode()}
        return said | {name: array.to_numpy().tobytes() for name, array in arrays.items()}
    table = fl.open_sweep(path)
    data = table.to_xarray()
    said = {"failures": repr(table.failures).encode(), "missing": repr(table.missing).encode()}
    return said | {str(name): data[name].to_numpy().tobytes() for name in data.variables}


def damage(rng: np.random.Generator, path: Path) -> str:
    """Damage one file of a store, or one folder."""
    kind = str(rng.choice(["flip", "cut", "delete", "folder"], p=[0.5, 0.2, 0.2, 0.1]))
    files = sorted(file for file in path.rglob("*") if file.is_file())
    if kind == "folder":
        shutil.rmtree(rng.choice(np.array(sorted(folder for folder in path.rglob("*") if folder.is_dir()))))
        return kind
    file = files[rng.integers(len(files))]
    data = bytearray(file.read_bytes())
    if kind == "flip":
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    file.write_bytes(data[: rng.integers(len(data))] if kind == "cut" else data)
    if kind == "delete":
        file.unlink()
    return kind


def outcome(kind: str, path: Path, known: dict[str, bytes]) -> str:
    """Return what a reader meets."""
    try:
        found = values(kind, path)
        if found == known:
            return "without effect"
        told = found.get("missing") != known.get("missing")
        numbers = [name for name in known if name not in ("missing", "seconds", "failures")]
        return "told as missing" if told and all(found[name] == known[name] for name in numbers) else "NOT NOTICED"
    except (ValueError, OSError) as error:
        return "noticed" if str(error) else "an error without words"


def resumed(path: Path, known: dict[str, bytes]) -> str:
    """Run a damaged sweep again."""
    try:
        sweep(path)
    except (ValueError, OSError):
        return "resume refused"
    numbers = values("sweep", path)
    same = all(numbers[name] == known[name] for name in ("result", "square", "curve", "x"))
    return "resumed to the same numbers" if same else "NOT NOTICED by resume"


def campaign(cases: int, key: int) -> Counter[str]:
    rng, counts = np.random.default_rng(key), Counter()
    with tempfile.TemporaryDirectory() as name:
        made = stores(Path(name))
        known = {kind: values(kind, path) for kind, path in made.items()}
        for case in range(cases):
            kind = list(made)[case % len(made)]
            copy = Path(name) / "copy.zarr"
            shutil.copytree(made[kind], copy)
            how = damage(rng, copy)
            met = outcome(kind, copy, known[kind])
            counts[f"{kind}: {how}: {met}"] += 1
            if kind == "sweep":
                counts[f"{kind}: {how}: {resumed(copy, known[kind])}"] += 1
            shutil.rmtree(copy)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--key", type=int, default=0)
    options = parser.parse_args()
    began = time.perf_counter()
    counts = campaign(options.cases, options.key)
    for what, count in sorted(counts.items()):
        print(f"{what:50} {count:5}")
    wrong = sum(count for what, count in counts.items() if "NOT" in what or "without words" in what)
    print(f"{options.cases} cases, {wrong} wrong, {time.perf_counter() - began:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
