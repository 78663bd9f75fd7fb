"""Sharp values of the limit: the reference problem, and late times against fixed points.

python benchmarks/limit_reference.py reference --rtol 1e-3     # errors at t = 1, 5, 10, 20
python benchmarks/limit_reference.py late --rtol 5e-3 --time-limit 400     # test error at t = 1000, four init scales
"""

import argparse

import numpy as np

import flowlimit as fl

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))


def reference(rtol: float, limit: float | None) -> None:
    times = [0.0, 1.0, 5.0, 10.0, 20.0]
    result = fl.solve_dmft(
        fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(20.0), rtol=rtol, save_at=times, time_limit=limit, throw=False
    )
    print(result)


def late(rtol: float, limit: float | None, scales: list[float]) -> None:
    print("| init scale | test error at t = 1000 | fixed point | difference | seconds | result |")
    print("|---|---|---|---|---|---|")
    for scale in scales:
        model = fl.DiagonalLinear(scale)
        fixed = float(fl.fixed_point(model, TASK).test_error)
        training = fl.GradientFlow(1000.0)
        result = fl.solve_dmft(model, TASK, training, rtol=rtol, save_at=[1000.0], time_limit=limit, throw=False)
        value, error = result.test_error[-1], result.test_error_stderr[-1]
        shown = f"{value:.6f} +- {error:.6f} | {fixed:.6f} | {100 * (value / fixed - 1):+.2f}%"
        print(f"| {scale} | {shown} | {result.stats.seconds:.0f} | {result.result} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["reference", "late"])
    parser.add_argument("--rtol", type=float, default=1e-2)
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--init-scale", type=float, nargs="+", default=[0.1, 0.3, 1.0, 10.0])
    options = parser.parse_args()
    np.set_printoptions(precision=6)
    if options.what == "reference":
        reference(options.rtol, options.time_limit)
    else:
        late(options.rtol, options.time_limit, options.init_scale)


if __name__ == "__main__":
    main()
