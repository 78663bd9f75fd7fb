r"""
Many noisy steps
================

Gradient descent with fresh batches and fresh label noise does not come to rest: at a constant step size its noise keeps
the errors up. Limits of more than 512 noisy steps merge old ones: what a step sees of them grows like the logarithm
of their number. Lines: limits of a linear model, for two batch fractions. Points: the exact recursion of its second
moments.
"""

import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

num_steps, size, aspect_ratio, label_noise = 600, 0.1, 2.0, 0.3
task = fl.Regression(aspect_ratio, noise_var=0.0, target=fl.Normal())
steps = np.unique(np.rint(np.geomspace(1.0, num_steps, 40))).astype(int)


# %%
# Along an eigenvector of eigenvalue :math:`x` the mean square :math:`D` of :math:`w - w^*` is damped in every step, and
# the noise of batches and labels adds to it.
def recursion(fraction):
    """Return training and test errors at the steps."""
    angle = (np.arange(2000) + 0.5) * np.pi / 2000  # the Marchenko-Pastur law, even in angles
    x = 1.0 + 1.0 / aspect_ratio + 2.0 / np.sqrt(aspect_ratio) * np.cos(angle)
    weights = np.sin(angle) ** 2 / x
    weights = weights / weights.sum()
    D, errors = np.ones_like(x), []
    for _ in range(num_steps + 1):
        train = (x * D) @ weights
        errors.append((train, D @ weights))
        noise = (1.0 / fraction - 1.0) * train + label_noise**2 / fraction
        D = (1.0 - size * x) ** 2 * D + size**2 * x / aspect_ratio * noise
    return np.array(errors)[steps].T


# %%
# One limit for each batch fraction.
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained", sharex=True)
for fraction, colour in zip((0.05, 1.0), ("#D55E00", "#0072B2"), strict=True):
    training = fl.StochasticGradientDescent(fraction, step_size=size, num_steps=num_steps, label_noise=label_noise)
    limit = fl.solve_dmft(fl.Linear(), task, training, rtol=1e-3, save_at=size * steps, key=0)
    exact = dict(zip(("train_error", "test_error"), recursion(fraction), strict=True))
    off = max(np.abs(limit[name].value / exact[name] - 1.0).max() for name in exact)
    print(f"batch fraction {fraction:g}: {limit.stats.seconds:.0f} s, off by at most {off:.0e} of the recursion")
    for ax, name in zip(axes, exact, strict=True):
        ax.loglog(steps, limit[name].value, color=colour, label=f"{fraction:g}")
        ax.loglog(steps[::3], exact[name][::3], "o", markersize=3, color=colour)
for ax, name in zip(axes, ("training error", "test error"), strict=True):
    ax.set_xlabel("steps")
    ax.set_ylabel(name)
axes[0].legend(frameon=False, fontsize="small", title="batch fraction")
plt.show()
