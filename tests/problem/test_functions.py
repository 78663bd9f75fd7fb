"""Functions of a user are called once before anything is solved: indices in range, real numbers of the right shape.

jax clamps an index that is out of range, so that a limit of another function would come back.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.flow import make_flow

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
STEPS = fl.GradientDescent(0.1, num_steps=3)
TWO = fl.Reparametrized(lambda theta: theta, init=lambda normals, w_star: normals, num_normals=2)


def pair(weight, **options):
    return fl.Reparametrized(weight, init=[0.1, 0.2], **options)


class Own(fl.Model):
    """A model of one's own, two weights unless told otherwise, whose drift reads a gradient that is not there."""

    function: Callable = eqx.field(default=lambda theta: jnp.stack([theta, theta]), static=True)

    @property
    def num_normals(self):
        return 1

    def init(self, normals, w_star):
        return normals[0]

    def weight(self, t, theta):
        return self.function(theta)

    def drift(self, t, theta, g):
        return -g[2]

    def penalty(self, t, theta):
        return 0.0 * theta


@pytest.mark.parametrize(
    "model",
    [
        pair(lambda theta: theta[2]),
        pair(lambda theta: theta[-3]),
        pair(lambda theta: theta[jnp.array(2)]),
        pair(lambda theta: jnp.tanh(theta)[jnp.array([0, 5])].sum()),
        pair(jax.jit(lambda theta: theta[2])),
        fl.Reparametrized(lambda theta: theta, init=lambda normals, w_star: normals[5], num_normals=2),
        Own(),
    ],
    ids=["int", "negative", "array", "list", "jit", "init", "drift"],
)
def test_an_index_out_of_range_is_refused(model):
    task = fl.GeneralizedLinear(0.5, target=fl.Normal(), loss=total()) if isinstance(model, Own) else TASK
    with pytest.raises(ValueError, match=r"model: given .* out-of-bounds indexing .* axis 0 with size [12]"):
        make_flow(model, task, STEPS)


def total(f=0):
    """A loss of several outputs that reads one of them."""
    return fl.CustomLoss(label=lambda f_star, n: f_star, loss=lambda outputs, y: 0.5 * (outputs[f] - y) ** 2)


def test_an_index_of_a_loss_out_of_range_is_refused():
    with pytest.raises(ValueError, match=r"loss: given .* out-of-bounds indexing .* index 3 .* size 2"):
        make_flow(TWO, fl.GeneralizedLinear(0.5, target=fl.Normal(), loss=total(3)), STEPS)
    label = fl.CustomLoss(label=lambda f_star, n: f_star[2], loss=lambda f, y: jnp.sum(f - y) ** 2)
    with pytest.raises(ValueError, match=r"loss: given .* out-of-bounds indexing .* index 2 .* size 2"):
        make_flow(TWO, fl.GeneralizedLinear(0.5, target=fl.Independent(fl.Normal(), count=2), loss=label), STEPS)
    make_flow(TWO, fl.GeneralizedLinear(0.5, target=fl.Normal(), loss=total(1)), STEPS)


@pytest.mark.parametrize("verb", [fl.solve_dmft, fl.conform, fl.check, fl.simulate], ids=lambda verb: verb.__name__)
def test_verbs_refuse_it_before_any_work(verb):
    options = {"dim": 10} if verb in (fl.simulate, fl.conform) else {}
    with pytest.raises(ValueError, match="out-of-bounds indexing"):
        verb(pair(lambda theta: theta[2]), TASK, STEPS, **options)


@pytest.mark.parametrize(
    ("observable", "message"),
    [
        (lambda w, w_star: w[2], r"observables: given 'mine', which fails .*"),
        (lambda w: w, "observables: given 'mine', which does not take two arguments, needs a function"),
        (lambda w, w_star: jnp.stack([w, w]), r"observables: given 'mine', with values of shape \(2,\) per coordinate"),
        (lambda w, w_star: np.tanh(w), "observables: given 'mine', .* use jax.numpy in place of numpy"),
        (lambda w, w_star: jnp.array([1.0, 2.0])[5], "observables: given 'mine', .* out-of-bounds indexing"),
        (lambda w, w_star: w > 0.5, "observables: given 'mine', .* returns bool, needs real numbers"),
    ],
    ids=["scalar", "one argument", "shape", "numpy", "index", "bool"],
)
@pytest.mark.parametrize("verb", [fl.solve_dmft, fl.simulate], ids=lambda verb: verb.__name__)
def test_observables_are_called_once_before_any_work(verb, observable, message):
    options = {} if verb is fl.solve_dmft else {"dim": 10}
    with pytest.raises(ValueError, match=message):
        verb(fl.Linear(), TASK, STEPS, observables={"mine": observable}, **options)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (lambda theta: np.tanh(theta), "use jax.numpy in place of numpy, e.g. jnp.tanh"),
        (lambda theta: theta if theta > 0 else 2.0 * theta, "use jnp.where in place of if"),
        (lambda theta: [theta], "weight returns list, needs one array"),
        (lambda theta: jnp.stack([theta] * 3) > 0.0, "returns bool, needs real numbers"),
        (
            lambda theta: jnp.stack([theta] * 3).astype(jnp.float32),
            "returns float32, needs real numbers of double precision",
        ),
        (lambda theta, other: theta, "missing 1 required positional argument"),
    ],
    ids=["numpy", "if", "list", "bool", "single", "arguments"],
)
def test_messages_say_what_to_write(weight, message):
    with pytest.raises(ValueError, match=f"model: given .* fail on one coordinate: .*{message}"):
        make_flow(Own(weight), TASK, STEPS)


def test_good_functions_pass_also_inside_a_trace():
    for weight in (
        lambda theta: theta[-1],
        lambda theta: jax.nn.relu(theta[jnp.argmax(theta)]),
        lambda theta: theta[0],
    ):
        make_flow(pair(weight), TASK, STEPS)

    @jax.jit
    def decayed(decay):
        model = pair(lambda theta: theta[0] * theta[1], weight_decay=decay)
        return make_flow(model, TASK, STEPS).penalty(jnp.zeros(()), jnp.ones(2))

    assert float(decayed(jnp.array(0.5))) == 0.5
    make_flow(fl.DiagonalLinear(0.3), TASK, STEPS)
