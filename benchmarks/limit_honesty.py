"""Are the error bars honest? Random problems, each solved twice: at rtol 1e-2, and ten times tighter.

    python benchmarks/limit_honesty.py --problems 100                  # the campaign, hours on two cores
    python benchmarks/limit_honesty.py --problems 3 --horizon 5 --sharp-limit 30     # a small one, in CI

Horizon up to 100, init scale .05 to 10, aspect ratio .3 to 3, weight decay 0 to .3, noise 0 to .1; log-uniform where
they span decades. A solve may take 60 s, the tighter one ten times as long: a timeout is counted, and its points are
judged like all others. Prints, over all saved points of both errors, where the requested accuracy holds and
where the true error is below three reported ones, and how many solves ran into the time limit.
"""

import argparse

import numpy as np

import flowlimit as fl


def draw_problem(rng, longest=100.0):
    log = lambda low, high: float(np.exp(rng.uniform(np.log(low), np.log(high))))
    model = fl.DiagonalLinear(log(0.05, 10.0), weight_decay=rng.choice([0.0, rng.uniform(0.0, 0.3)]))
    task = fl.Regression(
        log(0.3, 3.0), noise_var=rng.choice([0.0, rng.uniform(0.0, 0.1)]), target=fl.Bernoulli(rng.uniform(0.05, 0.5))
    )
    return model, task, fl.GradientFlow(log(1.0, longest))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="problems at the beginning that are drawn and not solved")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--sharp-limit", type=float, default=600.0, help="seconds for the tighter solve")
    parser.add_argument("--horizon", type=float, default=100.0, help="the longest")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    met, honest, timeouts = [], [], 0
    for index in range(options.problems):
        problem = draw_problem(rng, options.horizon)
        if index < options.skip:
            continue
        rough = fl.solve_dmft(*problem, rtol=1e-2, key=0, time_limit=options.time_limit, throw=False)
        timeouts += rough.result.code == fl.Code.TIMEOUT
        if not rough.replicas:
            print(f"{index} {problem}: {rough.result}", flush=True)
            continue
        sharp = fl.solve_dmft(*problem, rtol=1e-3, key=1, start=rough, time_limit=options.sharp_limit, throw=False)
        worst = 0.0
        for name in ("train_error", "test_error"):
            one, two = rough[name], sharp[name]
            scale = np.maximum(np.abs(two.value), 1e-6 * two.value[0])
            error = np.abs(one.value - two.value)
            met += (error <= 1e-2 * scale).tolist()
            # the sharp solve has an error of its own, which is not the rough one's fault
            ratio = np.maximum(error - two.stderr, 0.0) / one.stderr
            honest += (ratio < 3.0).tolist()
            worst = max(worst, float(ratio.max()))
        seconds = f"{rough.stats.seconds:.0f} s, {sharp.stats.seconds:.0f} s"
        print(f"{index} {problem}: {rough.result.code}, {sharp.result.code}, ratio {worst:.2f}, {seconds}", flush=True)
    print(f"requested accuracy holds at {100 * np.mean(met):.1f}% of {len(met)} points (95% asked for)")
    print(f"true error below 3 reported ones at {100 * np.mean(honest):.1f}% (99% asked for); {timeouts} timeouts")
    return int(np.mean(honest) < 0.99)


if __name__ == "__main__":
    raise SystemExit(main())
