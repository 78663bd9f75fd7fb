"""Pictures of pages without code cells, one function for each, made by one process before pages are read."""

from pathlib import Path

import matplotlib as mpl

import flowlimit as fl

mpl.use("agg")
import matplotlib.pyplot as plt

MADE = Path(__file__).parent / "_made"


def write_pictures(_app):
    """Write every picture to the folder that pages take them from."""
    MADE.mkdir(exist_ok=True)
    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    limit = fl.solve_dmft(fl.DiagonalLinear(0.3), task, fl.GradientFlow(20.0), rtol=0.02)
    for name, picture in {"errors": errors, "simulation": simulation, "features": features}.items():
        picture(limit).savefig(MADE / f"{name}.png", dpi=150)
        plt.close("all")


def errors(limit):
    """Draw the parts of a limit's standard error in time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    fl.plot.curves(limit, names=["test_error"], labels=["limit"], ax=left)
    parts = {
        "standard error": limit.test_error_stderr,
        "spread of the replicas": limit.statistical["test_error"],
        "common bias": limit.bias["test_error"],
        "panels in time": limit.time_error["test_error"],
    }
    for label, part in parts.items():
        right.loglog(limit.times[1:], (part / limit.test_error)[1:], label=label)
    right.axhline(0.01, color="0.5", linestyle=":", label="asked for: rtol / 2")
    right.set(xlabel="time $t$", ylabel="relative to the test error", ylim=(1e-7, 3e-2))
    right.legend(frameon=False, fontsize="small")
    return figure


def simulation(limit):
    """Draw runs with independent draws and with balanced ones over one limit."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), sharey=True, layout="constrained")
    for ax, draws in zip(axes, ("independent", "balanced"), strict=True):
        runs = fl.simulate(limit.model, limit.task, limit.training, dim=1000, trials=10, draws=draws)
        fl.plot.curves(limit, runs, names=["test_error"], ax=ax)
    axes[1].set_ylabel("")
    return figure


def features(_limit):
    """Draw descent on features of unequal variances: limits with runs on top, for two models."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), sharey=True, layout="constrained")
    task = fl.Regression(1.0, noise_var=0.05, features=fl.PowerLaw(400, capacity=1.2, source=1.5))
    # a network's rates are its weights, of which the first is 12
    for ax, model, step in zip(axes, (fl.Linear(), fl.DiagonalLinear(0.5)), (0.5, 0.05), strict=True):
        training = fl.GradientDescent(step_size=step, num_steps=40)
        limit = fl.solve_dmft(model, task, training, rtol=0.03, key=0)
        runs = fl.simulate(model, task, training, dim=400, trials=20, key=0)
        fl.plot.curves(limit, runs, names=["test_error"], ax=ax)
        ax.set_title(type(model).__name__)
    axes[1].set_ylabel("")
    return figure
