"""Long descent on panels that sum: `Linear` against its exact sum; the network against steps, flow and fixed point.

    python benchmarks/long_descent.py linear
    python benchmarks/long_descent.py varied
    python benchmarks/long_descent.py steps --num-steps 300
    python benchmarks/long_descent.py network --num-steps 10000
    python benchmarks/long_descent.py runs --ratio 2 --keys 100 102

``linear``: a million steps, of .01, .3 and 1.9 over the largest eigenvalue; the largest relative error of the test
error at 50 steps spread over the decades. ``varied``: the same for 10^5 steps with momentum .9, with sizes that follow
a cosine, with both, and with a weight decay that follows one, against the recursion step by step. ``steps``: the
diagonal network on panels and step by step; the largest deviation in combined standard errors, and seconds.
``network``: many steps of .1 and the flow to the same time; seconds, nodes, memory, and the distance of the test error
to `fixed_point`. ``runs``: 10^5 steps of networks without weight decay at 1%, against runs at dim 2000, one for each
key; some 40 minutes each. Each solve has a separate process.
"""

import argparse

import numpy as np
from alone import alone

import flowlimit as fl

RATIO, NOISE = 2.0, 0.1
LARGEST = (1.0 + RATIO**-0.5) ** 2
TASK = fl.Regression(RATIO, noise_var=NOISE, target=fl.Normal())
PARTS = (0.01, 0.3, 1.9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["linear", "varied", "steps", "network", "runs"])
    parser.add_argument("--num-steps", type=int)
    parser.add_argument("--rtol", type=float)
    parser.add_argument("--ratio", type=float, default=0.5)
    parser.add_argument("--scales", type=float, nargs="+", default=[0.1, 0.3, 1.0])
    parser.add_argument("--decays", type=float, nargs="+", default=[0.0, 0.01])
    parser.add_argument("--time-limit", type=float, default=600.0)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--keys", type=int, nargs="+", default=[100, 102])
    options = parser.parse_args()
    kinds = {"linear": _linear, "varied": _varied, "steps": _against_steps, "network": _network, "runs": _against_runs}
    kinds[options.what](options)


def _decades(num_steps: int, count: int) -> np.ndarray:
    return np.unique(np.rint(np.r_[0.0, np.geomspace(1.0, num_steps, count)]))


def _linear(options: argparse.Namespace) -> None:
    num_steps, rtol = options.num_steps or 10**6, options.rtol or 1e-5
    print("| step, over 1 / largest eigenvalue | nodes | largest relative error | largest bar | seconds | peak, MB |")
    print("|---|---|---|---|---|---|")
    for part in PARTS:
        (nodes, error, bar), seconds, peak = alone(_linear_error, part, num_steps, rtol)
        print(f"| {part:g} | {nodes} | {error:.1e} | {bar:.1e} | {seconds:.0f} | {peak:.0f} |", flush=True)


def _linear_error(part: float, num_steps: int, rtol: float):
    size, steps = part / LARGEST, _decades(num_steps, 50)
    training = fl.GradientDescent(size, num_steps=num_steps)
    limit = fl.solve_dmft(fl.Linear(), TASK, training, rtol=rtol, save_at=size * steps)
    exact = np.array([_exact(size, step) for step in steps])
    bar = np.max(limit.test_error_stderr / limit.test_error)
    return limit.stats.nodes, np.max(np.abs(limit.test_error / exact - 1.0)), bar


def _cosine(num_steps: int) -> np.ndarray:
    """Sizes from 1 down to a thousandth."""
    return 0.5 * (1.0 + np.cos(np.pi * np.arange(num_steps) / num_steps)) + 1e-3


def _varied(options: argparse.Namespace) -> None:
    num_steps, rtol = options.num_steps or 10**5, options.rtol or 1e-5
    size, decay = 0.3 / LARGEST, 0.05
    cases = {
        "momentum .9": (size, 0.9, 1.0),
        "sizes by a cosine": (size * _cosine(num_steps), 0.0, 1.0),
        "both": (size * _cosine(num_steps), 0.9, 1.0),
        "weight decay by a cosine": (size, 0.0, _cosine(num_steps)),
    }
    print("| training | nodes | largest relative error | largest bar | seconds | peak, MB |")
    print("|---|---|---|---|---|---|")
    for name, (sizes, momentum, factor) in cases.items():
        asked = (sizes, momentum, factor, decay, num_steps, rtol)
        (nodes, error, bar), seconds, peak = alone(_varied_error, *asked)
        print(f"| {name} | {nodes} | {error:.1e} | {bar:.1e} | {seconds:.0f} | {peak:.0f} |", flush=True)


def _varied_error(sizes, momentum: float, factor, decay: float, num_steps: int, rtol: float):
    training = fl.GradientDescent(sizes, num_steps=num_steps, momentum=momentum, decay_factor=factor)
    steps = _decades(num_steps, 50)
    times = training.clock.times_at(steps)
    limit = fl.solve_dmft(fl.Linear(weight_decay=decay), TASK, training, rtol=rtol, save_at=times)
    exact = _recursion(sizes, momentum, factor * np.full(num_steps, decay), steps)
    bar = np.max(limit.test_error_stderr / limit.test_error)
    return limit.stats.nodes, np.max(np.abs(limit.test_error / exact - 1.0)), bar


def _recursion(sizes, momentum: float, decays: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return test errors, each eigenvalue by its own steps: how far w has come to w*, and what noise has added."""
    s, mass = _spectrum(2000)
    pull = np.stack([s, np.ones_like(s)])
    w = v = np.zeros_like(pull)
    wanted, errors = set(steps.astype(int).tolist()), []
    for i, size in enumerate(np.r_[np.broadcast_to(sizes, len(decays)), 0.0]):
        if i in wanted:
            errors.append(mass @ ((1.0 - w[0]) ** 2 + NOISE * w[1] ** 2 * s / RATIO) + NOISE)
        v = momentum * v + pull - (s + decays[min(i, len(decays) - 1)]) * w
        w = w + size * v
    return np.array(errors)


def _spectrum(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and masses of the Marchenko-Pastur law, even in angles."""
    angle = (np.arange(count) + 0.5) * np.pi / count
    s = 1.0 + 1.0 / RATIO + 2.0 / np.sqrt(RATIO) * np.cos(angle)
    mass = np.sin(angle) ** 2 / s
    return s, mass / mass.sum()  # no atom above aspect ratio 1


def _exact(size: float, step: float) -> float:
    """Return the test error after so many steps from 0, an integral over the Marchenko-Pastur law by angles."""
    s, mass = _spectrum(8000)
    kept = (1.0 - size * s) ** step
    return float(mass @ (kept**2 + NOISE * (1.0 - kept) ** 2 / (s * RATIO)) + NOISE)


def _problem(scale: float, decay: float, ratio: float):
    task = fl.Regression(ratio, noise_var=0.01, target=fl.Bernoulli(0.1))
    return fl.DiagonalLinear(scale, weight_decay=decay), task


def _solve(problem, training, solver, times, rtol, time_limit, key=0) -> fl.Limit:
    options = {"rtol": rtol, "save_at": times, "time_limit": time_limit, "key": key, "throw": False}
    return fl.solve_dmft(*_problem(*problem), training, solver=solver, **options)


def _against_steps(options: argparse.Namespace) -> None:
    num_steps, rtol = options.num_steps or 300, options.rtol or 0.05
    training, times = fl.GradientDescent(0.1, num_steps=num_steps), 0.1 * _decades(num_steps, 30)[1:]
    print("| init scale | weight decay | deviation, bars | seconds, panels | steps | peak, MB, panels | steps |")
    print("|---|---|---|---|---|---|---|")
    for scale, decay in ((scale, decay) for scale in options.scales for decay in options.decays):
        problem = scale, decay, options.ratio
        ask = lambda solver, key, own=problem: alone(
            _solve, own, training, solver, times, rtol, options.time_limit, key
        )
        (ours, *mine), (theirs, *other) = ask(fl.PanelSolver(), 1), ask(fl.StepSolver(), 2)
        far = max(
            np.max(np.abs(ours[name].value - theirs[name].value) / np.hypot(ours[name].stderr, theirs[name].stderr))
            for name in ("train_error", "test_error")
        )
        cells = f"{far:.1f} | {mine[0]:.0f} | {other[0]:.0f} | {mine[1]:.0f} | {other[1]:.0f}"
        print(f"| {scale:g} | {decay:g} | {cells} |", flush=True)


def _network(options: argparse.Namespace) -> None:
    num_steps, rtol = options.num_steps or 10**4, options.rtol or 1e-2
    end, times = 0.1 * num_steps, 0.1 * _decades(num_steps, 30)
    print("| init scale | weight decay | training | outcome | nodes | seconds | peak, MB | test error over its end |")
    print("|---|---|---|---|---|---|---|---|")
    for scale, decay in ((scale, decay) for scale in options.scales for decay in options.decays):
        problem = scale, decay, options.ratio
        fixed = float(fl.fixed_point(*_problem(*problem)).test_error)
        for training in (fl.GradientDescent(0.1, num_steps=num_steps), fl.GradientFlow(end)):
            limit, seconds, peak = alone(_solve, problem, training, None, times, rtol, options.time_limit)
            code = getattr(limit.result.code, "value", limit.result.code)
            last = f"{limit.test_error[-1] / fixed:.4f}" if limit.replicas else "none"
            kind = type(training).__name__
            cells = f"{kind} | {code} | {limit.stats.nodes} | {seconds:.0f} | {peak:.0f} | {last}"
            print(f"| {scale:g} | {decay:g} | {cells} |", flush=True)


def _against_runs(options: argparse.Namespace) -> None:
    num_steps, rtol = options.num_steps or 10**5, options.rtol or 1e-2
    training, times = fl.GradientDescent(0.1, num_steps=num_steps), 0.1 * _decades(num_steps, 30)
    scales = [scale for scale in options.scales if scale >= 0.3]  # below, the limit takes minutes
    models, task = [fl.DiagonalLinear(scale) for scale in scales], _problem(1.0, 0.0, options.ratio)[1]
    runs = [alone(_simulate, models, task, training, times, options.dim, key)[0] for key in options.keys]
    print("| init scale | limit | error | last value, limit | runs | largest distance of the runs' mean |")
    print("|---|---|---|---|---|---|")
    for i, scale in enumerate(scales):
        limit, _, _ = alone(_solve, (scale, 0.0, options.ratio), training, None, times, rtol, options.time_limit)
        for name in ("train_error", "test_error"):
            value = limit.curves[name].value
            each = np.array([run[i].curves[name].value for run in runs])
            far = np.max(np.abs(each.mean(axis=0) / value - 1.0))
            ends = ", ".join(f"{end:.5f}" for end in each[:, -1])
            print(f"| {scale:g} | {limit.result.code} | {name} | {value[-1]:.5f} | {ends} | {far:.1%} |", flush=True)


def _simulate(models, task, training, times, dim: int, key: int) -> list[fl.Runs]:
    return fl.simulate(models, task, training, dim=dim, trials=1, key=key, save_at=times, progress=False)


if __name__ == "__main__":
    main()
