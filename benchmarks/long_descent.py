"""Long descent on panels that sum: `Linear` against its exact sum; the network against steps, flow and fixed point.

    python benchmarks/long_descent.py linear
    python benchmarks/long_descent.py steps --num-steps 300
    python benchmarks/long_descent.py network --num-steps 10000

``linear``: a million steps, of .01, .3 and 1.9 over the largest eigenvalue; the largest relative error of the test
error at 50 steps spread over the decades. ``steps``: the diagonal network on panels and step by step; the largest
deviation in combined standard errors, and seconds. ``network``: many steps of .1 and the flow to the same time;
seconds, nodes, memory, and the distance of the test error to `fixed_point`. Each solve has a process of its own.
"""

import argparse
import multiprocessing
import resource
import time

import numpy as np

import flowlimit as fl

RATIO, NOISE = 2.0, 0.1
LARGEST = (1.0 + RATIO**-0.5) ** 2
TASK = fl.Regression(RATIO, noise_var=NOISE, target=fl.Normal())
PARTS = (0.01, 0.3, 1.9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["linear", "steps", "network"])
    parser.add_argument("--num-steps", type=int)
    parser.add_argument("--rtol", type=float)
    parser.add_argument("--ratio", type=float, default=0.5)
    parser.add_argument("--scales", type=float, nargs="+", default=[0.1, 0.3, 1.0])
    parser.add_argument("--decays", type=float, nargs="+", default=[0.0, 0.01])
    parser.add_argument("--time-limit", type=float, default=600.0)
    options = parser.parse_args()
    {"linear": _linear, "steps": _against_steps, "network": _network}[options.what](options)


def _alone(function, *arguments):
    """Call in a new process; return its seconds and peak of memory, too."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (function, *arguments))


def _measured(function, *arguments):
    began = time.perf_counter()
    found = function(*arguments)
    return found, time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def _decades(num_steps: int, count: int) -> np.ndarray:
    return np.unique(np.rint(np.r_[0.0, np.geomspace(1.0, num_steps, count)]))


def _linear(options: argparse.Namespace) -> None:
    num_steps, rtol = options.num_steps or 10**6, options.rtol or 1e-5
    print("| step, over 1 / largest eigenvalue | nodes | largest relative error | largest bar | seconds | peak, MB |")
    print("|---|---|---|---|---|---|")
    for part in PARTS:
        (nodes, error, bar), seconds, peak = _alone(_linear_error, part, num_steps, rtol)
        print(f"| {part:g} | {nodes} | {error:.1e} | {bar:.1e} | {seconds:.0f} | {peak:.0f} |", flush=True)


def _linear_error(part: float, num_steps: int, rtol: float):
    size, steps = part / LARGEST, _decades(num_steps, 50)
    training = fl.GradientDescent(size, num_steps=num_steps)
    limit = fl.solve_dmft(fl.Linear(), TASK, training, rtol=rtol, save_at=size * steps)
    exact = np.array([_exact(size, step) for step in steps])
    bar = np.max(limit.test_error_stderr / limit.test_error)
    return limit.stats.nodes, np.max(np.abs(limit.test_error / exact - 1.0)), bar


def _exact(size: float, step: float) -> float:
    """Return the test error after so many steps from 0, an integral over the Marchenko-Pastur law by angles."""
    angle = (np.arange(8000) + 0.5) * np.pi / 8000
    s = 1.0 + 1.0 / RATIO + 2.0 / np.sqrt(RATIO) * np.cos(angle)
    mass = np.sin(angle) ** 2 / s
    mass = mass / mass.sum()  # no atom above aspect ratio 1
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
        ask = lambda solver, key, own=problem: _alone(
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
            limit, seconds, peak = _alone(_solve, problem, training, None, times, rtol, options.time_limit)
            code = getattr(limit.result.code, "value", limit.result.code)
            last = f"{limit.test_error[-1] / fixed:.4f}" if limit.replicas else "none"
            kind = type(training).__name__
            cells = f"{kind} | {code} | {limit.stats.nodes} | {seconds:.0f} | {peak:.0f} | {last}"
            print(f"| {scale:g} | {decay:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
