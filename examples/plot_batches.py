"""
Batches and their implicit bias
===============================

Gradient descent and its stochastic version on a sparse diagonal network, in the limit (lines) and at dim 600 (points).
Small batches slow the training error down. Their noise first pushes weights outside the support of the target up, then
the curves meet: at this step size the end is that of descent on all data.
"""

import jax.numpy as jnp
import matplotlib.pyplot as plt

import flowlimit as fl

model = fl.DiagonalLinear(init_scale=0.6)
task = fl.Regression(aspect_ratio=0.8, noise_var=0.02, target=fl.Bernoulli(0.1))
off_support = {"off_support": lambda w, w_star: jnp.where(w_star == 0.0, jnp.abs(w), 0.0)}
trainings = {
    "all data": fl.GradientDescent(step_size=0.2, num_steps=60),
    "batches of 0.4": fl.StochasticGradientDescent(0.4, step_size=0.2, num_steps=60),
    "batches of 0.2": fl.StochasticGradientDescent(0.2, step_size=0.2, num_steps=60),
}

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
for index, (name, training) in enumerate(trainings.items()):
    limit = fl.solve_dmft(model, task, training, rtol=5e-2, key=0, observables=off_support)
    runs = fl.simulate(model, task, training, dim=600, trials=20, key=3, observables=off_support)
    for panel, curve in zip(axes, ("train_error", "test_error", "off_support"), strict=True):
        panel.plot(limit.times, limit[curve].value, color=f"C{index}", label=name)
        some = slice(1, None, 6)
        panel.errorbar(
            runs.times[some], runs[curve].value[some], runs[curve].stderr[some], fmt="o", ms=3, color=f"C{index}"
        )
    best = limit.best()
    print(f"{name}: best test error {best.value:.4f} at time {best.time:.1f}, at the end {limit.test_error[-1]:.4f}")
for panel, label in zip(axes, ("training error", "test error", "mean |w| off the support"), strict=True):
    panel.set(xlabel="time", ylabel=label)
axes[0].set_yscale("log")
axes[0].legend(frameon=False)
plt.show()
