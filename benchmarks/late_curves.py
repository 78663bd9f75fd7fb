"""Late curves: amplitudes fitted for gamma t from 1 to 2.5, theory against the limit on the next decade of the excess.

    python benchmarks/late_curves.py

Noise .01, Bernoulli(.1) targets. Above aspect ratio 1 the training error ends at a positive value, which hides decades.
"""

import argparse

import numpy as np

import flowlimit as fl

PROBLEMS = [(0.5, 0.5), (1.0, 0.5), (3.0, 0.5), (1.0, 2.0), (3.0, 2.0)]
START, STOP, END = 1.0, 2.5, 6.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rtol", type=float, default=1e-3)
    parser.add_argument("--time-limit", type=float, default=60.0)
    options = parser.parse_args()
    print("| init scale | aspect ratio | gamma | training error | test error |\n|---|---|---|---|---|")
    for scale, ratio in PROBLEMS:
        model, task = fl.DiagonalLinear(scale), fl.Regression(ratio, noise_var=0.01, target=fl.Bernoulli(0.1))
        rate = fl.convergence_rate(model, task)
        times = np.linspace(0.0, END, 61) / float(rate.gamma)
        training = fl.GradientFlow(times[-1])
        limit = fl.solve_dmft(
            model, task, training, rtol=options.rtol, key=0, save_at=times, time_limit=options.time_limit
        )
        cells = [_next_decade(rate, limit, name) for name in ("train_error", "test_error")]
        print(f"| {scale:g} | {ratio:g} | {float(rate.gamma):.5g} | {cells[0]} | {cells[1]} |", flush=True)


def _next_decade(rate: fl.Rate, limit: fl.Limit, name: str) -> str:
    gamma = float(rate.gamma)
    tail = fl.fit_tail(limit, name, start=START / gamma, stop=STOP / gamma)  # pyright: ignore[reportArgumentType]
    later = limit.times * gamma >= STOP
    excess = limit[name].value[later] - tail.end
    decade = np.abs(excess) >= 0.1 * np.abs(excess[0])
    predicted = tail.at(limit.times[later])[name].value - tail.end
    deviation = np.abs(predicted / excess - 1.0)[decade]
    # Replicas share paths over time, so the spread of the excess is far below that of the value.
    return f"{100.0 * deviation.max():.2f}%"


if __name__ == "__main__":
    main()
