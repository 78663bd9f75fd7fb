"""Nouns of a user: a law, a loss, a task, a design, a training and a model written outside the package work in it."""

import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl

TASK = fl.Regression(aspect_ratio=1.5, noise_var=0.05, target=fl.Bernoulli(0.3))
STEPS = fl.GradientDescent(step_size=0.2, num_steps=6)
FLOW = fl.GradientFlow(horizon=2.0)


class Groups(fl.Law):
    """N(centre, std^2) with the given probability, else 0."""

    probability: jax.Array = eqx.field(converter=jnp.asarray)
    centre: jax.Array = eqx.field(converter=jnp.asarray)
    std: jax.Array = eqx.field(converter=jnp.asarray)

    def strata(self):
        p, zero = self.probability, jnp.zeros(())
        return fl.Strata(jnp.stack([1.0 - p, p]), jnp.stack([zero, self.centre]), jnp.stack([zero, self.std]))


class LogCosh(fl.Loss):
    """log cosh(f - y) for labels y = f_star + noise_std noise: quadratic near 0, linear far away."""

    noise_std: jax.Array = eqx.field(default=0.1, converter=jnp.asarray)

    @property
    def is_difference(self):
        return True

    def residual(self, f, f_star, noise):
        return jnp.tanh(f - f_star - self.noise_std * noise)

    def loss(self, f, f_star, noise):
        return jnp.log(jnp.cosh(f - f_star - self.noise_std * noise))

    def error(self, f, f_star, noise):
        return (f - f_star) ** 2

    def test_error(self, moments, noise_var):
        return moments.distance


class Recovery(fl.Task):
    """Sparse recovery by its signal-to-noise ratio; what follows from it is a property."""

    aspect_ratio: jax.Array = eqx.field(converter=jnp.asarray)
    probability: jax.Array = eqx.field(converter=jnp.asarray)
    snr: jax.Array = eqx.field(converter=jnp.asarray)
    design: fl.Design = eqx.field(default=fl.GaussianDesign())

    @property
    def target(self):
        return fl.Bernoulli(self.probability)

    @property
    def loss(self):
        return fl.SquaredLoss()

    @property
    def error_floor(self):
        return self.probability / self.snr

    @property
    def noise_scale(self):
        return jnp.sqrt(self.error_floor)


class Squares(fl.Model):
    """Positive weights w = u^2 with u' = -u g / 2, that is w' = -w g, from w = init_weight."""

    init_weight: jax.Array = eqx.field(converter=jnp.asarray)

    @property
    def num_normals(self):
        return 0

    def init(self, normals, w_star):
        return jnp.sqrt(self.init_weight) * jnp.ones_like(w_star)

    def weight(self, t, theta):
        return theta**2

    def drift(self, t, theta, g):
        return -0.5 * theta * g

    def penalty(self, t, theta):
        return jnp.zeros(())

    def flow_form(self):
        return Exponential(self.init_weight)


class PlainSquares(Squares):
    """The same without a form of its own for flows."""

    def flow_form(self):
        return self


class Exponential(fl.Model):
    """The flow of `Squares` in x = log w: x' = -g."""

    init_weight: jax.Array

    @property
    def num_normals(self):
        return 0

    def init(self, normals, w_star):
        return jnp.log(self.init_weight) * jnp.ones_like(w_star)

    def weight(self, t, theta):
        return jnp.exp(theta)

    def drift(self, t, theta, g):
        return -g

    def penalty(self, t, theta):
        return jnp.zeros(())


class Network(Squares):
    """A model that says which diagonal network has its flow."""

    def diagonal_form(self):
        return fl.DiagonalLinear(self.init_weight, weight_decay=0.1)


class Halving(fl.Training):
    """Steps each half as long as the one before."""

    first: jax.Array = eqx.field(converter=jnp.asarray)
    count: int = eqx.field(static=True)

    @property
    def clock(self):
        return fl.StepClock(self.first * 0.5 ** jnp.arange(self.count), self.count)


class Signs(fl.RowDesign):
    """`BinaryDesign`, row by row from the sign of normals."""

    @property
    def has_limit(self):
        return True

    def draw_row(self, key, dim):
        return jnp.sign(jax.random.normal(key, (dim,))) / np.sqrt(dim)


def agree(one, other, bound=4.0):
    """Within 4 combined standard errors at every saved time, of both errors, as `fl.compare` asks."""
    for name in ("train_error", "test_error"):
        a, b = one[name], other[name]
        assert (np.abs(a.value - b.value) <= bound * np.hypot(a.stderr, b.stderr) + 1e-12).all(), name


@pytest.mark.parametrize("name", ["Clock", "Design", "Law", "Loss", "Model", "RowDesign", "Target", "Task", "Training"])
def test_bases_are_public_abstract_and_say_what_to_write(name):
    base = getattr(fl, name)
    assert base.__doc__ is not None
    assert name == "Clock" or "must" in base.__doc__
    with pytest.raises(TypeError, match="abstract"):
        base()


@pytest.mark.parametrize(
    "noun",
    [Groups(0.3, 1.0, 0.5), LogCosh(0.2), Recovery(1.5, 0.3, 6.0), Squares(0.2), Halving(0.4, 3), Signs()],
    ids=lambda noun: type(noun).__name__,
)
def test_nouns_of_a_user_are_nouns(noun):
    assert fl.from_dict(noun.to_dict()) == noun
    assert pickle.loads(pickle.dumps(noun)) == noun
    leaves, structure = jax.tree.flatten(noun)
    assert jax.tree.unflatten(structure, leaves) == noun


def test_a_law():
    own, ours = Groups(0.2, 0.0, 0.7), fl.BernoulliGauss(0.2, std=0.7)
    assert float(own.second_moment) == float(ours.second_moment)
    points = [fl.fixed_point(fl.DiagonalLinear(0.3), TASK.replaced(target=law)) for law in (own, ours)]
    assert float(points[0].test_error) == float(points[1].test_error)


@pytest.mark.slow
def test_a_loss():
    """Its runs are those of the same loss made from functions; the page on nouns of one's own has its limit too."""
    functions = fl.CustomLoss(
        label=lambda f_star, noise: f_star + 0.3 * noise,
        loss=lambda f, y: jnp.log(jnp.cosh(f - y)),
        is_difference=True,
    )
    model = fl.Linear(weight_decay=0.1)
    tasks = [fl.GeneralizedLinear(1.5, target=fl.Normal(), loss=loss) for loss in (LogCosh(0.3), functions)]
    own, other = (fl.simulate(model, task, STEPS, dim=40, trials=2, key=1) for task in tasks)
    assert np.allclose(own["loss"].value, other["loss"].value, rtol=1e-10)


class Boasts(LogCosh):
    """A loss that says it closes, which it does not."""

    @property
    def closes(self):
        return True


def test_a_loss_that_does_not_close_is_refused():
    task = fl.GeneralizedLinear(1.5, target=fl.Normal(), loss=Boasts())
    with pytest.raises(ValueError, match=r"loss: given Boasts\(.*says that it closes; .* f - f_star - noise"):
        fl.solve_dmft(fl.Linear(), task, STEPS)


@pytest.mark.slow
def test_a_task():
    """It is the regression that it describes, for closed forms, limits, runs and derivatives, number by number."""
    own, ours = Recovery(1.5, 0.3, 6.0), TASK
    network, linear = fl.DiagonalLinear(0.3), fl.Linear(weight_decay=0.1)
    assert float(fl.fixed_point(network, own).test_error) == pytest.approx(
        float(fl.fixed_point(network, ours).test_error)
    )
    for verb in (
        lambda task: fl.solve_dmft(linear, task, STEPS),
        lambda task: fl.simulate(linear, task, STEPS, dim=40),
    ):
        a, b = verb(own), verb(ours)
        assert a.test_error == pytest.approx(b.test_error, rel=1e-12)
    assert fl.draw(own, dim=20, key=0).X.shape == (30, 20)


class Loud(Recovery):
    """A task whose error floor is not that of its noise."""

    @property
    def error_floor(self):
        return jnp.ones(())

    @property
    def noise_scale(self):
        return jnp.array(0.1)


def test_a_task_with_noise_that_a_limit_does_not_integrate_over_is_refused():
    with pytest.raises(ValueError, match=r"task: given Loud\(.* error_floor = noise_scale\^2"):
        fl.solve_dmft(fl.Linear(), Loud(1.5, 0.3, 6.0), STEPS)


@pytest.mark.slow
def test_the_squared_loss_of_a_generalized_linear_task_has_its_noise_in_the_limit():
    """Labels are f_star + N(0, 1): the limit is that of a regression with noise variance 1, as runs are."""
    general = fl.GeneralizedLinear(1.5, target=fl.Bernoulli(0.3), loss=fl.SquaredLoss())
    a, b = (fl.solve_dmft(fl.Linear(), task, STEPS) for task in (general, TASK.replaced(noise_var=1.0)))
    assert a.test_error == pytest.approx(b.test_error, rel=1e-12)


@pytest.mark.slow
def test_the_limit_of_a_flow_form_is_that_of_the_plain_form():
    """Two limits of one flow in two coordinates, from two keys: within 4 combined standard errors at all times."""
    own = fl.solve_dmft(Squares(0.2), TASK, FLOW, rtol=5e-2, key=0)
    agree(own, fl.solve_dmft(PlainSquares(0.2), TASK, FLOW, rtol=5e-2, key=1))


@pytest.mark.slow
def test_runs_take_the_flow_form(monkeypatch):
    """Flows never ask for the plain drift, and are those of the plain form; descent never asks for the other."""
    options = {"dim": 60, "trials": 2, "key": 3, "save_at": [0.0, 1.0, 2.0]}
    plain = fl.simulate(PlainSquares(0.2), TASK, FLOW, **options)
    monkeypatch.setattr(Squares, "drift", lambda *_: pytest.fail("the plain form was used"))
    own = fl.simulate(Squares(0.2), TASK, FLOW, **options)
    assert own.test_error == pytest.approx(plain.test_error, rel=1e-4)  # each has rtol 1e-6 of its weights
    monkeypatch.undo()
    monkeypatch.setattr(Exponential, "drift", lambda *_: pytest.fail("the flow form was used"))
    fl.simulate(Squares(0.2), TASK, STEPS, dim=20, trials=1)


@pytest.mark.slow
def test_a_model_with_a_closed_form():
    point = fl.fixed_point(Network(0.3), TASK)
    assert float(point.test_error) == float(fl.fixed_point(fl.DiagonalLinear(0.3, weight_decay=0.1), TASK).test_error)
    with pytest.raises(TypeError, match=r"model: given .*Squares.* diagonal_form\(\) returns it"):
        fl.fixed_point(Squares(0.3), TASK)


@pytest.mark.slow
def test_a_training_and_a_design():
    task, ours = TASK.replaced(design=Signs()), fl.GradientDescent([0.4, 0.2, 0.1], num_steps=3)
    for verb in (
        lambda training: fl.solve_dmft(fl.Linear(), task, training),
        lambda training: fl.simulate(fl.Linear(), task, training, dim=30, trials=2),
    ):
        own, other = verb(Halving(0.4, 3)), verb(ours)
        assert own.times == pytest.approx([0.0, 0.4, 0.6, 0.7])
        assert own.test_error == pytest.approx(other.test_error, rel=1e-12)


def test_a_model_says_how_many_coordinates_it_has_numbers_for():
    assert fl.DiagonalLinear([0.1, 0.2, 0.3]).num_coordinates == 3
    assert fl.DiagonalLinear(fl.Empirical([0.1, 0.2])).num_coordinates is None
    with pytest.raises(ValueError, match=r"one number for each of 3 coordinates, which has no limit; .*fl\.Empirical"):
        fl.solve_dmft(fl.DiagonalLinear([0.1, 0.2, 0.3]), TASK, STEPS)


@pytest.mark.parametrize(
    ("clock", "in_steps", "last", "end", "count"),
    [
        (fl.ContinuousClock(jnp.array(5.0)), False, 5.0, 5.0, 95),
        (fl.StepClock(jnp.array(0.5), 4), True, 4.0, 2.0, 5),
        (fl.StepClock(jnp.array([0.5, 0.25]), 2), True, 2.0, 0.75, 3),
    ],
    ids=["continuous", "even", "uneven"],
)
def test_clocks_answer(clock, in_steps, last, end, count):
    assert (clock.in_steps, clock.last, clock.end, clock.save_count) == (in_steps, last, end, count)
    saves = clock.default_saves()
    assert (len(saves), saves[0], saves[-1]) == (count, 0.0, pytest.approx(last))
    assert clock.positions_at("save_at", clock.times_at(saves)) == pytest.approx(saves)
    assert (clock.steps is clock) == in_steps
