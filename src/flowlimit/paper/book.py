"""The paper's figures by label, and where each is made. Modules are loaded when asked for."""

import importlib
from types import ModuleType
from typing import NamedTuple


class Figure(NamedTuple):
    """A figure of the paper: its label, the labels of its parts, the module that makes it, and what it shows."""

    label: str
    parts: tuple[str, ...]
    home: str
    shows: str
    shares: str = ""
    """Whose parameters it takes, if another module's."""

    @property
    def parameters(self) -> str:
        """Name of its file of parameters."""
        return self.shares or self.home

    @property
    def module(self) -> ModuleType:
        """The module: ``compute(label, lab, parameters) -> data``, ``draw(label, data)``, ``judge(label, data)``."""
        return importlib.import_module(f".figures.{self.home}", __package__)


BOOK = (
    Figure("fig:timescales", (), "timescales", "phases from a large and a small initialisation, as solved"),
    Figure(
        "fig:timescales_detail",
        ("fig:timescale_grok", "fig:timescale_descent"),
        "timescales",
        "training errors; grokking in t/log(alpha); descent in t/log(1/alpha)",
    ),
    Figure("fig:timescale_large", (), "timescales", "large initialisations in time"),
    Figure("fig:timescale_large_lazy", (), "timescales", "large initialisations in alpha^2 t: the lazy phase"),
    Figure("fig:timescale_large_grok", (), "timescales", "large init scales in t/log(alpha): when the rich phase is"),
    Figure("fig:timescale_large_rich", (), "timescales", "large init scales after 2 log(alpha)/lambda: the rich phase"),
    Figure("fig:timescale_small", (), "timescales", "small initialisations in time"),
    Figure("fig:timescale_small_transition", (), "timescales", "small initialisations in t/log(1/alpha)"),
    Figure("fig:fixedpoint_case1", (), "ends", "fixed points with weight decay: errors over aspect ratio, law of w"),
    Figure("fig:fixedpoint_case2", (), "ends", "fixed points without weight decay, aspect ratio > 1"),
    Figure("fig:fixedpoint_case3", (), "ends", "fixed points without weight decay, aspect ratio < 1"),
    Figure(
        "fig:convergencerate_details",
        ("fig:convergencerate_details (a)", "fig:convergencerate_details (b)"),
        "rates",
        "the training error less its limit in time, aspect ratios 2 and 0.5",
    ),
    Figure("fig:convergencerate_theory", (), "rates", "the rate over the init scale"),
    Figure(
        "fig:longtime",
        ("fig:fixedpoint", "fig:convergencerate", "fig:convergencerate_real"),
        "longtime",
        "last test errors over the init scale; decays on Gaussian and on real data",
        "real",
    ),
    Figure(
        "fig:experiment_binary",
        ("fig:experiment_binary (a)", "fig:experiment_binary (b)"),
        "binary",
        "the same on binary data",
    ),
    Figure("fig:empirical_gene", (), "real", "whitened entries of the real data"),
    Figure("tab:longtime", (), "table", "fixed points and rates, case by case"),
    Figure("sec:overview", (), "overview", 'every claim of "Overview of main findings"'),
    Figure("beyond:heavy_tails", (), "heavy", "not in the paper: fixed points on data with heavy tails"),
)


def labels() -> list[str]:
    """Return every label, parts after their figure."""
    return [label for figure in BOOK for label in (figure.label, *figure.parts)]


def find(label: str) -> Figure:
    """Return the figure that a label, or the label of a part, belongs to."""
    for figure in BOOK:
        if label in (figure.label, *figure.parts):
            return figure
    raise ValueError(f"label: given {label!r}, the paper has {', '.join(labels())}")
