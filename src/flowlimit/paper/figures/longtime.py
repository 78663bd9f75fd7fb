"""Long times on Gaussian, binary and real data: test errors at the end, and how fast the training error falls."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.stats import t as student

from ...asymptotics.fixed_point import fixed_point
from ...data import load_expression, sample_design, whiten
from ...problem.designs import BinaryDesign, MatrixDesign
from ...problem.laws import Bernoulli
from ...problem.models import DiagonalLinear
from ...problem.tasks import Regression
from ...problem.trainings import GradientDescent
from ...sweeps import sweep
from ...verbs.simulate import simulate
from ..lab import Lab
from ..parameters import read_parameters
from ..verdict import Verdict
from . import ends, rates

Numbers = Float[np.ndarray, "_"]
Matrix = Float[np.ndarray, "samples features"]
CHANCE, SMOOTH = 1e-3, 60
PANELS = {"Gaussian data": "fig:convergencerate", "real data": "fig:convergencerate_real"}


class Runs(NamedTuple):
    """Test errors at the end of runs over init scales, on one kind of data."""

    words: str
    scales: Numbers
    mean: Numbers
    stderr: Numbers
    trials: int


class LongTime(NamedTuple):
    """Theory over a fine axis, runs on each kind of data with theory at their points, and decays by kind of data."""

    fine: Numbers
    theory: Numbers
    runs: list[Runs]
    expected: list[Numbers]
    decays: dict[str, list[rates.Decay]]
    entries: Numbers
    """Whitened entries of the real data."""


def compute(label: str, lab: Lab, p: SimpleNamespace) -> LongTime:
    """Run what a figure needs: Gaussian and real data, or binary data, or look at the real data alone."""
    task, fine = _task(p), np.geomspace(0.1, 10.0, SMOOTH)
    errors = lambda at: (
        sweep(fixed_point, DiagonalLinear(1.0), task, over={"model.init_scale": at})["test_error"].values
    )
    white = whiten(load_expression(p.source)) if label != "fig:experiment_binary" else np.zeros((0, 0))
    runs, decays = [], {}
    if label == "fig:longtime":
        runs, decays = _gaussian(lab), {"Gaussian data": rates.decays_at(lab, _rates(lab), p.aspect_ratio)}
        runs.append(_real_ends(lab, p, white))
        decays["real data"] = _real_decays(lab, p, white)
    if label == "fig:experiment_binary":
        runs = [_binary_ends(lab, p)]
        own = _rates(lab)
        decays = {"binary data": rates.decays_at(lab, own, p.aspect_ratio, design=BinaryDesign(), name="binary")}
    return LongTime(fine, errors(fine), runs, [errors(own.scales) for own in runs], decays, white.ravel())


def _task(p: SimpleNamespace) -> Regression:
    return Regression(aspect_ratio=p.aspect_ratio, noise_var=p.noise_var, target=Bernoulli(p.probability))


def _rates(lab: Lab) -> SimpleNamespace:
    return read_parameters("rates", quick=lab.quick)


def _gaussian(lab: Lab) -> list[Runs]:
    own = ends.compute("fig:fixedpoint_case3", lab, read_parameters("ends", quick=lab.quick))
    return [Runs("Gaussian data", own.at, own.mean["test_error"], own.stderr["test_error"], own.trials)]


def _binary_ends(lab: Lab, p: SimpleNamespace) -> Runs:
    """Train on binary data to the end."""
    end, over = p.step_size * p.num_steps, {"model.init_scale": p.scales}
    options = {"dim": p.dim, "trials": p.trials, "key": p.key, "save_at": [0.0, end], "block_size": len(p.scales)}
    task, training = _task(p).replaced(design=BinaryDesign()), GradientDescent(p.step_size, p.num_steps)
    data = lab.sweep("binary-ends", simulate, DiagonalLinear(1.0), task, training, over=over, **options)
    last = data.to_xarray().isel(time=-1)
    return Runs(
        "binary data", np.array(p.scales), last["test_error"].values, last["test_error_stderr"].values, p.trials
    )


def _real(lab: Lab, p: SimpleNamespace, white: Matrix, name: str, scales: list[float], save_at: Any) -> Any:
    """Train once on each of some random subsets of the real data: axes are subset and init scale."""
    designs = [
        MatrixDesign(jnp.asarray(sample_design(white, p.real_samples, p.real_dim, seed))) for seed in range(p.subsets)
    ]
    points = [
        {"task.design": design, "key": p.key + place, "model.init_scale": scale}
        for place, design in enumerate(designs)
        for scale in scales
    ]
    task, training = _task(p).replaced(design=designs[0]), GradientDescent(p.step_size, p.num_steps)
    options = {"trials": 1, "save_at": save_at}
    table = lab.sweep(name, simulate, DiagonalLinear(1.0), task, training, over=points, **options)
    read = lambda number: table[number].to_numpy().reshape(p.subsets, len(scales), -1)
    return table["train_error"]["time"].to_numpy(), read("train_error"), read("test_error")


def _real_ends(lab: Lab, p: SimpleNamespace, white: Matrix) -> Runs:
    _, _, test = _real(lab, p, white, "real-ends", p.scales, [0.0, p.step_size * p.num_steps])
    last = test[:, :, -1]
    spread = last.std(axis=0, ddof=1) / np.sqrt(p.subsets)
    return Runs(f"real data ({p.source})", np.array(p.scales), last.mean(axis=0), spread, p.subsets)


def _real_decays(lab: Lab, p: SimpleNamespace, white: Matrix) -> list[rates.Decay]:
    """Return decays on real data beside the limit for Gaussian data."""
    own = _rates(lab)
    steps = np.r_[0.0, np.unique(np.geomspace(1, p.num_steps, p.saved).round())]
    times, train, _ = _real(lab, p, white, "real-decays", own.scales, steps * p.step_size)
    known = rates.decays_at(lab, own, p.aspect_ratio)
    root = np.sqrt(p.subsets)
    lines = [
        rates.Line(times, train[:, i].mean(axis=0), train[:, i].std(axis=0, ddof=1) / root) for i in range(len(known))
    ]
    return [decay._replace(runs=line) for decay, line in zip(known, lines, strict=True)]


def draw(label: str, data: LongTime) -> Any:
    """Draw test errors at the end and decays, or the law of whitened entries."""
    import matplotlib.pyplot as plt

    if label == "fig:empirical_gene":
        figure, panel = plt.subplots(figsize=(3.2, 2.4))
        _draw_entries(panel, data.entries)
        return figure
    figure, panels = plt.subplots(1, 1 + len(data.decays), figsize=(2.4 * (1 + len(data.decays)), 2.4))
    panels[0].plot(data.fine, data.theory, color="black", label="theory")
    for own, marker in zip(data.runs, "os", strict=False):
        panels[0].errorbar(own.scales, own.mean, own.stderr, fmt=marker, label=own.words)
    panels[0].set(xscale="log", xlabel=r"init scale $\alpha$", ylabel="test error at the end")
    panels[0].legend()
    for panel, (words, decays) in zip(panels[1:], data.decays.items(), strict=True):
        rates.draw_decays(panel, decays)
        panel.set_title(words)
    return figure


def _draw_entries(panel: Any, entries: Numbers) -> None:
    x = np.linspace(-6.0, 6.0, 400)
    panel.hist(entries, np.linspace(-6.0, 6.0, 121), density=True, color="0.75", label="whitened expression")
    panel.plot(x, np.exp(-(x**2) / 2.0) / np.sqrt(2.0 * np.pi), color="black", label="standard Gaussian")
    panel.set(yscale="log", ylim=(1e-5, 1.0), xlabel="entry", ylabel="density")
    panel.legend()


def judge(label: str, data: LongTime) -> list[Verdict]:
    """Judge ends and decays on each kind of data; of real ones the trend, as the paper does."""
    if label == "fig:empirical_gene":
        kurtosis = float(np.mean(data.entries**4) / np.mean(data.entries**2) ** 2)
        words = "fourth moment of a whitened entry, over its variance squared"
        return [Verdict(label, "whitened real data have heavier tails than a Gaussian", words, kurtosis, 3.0, "above")]
    verdicts = []
    for own, expected in zip(data.runs, data.expected, strict=True):
        off = float(np.max(np.abs(own.mean - expected) / own.stderr))
        bound = float(student.ppf(1.0 - CHANCE / (2.0 * len(own.scales)), own.trials - 1))
        words = "largest deviation, in standard errors"
        panel = "fig:fixedpoint" if label == "fig:longtime" else f"{label} (a)"
        verdicts.append(Verdict(panel, f"theory gives the test error at the end: {own.words}", words, off, bound))
    for words, decays in data.decays.items():
        panel = {"Gaussian data": "fig:convergencerate", "real data": "fig:convergencerate_real"}.get(
            words, f"{label} (b)"
        )
        own = rates.judge_decays(panel, decays, data.runs[0].trials)
        verdicts += own[1:] if words == "real data" else own
    rise = float(np.diff(data.theory).min() / data.theory.min())
    claim, words = (
        "smaller starts end with smaller test errors",
        "least relative rise of theory from one start to the next",
    )
    verdicts.append(Verdict(label, claim, words, rise, 0.0, "above"))
    return verdicts
