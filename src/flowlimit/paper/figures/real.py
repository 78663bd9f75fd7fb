"""Real data: training on random subsets of whitened expression levels, and on Gaussian data whitened alike."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ...data import load_expression, sample_design, whiten
from ...problem.designs import MatrixDesign
from ...problem.models import DiagonalLinear
from ...results.spread import standard_error
from ..lab import Lab
from ..lines import Numbers
from ..setting import descent_of, task_of
from ..verdict import Verdict
from . import rates
from .scales import Points

Matrix = Float[np.ndarray, "samples features"]
WIDEST = 6.0
"""Largest entry that is drawn."""


def expression_of(p: SimpleNamespace) -> Matrix:
    """Return the whitened expression levels."""
    return whiten(load_expression(p.source))


def name_of(p: SimpleNamespace) -> str:
    """Return what figures call the data."""
    return Path(p.source).name.partition("-")[0]


def gaussian_like(white: Matrix, key: int) -> Matrix:
    """Return Gaussian data of as many samples, whitened as the real data are: a control of what whitening does."""
    return whiten(np.random.default_rng(key).normal(size=white.shape))


def real_points(lab: Lab, p: SimpleNamespace, white: Matrix) -> Points:
    """Return last test errors over init scales."""
    _, _, test = _train(lab, p, white, f"real-ends-{name_of(p)}", p.scales, [0.0, p.step_size * p.num_steps])
    last = test[:, :, -1]
    spread = standard_error(last)
    return Points(f"real data ({name_of(p)})", np.array(p.scales), last.mean(axis=0), spread, p.subsets)


def real_decays(lab: Lab, p: SimpleNamespace, white: Matrix, name: str, known: list[rates.Decay]) -> list[rates.Decay]:
    """Return decays on whitened data in the place of those known for Gaussian data, beside the same limits.

    Columns of mean 0 leave the mean of the labels' noise unfitted: the training error ends above 0.
    """
    times, train, _ = _train(lab, p, white, name, [decay.scale for decay in known], rates.saved_times(p))
    return [decay._replace(times=times, trials=rates.less_end(train[:, place])) for place, decay in enumerate(known)]


def _train(lab: Lab, p: SimpleNamespace, white: Matrix, name: str, scales: list[float], save_at: Any) -> Any:
    """Train once on each of some random subsets; return times, training and test errors: subset, scale, time."""
    draws = [sample_design(white, p.real_samples, p.real_dim, seed) for seed in range(p.subsets)]
    designs = [MatrixDesign(drawn) for drawn in draws]
    points = [
        {"task.design": design, "key": p.key + place, "model.init_scale": scale}
        for place, design in enumerate(designs)
        for scale in scales
    ]
    nouns = (
        DiagonalLinear(1.0),
        task_of(p, p.aspect_ratio, designs[0]),
        descent_of(p),
    )
    table = lab.simulate(name, *nouns, over=points, trials=1, save_at=save_at)
    read = lambda number: table[number].to_numpy().reshape(p.subsets, len(scales), -1)
    return table["train_error"]["time"].to_numpy(), read("train_error"), read("test_error")


class Entries(NamedTuple):
    """Whitened entries of the real data."""

    values: Numbers
    source: str


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Entries:
    """Look at the real data."""
    return Entries(expression_of(p).ravel(), name_of(p))


def draw(label: str, data: Entries) -> Any:
    """Draw the law of whitened entries beside a Gaussian."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(3.2, 2.4))
    x = np.linspace(-WIDEST, WIDEST, 400)
    bins = np.linspace(-WIDEST, WIDEST, 121).tolist()
    panel.hist(data.values, bins, density=True, color="0.75", label=f"whitened expression ({data.source})")
    panel.plot(x, np.exp(-(x**2) / 2.0) / np.sqrt(2.0 * np.pi), color="black", label="standard Gaussian")
    panel.set(yscale="log", ylim=(1e-5, 8.0), xlabel="entry", ylabel="density")
    panel.legend(loc="upper center")
    return figure


def judge(label: str, data: Entries) -> list[Verdict]:
    """Judge the tails by the fourth moment."""
    kurtosis = float(np.mean(data.values**4) / np.mean(data.values**2) ** 2)
    words = "fourth moment of a whitened entry, over its variance squared (Gaussian: 3)"
    return [Verdict(label, "whitened real data have heavier tails than a Gaussian", words, kurtosis, 3.1, "above")]
