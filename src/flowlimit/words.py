"""The field's own words for our names, and "did you mean": one table for Python, files and the command line.

Nothing heavy is imported, so that an unknown name is explained without loading jax.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import Literal

Words = Mapping[str, tuple[str, ...]]
Draws = Literal["balanced", "independent"]
"""How targets, label noise and initialisations are drawn: with their law's composition, or each by chance."""

FIELDS: Words = {
    "alpha": ("init_scale", "aspect_ratio"),
    "scale": ("init_scale", "std", "value"),
    "init": ("init_scale",),
    "sigma": ("noise_var", "noise_std", "std"),
    "sigma2": ("noise_var",),
    "noise": ("noise_var", "noise_std", "label_noise"),
    "noise_variance": ("noise_var",),
    "noise_std": ("noise_var",),
    "delta": ("aspect_ratio", "threshold"),
    "gamma": ("aspect_ratio",),
    "kappa": ("aspect_ratio",),
    "ratio": ("aspect_ratio",),
    "n_over_d": ("aspect_ratio",),
    "sample_complexity": ("aspect_ratio",),
    "lambda": ("weight_decay",),
    "lam": ("weight_decay",),
    "l2": ("weight_decay",),
    "wd": ("weight_decay",),
    "reg": ("weight_decay",),
    "regularization": ("weight_decay",),
    "ridge": ("weight_decay",),
    "lr": ("step_size",),
    "learning_rate": ("step_size",),
    "eta": ("step_size",),
    "dt": ("step_size",),
    "epochs": ("num_steps",),
    "steps": ("num_steps",),
    "n_steps": ("num_steps",),
    "iterations": ("num_steps",),
    "max_iter": ("num_steps",),
    "batch_size": ("batch_fraction",),
    "batch": ("batch_fraction",),
    "beta": ("momentum",),
    "beta1": ("momentum",),
    "t": ("horizon", "temperature"),
    "time": ("horizon",),
    "t_max": ("horizon",),
    "tmax": ("horizon",),
    "end": ("horizon",),
    "temp": ("temperature",),
    "p": ("probability",),
    "rho": ("probability",),
    "eps": ("probability",),
    "sparsity": ("probability",),
    "density": ("probability",),
    "prior": ("target",),
    "teacher": ("target",),
    "w_star": ("target",),
    "signal": ("target",),
    "l": ("depth",),
    "layers": ("depth",),
    "num_layers": ("depth",),
    "x": ("X", "design"),
    "features": ("design",),
    "tol": ("rtol",),
    "tolerance": ("rtol",),
    "seed": ("key",),
    "d": ("dim",),
    "n_features": ("dim",),
    "repeats": ("trials",),
    "n_trials": ("trials",),
    "timeout": ("time_limit",),
}
"""A word of the field, in small letters -> our fields of that meaning; the first that a noun has is meant."""

NAMES: Words = {
    "sgd": ("StochasticGradientDescent",),
    "gd": ("GradientDescent",),
    "gf": ("GradientFlow",),
    "flow": ("GradientFlow",),
    "sgld": ("Langevin",),
    "momentum": ("GradientDescent",),
    "dln": ("DiagonalLinear",),
    "diagonalnetwork": ("DiagonalLinear",),
    "lasso": ("DiagonalLinear", "small_init_path"),
    "ridge": ("Linear",),
    "linearregression": ("Regression",),
    "logisticregression": ("Classification",),
    "glm": ("GeneralizedLinear",),
    "mse": ("SquaredLoss",),
    "huber": ("HuberLoss",),
    "crossentropy": ("LogisticLoss",),
    "gaussian": ("Normal", "GaussianDesign"),
    "rademacher": ("SparseRademacher",),
    "delta": ("PointMass",),
    "dmft": ("solve_dmft",),
    "solve": ("solve_dmft",),
    "rate": ("convergence_rate",),
    "train": ("simulate",),
    "run": ("simulate",),
    "data": ("Dataset",),
}
"""A word of the field, in small letters -> our public names, as for `FIELDS`."""

CUTOFF = 0.6
"""How like a known name a word must be, as difflib counts."""


def meant(given: str, known: Iterable[str], words: Words = FIELDS) -> str | None:
    """Return the known name that a word means: by the table, else by its spelling; None if there is none.

    Examples
    --------
    >>> meant("lr", ["step_size", "num_steps"]), meant("step_sizes", ["step_size", "num_steps"])
    ('step_size', 'step_size')
    """
    names = {name.lower(): name for name in known}
    word = given.lower().strip("_")
    for candidate in (*words.get(word, ()), names.get(word)):
        if candidate in names.values():
            return candidate
    close = difflib.get_close_matches(word, names, n=1, cutoff=CUTOFF)
    return names[close[0]] if close else None


def hint(given: str, known: Iterable[str], words: Words = FIELDS, *, before: str = "") -> str:
    """Return "; did you mean ...?", with ``before`` in front of the name, or nothing.

    Examples
    --------
    >>> hint("SGD", ["StochasticGradientDescent"], NAMES, before="fl.")
    '; did you mean fl.StochasticGradientDescent?'
    """
    name = meant(given, known, words)
    return "" if name is None else f"; did you mean {before}{name}?"
