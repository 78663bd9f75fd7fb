r"""
The effective time of momentum
==============================

A velocity that remembers :math:`1/(1 - \beta)` steps makes each of them that much longer. Against :math:`t/(1 - \beta)`
curves of heavy ball and Nesterov collapse on those of plain descent, once the velocity has settled and while the
effective step :math:`\eta/(1 - \beta)` is short. Lines are limits, points are runs at dim 600.
"""

import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

looks = {
    "descent": (0.0, False, "#0072B2", "o"),
    "heavy ball, 0.6": (0.6, False, "#009E73", "s"),
    "heavy ball, 0.9": (0.9, False, "#D55E00", "D"),
    "Nesterov, 0.9": (0.9, True, "#CC79A7", "^"),
}


def train(model, task, effective_step, num_steps):
    """Limits and runs of the four trainings in steps of one effective size."""
    found = {}
    for name, (beta, nesterov, *_) in looks.items():
        training = fl.GradientDescent(
            effective_step * (1.0 - beta), num_steps=num_steps, momentum=beta, nesterov=nesterov
        )
        limit = fl.solve_dmft(model, task, training, rtol=5e-2, key=0)
        found[name] = limit, fl.simulate(model, task, training, dim=600, trials=10, key=0)
    return found


def draw(panel, found, effective=True):
    for name, (limit, runs) in found.items():
        beta, _, colour, marker = looks[name]
        scale = 1.0 - beta if effective else 1.0
        value, band = limit.test_error, 2.0 * limit.test_error_stderr
        panel.plot(limit.times / scale, value, color=colour, label=name)
        panel.fill_between(limit.times / scale, value - band, value + band, color=colour, alpha=0.25, lw=0.0)
        some = slice(2, None, max(len(runs.times) // 8, 1))
        bars = runs.test_error_stderr[some]
        panel.errorbar(runs.times[some] / scale, runs.test_error[some], bars, fmt=marker, ms=3.5, lw=0.9, color=colour)


# %%
# A network, in short steps
# -------------------------
# In its own time each training has another curve. In effective time what is left is the memory of the velocity,
# :math:`\eta/(1 - \beta)^2`: 0.5 for :math:`\beta = 0.6`, which is close to descent soon, 2 for 0.9, which comes late.
# Runs with 0.9 and shorter steps (crosses) have the memory of 0.6 again, and its curve.
network = fl.DiagonalLinear(init_scale=0.5)
task = fl.Regression(aspect_ratio=0.8, noise_var=0.02, target=fl.Bernoulli(0.1))
short = train(network, task, effective_step=0.2, num_steps=40)
plain = short["descent"][0].test_error
for name, (limit, _) in short.items():
    away = limit.test_error / plain - 1.0
    print(
        f"{name}: {away.max():.1%} above descent at the worst, {away[20]:.1%} at effective time 4, {away[-1]:.1%} at 8"
    )
same_memory = fl.GradientDescent(0.05 * (1.0 - 0.9), num_steps=160, momentum=0.9)
crosses = fl.simulate(network, task, same_memory, dim=600, trials=10, key=0)
away = crosses.test_error[::4] / short["heavy ball, 0.6"][1].test_error - 1.0
print(f"runs of heavy ball, 0.9 and 0.6, of one memory: {np.abs(away[10:]).max():.1%} apart from effective time 2 on")

# %%
# A linear model, in long ones
# ----------------------------
# Steps of 0.9 of the edge of plain descent. Eigenvectors of the data are oscillators, which heavy ball leaves
# underdamped; Nesterov's step damps them.
linear, task_of_linear = fl.Linear(), fl.Regression(aspect_ratio=2.0, noise_var=0.05, target=fl.Normal())
edge = 2.0 / (1.0 + 2.0**-0.5) ** 2
long = train(linear, task_of_linear, effective_step=0.9 * edge, num_steps=40)
for name, (limit, _) in long.items():
    best = limit.best()
    print(f"{name}: smallest {best.value:.4f} at effective time {best.time / (1.0 - looks[name][0]):.1f}")

figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
draw(panels[0], short, effective=False)
draw(panels[1], short)
panels[1].plot(crosses.times[8::16] / (1.0 - 0.9), crosses.test_error[8::16], "kx", ms=4, label="0.9, memory 0.5")
draw(panels[2], long)
panels[0].set(xlabel="time $t$", ylabel="test error", title="network, short steps")
panels[1].set(xlabel=r"effective time $t/(1 - \beta)$", ylabel="test error", title="network, short steps")
panels[2].set(
    xlabel=r"effective time $t/(1 - \beta)$", ylabel="test error", title="linear model, long steps", yscale="log"
)
for panel in panels:
    panel.title.set_fontsize("medium")
panels[1].legend(frameon=False, fontsize="small")
plt.show()
