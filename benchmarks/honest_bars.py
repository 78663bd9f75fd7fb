"""Are error bars honest? Limits of random problems of every kind, against tighter limits and against runs.

    python benchmarks/honest_bars.py --problems 300 --out bars.jsonl       # the campaign, hours on two cores
    python benchmarks/honest_bars.py --problems 3                          # a small one, in CI

Problem i is of kind i modulo the number of kinds, cheap kinds first, with numbers drawn from i alone. Its limit at
rtol 3e-2 is compared with

- a limit three times tighter, from another key;
- runs at two dims with the effect of order 1/d extrapolated away, 2 m(2d) - m(d), from a key for each dim. Chance in
  the size of the targets and labels, whose means are known, is regressed out of the trials.

A difference over the combined standard error is a z. In each problem one time was drawn beforehand for each curve: over
problems these points are independent, and bars are honest if their tails are not heavier than the normal law's. Bars
are wide on purpose (Student's factor; a bias is added in quadrature), so a narrower law passes. The
mean of z shows a bias.

With --out each problem is appended as a line of JSON, and a second call goes on where the first ended. Exits with 1 if
a limit was not successful, or if a z at any time exceeds what one campaign in a thousand would show by chance.
"""

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from honest_problems import KINDS, draw_problem, save_times
from scipy import stats

import flowlimit as fl

TRIALS_AT_ONCE = 16
# As many devices as trials at once: a call for each trial would cost more than the trial. Limits use the first alone.
jax.config.update("jax_num_cpu_devices", TRIALS_AT_ONCE)

CURVES = ("train_error", "test_error", "loss")
DIM, TRIALS = 100, (160, 128)
"""The smaller dim, and trials at it and at twice the dim: the second count four times in a variance, and cost more."""
EXACT = 1e-9
"""Relative difference below which two limits are one number: linear models have no sampling error."""
CHANCE = 1e-3
ROUNDING = 1e-9
"""Part of a size below which its spread over trials is rounding: a slope by it would be anything."""
AGAINST = {"tight": "a limit three times tighter", "runs": "runs, 1/d extrapolated away"}


# One problem


def size_of(w, w_star):
    return jnp.sum(w_star**2)


def chance(problem, runs):
    """Return what vanishes in the mean over trials: sizes of targets and errors at time 0, each less its mean."""
    model, task, _ = problem
    probability, mean, std = map(np.asarray, task.target.strata())
    size = float(probability @ (mean**2 + std**2).reshape(len(probability), -1).sum(axis=1))
    known = [runs.values["size"][:, 0] - size]
    if isinstance(model, fl.Linear):
        size = (1.0 - float(model.init_overlap)) ** 2 * size + float(model.init_scale) ** 2
    squares = isinstance(task, fl.Regression) or isinstance(task.loss, fl.HuberLoss)
    if squares and isinstance(model, fl.Linear | fl.DiagonalLinear):
        known += [runs.values[name][:, 0] - size - float(task.error_floor) for name in ("train_error", "test_error")]
    known = np.stack(known, axis=1)
    return known[:, known.std(axis=0) > ROUNDING * size]  # balanced draws leave nothing to chance in some of them


def run(problem, dim, trials, key, times):
    """Return means of the curves and their standard errors, without what chance in targets and labels adds."""
    saves, observables = np.append(0.0, times), {"size": size_of}
    runs = fl.simulate(*problem, dim=dim, trials=trials, key=key, save_at=saves, observables=observables)
    known = chance(problem, runs)
    means, bars = {}, {}
    for name in CURVES:
        values = runs.values[name][:, 1:]
        slopes = np.linalg.lstsq(known - known.mean(axis=0), values - values.mean(axis=0), rcond=None)[0]
        left = values - known @ slopes
        means[name] = left.mean(axis=0)
        spread = left.std(axis=0) / np.sqrt(trials - 1 - known.shape[1])
        bars[name] = np.hypot(spread, runs.time_error[name][1:] if runs.time_error else 0.0)
    return means, bars


def judge_problem(index, options):
    """Solve and train one problem; return its row."""
    began = time.perf_counter()
    kind, problem, places = draw_problem(index, len(CURVES))
    times = save_times(problem[2])
    row = {"index": index, "kind": kind, "problem": ", ".join(map(repr, problem)), "times": times.tolist()}
    solve = lambda rtol, key: fl.solve_dmft(
        *problem, rtol=rtol, key=key, save_at=times, time_limit=options.time_limit, throw=False
    )
    limit, tight = solve(options.rtol, 10 * index), solve(options.rtol / 3.0, 10 * index + 1)
    solved = time.perf_counter()
    row |= {"code": str(limit.result.code), "tight_code": str(tight.result.code), "curves": {}}
    if limit.replicas:
        few, many = (
            run(problem, scale * DIM, scale_trials * options.trials_factor, 10 * index + 1 + scale, times)
            for scale, scale_trials in zip((1, 2), TRIALS, strict=True)
        )
        for name, place in zip(CURVES, places, strict=True):
            runs = 2.0 * many[0][name] - few[0][name], np.hypot(2.0 * many[1][name], few[1][name])
            known = {"limit": (limit[name].value, limit[name].stderr), "runs": runs}
            if tight.replicas:
                known["tight"] = tight[name].value, tight[name].stderr
            row["curves"][name] = {"place": place} | {k: np.stack(v).tolist() for k, v in known.items()}
    row |= {"solve_seconds": solved - began, "seconds": time.perf_counter() - began}
    return row


# All problems


def deviations(row, name, against):
    """Return z at every saved time of a curve, NaN where there is none to have: both limits are exact."""
    curve = row["curves"].get(name, {})
    if against not in curve:
        return np.full(len(row["times"]), np.nan)
    (limit, bar), (other, other_bar) = np.array(curve["limit"]), np.array(curve[against])
    exact = np.abs(limit - other) <= EXACT * np.abs(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(exact, np.nan, (limit - other) / np.hypot(bar, other_bar))


def points(rows, name, against):
    """Return z at the point that was drawn beforehand, one for each problem that has one."""
    z = [deviations(row, name, against)[row["curves"][name]["place"]] for row in rows if row["curves"]]
    z = np.array(z)
    return z[~np.isnan(z)]


def gap(rows, name, against):
    """Return the mean relative difference at a curve's points, weighted by bars, with its standard error, in %."""
    found = []
    for row in rows:
        curve = row["curves"].get(name, {})
        if against in curve:
            (limit, bar), (other, other_bar) = (np.array(curve[k])[:, curve["place"]] for k in ("limit", against))
            if abs(limit - other) > EXACT * abs(other):
                found.append(((limit - other) / other, other**2 / (bar**2 + other_bar**2)))
    if not found:
        return "exact"
    differences, weights = np.array(found).T
    return f"{100 * np.average(differences, weights=weights):+.2f}({100 * weights.sum() ** -0.5:.2f})"


def summarise(rows):
    """Print a row for each kind and the tests over all; return the number of problems that failed."""
    by_kind = defaultdict(list)
    for row in rows:
        by_kind[row["kind"]].append(row)
    for against, words in AGAINST.items():
        print(f"\nAgainst {words}: one point for each problem and curve\n")
        print("| kind | points | mean z | sd z | worst | within 2 | within 3 | training, % | test, % |")
        print("|---|---|---|---|---|---|---|---|---|")
        for kind, own in [*((kind, by_kind[kind]) for kind in KINDS if kind in by_kind), ("all", rows)]:
            z = np.concatenate([points(own, name, against) for name in CURVES])
            if len(z):
                within = " | ".join(f"{np.mean(np.abs(z) < bound):.0%}" for bound in (2, 3))
                print(
                    f"| {kind} | {len(z)} | {z.mean():+.2f} | {z.std():.2f} | {np.abs(z).max():.1f} | {within} | "
                    f"{gap(own, 'train_error', against)} | {gap(own, 'test_error', against)} |"
                )
    print(
        "\n| against | curve | points | mean z | sd z | heavier than normal, p | as normal, p | beyond 3 | expected |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for against in AGAINST:
        for name in CURVES:
            z = points(rows, name, against)
            if len(z) > 1:
                heavier = stats.kstest(np.abs(z), stats.halfnorm.cdf, alternative="less").pvalue
                normal = stats.kstest(z, stats.norm.cdf).pvalue
                mean = f"{z.mean():+.2f}({1 / np.sqrt(len(z)):.2f})"
                print(
                    f"| {against} | {name} | {len(z)} | {mean} | {z.std(ddof=1):.2f} | "
                    f"{heavier:.2g} | {normal:.2g} | {np.sum(np.abs(z) > 3)} | {0.0027 * len(z):.1f} |"
                )
    return failures(rows)


def failures(rows):
    """Print the problems that failed; return their number."""
    worst = {}
    count = 0
    for row in rows:
        all_z = {(a, n): np.abs(deviations(row, n, a)) for a in AGAINST for n in row["curves"]}
        count += sum(int(np.sum(~np.isnan(z))) for z in all_z.values())
        worst[row["index"]] = max(
            ((float(np.nanmax(z)), *where) for where, z in all_z.items() if not np.isnan(z).all()),
            default=(0.0, "", ""),
        )
    bound = float(stats.norm.isf(CHANCE / 2.0 / max(count, 1)))
    failed = [row for row in rows if row["code"] != "successful" or not worst[row["index"]][0] < bound]
    for row in failed:
        z, against, name = worst[row["index"]]
        found = f"|z| = {z:.1f}, {name} against {against}"
        print(f"failed: problem {row['index']}, {row['kind']}: {row['code']}, {found}: {row['problem']}")
    unsolved = sum(row["tight_code"] != "successful" for row in rows)
    seconds = np.sum([row["seconds"] for row in rows])
    print(
        f"\n{len(rows)} problems, {60 * len(rows) / seconds:.1f} per minute; {len(failed)} failed (no success, or |z| "
        f"above {bound:.2f} at one of {count} points); {unsolved} tighter limits fell short, and count all the same"
    )
    return len(failed)


def draw_picture(rows, path):
    """Draw the laws of z beside the normal law: histograms, with all beyond 4 in the last bins, and quantiles."""
    import matplotlib.pyplot as plt

    names = ("training error", "test error", "loss")
    shown = list(zip(CURVES, names, ("#0072b2", "#d55e00", "#009e73"), strict=True))
    with plt.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(2, 2, figsize=(6.5, 5.4), layout="constrained")
        grid = np.linspace(-4.0, 4.0, 201)
        for (left, right), (against, words) in zip(axes, AGAINST.items(), strict=True):
            each = [points(rows, name, against) for name in CURVES]
            left.hist(
                [np.clip(z, -4.0, 4.0) for z in each],
                bins=np.linspace(-4.0, 4.0, 25),
                density=True,
                histtype="step",
                color=[colour for _, _, colour in shown],
            )
            left.plot(grid, stats.norm.pdf(grid), color="black", linewidth=1.0)
            left.set(xlabel="difference / combined standard error", ylabel="density", title=f"against {words}")
            for (_, name, colour), z in zip(shown, each, strict=True):
                if len(z):
                    normal = stats.norm.ppf((np.arange(len(z)) + 0.5) / len(z))
                    right.plot(normal, np.sort(z), ".", markersize=3, color=colour, label=f"{name} ({len(z)})")
            right.plot(grid, grid, color="black", linewidth=1.0, label="normal law")
            draw_band(right, max(map(len, each)))
            right.legend(frameon=False, fontsize=7, loc="upper left")
            right.set(xlabel="quantiles of the normal law", ylabel="quantiles of z", xlim=(-3.6, 3.6), ylim=(-4.5, 4.5))
        figure.savefig(path, dpi=200)
        plt.close(figure)


def draw_band(axis, count):
    """Shade where 95% of the sorted values of ``count`` normals lie, each by itself."""
    if count:
        rank = np.arange(1, count + 1)
        low, high = (stats.norm.ppf(stats.beta.ppf(p, rank, count + 1 - rank)) for p in (0.025, 0.975))
        axis.fill_between(stats.norm.ppf((rank - 0.5) / count), low, high, color="0.85", linewidth=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=300)
    parser.add_argument("--only", default="", help="numbers of the problems to solve, e.g. 7,46; all unless given")
    parser.add_argument("--out", type=Path, help="file of JSON lines, one for each problem; the picture goes beside it")
    parser.add_argument("--picture", type=Path, help="file of the picture; beside --out unless given")
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds of a solve, compilation included")
    parser.add_argument("--rtol", type=float, default=3e-2)
    parser.add_argument("--trials-factor", type=int, default=1, help="more trials, to look closer")
    options = parser.parse_args()
    wanted = [int(part) for part in options.only.split(",")] if options.only else list(range(options.problems))
    rows = {}
    if options.out and options.out.exists():
        rows = {row["index"]: row for row in map(json.loads, options.out.read_text().splitlines())}
    for index in wanted:
        if index in rows:
            continue
        rows[index] = row = judge_problem(index, options)
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
        z = [np.nanmax(np.append(np.abs(deviations(row, n, a)), 0.0)) for a in AGAINST for n in row["curves"]]
        spent = f"{row['solve_seconds']:.0f} of {row['seconds']:.0f} s"
        print(f"{index} {row['kind']}: {row['code']}, {row['tight_code']}, |z| {np.round(z, 1)}, {spent}", flush=True)
    rows = [rows[index] for index in wanted]
    failed = summarise(rows)
    picture = options.picture or (options.out and options.out.with_suffix(".png"))
    if picture:
        draw_picture(rows, picture)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
