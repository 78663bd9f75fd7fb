r"""
Up to the edge of stability, and past it
========================================

Steps of gradient descent that grow past the edge :math:`2/\lambda_{\max}`, for a linear model and for a diagonal
network on noiseless data. The linear model diverges. The network does not, at first: it is caught in an oscillation.
Lines are limits with bands of two standard errors, points are runs at dim 600.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import flowlimit as fl

aspect_ratio, sparsity, init_scale, num_steps = 2.0, 0.2, 0.5, 30
task = fl.Regression(aspect_ratio, noise_var=0.0, target=fl.Bernoulli(sparsity))


# %%
# Where the edge is
# -----------------
# A linear model's is :math:`2/(1 + \delta^{-1/2})^2`. A coordinate of the network moves at the rate
# :math:`y = \sqrt{w^2 + \alpha^4}`, which is :math:`\alpha^2` at the start and sharpens as the target is learnt. With
# more samples than coordinates and no noise flow ends at :math:`w = w^*`; the largest eigenvalue of
# :math:`Y^{1/2} X^\top X Y^{1/2}/n` follows from the law of :math:`y`.
def edge(y):
    """Return 2/lambda_max for the rates y of coordinates off and on the support of the target."""
    rest, mass, top = np.asarray(y), np.array([1.0 - sparsity, sparsity]), max(y)
    slope = lambda u: 1.0 - mass @ (rest / (u + rest)) ** 2 / aspect_ratio
    u = brentq(slope, -1e3 * top, -top * (1.0 + 1e-9))
    return -2.0 / (u * (1.0 - mass @ (rest / (u + rest)) / aspect_ratio))


linear_edge, start_edge = edge([1.0, 1.0]), edge([init_scale**2, init_scale**2])
end_edge = edge([init_scale**2, np.sqrt(1.0 + init_scale**4)])
print(f"linear model: {linear_edge:.4f}, that is {2.0 / (1.0 + aspect_ratio**-0.5) ** 2:.4f}")
print(f"network: {start_edge:.4f} at the start, {end_edge:.4f} where flow ends")


# %%
# Past it
# -------
def train(model, step_size):
    training = fl.GradientDescent(step_size, num_steps=num_steps)
    limit = fl.solve_dmft(model, task, training, rtol=1e-1, key=0, throw=False)
    runs = fl.simulate(model, task, training, dim=600, trials=20, key=0, throw=False)
    last = (limit.test_error[-1], limit.test_error_stderr[-1]) if limit.replicas else (np.nan, np.nan)
    said = f"limit {limit.result.code} {last[0]:.2g}({last[1]:.1g})"
    print(f"{model}, steps of {step_size:.3f}: {said}; runs {runs.result.code} {runs.test_error[-1]:.2g}")
    return limit, runs


def draw_ends(panel, parts, results, colour, marker):
    finished = [index for index, (limit, _) in enumerate(results) if limit.replicas]
    value, stderr = np.array([[c.test_error[-1], c.test_error_stderr[-1]] for c in (results[i][0] for i in finished)]).T
    panel.semilogy(parts[finished], value, color=colour, label="limit")
    panel.fill_between(parts[finished], value - 2 * stderr, value + 2 * stderr, color=colour, alpha=0.25, lw=0.0)
    mean, spread = np.array([[runs.test_error[-1], runs.test_error_stderr[-1]] for _, runs in results]).T
    panel.errorbar(parts, mean, spread, fmt=marker, ms=4, capsize=2, lw=0.9, color=colour, label="runs")
    panel.axvline(1.0, color="black", ls=":", lw=1.0)
    for part in np.delete(parts, finished):
        panel.axvspan(part - 0.05, part + 0.05, color="0.9", lw=0.0)
        panel.text(part, panel.get_ylim()[0] * 1.5, "limit diverges", rotation=90, ha="center", fontsize="small")
    panel.set(xlabel="step size over the edge", ylabel=f"test error after {num_steps} steps")


blue, orange, green = "#0072B2", "#D55E00", "#009E73"
figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.5), layout="constrained")
parts = np.array([0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3])
draw_ends(panels[0], parts, [train(fl.Linear(), part * linear_edge) for part in parts], blue, "o")
parts = np.array([0.4, 0.8, 1.0, 1.1, 1.2, 1.4, 1.8])
network = [train(fl.DiagonalLinear(init_scale), part * end_edge) for part in parts]
draw_ends(panels[1], parts, network, orange, "s")

steps, some = np.arange(num_steps + 1), slice(0, None, 3)
for index, colour, marker in ((1, blue, "o"), (4, green, "D"), (5, orange, "s")):
    limit, runs = network[index]
    value, band = limit.train_error, 2 * limit.train_error_stderr
    panels[2].semilogy(steps, value, color=colour, label=f"{parts[index]:g} of the edge")
    panels[2].fill_between(steps, value - band, value + band, color=colour, alpha=0.25, lw=0.0)
    bars = runs.train_error_stderr[some]
    panels[2].errorbar(steps[some], runs.train_error[some], bars, fmt=marker, ms=3.5, lw=0.9, color=colour)
panels[2].set(xlabel="step", ylabel="training error")
panels[0].legend(frameon=False, fontsize="small")
panels[2].legend(frameon=False, fontsize="small")
for panel, title in zip(panels, ("linear model", "network", "network"), strict=True):
    panel.set_title(title, fontsize="medium")

# %%
# Steps a little past the edge are the best of all after 30 of them: the oscillation has not grown yet. Further out the
# network first learns as if nothing were wrong, then its training error rises to a level that the step sets, and the
# limit rises with the runs. At 1.8 edges runs oscillate on; rare paths of the limit escape to infinity, and it says so.
plt.show()
