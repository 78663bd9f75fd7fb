"""
Generalization against speed
============================

With fewer samples than dimensions and a sparse target, a small start ends at a better solution and gets there more
slowly: the paper's trade-off, from fixed points and rates alone. Thirty problems are solved in one call.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

import flowlimit as fl


def end_and_speed(init_scale, sparsity):
    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(sparsity))
    rate = fl.convergence_rate(fl.DiagonalLinear(init_scale), task, case="interpolating")
    return rate.point.test_error, rate.gamma


init_scale = jnp.logspace(-3, 1, 30)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for sparsity in (0.02, 0.1, 0.3):
    error, gamma = jax.vmap(end_and_speed, in_axes=(0, None))(init_scale, sparsity)
    left.loglog(init_scale, error, label=f"{sparsity:g}")
    right.loglog(gamma, error)
left.set(xlabel=r"init scale $\alpha$", ylabel=r"test error at $t = \infty$")
right.set(xlabel=r"rate $\gamma$", ylabel=r"test error at $t = \infty$")
left.legend(title="sparsity", frameon=False)

# %%
# To the right of each curve training is fast and ends like least squares of least norm; to the left it is slow and ends
# like the interpolator of least :math:`\ell_1` norm. That is better where the target is sparse enough and worse where
# it is not (sparsity 0.3); with noise, a moderate start may be best (sparsity 0.02).
plt.show()
