"""The conformance table: a row is a problem. A model, loss or training of one's own joins by one line."""

import jax.numpy as jnp
from jax.scipy.special import erf

import flowlimit as fl


class Leaky(fl.Model):
    """A model from the base class: w = theta, moved by a bounded gradient and a drift home that fades in time."""

    strength: float = 0.2

    @property
    def num_normals(self):
        return 1

    def init(self, normals, w_star):
        return 0.3 * normals[0] + 0.1 * w_star

    def weight(self, t, theta):
        return theta

    def drift(self, t, theta, g):
        return -jnp.tanh(g) - self.strength * jnp.exp(-t) * theta

    def penalty(self, t, theta):
        return 0.5 * self.strength * theta**2


def committee(f):
    return jnp.sum(erf(f / jnp.sqrt(2.0)))


def pair(f):
    return jnp.tanh(f[0]) * (1.0 + 0.5 * jnp.tanh(f[1]))


SPARSE, NETWORK = fl.Bernoulli(0.2), fl.DiagonalLinear(0.5)
TWO = fl.Reparametrized(lambda theta: theta, init=lambda normals, w_star: 0.5 * normals + 0.3 * w_star, num_normals=2)
LINE = fl.Reparametrized(lambda theta: theta[0] * theta[1], init=[0.7, 0.5], weight_decay=0.1)
SOFT = fl.Reparametrized(jnp.tanh, init=fl.Normal(0.5), rate=2.0)
QUARTIC = fl.CustomLoss(label=lambda f_star, n: f_star**2, loss=lambda f, y: 0.25 * (f**2 - y) ** 2)
CAUCHY = fl.CustomLoss(
    lambda f_star, n: f_star + 0.3 * n, loss=lambda f, y: jnp.log1p((f - y) ** 2), is_difference=True
)
UNITS = fl.CustomLoss(lambda f_star, n: committee(f_star) + 0.1 * n, loss=lambda f, y: 0.5 * (committee(f) - y) ** 2)
PAIR = fl.CustomLoss(lambda f_star, n: pair(f_star) + 0.3 * n, loss=lambda f, y: (pair(f) - y) ** 2)
STEPS, FEW_STEPS, LONG_STEPS = (
    fl.GradientDescent(0.2, num_steps=20),
    fl.GradientDescent(0.05, num_steps=20),
    fl.GradientDescent(0.5, num_steps=20),
)
FLOW = fl.GradientFlow(4.0)

ROWS = {
    "linear, descent": (
        fl.Linear(0.1, init_scale=0.5, init_overlap=0.2),
        fl.Regression(2.0, noise_var=0.1, target=fl.Normal()),
        STEPS,
    ),
    "linear, flow": (fl.Linear(), fl.Regression(0.5, noise_var=0.1, target=fl.SparseRademacher(0.3)), FLOW),
    "linear, point mass": (fl.Linear(0.2), fl.Regression(1.0, noise_var=0.1, target=fl.PointMass(0.7)), STEPS),
    "linear, many atoms": (
        fl.Linear(0.0, init_scale=0.3),
        fl.Regression(0.7, noise_var=0.1, target=fl.Empirical(jnp.arange(12) / 6.0)),
        STEPS,
    ),
    "network, descent": (fl.DiagonalLinear(0.5), fl.Regression(0.5, noise_var=0.01, target=SPARSE), STEPS),
    "network, flow": (fl.DiagonalLinear(0.5), fl.Regression(0.5, noise_var=0.01, target=SPARSE), FLOW),
    "network, decay": (
        fl.DiagonalLinear(0.7, weight_decay=0.1),
        fl.Regression(1.5, noise_var=0.1, target=fl.BernoulliGauss(0.4)),
        STEPS,
    ),
    "network, signs, descent": (
        fl.DiagonalLinear(0.7, weight_decay=0.1),
        fl.Regression(1.0, noise_var=0.1, target=fl.SparseRademacher(0.4)),
        STEPS,
    ),
    "network, gauss, descent": (
        fl.DiagonalLinear(1.0),
        fl.Regression(2.0, noise_var=0.1, target=fl.BernoulliGauss(0.5, std=0.7)),
        STEPS,
    ),
    "network, law of starts": (
        fl.DiagonalLinear(fl.Empirical([0.4, 0.8])),
        fl.Regression(1.0, noise_var=0.1, target=fl.PointMass(0.5)),
        STEPS,
    ),
    "network, atoms": (
        fl.DiagonalLinear(0.8),
        fl.Regression(1.0, noise_var=0.1, target=fl.Empirical([0.0, 0.0, 1.0, -0.5])),
        STEPS,
    ),
    "network, binary data": (
        fl.DiagonalLinear(0.5),
        fl.Regression(0.5, noise_var=0.01, target=SPARSE, design=fl.BinaryDesign()),
        STEPS,
    ),
    "linear, binary data": (
        fl.Linear(),
        fl.Regression(2.0, noise_var=0.1, target=fl.Normal(), design=fl.BinaryDesign()),
        STEPS,
    ),
    "network, sparse data": (
        fl.DiagonalLinear(0.5),
        fl.Regression(0.5, noise_var=0.01, target=SPARSE, design=fl.IIDDesign(fl.SparseRademacher(0.5))),
        STEPS,
    ),
    "linear, uniform data": (
        fl.Linear(0.1),
        fl.Regression(
            1.0, noise_var=0.1, target=fl.Normal(), design=fl.IIDDesign(fl.Empirical([-1.0, -0.5, 0.5, 1.0]))
        ),
        STEPS,
    ),
    "linear, two variances": (
        fl.Linear(0.1, init_scale=0.3),
        fl.Regression(2.0, noise_var=0.1, features=fl.Features(variance=fl.Empirical([1.0, 0.2]), target=SPARSE)),
        STEPS,
    ),
    "network, given coordinates": (
        NETWORK,
        fl.Regression(1.0, noise_var=0.1, features=fl.Spectrum([1.0, 1.0, 0.5, 0.2], [1.0, 0.0, -1.0, 2.0])),
        STEPS,
    ),
    "sign teacher, two variances": (
        fl.Linear(),
        fl.Classification(2.0, features=fl.Features(variance=fl.Empirical([1.0, 0.2]), target=fl.Normal())),
        LONG_STEPS,
    ),
    "depth 3, descent": (fl.DiagonalLinear(0.8, depth=3), fl.Regression(2.0, noise_var=0.01, target=SPARSE), STEPS),
    "depth 3, flow": (
        fl.DiagonalLinear(0.8, weight_decay=0.1, depth=3),
        fl.Regression(2.0, noise_var=0.01, target=SPARSE),
        FLOW,
    ),
    "depth 4, descent": (fl.DiagonalLinear(0.9, depth=4), fl.Regression(2.0, noise_var=0.01, target=SPARSE), STEPS),
    "truncated, descent": (
        fl.DiagonalLinear(0.8, truncation=3.0),
        fl.Regression(2.0, noise_var=0.01, target=SPARSE),
        STEPS,
    ),
    "product, descent": (LINE, fl.Regression(1.0, noise_var=0.1, target=SPARSE), STEPS),
    "tanh, random start": (SOFT, fl.Regression(2.0, noise_var=0.1, target=fl.Normal(0.5)), STEPS),
    "own class, descent": (Leaky(), fl.Regression(1.0, noise_var=0.1, target=SPARSE), STEPS),
    "sign teacher": (fl.Linear(), fl.Classification(2.0, target=fl.Normal()), LONG_STEPS),
    "logistic teacher": (fl.DiagonalLinear(0.5), fl.Classification(2.0, target=SPARSE, slope=2.0), LONG_STEPS),
    "Huber": (
        fl.Linear(),
        fl.GeneralizedLinear(2.0, target=fl.Normal(), loss=fl.HuberLoss(0.7, noise_std=0.5, tail=1.0)),
        STEPS,
    ),
    "Huber, network": (
        fl.DiagonalLinear(0.5),
        fl.GeneralizedLinear(1.0, target=SPARSE, loss=fl.HuberLoss(0.5, noise_std=0.3)),
        STEPS,
    ),
    "phase retrieval": (
        fl.Linear(0.0, init_scale=0.5, init_overlap=0.5),
        fl.GeneralizedLinear(4.0, target=fl.Normal(), loss=QUARTIC),
        FEW_STEPS,
    ),
    "Cauchy's loss": (SOFT, fl.GeneralizedLinear(2.0, target=fl.Normal(0.5), loss=CAUCHY), STEPS),
    "committee": (TWO, fl.GeneralizedLinear(2.0, target=fl.Independent(fl.Normal(), count=2), loss=UNITS), LONG_STEPS),
    "two-index model": (TWO, fl.GeneralizedLinear(3.0, target=fl.Independent(fl.Normal(), count=2), loss=PAIR), STEPS),
    "batches": (
        fl.Linear(0.1, init_scale=0.3),
        fl.Regression(2.0, noise_var=0.1, target=fl.Normal()),
        fl.StochasticGradientDescent(0.1, step_size=0.05, num_steps=20),
    ),
    "batches, network": (
        NETWORK,
        fl.Regression(1.0, noise_var=0.1, target=SPARSE),
        fl.StochasticGradientDescent(0.5, step_size=0.2, num_steps=20),
    ),
    "kept batch, fresh labels": (
        NETWORK,
        fl.Regression(2.0, noise_var=0.1, target=SPARSE),
        fl.StochasticGradientDescent(0.5, step_size=0.2, num_steps=20, persistent=True, label_noise=0.3),
    ),
    "batches, sign teacher": (
        fl.Linear(),
        fl.Classification(2.0, target=fl.Normal()),
        fl.StochasticGradientDescent(0.5, step_size=0.5, num_steps=20),
    ),
    "momentum": (
        NETWORK,
        fl.Regression(1.0, noise_var=0.1, target=SPARSE),
        fl.GradientDescent(0.05, num_steps=20, momentum=0.9),
    ),
    "Nesterov, schedules": (
        fl.DiagonalLinear(0.5, weight_decay=0.1),
        fl.Regression(1.0, noise_var=0.1, target=SPARSE),
        fl.GradientDescent(
            lambda i: 0.1 / (1 + 0.1 * i),
            num_steps=20,
            momentum=0.9,
            nesterov=True,
            decay_factor=lambda i: float(i < 10),
        ),
    ),
    "Langevin": (
        fl.Linear(0.1),
        fl.Regression(1.0, noise_var=0.1, target=SPARSE),
        fl.Langevin(0.05, step_size=0.2, num_steps=20),
    ),
    "Langevin, network": (
        NETWORK,
        fl.Regression(2.0, noise_var=0.1, target=SPARSE),
        fl.Langevin(0.003, step_size=0.1, num_steps=20),
    ),
}
