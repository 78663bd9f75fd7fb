"""`Linear` on features of unequal variances against deterministic equivalents, by contour integrals.

Least squares from w = 0 is w* - w = phi(S) w* - psi(S) X^T xi/delta with S = X^T X/delta, psi = (1 - phi)/x and
phi = (1 - eta x)^i or e^(-x t). Functions of S are contour integrals over resolvents, and these have equivalents: with
lambda = kappa (1 - E[s/(s + kappa)]/delta), and mu of nu likewise,

    lambda (S + lambda)^-1  ~  kappa/(s + kappa),
    lambda mu (S + lambda)^-1 s (S + mu)^-1  ~  kappa nu E_s/(1 - E[s E_s]/delta),    E_s = s/((s + kappa)(s + nu)).
"""

import numpy as np
import pytest

import flowlimit as fl

pytestmark = pytest.mark.slow

NOISE, POINTS = 0.1, 160


def kappa_of(lam, s, p, delta):
    """kappa(lambda), followed from large lambda, where it is lambda, by Newton's method."""
    kappa = None
    for far in np.geomspace(100.0, 1.0, 60):
        goal = far * lam
        kappa = goal if kappa is None else kappa
        for _ in range(30):
            share = s[:, None] / (s[:, None] + kappa)
            value = kappa * (1 - p @ share / delta) - goal
            slope = 1 - p @ share**2 / delta
            kappa = kappa - value / slope
    return kappa


class Equivalent:
    def __init__(self, s, w_star_sq, p, delta):
        self.s, self.a, self.p, self.delta = s, w_star_sq, p, delta
        k = s.max() * (
            1 + np.geomspace(1e-6, 1e3, 20_000)
        )  # the spectrum's edge is the least z(k) beyond all variances
        edge = min((k * (1 + sum(pi * si / (k - si) for pi, si in zip(p, s, strict=True)) / delta)).tolist())
        angle = 2 * np.pi * (np.arange(POINTS) + 0.5) / POINTS
        middle, wide, high = 0.5 * edge, 0.65 * edge, 0.35 * edge
        self.z = middle + wide * np.cos(angle) + 1j * high * np.sin(angle)
        self.dz = (-wide * np.sin(angle) + 1j * high * np.cos(angle)) / POINTS / 1j  # dz/(2 pi i)
        self.kappa = kappa_of(-self.z, s, p, delta)
        self.one = self.kappa / -self.z / (s[:, None] + self.kappa)  # (S + lambda)^-1, coordinate by coordinate

    def trace(self, f, by):
        """E[by f(S)], coordinates weighted."""
        return (-(self.p * by) @ self.one @ (f(self.z) * self.dz)).real

    def between(self, f):
        """E[w* f(S) s f(S) w*]."""
        weight = -f(self.z) * self.dz
        across = lambda by, columns: (columns.T * (self.p * by)) @ columns
        both = across(self.s**2, 1 / (self.s[:, None] + self.kappa))
        return (weight @ (across(self.s * self.a, self.one) / (1 - both / self.delta)) @ weight).real

    def errors(self, phi):
        psi = lambda z: (1 - phi(z)) / z
        noise = NOISE / self.delta * self.trace(lambda z: psi(z) ** 2 * z, self.s)
        test = self.between(phi) + noise + NOISE
        square = lambda z: phi(z) ** 2
        seen = self.trace(square, np.ones_like(self.s)) / self.delta + 1 - 1 / self.delta
        return self.trace(lambda z: z * phi(z) ** 2, self.a) + NOISE * seen, test


def power_law(dim, capacity, source):
    j = np.arange(1.0, dim + 1)
    power = j**-source
    s = j**-capacity
    return s, dim * power / power.sum() / s, np.full(dim, 1 / dim)


SPECTRA = {
    "two blocks": (
        fl.Features(variance=fl.Empirical([1.0, 0.1, 0.1]), target=fl.Normal(0.8)),
        (np.array([1.0, 0.1]), np.array([0.64, 0.64]), np.array([1 / 3, 2 / 3])),
        2.0,
    ),
    "power law": (fl.PowerLaw(60, capacity=1.2, source=1.5), power_law(60, 1.2, 1.5), 0.5),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_descent(name):
    law, spectrum, delta = SPECTRA[name]
    step, steps = 0.4, 30
    task = fl.Regression(delta, noise_var=NOISE, features=law)
    limit = fl.solve_dmft(fl.Linear(), task, fl.GradientDescent(step, num_steps=steps), rtol=1e-4)
    exact = Equivalent(*spectrum, delta)
    for i in (0, 1, 2, 3, 5, 8, 12, 18, 24, 30):
        train, test = exact.errors(lambda z, i=i: (1 - step * z) ** i)
        assert abs(limit.test_error[i] / test - 1) < 1e-7, i
        assert abs(limit.train_error[i] / train - 1) < 1e-7, i
    assert (limit.statistical["test_error"] / limit.test_error).max() < 1e-12


@pytest.mark.parametrize("name", SPECTRA)
def test_flow(name):
    law, spectrum, delta = SPECTRA[name]
    task = fl.Regression(delta, noise_var=NOISE, features=law)
    times = [0.0, 0.1, 0.3, 0.6, 1.0, 1.4, 1.8, 2.4, 3.0, 4.0]
    limit = fl.solve_dmft(fl.Linear(), task, fl.GradientFlow(4.0), rtol=1e-5, save_at=times)
    exact = Equivalent(*spectrum, delta)
    for t, own_train, own_test in zip(times, limit.train_error, limit.test_error, strict=True):
        train, test = exact.errors(lambda z, t=t: np.exp(-z * t))
        assert abs(own_test / test - 1) < 1e-6, t
        assert abs(own_train / train - 1) < 1e-6, t
    assert (limit.statistical["test_error"] / limit.test_error).max() < 1e-9
