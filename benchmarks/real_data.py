"""The estimated test error on real data, against the error on rows that were held out: 20 splits, drawn.

    python benchmarks/real_data.py --out real_data.jsonl --plot real_data.png    # needs the extras data and verify

- expression: the probe of largest variance in the lymphoma matrix `chop` (414 samples), predicted from 500 others that
  are drawn once; 150 rows train by gradient flow, 264 are held out.
- diabetes: scikit-learn's 442 patients with 10 features, their squares and pairwise products (64 that vary);
  60 rows train by gradient descent, 382 are held out.

A split's line has estimate and held-out error at some times, each with its standard error; the summary gives the mean
of their ratio over splits and how often the difference is within 1.96 of its combined standard error.
"""

import argparse
import itertools
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import flowlimit as fl

MODEL = fl.DiagonalLinear(0.3)
TIMES = 12


class Source(NamedTuple):
    """A table, how many of its rows train, and how."""

    X: np.ndarray
    y: np.ndarray
    rows: int
    training: fl.Training


def expression() -> Source:
    from flowlimit.data.expression import load_expression

    matrix = load_expression("chop")
    target = int(matrix.var(axis=0).argmax())
    columns = np.random.default_rng(0).choice(np.delete(np.arange(matrix.shape[1]), target), 500, replace=False)
    return Source(matrix[:, columns], matrix[:, target], 150, fl.GradientFlow(4.0))


def diabetes() -> Source:
    from sklearn.datasets import load_diabetes

    X, y = map(np.asarray, load_diabetes(return_X_y=True))
    pairs = [X[:, i] * X[:, j] for i, j in itertools.combinations_with_replacement(range(X.shape[1]), 2)]
    table = np.c_[X, np.stack(pairs, axis=1)]
    # the square of a feature with two values is that feature again
    new = [j for j in range(table.shape[1]) if j < 10 or np.abs(np.corrcoef(table[:, j], X.T)[0, 1:]).max() < 0.999]
    return Source(table[:, new], y, 60, fl.GradientDescent(0.1, num_steps=40))


SOURCES = {"expression": expression, "diabetes": diabetes}


def split(source: Source, seed: int, probes: int) -> dict[str, np.ndarray]:
    """Return estimates and held-out errors of one split, as shares of the variance of the training rows' y."""
    order = np.random.default_rng(seed).permutation(len(source.y))
    train, held_out = order[: source.rows], order[source.rows :]
    prepared = fl.prepare(source.X[train], source.y[train])
    clock = source.training.clock
    places = np.unique(np.round(np.geomspace(1.0, clock.last, TIMES))) if clock.in_steps else None
    times = np.geomspace(0.01, 1.0, TIMES) * clock.last if places is None else clock.times_at(places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.StrainWarning)
        found = fl.estimate_test_error(MODEL, prepared.dataset, source.training, probes=probes, key=seed, save_at=times)
    misses = np.array([prepared.predict(w, source.X[held_out]) - source.y[held_out] for w in found.weights]) ** 2
    misses /= prepared.y_scale**2
    return {
        "time": found.times,
        "estimate": found.test_error,
        "estimate_stderr": found.test_error_stderr,
        "held_out": misses.mean(axis=1),
        "held_out_stderr": misses.std(axis=1, ddof=1) / np.sqrt(misses.shape[1]),
        "train_error": found.train_error,
        "strains": np.array(len(found.strains)),
    }


def campaign(arguments: argparse.Namespace) -> Iterator[tuple[str, list[dict[str, np.ndarray]]]]:
    """Yield each source's splits."""
    for name in arguments.sources:
        source = SOURCES[name]()
        yield name, [split(source, seed, arguments.probes) for seed in range(arguments.splits)]


def judge(name: str, splits: list[dict[str, np.ndarray]]) -> dict:
    estimate, bar, truth, own = (
        np.array([one[key] for one in splits]) for key in ("estimate", "estimate_stderr", "held_out", "held_out_stderr")
    )
    ratio, z = estimate / truth, (estimate - truth) / np.hypot(bar, own)
    stop = estimate.argmin(axis=1)
    return {
        "source": name,
        "splits": len(splits),
        "ratio": ratio.mean(axis=0).round(3).tolist(),
        "ratio_stderr": (ratio.std(axis=0, ddof=1) / np.sqrt(len(splits))).round(3).tolist(),
        "ratio_spread": ratio.std(axis=0, ddof=1).round(3).tolist(),
        "train_over_held_out": float(np.mean([one["train_error"][-1] / one["held_out"][-1] for one in splits])),
        "covered": float((np.abs(z) <= 1.96).mean()),
        "z_mean": float(z.mean()),
        "z_sd": float(z.std()),
        "stopped_over_best": float(np.median([t[i] / t.min() for t, i in zip(truth, stop, strict=True)])),
        "stopped_over_best_worst": float(max(t[i] / t.min() for t, i in zip(truth, stop, strict=True))),
        "strained": int(sum(int(one["strains"]) > 0 for one in splits)),
    }


def draw(found: dict[str, list[dict[str, np.ndarray]]], path: Path) -> None:
    """Draw mean curves of each source with their spread over splits, and estimate against held-out error at the end."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    colours = {"estimate": "#0072B2", "held_out": "#D55E00", "train_error": "0.5"}
    words = {
        "estimate": "estimated, from training rows",
        "held_out": "on held-out rows",
        "train_error": "training error",
    }
    figure, panels = plt.subplots(1, len(found) + 1, figsize=(3.6 * (len(found) + 1), 3.2), layout="constrained")
    for panel, (name, splits) in zip(panels, found.items(), strict=False):
        times = splits[0]["time"]
        for curve in words:
            every = np.array([one[curve] for one in splits])
            mean, spread = every.mean(axis=0), every.std(axis=0, ddof=1)
            panel.fill_between(times, mean - spread, mean + spread, color=colours[curve], alpha=0.2, linewidth=0.0)
            panel.plot(times, mean, color=colours[curve], linewidth=1.4, label=words[curve])
        panel.set(xscale="log", xlabel="time $t$", ylabel="error, of the variance of $y$", title=name)
        panel.set_ylim(bottom=0.0)
    panels[1].legend(frameon=False, fontsize="small")
    last = panels[-1]
    for (name, splits), marker, colour in zip(found.items(), "os", ("#0072B2", "#009E73"), strict=False):
        x, y, dx, dy = (
            [one[key][-1] for one in splits] for key in ("held_out", "estimate", "held_out_stderr", "estimate_stderr")
        )
        last.errorbar(x, y, dy, dx, fmt=marker, ms=3.5, lw=0.7, color=colour, label=f"{name}, last time")
    ends = [0.0, max(*last.get_xlim(), *last.get_ylim())]
    last.plot(ends, ends, color="0.6", lw=0.8, zorder=0.0)
    last.set(xlabel="error on held-out rows", ylabel="estimated error", xlim=ends, ylim=ends)
    last.legend(frameon=False, fontsize="small", loc="lower right")
    figure.savefig(path, dpi=150)


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--sources", nargs="+", default=list(SOURCES), choices=list(SOURCES))
    parser.add_argument("--probes", type=int, default=8)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    return parser.parse_args(words)


def main() -> None:
    arguments = parse()
    found = dict(campaign(arguments))
    for name, splits in found.items():
        print(json.dumps(judge(name, splits)), flush=True)
    if arguments.out:
        with arguments.out.open("a") as file:
            for name, splits in found.items():
                for seed, one in enumerate(splits):
                    file.write(
                        json.dumps({"source": name, "seed": seed} | {k: v.tolist() for k, v in one.items()}) + "\n"
                    )
    if arguments.plot:
        draw(found, arguments.plot)


if __name__ == "__main__":
    main()
