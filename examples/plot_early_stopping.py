r"""
Stopping early against running to the end
=========================================

With noise on the labels and fewer samples than coordinates, the test error of a network falls, then rises again as the
noise is fitted. What does one gain by stopping at the best time, over init scales and over noise? Lines are limits,
dotted lines the fixed point at :math:`t = \infty`, points are runs at dim 400.
"""

import jax
import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

# derivatives and batches of numbers need double precision throughout
jax.config.update("jax_enable_x64", True)


def task_of(noise_var):
    return fl.Regression(aspect_ratio=0.5, noise_var=noise_var, target=fl.Bernoulli(0.1))


def end(init_scale, noise_var):
    """Test error at the end of training, by the fixed point."""
    return fl.fixed_point(fl.DiagonalLinear(init_scale), task_of(noise_var), case="interpolating").test_error


step_sizes = {0.05: 0.6, 0.2: 0.4, 0.5: 0.2, 1.0: 0.1, 2.0: 0.04}  # large initialisations are fast


def train(init_scale, noise_var):
    """Limit and runs in 30 steps, up to a time beyond the best one."""
    training = fl.GradientDescent(step_sizes[init_scale], num_steps=30)
    problem = fl.DiagonalLinear(init_scale), task_of(noise_var), training
    limit = fl.solve_dmft(*problem, rtol=5e-2, key=0)
    runs = fl.simulate(*problem, dim=400, trials=20, key=0)
    best, last = limit.best(), float(end(init_scale, noise_var))
    print(f"init scale {init_scale:g}, noise {noise_var:g}: best {best.value:.4f} at {best.time:.2f}, end {last:.4f}")
    return limit, runs


by_scale = {scale: train(scale, 0.05) for scale in step_sizes}
by_noise = {noise: by_scale[0.5] if noise == 0.05 else train(0.5, noise) for noise in (0.02, 0.05, 0.1, 0.15)}

figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
for scale, colour, marker in ((0.05, "#0072B2", "o"), (0.5, "#009E73", "s"), (2.0, "#D55E00", "D")):
    limit, runs = by_scale[scale]
    panels[0].plot(limit.times, limit.test_error, color=colour, label=rf"$\alpha = {scale:g}$")
    panels[0].errorbar(
        runs.times[::4], runs.test_error[::4], runs.test_error_stderr[::4], fmt=marker, ms=3.5, lw=0.9, color=colour
    )
    panels[0].axhline(float(end(scale, 0.05)), color=colour, ls=":", lw=1.0)
panels[0].set(xlabel="time $t$", ylabel="test error, noise 0.05")
panels[0].legend(frameon=False, fontsize="small")


def draw_best(panel, found, grid, ends):
    best = np.array([limit.best() for limit, _ in found.values()])
    own = np.array([runs.best() for _, runs in found.values()])
    panel.plot(grid, ends, "k:", lw=1.2, label=r"end, $t = \infty$")
    panel.errorbar(list(found), best[:, 2], 2 * best[:, 3], color="#0072B2", label="limit, best time")
    panel.errorbar(
        list(found),
        own[:, 2],
        own[:, 3],
        fmt="o",
        ms=4,
        capsize=2,
        lw=0.9,
        color="#D55E00",
        label="runs, each at its best",
    )


scales, noises = np.geomspace(0.05, 2.0, 30), np.linspace(0.0, 0.16, 30)
draw_best(panels[1], by_scale, scales, jax.vmap(end, (0, None))(scales, 0.05))
draw_best(panels[2], by_noise, noises, jax.vmap(end, (None, 0))(0.5, noises))
panels[1].set(xlabel=r"init scale $\alpha$", ylabel="test error, noise 0.05", xscale="log")
panels[2].set(xlabel="noise variance", ylabel=r"test error, $\alpha = 0.5$")
panels[1].legend(frameon=False, fontsize="small")

# %%
# The ends of flow differ by 5% over init scales; the best times are 19 to 26% better than their ends. Small starts,
# stopped, are the best of all, and take longest. The gain is 7% with noise 0.02 and 34% with 0.15. Runs may be a little
# below the limit, since each is stopped by its own curve.
plt.show()
