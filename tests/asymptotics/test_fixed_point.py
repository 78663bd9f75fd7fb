"""Fixed points against reference values, another quadrature, closed forms and finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.asymptotics import fixed_point, small_init
from flowlimit.asymptotics.channel import make_channel
from flowlimit.asymptotics.soft_moments import mean_square
from flowlimit.numerics.proximal import mirror_threshold, soft_threshold
from flowlimit.problem.laws import Law

LAWS = [
    fl.Bernoulli(0.1),
    fl.SparseRademacher(0.3, value=2.0),
    fl.BernoulliGauss(0.2),
    fl.Normal(0.7),
    fl.PointMass(0.4),
    fl.Empirical(np.array([0.0, 0.0, 1.0, -0.5])),
]


def regression(aspect_ratio=0.5, noise_var=0.01, target=LAWS[0]):
    return fl.Regression(aspect_ratio, noise_var=noise_var, target=target)


@pytest.mark.parametrize(
    ("init_scale", "noise_var", "test_error"),
    [
        (0.1, 0.01, 0.045405),
        (0.3, 0.01, 0.054195),
        (1.0, 0.01, 0.068740),
        (10.0, 0.01, 0.0699999),
        (0.01, 0.0, 0.0002077),
        (0.03, 0.0, 0.0012872),
        (0.1, 0.0, 0.0081730),
        (0.3, 0.0, 0.0288306),
    ],
)
def test_reference_values(init_scale, noise_var, test_error):
    point = fl.fixed_point(fl.DiagonalLinear(init_scale), regression(noise_var=noise_var))
    assert point.case == "interpolating"
    assert float(point.test_error) == pytest.approx(test_error, rel=3e-4 if test_error < 1e-3 else 1e-4)
    assert float(point.train_error) == 0.0


def normal_rule(panels, order):
    """Nodes and weights for a standard normal: Gauss-Legendre panels up to ten sigmas."""
    inside, share = np.polynomial.legendre.leggauss(order)
    half = 10.0 / panels
    middles = np.linspace(-10.0 + half, 10.0 - half, panels)
    u = (middles[:, None] + half * inside[None]).ravel()
    return u, np.tile(half * share, panels) * np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi)


def brute_force(law, noise_std, function, panels=100):
    """E[f(x, w*)] by quadrature in x and in w*, with neither substitution nor closed form."""
    u, weight = normal_rule(panels, 20)
    total = 0.0
    for probability, mean, std in zip(*map(np.asarray, law.strata()), strict=True):
        v, share = normal_rule(40, 8) if std else (np.zeros(1), np.ones(1))
        w_star = np.broadcast_to((mean + std * v)[:, None], (len(v), len(u)))
        values = function(jnp.asarray(w_star + noise_std * u[None]), jnp.asarray(w_star))
        total += probability * share @ np.asarray(values) @ weight
    return total


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_interpolator_by_another_quadrature(law):
    """Both equations of eq. (fix_case3) hold to ten digits when averages are taken in x."""
    model, task = fl.DiagonalLinear(0.2), regression(0.6, 0.02, law)
    point = fl.fixed_point(model, task)
    R, tau, a = (float(x) for x in (point.R_w, point.noise_std, model.init_scale**2))
    w = lambda x: a * jnp.sinh(mirror_threshold(x, np.log(a), R))
    error = brute_force(law, tau, lambda x, w_star: (w(x) - w_star) ** 2)
    slope = brute_force(law, tau, lambda x, _: 1.0 / (1.0 + R / jnp.sqrt(w(x) ** 2 + a**2)))
    assert error + 0.02 == pytest.approx(float(point.test_error), rel=1e-10)
    assert slope == pytest.approx(0.6, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_lasso_by_another_quadrature(law):
    """Closed forms of soft thresholding; the kinks cost the quadrature some digits."""
    point = fl.fixed_point(fl.DiagonalLinear(0.3, weight_decay=0.15), regression(0.8, 0.02, law))
    threshold, tau = float(point.strength), float(point.noise_std)
    error = brute_force(law, tau, lambda x, w_star: (soft_threshold(x, threshold) - w_star) ** 2, 800)
    active = brute_force(law, tau, lambda x, _: (abs(x) > threshold) * 1.0, 800)
    assert error == pytest.approx(float(mean_square(make_channel(law, point.noise_std), point.strength)), rel=1e-6)
    assert error + 0.02 == pytest.approx(float(point.test_error), rel=1e-6)
    assert active == pytest.approx(1.0 - float(point.atom), abs=2e-3)
    assert threshold * (1.0 - (1.0 - float(point.atom)) / 0.8) == pytest.approx(0.15, rel=1e-10)
    assert float(point.test_error / point.train_error) == pytest.approx(float(1.0 + point.chi_w) ** 2)


def test_ridgeless():
    point = fl.fixed_point(fl.DiagonalLinear(0.3), regression(2.0, 0.04))
    assert (point.case, float(point.test_error), float(point.train_error)) == ("ridgeless", 0.08, 0.02)
    assert float(point.chi_w) == 1.0


@pytest.mark.parametrize("log_scale", [-40.0, -2.0, 0.0, 30.0])
def test_mirror_threshold_inverts(log_scale):
    x = jnp.array([-30.0, -1e-3, 0.0, 1e-9, 2.0])
    y = mirror_threshold(x, log_scale, 0.7)
    size = jnp.where(x == 0.0, 1.0, jnp.abs(x))
    back = jnp.sign(y) * jnp.exp(log_scale + jnp.log(jnp.abs(jnp.sinh(y)) + 1e-300)) + 0.7 * y
    assert float(jnp.abs((back - x) / size).max()) < 1e-13
    assert float(jax.grad(mirror_threshold)(x[4], log_scale, 0.7)) == pytest.approx(
        1.0 / float(jnp.exp(log_scale) * jnp.cosh(y[4]) + 0.7)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "values"),
    [
        ("interpolating", [0.3, 0.0, 0.01, 0.5]),
        ("lasso", [0.3, 0.1, 0.01, 0.5]),
        ("ridgeless", [0.3, 0.0, 0.01, 2.0]),
    ],
)
def test_gradients(case, values):
    """Implicit differentiation against central differences, by init scale, weight decay, noise and aspect ratio."""

    def test_error(x):
        task = fl.Regression(x[3], noise_var=x[2], target=fl.Bernoulli(0.1))
        return fl.fixed_point(fl.DiagonalLinear(x[0], weight_decay=x[1]), task, case=case).test_error

    x = jnp.array(values)
    slopes, step = jax.grad(test_error)(x), 1e-5
    for i in range(4):
        if values[i] > 0.0:
            move = step * jnp.eye(4)[i] * values[i]
            difference = (test_error(x + move) - test_error(x - move)) / (2.0 * step * values[i])
            assert float(slopes[i]) == pytest.approx(float(difference), rel=1e-6, abs=1e-9)


@pytest.mark.slow
def test_a_thousand_at_once():
    """Random problems over eight decades of init scale, all three cases: equations solved to 1e-9, errors as they must.

    The test error is at least the noise; interpolating at a large init scale it is that of the least l2 norm.
    """
    rng = np.random.default_rng(0)
    scale, noise = 10.0 ** rng.uniform(-4, 4, 1000), 10.0 ** rng.uniform(-6, 0, 1000)
    decay, sparsity = 10.0 ** rng.uniform(-3, 0, 1000), rng.uniform(0.02, 0.9, 1000)
    ratio = {"interpolating": rng.uniform(0.05, 0.999, 1000), "lasso": 10.0 ** rng.uniform(-1, 1, 1000)}

    def solve(case):
        one = lambda a, d, decay, n, p: fl.fixed_point(
            fl.DiagonalLinear(a, weight_decay=decay), fl.Regression(d, noise_var=n, target=fl.Bernoulli(p)), case=case
        )
        given = (scale, ratio[case], decay if case == "lasso" else 0.0 * decay, noise, sparsity)
        return jax.vmap(one)(*map(jnp.asarray, given))

    for case in ratio:
        points = solve(case)
        assert float(points.residual.max()) < 1e-9
        assert bool((points.test_error >= noise).all())
        if case == "interpolating":
            large, delta = scale > 100.0, ratio[case]
            least = sparsity * (1.0 - delta) + noise / (1.0 - delta)
            assert np.asarray(points.test_error)[large] == pytest.approx(least[large], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "ratio"), [(fl.DiagonalLinear(0.3, weight_decay=0.1), 0.5), (fl.DiagonalLinear(0.1), 0.5)]
)
def test_law(model, ratio):
    """The density and the atom add up to 1, and support recovery is what they say."""
    point = fl.fixed_point(model, regression(ratio, 0.01, fl.SparseRademacher(0.2)))
    w = np.sinh(np.linspace(-9.0, 9.0, 200_001)) * 1e-3
    density, level = np.asarray(point.density(jnp.asarray(w))), 0.05
    inside = np.abs(w) > 0.0
    assert np.trapezoid(density * inside, w) + float(point.atom) == pytest.approx(1.0, abs=1e-3)
    beyond = np.trapezoid(density * (np.abs(w) > level), w)
    rates = 0.2 * float(point.true_positive_rate(level)) + 0.8 * float(point.false_positive_rate(level))
    assert rates == pytest.approx(beyond, abs=1e-3)
    assert float(point.true_positive_rate(level)) > float(point.false_positive_rate(level))


def test_threshold_and_refusals():
    point = fl.fixed_point(fl.DiagonalLinear(0.3), regression(1.0))
    assert (point.case, float(point.test_error)) == ("threshold", np.inf)
    assert "aspect ratio 1" in str(point)
    near = fl.fixed_point(fl.DiagonalLinear(0.3), regression(1.0 - 1e-8))
    assert float(near.test_error) == pytest.approx(0.01 / 1e-8, rel=1e-2)
    with pytest.raises(TypeError, match="depth 2"):
        fl.fixed_point(fl.DiagonalLinear(0.3, depth=3), regression())
    with pytest.raises(TypeError, match="one number"):
        fl.fixed_point(fl.DiagonalLinear(fl.PointMass(0.3)), regression())
    with pytest.raises(ValueError, match="this problem is 'interpolating'"):
        fl.fixed_point(fl.DiagonalLinear(0.3), regression(), case="lasso")
    with pytest.raises(ValueError, match="traced"):
        jax.grad(lambda d: fl.fixed_point(fl.DiagonalLinear(0.3), regression(d)).test_error)(jnp.array(0.5))


GOOD = np.array([0.3, 0.1, 0.5, 0.01, 0.1])  # init scale, weight decay, aspect ratio, noise_var, probability
CASES = {"lasso": (0.1, 0.5), "ridgeless": (0.0, 2.0), "interpolating": (0.0, 0.5)}
BAD = [(i, value) for i in range(5) for value in (jnp.nan, -0.5, jnp.inf)] + [(0, 0.0), (2, 0.0), (4, 1.5)]
OTHER_CASE = {"lasso": [(1, 0.0)], "ridgeless": [(1, 0.1), (2, 0.5)], "interpolating": [(1, 0.1), (2, 2.0)]}


def numbers(case, given):
    """All answers to a problem, as one vector."""
    model, task = (
        fl.DiagonalLinear(given[0], weight_decay=given[1]),
        fl.Regression(given[2], noise_var=given[3], target=fl.Bernoulli(given[4])),
    )
    rate = fl.convergence_rate(model, task, case=case)
    point, times = rate.point, fl.timescales(model, task)
    evolution = fl.state_evolution(model, task, num_steps=2, case=case)
    found = [point.train_error, point.test_error, point.noise_std, point.strength, point.chi_w, point.R_w, point.atom]
    found += [rate.gamma, rate.train_rate, rate.test_rate, evolution.test_error[-1]]
    return jnp.stack([*found, times.lazy, times.rich, times.search, times.descent])


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_wrong_numbers_are_seen_under_vmap(case):
    """Where nothing can be refused, answers to a number out of its range or case are NaN, and the others stay."""
    bad, good = BAD + OTHER_CASE[case], GOOD.copy()
    good[1:3] = CASES[case]
    rows = np.tile(good, (len(bad) + 1, 1))
    for row, (i, value) in zip(rows[1:], bad, strict=True):
        row[i] = value
    found = np.asarray(jax.vmap(lambda given: numbers(case, given))(jnp.asarray(rows)))
    assert not np.isnan(found[0]).any()
    assert np.isnan(found[1:, :-4]).all()
    assert np.isnan(found[1 : len(BAD) + 1, -4:]).all()  # timescales know no cases


class OwnLaw(Law):
    """A law that no other test has, so that its programs are traced anew."""

    def strata(self):
        return fl.Bernoulli(0.1).strata()


@pytest.mark.slow
def test_residuals_travel(monkeypatch):
    """Equations that are not solved give NaN under vmap, and a verb above raises. No residual is small enough here."""
    for module in (fixed_point, small_init):
        monkeypatch.setattr(module, "LARGEST_RESIDUAL", -1.0)
    task = regression(target=OwnLaw())
    error = lambda decay: fl.fixed_point(fl.DiagonalLinear(0.3, weight_decay=decay), task, case="lasso").test_error
    assert jnp.isnan(jax.vmap(error)(jnp.array([0.1, 0.2]))).all()
    with pytest.raises(fl.FlowlimitError, match=r"at time 10 the lasso of penalty 0\.240795 was solved to .* only"):
        fl.small_init_path(fl.DiagonalLinear(0.3), task, [10.0])


@pytest.mark.parametrize("times", [np.nan, [1.0, np.inf], [], [-1.0]])
def test_times_of_a_path_are_positive_numbers(times):
    with pytest.raises(ValueError, match=r"times: given .* above 0"):
        fl.small_init_path(fl.DiagonalLinear(0.1), regression(), times)


@pytest.mark.parametrize("options", [{"num_steps": 0}, {"start": -1.0}, {"start": np.nan}])
def test_steps_and_starts_of_message_passing(options, dataset):
    for verb, given in ((fl.state_evolution, regression()), (fl.amp, dataset)):
        with pytest.raises(ValueError, match=f"{next(iter(options))}: given"):
            verb(fl.DiagonalLinear(0.3, weight_decay=0.1), given, **options)
