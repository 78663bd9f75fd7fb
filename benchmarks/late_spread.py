"""Late bars with weight decay: what replicas of one level of paths are apart by, beside the fixed point.

    python benchmarks/late_spread.py
    python benchmarks/late_spread.py --decay 0.03 --horizon 1000 --paths 2048

Eight replicas of so many paths per stratum, with no further level, and the last time solved rather than held: relative
standard error and bias of both errors, and how far they are from `fixed_point`.
"""

import argparse

import numpy as np

import flowlimit as fl


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--decay", type=float, default=0.01)
    parser.add_argument("--ratio", type=float, default=2.0)
    parser.add_argument("--horizon", type=float, default=1e4)
    parser.add_argument("--paths", type=int, default=512)
    options = parser.parse_args()
    model = fl.DiagonalLinear(options.scale, weight_decay=options.decay)
    task = fl.Regression(options.ratio, noise_var=0.01, target=fl.Bernoulli(0.1))
    solver = fl.PanelSolver(
        first_paths=options.paths,
        lowest_level=0,
        last_level=0,
        first_look=8,
        replicas=8,
        most_replicas=8,
        rest_factor=1e9,
    )
    times = np.r_[0.0, np.geomspace(1.0, options.horizon, 13)]
    training = fl.GradientFlow(options.horizon)
    limit = fl.solve_dmft(model, task, training, rtol=0.01, key=1, save_at=times, solver=solver, throw=False)
    print(f"{limit.result}, {limit.stats.nodes} nodes, {limit.stats.seconds:.0f} s")
    end = fl.fixed_point(model, task)
    print("| curve | last value | standard error | bias | over fixed point |\n|---|---|---|---|---|")
    for name in ("train_error", "test_error"):
        value, (chance, bias) = limit.curves[name].value[-1], (limit.statistical[name][-1], limit.bias[name][-1])
        over = value / float(getattr(end, name))
        print(f"| {name} | {value:.7g} | {chance / value:.1e} | {bias / value:.1e} | {over:.5f} |")


if __name__ == "__main__":
    main()
