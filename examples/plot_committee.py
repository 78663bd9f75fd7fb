r"""
A committee machine learns from another
=======================================

Two hidden units, :math:`f \mapsto \mathrm{erf}(f_1/\sqrt2) + \mathrm{erf}(f_2/\sqrt2)`, learn the labels that two
others make. At first both students are like the mean of their teachers; then each chooses one. The overlaps
:math:`\mathbb{E}[w_a w^*_b]` show it: lines are the limit, points are runs at dim 500.
"""

import jax.numpy as jnp
import matplotlib.pyplot as plt
from jax.scipy.special import erf

import flowlimit as fl


def committee(f):
    return jnp.sum(erf(f / jnp.sqrt(2.0)))


loss = fl.CustomLoss(
    label=lambda f_star, normal: committee(f_star) + 0.1 * normal,
    loss=lambda f, y: 0.5 * (committee(f) - y) ** 2,
)
student = fl.Reparametrized(
    weight=lambda theta: theta,
    init=lambda normals, w_star: 0.5 * normals + 0.2 * w_star,
    num_normals=2,
)
task = fl.GeneralizedLinear(aspect_ratio=3.0, target=fl.Independent(fl.Normal(), count=2), loss=loss)
training = fl.GradientDescent(step_size=0.5, num_steps=40)
overlaps = {
    "own_teacher": lambda w, w_star: w[0] * w_star[0],
    "other_teacher": lambda w, w_star: w[0] * w_star[1],
}

limit = fl.solve_dmft(student, task, training, rtol=5e-2, key=0, observables=overlaps)
runs = fl.simulate(student, task, training, dim=500, trials=10, key=0, observables=overlaps)
print(fl.compare(limit, runs, names=["train_error", "test_error", *overlaps]))

# %%
# The overlap with the other teacher comes and goes.
axes = fl.plot.curves(limit, runs, names=["test_error", *overlaps])
for panel in axes.flat[1:]:
    panel.set_yscale("linear")
plt.show()
