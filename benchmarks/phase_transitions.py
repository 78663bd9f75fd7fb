"""Timescales and the small-start path against `solve_dmft`: detected over predicted times, and errors along the path.

    python benchmarks/phase_transitions.py rich       # init scales 10 to 1e4, decay .1: some 10 minutes
    python benchmarks/phase_transitions.py descent    # init scales .1 to 1e-4: some 3 minutes
    python benchmarks/phase_transitions.py infinite   # both, at infinite data: seconds

Aspect ratio .5, noise .01, Bernoulli(.1) targets.
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np

import flowlimit as fl
from flowlimit.asymptotics.explicit import infinite_data_weights
from flowlimit.asymptotics.phases import crossing_times, learning_times

jax.config.update("jax_enable_x64", True)

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
DECAY = 0.1
LARGE, SMALL = (10.0, 100.0, 1e3, 1e4), (0.1, 0.01, 1e-3, 1e-4)


def rich(time_limit: float) -> None:
    print("| init scale | rich | rich_sharp | detected | ratios |\n|---|---|---|---|---|")
    for scale in LARGE:
        model = fl.DiagonalLinear(scale, weight_decay=DECAY)
        horizon = fl.GradientFlow(2.0 * np.log(scale) / DECAY + 100.0)
        phases = fl.label_phases(fl.solve_dmft(model, TASK, horizon, rtol=3e-2, key=0, time_limit=time_limit))
        one, two = phases.predicted["rich"], phases.predicted["rich_sharp"]
        ratios = f"{phases.ratio['rich']:.3f}, {phases.ratio['rich_sharp']:.3f}"
        print(f"| {scale:g} | {one:.1f} | {two:.1f} | {phases.detected['rich']:.1f} | {ratios} |", flush=True)


def descent(time_limit: float) -> None:
    print(
        "| init scale | predicted | detected | ratio | penalty: path/limit - 1, train and test |\n|---|---|---|---|---|"
    )
    for scale in SMALL:
        model = fl.DiagonalLinear(scale)
        horizon = fl.GradientFlow(-4.0 * np.log(scale))
        limit = fl.solve_dmft(model, TASK, horizon, rtol=3e-2, key=0, time_limit=time_limit)
        phases = fl.label_phases(limit)
        numbers = (phases.predicted["descent"], phases.detected["descent"], phases.ratio["descent"])
        text = " | ".join(f"{x:.3f}" for x in numbers)
        print(f"| {scale:g} | {text} | {_along_the_path(limit, model)} |", flush=True)


def _along_the_path(limit: fl.Limit, model: fl.DiagonalLinear) -> str:
    averaged = limit.time_averaged()
    path = fl.small_init_path(model, TASK, averaged.times)
    cells = []
    for penalty in (1.4, 1.0, 0.7, 0.55):
        i = int(np.abs(path.penalty - penalty).argmin())
        train = path.train_error[i] / averaged.train_error[i] - 1.0
        test = path.test_error[i] / averaged.test_error[i] - 1.0
        cells.append(f"{path.penalty[i]:.2f}: {100 * train:+.1f}%, {100 * test:+.1f}%")
    return "; ".join(cells)


def infinite() -> None:
    print("| init scale | predicted | detected | ratio |\n|---|---|---|---|")
    for scale in (*LARGE, *SMALL):
        predicted = abs(2.0 * np.log(scale)) / (DECAY if scale > 1.0 else 1.0 - DECAY)
        times = np.r_[0.0, np.linspace(1e-3, 2.0 * predicted + 50.0, 4000)]
        w = np.asarray(infinite_data_weights(jnp.asarray(times), jnp.array([1.0]), scale, DECAY))
        detected = learning_times(times, w, np.array([1.0]))[0]
        if scale > 1.0:  # from w = 1 at the plateau to 1 - lambda: halfway of the squared distance
            detected = crossing_times(times[2:], (w[2:] - 1.0) ** 2, np.array([0.5 * DECAY**2]))[0]
        print(f"| {scale:g} | {predicted:.2f} | {detected:.2f} | {detected / predicted:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rich", "descent", "infinite"))
    parser.add_argument("--time-limit", type=float, default=200.0)
    options = parser.parse_args()
    if options.what == "infinite":
        infinite()
    else:
        {"rich": rich, "descent": descent}[options.what](options.time_limit)


if __name__ == "__main__":
    main()
