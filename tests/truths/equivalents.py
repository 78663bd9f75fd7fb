"""Deterministic equivalents of least squares on features of unequal variances, by contour integrals.

Least squares from w = 0 is w* - w = phi(S) w* - psi(S) X^T xi/delta with S = X^T X/delta, psi = (1 - phi)/x and
phi = (1 - eta x)^i or e^(-x t). Functions of S are contour integrals over resolvents, and these have equivalents: with
lambda = kappa (1 - E[s/(s + kappa)]/delta), and mu of nu likewise,

    lambda (S + lambda)^-1  ~  kappa/(s + kappa),
    lambda mu (S + lambda)^-1 s (S + mu)^-1  ~  kappa nu E_s/(1 - E[s E_s]/delta),    E_s = s/((s + kappa)(s + nu)).

The tests and `benchmarks/linear_spectra.py` read it.
"""

import numpy as np

POINTS = 160


def kappa_of(lam, s, p, delta):
    """kappa(lambda), followed from large lambda, where it is lambda, by Newton's method."""
    kappa = 100.0 * lam
    for far in np.geomspace(100.0, 1.0, 60):
        for _ in range(30):
            share = s[:, None] / (s[:, None] + kappa)
            value = kappa * (1 - p @ share / delta) - far * lam
            change = value / (1 - p @ share**2 / delta)
            kappa = kappa - change
            if (np.abs(change) < 1e-15 * np.abs(kappa)).all():
                break
    return kappa


class Equivalent:
    """Errors of least squares on features of variances s with shares p, and teachers of E[w*^2] = w_star_sq on each."""

    def __init__(self, s, w_star_sq, p, delta, noise_var):
        self.s, self.a, self.p, self.delta, self.noise_var = s, w_star_sq, p, delta, noise_var
        k = s.max() * (1 + np.geomspace(1e-6, 1e3, 2000))  # the spectrum's edge is the least z(k) beyond all variances
        edge = min(one * (1 + p @ (s / (one - s)) / delta) for one in k)
        angle = 2 * np.pi * (np.arange(POINTS) + 0.5) / POINTS
        middle, wide, high = 0.5 * edge, 0.65 * edge, 0.35 * edge
        self.z = middle + wide * np.cos(angle) + 1j * high * np.sin(angle)
        self.dz = (-wide * np.sin(angle) + 1j * high * np.cos(angle)) / POINTS / 1j  # dz/(2 pi i)
        self.kappa = kappa_of(-self.z, s, p, delta)
        self.one = self.kappa / -self.z / (s[:, None] + self.kappa)  # (S + lambda)^-1, coordinate by coordinate
        across = lambda by, columns: (columns.T * (p * by)) @ columns
        both = across(s**2, 1 / (s[:, None] + self.kappa))
        self.two = across(s * w_star_sq, self.one) / (1 - both / delta)

    def trace(self, f, by):
        """E[by f(S)], coordinates weighted."""
        return (-(self.p * by) @ self.one @ (f(self.z) * self.dz)).real

    def between(self, f):
        """E[w* f(S) s f(S) w*]."""
        weight = -f(self.z) * self.dz
        return (weight @ self.two @ weight).real

    def errors(self, phi):
        """Training and test error."""
        psi = lambda z: (1 - phi(z)) / z
        noise = self.noise_var / self.delta * self.trace(lambda z: psi(z) ** 2 * z, self.s)
        square = lambda z: phi(z) ** 2
        seen = self.trace(square, np.ones_like(self.s)) / self.delta + 1 - 1 / self.delta
        train = self.trace(lambda z: z * phi(z) ** 2, self.a) + self.noise_var * seen
        return train, self.between(phi) + noise + self.noise_var


def power_law(dim, capacity, source):
    """Variances, squared weights of the teacher and shares of `fl.PowerLaw`, coordinate by coordinate."""
    j = np.arange(1.0, dim + 1)
    power = j**-source
    s = j**-capacity
    return s, dim * power / power.sum() / s, np.full(dim, 1 / dim)
