r"""
Batches against all data: where they end
========================================

A network learns a sparse target for the same time, in short steps or in long ones. With longer steps, descent on all
data ends less sparse and worse; on batches it ends sparser and better. Lines are limits with bands of two standard
errors, points are runs at dim 600, all on the same data sets.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

# derivatives and batches of numbers need double precision throughout
jax.config.update("jax_enable_x64", True)

model = fl.DiagonalLinear(init_scale=0.5)
task = fl.Regression(aspect_ratio=0.5, noise_var=0.0, target=fl.Bernoulli(0.1))
off_support = {"off_support": lambda w, w_star: jnp.where(w_star == 0.0, jnp.abs(w), 0.0)}
names, horizon, fractions = ("test_error", "off_support"), 24.0, (1.0, 0.4, 0.25)
limits, runs = {}, {}
for fraction in fractions:
    for num_steps in (120, 40, 32, 24):
        training = fl.StochasticGradientDescent(
            fraction, step_size=horizon / num_steps, num_steps=num_steps
        )  # all data at fraction 1
        problem, options = (model, task, training), {"observables": off_support, "throw": False}
        runs[fraction, num_steps] = fl.simulate(*problem, dim=600, trials=20, key=1, **options)
        if num_steps < 120:  # short steps cost a limit most, and tell least
            limits[fraction, num_steps] = fl.solve_dmft(*problem, rtol=1e-1, key=0, **options)
for (fraction, num_steps), limit in limits.items():
    end = [f"{name} {limit[name].value[-1]:.4f}({limit[name].stderr[-1]:.4f})" for name in names if limit.replicas]
    said = f"limit {limit.result.code}, runs {runs[fraction, num_steps].result.code}"
    print(f"{fraction:g} of the data, steps of {horizon / num_steps:.2f}: {said}", *end)


# %%
# Where gradient flow ends, from this start and from others: the mean of :math:`|w|` off the support is the integral of
# the probability that :math:`|w|` is above a level.
@jax.vmap
def end_of_flow(init_scale):
    point = fl.fixed_point(fl.DiagonalLinear(init_scale), task, case="interpolating")
    levels = jnp.linspace(0.0, 3.0, 3001)
    beyond = jax.vmap(point.false_positive_rate)(levels)
    return point.test_error, (1.0 - task.target.probability) * jnp.trapezoid(beyond, levels)


scales = np.linspace(0.36, 0.62, 14)
flow = dict(zip(names, end_of_flow(scales), strict=True))


# %%
# In the first two panels all is divided by what descent on all data has in steps of 0.6, for runs on the same data.
def relative(results, fraction, name):
    """Step sizes, the curve's last value over that of all data in steps of 0.6, its standard error over trials."""
    rows = []
    for (own, num_steps), result in results.items():
        if own == fraction and result.result.code == fl.Code.SUCCESSFUL:
            last, base = (one.values[name][:, -1] for one in (result, results[1.0, 40]))
            ratio = last.mean() / base.mean()
            if results is limits:
                stderr = result[name].stderr[-1] / base.mean()
            else:
                stderr = np.std(last - ratio * base, ddof=1) / np.sqrt(len(last)) / base.mean()
            rows.append((horizon / num_steps, ratio, stderr))
    return np.array(rows).T


figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
looks = {"all data": ("#0072B2", "o"), "batches of 0.4": ("#009E73", "s"), "batches of 0.25": ("#D55E00", "D")}
for fraction, (label, (colour, marker)) in zip(fractions, looks.items(), strict=True):
    for panel, name in zip(panels, names, strict=False):
        size, value, stderr = relative(limits, fraction, name)
        panel.plot(size, value, color=colour, label=label)
        panel.fill_between(size, value - 2 * stderr, value + 2 * stderr, color=colour, alpha=0.25, linewidth=0.0)
        panel.errorbar(*relative(runs, fraction, name), fmt=marker, ms=4, capsize=2, lw=0.9, color=colour)
    whole = [limit for (own, _), limit in limits.items() if own == fraction and limit.replicas]
    (y, y_stderr), (x, x_stderr) = (
        np.array([(limit[name].value[-1], 2 * limit[name].stderr[-1]) for limit in whole]).T for name in names
    )
    panels[2].errorbar(x, y, y_stderr, x_stderr, fmt=f"{marker}-", ms=4, lw=0.9, color=colour)
for panel, name in zip(panels, names, strict=False):
    base = limits[1.0, 40][name].value[-1]
    panel.axhline(flow[name][7] / base, color="black", ls=":", lw=1.0, label=r"flow, $t = \infty$")
panels[2].plot(flow["off_support"], flow["test_error"], "k-", lw=1.0, label=r"flow, $t = \infty$")
for index in (2, 7, 12):
    place = float(flow["off_support"][index]), float(flow["test_error"][index])
    panels[2].plot(*place, "k|", ms=8)
    panels[2].annotate(rf"$\alpha = {scales[index]:.1f}$", place, (5, -9), textcoords="offset points", fontsize="small")
panels[0].set(xlabel="step size", ylabel="test error at $t = 24$, relative", xlim=(0.1, 1.1))
panels[1].set(xlabel="step size", ylabel="mean |w| off the support, relative", xlim=(0.1, 1.1))
panels[2].set(xlabel="mean |w| off the support", ylabel="test error at $t = 24$", xlim=(None, 0.109))
panels[0].legend(frameon=False, fontsize="small", loc="lower left")
panels[2].legend(frameon=False, fontsize="small", loc="upper left")

# %%
# On the right the same final errors without division, beside the fixed points of the flow for init scales
# :math:`\alpha`. (They lie above these: at this time training is not quite over.) Descent with long steps acts like a
# larger initialisation, batches like a smaller one.
# A step multiplies :math:`u v` of a coordinate by :math:`1 - (\eta g/2)^2`. With all data :math:`g` is
# large on the support, which gets a smaller initialisation than the rest; batches make it noisy everywhere. With
# batches of 0.25 and steps of 1 the limit and the runs both diverge.
plt.show()
