"""Random problems of every kind that has a limit: models, tasks and trainings, for `honest_bars.py`.

Kinds are few in numbers of steps, strata and samples: programs are compiled once for each. Numbers are drawn from where
runs at dim 100 are near enough to the limit for an effect of order 1/d: init scales from .4, short horizons.
"""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf

import flowlimit as fl

STEPS = 16
SAVED_STEPS = (2, 5, 10, 16)
SAVED_PARTS = (0.1, 0.3, 0.6, 1.0)


def number(low, high):
    """Return a maker of numbers, log-uniform between two bounds."""
    return lambda rng: float(np.exp(rng.uniform(np.log(low), np.log(high))))


def some(rng, *values):
    """Return one of the values."""
    return values[rng.integers(len(values))]


share, step, noise_var = number(0.1, 0.5), number(0.1, 0.3), number(0.01, 0.3)
decay = lambda rng: some(rng, 0.0, float(rng.uniform(0.02, 0.2)))
bernoulli = lambda rng: fl.Bernoulli(share(rng), value=float(rng.uniform(0.7, 1.3)))
gauss = lambda rng: fl.BernoulliGauss(share(rng), std=float(rng.uniform(0.7, 1.3)))
signs = lambda rng: fl.SparseRademacher(share(rng), value=float(rng.uniform(0.7, 1.3)))
normal = lambda rng: fl.Normal(float(rng.uniform(0.6, 1.2)))
mass = lambda rng: fl.PointMass(float(rng.uniform(0.4, 1.0)))
atoms = lambda rng: fl.Empirical(np.append(0.0, rng.uniform(-1.0, 1.0, 3)))
two = lambda rng: some(rng, bernoulli, gauss)(rng)
one = lambda rng: some(rng, normal, mass)(rng)
pair = lambda rng: fl.Independent(normal(rng), count=2)


def linear(rng):
    return fl.Linear(
        decay(rng), init_scale=some(rng, 0.0, float(rng.uniform(0.2, 1.0))), init_overlap=float(rng.uniform(0.0, 0.5))
    )


def network(depth=2, low=0.4, truncation=None):
    """Return a maker of diagonal networks."""
    return lambda rng: fl.DiagonalLinear(
        number(low, 1.2)(rng), weight_decay=decay(rng), depth=depth, truncation=truncation
    )


def varied(rng):
    """Return a network whose init scale is a law."""
    return fl.DiagonalLinear(fl.Empirical(rng.uniform(0.4, 1.0, 2)), weight_decay=decay(rng))


def soft(rng):
    return fl.Reparametrized(
        jnp.tanh,
        init=fl.Normal(float(rng.uniform(0.2, 0.7))),
        weight_decay=decay(rng),
        rate=float(rng.uniform(0.7, 2.0)),
    )


def product(theta):
    return theta[0] * theta[1]


def line(rng):
    return fl.Reparametrized(product, init=rng.uniform(0.3, 0.8, 2), weight_decay=decay(rng))


def same(theta):
    return theta


def correlated(normals, w_star):
    return 0.5 * normals + 0.3 * w_star


def units(rng):
    """Return a model with two outputs."""
    return fl.Reparametrized(
        same, init=correlated, weight_decay=decay(rng), rate=float(rng.uniform(0.7, 1.3)), num_normals=2
    )


def start_near(rng):
    """Return a linear model that begins near the teacher, as phase retrieval needs."""
    return fl.Linear(0.0, init_scale=float(rng.uniform(0.3, 0.6)), init_overlap=float(rng.uniform(0.3, 0.6)))


def committee(f):
    return jnp.sum(erf(f / jnp.sqrt(2.0)))


def indices(f):
    return jnp.tanh(f[0]) * (1.0 + 0.5 * jnp.tanh(f[1]))


QUARTIC = fl.CustomLoss(lambda f_star, n: f_star**2, loss=lambda f, y: 0.25 * (f**2 - y) ** 2)
CAUCHY = fl.CustomLoss(
    lambda f_star, n: f_star + 0.3 * n, loss=lambda f, y: jnp.log1p((f - y) ** 2), is_difference=True
)
COMMITTEE = fl.CustomLoss(
    lambda f_star, n: committee(f_star) + 0.1 * n, loss=lambda f, y: 0.5 * (committee(f) - y) ** 2
)
INDICES = fl.CustomLoss(lambda f_star, n: indices(f_star) + 0.3 * n, loss=lambda f, y: (indices(f) - y) ** 2)


def regression(target, *ratios):
    return lambda rng: fl.Regression(some(rng, *ratios), noise_var=noise_var(rng), target=target(rng))


def huber(target, *ratios):

    def loss(rng: np.random.Generator) -> fl.HuberLoss:
        threshold, noise_std = rng.uniform((0.4, 0.2), (1.2, 0.6))
        return fl.HuberLoss(threshold, noise_std=noise_std, tail=some(rng, 0.0, 1.0))

    return lambda rng: fl.GeneralizedLinear(some(rng, *ratios), target=target(rng), loss=loss(rng))


def custom(target, loss, *ratios):
    return lambda rng: fl.GeneralizedLinear(some(rng, *ratios), target=target(rng), loss=loss)


def signed(target, *ratios):
    return lambda rng: fl.Classification(some(rng, *ratios), target=target(rng))


def logistic(target, *ratios):
    return lambda rng: fl.Classification(some(rng, *ratios), target=target(rng), slope=float(rng.uniform(1.0, 4.0)))


def flow(rng):
    return fl.GradientFlow(float(rng.uniform(3.0, 8.0)))


def descent(low=0.1, high=0.3):
    return lambda rng: fl.GradientDescent(number(low, high)(rng), num_steps=STEPS)


def momentum(rng):
    return fl.GradientDescent(number(0.03, 0.1)(rng), num_steps=STEPS, momentum=float(rng.uniform(0.5, 0.9)))


def nesterov(rng):
    """Return Nesterov's steps with a schedule of sizes, and a weight decay that ends midway."""
    sizes = number(0.05, 0.15)(rng) / (1.0 + 0.1 * np.arange(STEPS))
    factors = (np.arange(STEPS) < STEPS // 2).astype(float)
    return fl.GradientDescent(
        sizes, num_steps=STEPS, momentum=float(rng.uniform(0.5, 0.9)), nesterov=True, decay_factor=factors
    )


def cosine(rng):
    return fl.GradientDescent(step(rng) * (1.0 + np.cos(np.pi * np.arange(STEPS) / STEPS)) / 1.5, num_steps=STEPS)


def batches(low=0.2, **more):
    """Return a maker of trainings on random batches; smaller ones take smaller steps."""

    def make(rng):
        part = float(rng.uniform(low, 0.8))
        return fl.StochasticGradientDescent(part, step_size=0.5 * part * some(rng, 0.5, 1.0), num_steps=STEPS, **more)

    return make


def fresh_labels(rng):
    return fl.StochasticGradientDescent(
        1.0, step_size=step(rng), num_steps=STEPS, label_noise=float(rng.uniform(0.1, 0.5))
    )


def langevin(low=0.001, high=0.01):
    return lambda rng: fl.Langevin(number(low, high)(rng), step_size=number(0.05, 0.2)(rng), num_steps=STEPS)


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


def draw_problem(index, curves):
    """Return the kind of a problem, the problem, and for each curve the place of its point among the saved times."""
    rng = np.random.default_rng([2024, index])
    kind = list(KINDS)[index % len(KINDS)]
    problem = tuple(make(rng) for make in KINDS[kind])
    return kind, problem, rng.integers(len(SAVED_PARTS), size=curves).tolist()


def save_times(training):
    if isinstance(training, fl.GradientFlow):
        return float(training.horizon) * np.array(SAVED_PARTS)
    steps = np.broadcast_to(np.asarray(training.step_size), STEPS)
    return np.append(0.0, np.cumsum(steps))[list(SAVED_STEPS)]
