"""A limit with the spectrum of real data against training on the data: `fl.Spectrum.from_data` on gene expression.

The table (414 samples, 3833 probes, from the extra `data`) stands for the population: some rows are trained on, the
others are the test. The label is one of the probes, predicted from the others, so that labels are real too. Four data
sets of the same size are trained on: real rows; rows that are Gaussian with the same covariance and a linear teacher,
which is what the limit assumes; real rows with that teacher's labels, which tells features and labels apart; and rows
of a Gaussian table of the same size and spectrum, whose basis is that of its own few rows too.

    python benchmarks/expression_spectrum.py [--samples 200] [--splits 10] [--probe 300] [--figure expression.png]
"""

import argparse

import numpy as np

import flowlimit as fl
from flowlimit.data import load_expression, principal_data

STEPS = 40
KINDS = ("real rows", "Gaussian rows", "real rows, linear labels", "rows of a Gaussian table")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument(
        "--probe", type=int, default=300, help="among the probes, sorted by variance, the largest first"
    )
    parser.add_argument("--rtol", type=float, default=0.03)
    parser.add_argument("--figure")
    arguments = parser.parse_args()
    table = load_expression("chop")
    order = np.argsort(-table.var(axis=0))
    probe = order[arguments.probe]
    data = principal_data(np.delete(table, probe, axis=1), table[:, probe])
    assert data.variances is not None  # principal_data knows both
    assert data.noise_var is not None
    dim = data.X.shape[1]
    law = fl.Spectrum(data.variances, data.w_star)
    noise = float(data.noise_var)
    print(
        f"dim {dim}, signal {float(law.signal):.3f}, noise {noise:.3f}, largest variance {float(data.variances[0]):.1f}"
    )
    task = fl.Regression(arguments.samples / dim, noise_var=noise, features=law)
    step = 0.5 / float(data.variances[0])
    training = fl.GradientDescent(step, num_steps=STEPS)
    limit = fl.solve_dmft(fl.Linear(), task, training, rtol=arguments.rtol, key=0, throw=False)
    kinds = {kind: curves(kind, data, arguments, training) for kind in KINDS}
    report(limit, kinds)
    if arguments.figure:
        draw(limit, kinds, arguments)


def curves(kind, data, arguments, training):
    """Return training errors and errors on rows kept apart, one row for each split."""
    X, y, w_star = (np.asarray(x) for x in (data.X, data.y, data.w_star))
    trained, tested = [], []
    for split in range(arguments.splits):
        rng = np.random.default_rng(split)
        rows, labels = X, y
        if kind == "Gaussian rows":
            rows = rng.normal(size=X.shape) * np.sqrt(np.asarray(data.variances) / X.shape[1])
        if kind == "rows of a Gaussian table":
            table = rng.normal(size=X.shape)
            left = np.linalg.qr(table - table.mean(axis=0))[0]
            rows = left * np.sqrt(np.asarray(data.variances) * len(X) / X.shape[1])
        if kind != "real rows":
            labels = rows @ w_star + np.sqrt(float(data.noise_var)) * rng.normal(size=len(rows))
        own = rng.permutation(len(rows))
        train, test = own[: arguments.samples], own[arguments.samples :]
        one = fl.Dataset(rows[train], labels[train])
        times = float(training.step_size) * np.arange(STEPS + 1)
        runs = fl.simulate(fl.Linear(), one, training, weights_at=times, save_at=times)
        w = runs.weights[0]  # a row for each step
        trained.append(runs.train_error)
        tested.append(np.mean((labels[test][:, None] - rows[test] @ w.T) ** 2, axis=0))
    return np.array(trained), np.array(tested)


def report(limit, kinds):
    print(f"{'step':>5} {'limit':>16}" + "".join(f"{kind:>28}" for kind in kinds))
    for name, index in (("train", 0), ("test", 1)):
        curve = limit[f"{name}_error"]
        for step in (0, 1, 3, 10, 20, 40):
            seen = [pair[index][:, step] for pair in kinds.values()]
            text = "".join(f"{x.mean():17.4f} +- {x.std(ddof=1) / len(x) ** 0.5:.4f}  " for x in seen)
            print(f"{name:>5} {step:3d} {curve.value[step]:10.4f} +- {curve.stderr[step]:.4f}{text}")


def draw(limit, kinds, arguments):
    import matplotlib.pyplot as plt

    from flowlimit.plot.curves import COLOURS, MARKERS

    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.3), layout="constrained", sharey=True)
    steps = np.arange(STEPS + 1)
    for index, (ax, name) in enumerate(zip(axes, ("training error", "error on rows kept apart"), strict=True)):
        curve = limit["train_error" if index == 0 else "test_error"]
        ax.plot(steps, curve.value, color="black", label="limit of this spectrum")
        for number, (kind, pair) in enumerate(kinds.items()):
            values = pair[index]
            error = values.std(axis=0, ddof=1) / len(values) ** 0.5
            style = {"color": COLOURS[number], "marker": MARKERS[number], "markersize": 5, "linestyle": "none"} | {
                "markerfacecolor": "none"
            }
            ax.errorbar(
                steps, values.mean(axis=0), error, label=kind, markevery=(number, 4), errorevery=(number, 4), **style
            )
        ax.set(xlabel="step", ylabel=name)
    axes[0].legend(frameon=False, fontsize="small")
    figure.suptitle(f"{arguments.samples} samples of 414, means of {arguments.splits} splits", fontsize="medium")
    figure.savefig(arguments.figure, dpi=150)


if __name__ == "__main__":
    main()
