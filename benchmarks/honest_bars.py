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

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf
from scipy import stats

import flowlimit as fl

CURVES = ("train_error", "test_error", "loss")
DIM, TRIALS = 100, (160, 120)
"""The smaller dim, and trials at it and at twice the dim: the second count four times in a variance, and cost more."""
STEPS = 16
SAVED_STEPS = (2, 5, 10, 16)
SAVED_PARTS = (0.1, 0.3, 0.6, 1.0)
EXACT = 1e-9
"""Relative difference below which two limits are one number: linear models have no sampling error."""
CHANCE = 1e-3
AGAINST = {"tight": "a limit three times tighter", "runs": "runs, 1/d extrapolated away"}


# What problems are made of. Few numbers of steps, strata and samples: programs are compiled once for each.


def number(low, high):
    """Return a maker of numbers, log-uniform between two bounds."""
    return lambda rng: float(np.exp(rng.uniform(np.log(low), np.log(high))))


def some(rng, *values):
    """Return one of the values."""
    return values[rng.integers(len(values))]


share, step, noise_var = number(0.1, 0.5), number(0.1, 0.3), number(0.01, 0.3)
decay = lambda rng: some(rng, 0.0, float(rng.uniform(0.02, 0.2)))
bernoulli = lambda rng: fl.Bernoulli(share(rng), float(rng.uniform(0.7, 1.3)))
gauss = lambda rng: fl.BernoulliGauss(share(rng), float(rng.uniform(0.7, 1.3)))
signs = lambda rng: fl.SparseRademacher(share(rng), float(rng.uniform(0.7, 1.3)))
normal = lambda rng: fl.Normal(float(rng.uniform(0.6, 1.2)))
mass = lambda rng: fl.PointMass(float(rng.uniform(0.4, 1.0)))
atoms = lambda rng: fl.Empirical(np.append(0.0, rng.uniform(-1.0, 1.0, 3)))
two = lambda rng: some(rng, bernoulli, gauss)(rng)
one = lambda rng: some(rng, normal, mass)(rng)
pair = lambda rng: fl.Independent(normal(rng), 2)


def linear(rng):
    return fl.Linear(decay(rng), some(rng, 0.0, float(rng.uniform(0.2, 1.0))), float(rng.uniform(0.0, 0.5)))


def network(depth=2, low=0.4, truncation=None):
    """Return a maker of diagonal networks."""
    return lambda rng: fl.DiagonalLinear(number(low, 1.2)(rng), decay(rng), depth, truncation)


def varied(rng):
    """Return a network whose init scale is a law."""
    return fl.DiagonalLinear(fl.Empirical(rng.uniform(0.4, 1.0, 2)), decay(rng))


def soft(rng):
    return fl.Reparametrized(
        jnp.tanh, fl.Normal(float(rng.uniform(0.2, 0.7))), decay(rng), float(rng.uniform(0.7, 2.0))
    )


def product(theta):
    return theta[0] * theta[1]


def line(rng):
    return fl.Reparametrized(product, rng.uniform(0.3, 0.8, 2), decay(rng))


def same(theta):
    return theta


def correlated(normals, w_star):
    return 0.5 * normals + 0.3 * w_star


def units(rng):
    """Return a model with two outputs."""
    return fl.Reparametrized(same, correlated, decay(rng), float(rng.uniform(0.7, 1.3)), num_normals=2)


def start_near(rng):
    """Return a linear model that begins near the teacher, as phase retrieval needs."""
    return fl.Linear(0.0, float(rng.uniform(0.3, 0.6)), float(rng.uniform(0.3, 0.6)))


def committee(f):
    return jnp.sum(erf(f / jnp.sqrt(2.0)))


def indices(f):
    return jnp.tanh(f[0]) * (1.0 + 0.5 * jnp.tanh(f[1]))


QUARTIC = fl.CustomLoss(lambda f_star, n: f_star**2, lambda f, y: 0.25 * (f**2 - y) ** 2)
CAUCHY = fl.CustomLoss(lambda f_star, n: f_star + 0.3 * n, lambda f, y: jnp.log1p((f - y) ** 2), is_difference=True)
COMMITTEE = fl.CustomLoss(lambda f_star, n: committee(f_star) + 0.1 * n, lambda f, y: 0.5 * (committee(f) - y) ** 2)
INDICES = fl.CustomLoss(lambda f_star, n: indices(f_star) + 0.3 * n, lambda f, y: (indices(f) - y) ** 2)


def regression(target, *ratios):
    return lambda rng: fl.Regression(some(rng, *ratios), noise_var(rng), target(rng))


def huber(target, *ratios):
    loss = lambda rng: fl.HuberLoss(*rng.uniform((0.4, 0.2), (1.2, 0.6)), tail=some(rng, 0.0, 1.0))
    return lambda rng: fl.GeneralizedLinear(some(rng, *ratios), target(rng), loss(rng))


def custom(target, loss, *ratios):
    return lambda rng: fl.GeneralizedLinear(some(rng, *ratios), target(rng), loss)


def signed(target, *ratios):
    return lambda rng: fl.Classification(some(rng, *ratios), target(rng))


def logistic(target, *ratios):
    return lambda rng: fl.Classification(some(rng, *ratios), target(rng), slope=float(rng.uniform(1.0, 4.0)))


def flow(rng):
    return fl.GradientFlow(float(rng.uniform(3.0, 8.0)))


def descent(low=0.1, high=0.3):
    return lambda rng: fl.GradientDescent(number(low, high)(rng), STEPS)


def momentum(rng):
    return fl.GradientDescent(number(0.03, 0.1)(rng), STEPS, float(rng.uniform(0.5, 0.9)))


def nesterov(rng):
    """Return Nesterov's steps with a schedule of sizes, and a weight decay that ends midway."""
    sizes = number(0.05, 0.15)(rng) / (1.0 + 0.1 * np.arange(STEPS))
    factors = (np.arange(STEPS) < STEPS // 2).astype(float)
    return fl.GradientDescent(sizes, STEPS, float(rng.uniform(0.5, 0.9)), nesterov=True, decay_factor=factors)


def cosine(rng):
    return fl.GradientDescent(step(rng) * (1.0 + np.cos(np.pi * np.arange(STEPS) / STEPS)) / 1.5, STEPS)


def batches(low=0.2, **more):
    """Return a maker of trainings on random batches; smaller ones take smaller steps."""

    def make(rng):
        part = float(rng.uniform(low, 0.8))
        return fl.StochasticGradientDescent(part, 0.5 * part * some(rng, 0.5, 1.0), STEPS, **more)

    return make


def fresh_labels(rng):
    return fl.StochasticGradientDescent(1.0, step(rng), STEPS, label_noise=float(rng.uniform(0.1, 0.5)))


def langevin(low=0.001, high=0.01):
    return lambda rng: fl.Langevin(number(low, high)(rng), number(0.05, 0.2)(rng), STEPS)


kept, momentum_batches = batches(0.4, persistent=True), batches(0.4, momentum=0.5)
kept_fresh = batches(0.4, persistent=True, label_noise=0.3)

KINDS = {
    "linear, descent": (linear, regression(normal, 0.5, 2.0), descent()),
    "network, descent": (network(), regression(two, 0.5, 2.0), descent()),
    "linear, batches": (linear, regression(two, 2.0), batches()),
    "linear, kept batch": (linear, regression(normal, 2.0), kept),
    "linear, fresh labels": (linear, regression(mass, 1.0), fresh_labels),
    "linear, Langevin": (linear, regression(two, 0.5), langevin(0.01, 0.1)),
    "linear, momentum": (linear, regression(atoms, 1.0), momentum),
    "linear, flow": (linear, regression(signs, 0.5), flow),
    "network, flow": (network(), regression(two, 0.5), flow),
    "network, signs, schedule": (network(), regression(signs, 1.0), cosine),
    "network, law of init scales": (varied, regression(mass, 1.0), descent()),
    "network, law of init scales, flow": (varied, regression(bernoulli, 2.0), flow),
    "network, momentum": (network(), regression(two, 1.0), momentum),
    "network, Nesterov, schedules": (network(), regression(atoms, 2.0), nesterov),
    "network, batches": (network(), regression(two, 2.0), batches()),
    "network, batches, momentum": (network(), regression(normal, 1.0), momentum_batches),
    "network, kept batch": (network(), regression(two, 2.0), kept),
    "network, fresh labels": (network(), regression(two, 0.5), fresh_labels),
    "network, kept batch, fresh labels": (network(), regression(one, 2.0), kept_fresh),
    "network, Langevin": (network(), regression(two, 1.0), langevin()),
    "depth 3, descent": (network(3, 0.6), regression(two, 2.0), descent(0.1, 0.2)),
    "depth 3, flow": (network(3, 0.6), regression(bernoulli, 2.0), flow),
    "depth 3, batches": (network(3, 0.6), regression(bernoulli, 2.0), batches(0.5)),
    "depth 4, descent": (network(4, 0.7), regression(bernoulli, 2.0), descent(0.05, 0.1)),
    "truncated, descent": (network(2, 0.5, 3.0), regression(bernoulli, 2.0), descent(0.1, 0.2)),
    "truncated, depth 3, flow": (network(3, 0.6, 20.0), regression(bernoulli, 2.0), flow),
    "tanh, random init": (soft, regression(one, 2.0), descent()),
    "product, flow": (line, regression(bernoulli, 1.0), flow),
    "sign teacher": (linear, signed(normal, 2.0), descent(0.3, 1.0)),
    "sign teacher, batches": (linear, signed(bernoulli, 2.0), batches(0.4)),
    "logistic teacher, network": (network(), logistic(bernoulli, 2.0), descent(0.3, 0.8)),
    "logistic teacher, momentum": (linear, logistic(normal, 1.0), momentum),
    "Huber": (linear, huber(normal, 2.0), descent()),
    "Huber, network, kept batch": (network(), huber(bernoulli, 2.0), kept),
    "Cauchy's loss": (soft, custom(normal, CAUCHY, 2.0), descent(0.1, 0.2)),
    "Cauchy's loss, Langevin": (linear, custom(normal, CAUCHY, 2.0), langevin()),
    "phase retrieval": (start_near, custom(normal, QUARTIC, 4.0), descent(0.02, 0.05)),
    "committee, two teachers": (units, custom(pair, COMMITTEE, 2.0), descent(0.2, 0.5)),
    "two-index model": (units, custom(pair, INDICES, 2.0), descent(0.1, 0.2)),
}


def draw_problem(index):
    """Return the kind of problem ``index``, the problem, and the place among the saved times of each curve's point."""
    rng = np.random.default_rng([2024, index])
    kind = list(KINDS)[index % len(KINDS)]
    problem = tuple(make(rng) for make in KINDS[kind])
    return kind, problem, rng.integers(len(SAVED_PARTS), size=len(CURVES)).tolist()


# One problem


def save_times(training):
    if isinstance(training, fl.GradientFlow):
        return float(training.horizon) * np.array(SAVED_PARTS)
    steps = np.broadcast_to(np.asarray(training.step_size), STEPS)
    return np.append(0.0, np.cumsum(steps))[list(SAVED_STEPS)]


def size_of(w, w_star):
    return jnp.sum(w_star**2)


def run(problem, dim, trials, key, times):
    """Return means of the curves over runs and their standard errors, without what chance in targets and labels adds."""
    model, task, _ = problem
    runs = fl.simulate(
        *problem, dim=dim, trials=trials, key=key, save_at=np.append(0.0, times), observables={"size": size_of}
    )
    strata = task.target.strata()
    squares = (strata.mean**2 + strata.std**2).reshape(len(strata.probability), -1).sum(axis=1)
    size = float(strata.probability @ squares)
    chance = [runs.values["size"][:, 0] - size]
    begins_at_zero = isinstance(model, fl.DiagonalLinear)
    if begins_at_zero and isinstance(task, fl.Regression):  # then the first training error is the labels' mean square
        chance.append(runs.values["train_error"][:, 0] - size - float(task.noise_var))
    known = np.stack([one for one in chance if np.std(one) > 1e-12 * size] or [np.zeros(trials)], axis=1)
    means, bars = {}, {}
    for name in CURVES:
        values = runs.values[name][:, 1:]
        centred = known - known.mean(axis=0)
        slopes = np.linalg.lstsq(centred, values - values.mean(axis=0), rcond=None)[0]
        left = values - known @ slopes
        means[name] = left.mean(axis=0)
        freedom = max(trials - 1 - known.shape[1], 1)
        spread = np.sqrt(((left - means[name]) ** 2).sum(axis=0) / freedom / trials)
        bars[name] = np.hypot(spread, runs.time_error[name][1:] if runs.time_error else 0.0)
    return means, bars


def judge(index, options):
    """Solve and train one problem; return its row."""
    began = time.perf_counter()
    kind, problem, places = draw_problem(index)
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


def gaps(rows, against):
    """Return the mean relative difference over all points drawn, weighted by their bars, and its standard error."""
    difference, weight = [], []
    for row in rows:
        for curve in row["curves"].values():
            if against in curve:
                (limit, bar), (other, other_bar) = (np.array(curve[k])[:, curve["place"]] for k in ("limit", against))
                if abs(limit - other) > EXACT * abs(other):
                    difference.append((limit - other) / other)
                    weight.append(other**2 / (bar**2 + other_bar**2))
    if not weight:
        return 0.0, 0.0
    return float(np.average(difference, weights=weight)), float(np.sum(weight) ** -0.5)


def summarise(rows):
    """Print a row for each kind and the tests over all; return the number of problems that failed."""
    by_kind = defaultdict(list)
    for row in rows:
        by_kind[row["kind"]].append(row)
    for against, words in AGAINST.items():
        print(f"\nAgainst {words}: one point for each problem and curve\n")
        print("| kind | points | mean z | sd z | worst | within 2 | within 3 | mean gap |")
        print("|---|---|---|---|---|---|---|---|")
        for kind, own in [*((kind, by_kind[kind]) for kind in KINDS if kind in by_kind), ("all", rows)]:
            z = np.concatenate([points(own, name, against) for name in CURVES])
            if len(z):
                gap, bar = gaps(own, against)
                within = " | ".join(f"{np.mean(np.abs(z) < bound):.0%}" for bound in (2, 3))
                print(
                    f"| {kind} | {len(z)} | {z.mean():+.2f} | {z.std():.2f} | {np.abs(z).max():.1f} | {within} | "
                    f"{100 * gap:+.2f}({100 * bar:.2f})% |"
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
    """Draw the laws of z beside the normal law: histograms and quantiles."""
    import matplotlib.pyplot as plt

    colours = dict(zip(CURVES, ("#0072b2", "#d55e00", "#009e73"), strict=True))
    names = {"train_error": "training error", "test_error": "test error", "loss": "loss"}
    with plt.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(2, 2, figsize=(6.5, 5.4), layout="constrained")
        grid = np.linspace(-4.0, 4.0, 201)
        for (left, right), (against, words) in zip(axes, AGAINST.items(), strict=True):
            each = {name: points(rows, name, against) for name in CURVES}
            left.hist(
                [np.clip(z, -4.0, 4.0) for z in each.values()],
                bins=np.linspace(-4.0, 4.0, 25),
                density=True,
                histtype="step",
                color=list(colours.values()),
                label=[f"{names[name]} ({len(z)})" for name, z in each.items()],
            )
            left.plot(grid, stats.norm.pdf(grid), color="black", linewidth=1.0, label="normal law")
            left.set(xlabel="difference / combined standard error", ylabel="density", title=f"against {words}")
            left.legend(frameon=False, fontsize=7, loc="upper left")
            for name, z in each.items():
                if len(z):
                    normal = stats.norm.ppf((np.arange(len(z)) + 0.5) / len(z))
                    right.plot(normal, np.sort(z), ".", markersize=3, color=colours[name], label=names[name])
            right.plot(grid, grid, color="black", linewidth=1.0)
            draw_band(right, max(len(z) for z in each.values()))
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
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of a solve")
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
        rows[index] = row = judge(index, options)
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
