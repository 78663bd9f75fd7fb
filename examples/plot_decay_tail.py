r"""
Slow convergence with weight decay
==================================

With weight decay a coordinate whose channel is close to the threshold converges arbitrarily slowly. No exponential
describes the late curves: errors tend to those of the fixed point like :math:`t^{-2}`.
"""

import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

# Infinite data: coordinates do not interact, and once the smaller of u and v has decayed, w follows a logistic equation
# with the rate w* - decay. Its solution is integrated over a normal target, with nodes that are dense where the rate is
# small.
decay, first = 0.3, 0.05
away, step = np.linspace(-17.0, 18.5, 4001, retstep=True)
r = 1e-7 * np.sinh(away)
density = np.exp(-0.5 * (decay + r) ** 2) / np.sqrt(2.0 * np.pi) * 1e-7 * np.cosh(away) * step
long = np.geomspace(1.0, 1e5, 80)
gone, size = np.exp(-np.abs(r) * long[:, None]), np.abs(r) + 1e-15
w = np.where(r > 0.0, size / (1.0 - gone + size * gone / first), size * gone / (1.0 - gone + size / first))
end = np.maximum(r, 0.0)
square = ((w - end) ** 2) @ density
error = np.abs(((w - r - decay) ** 2 - (end - r - decay) ** 2) @ density)

# %%
# Four samples per dimension: the limit and its fixed point.
model = fl.DiagonalLinear(0.3, weight_decay=0.1)
task = fl.Regression(aspect_ratio=4.0, noise_var=0.01, target=fl.Bernoulli(0.1))
times = np.r_[0.0, np.geomspace(3.0, 400.0, 30)]
limit = fl.solve_dmft(model, task, fl.GradientFlow(400.0), rtol=0.02, key=0, save_at=times)
point = fl.fixed_point(model, task)

fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.3), layout="constrained")
left.loglog(long, error, label="error")
left.loglog(long, square, label=r"$\mathbb{E}\,(w - w(\infty))^2$")
late = long[long > 100.0]
left.loglog(late, 2.0 * error[-1] * (late / late[-1]) ** -2.0, "k:", label="$t^{-2}$, $t^{-3}$")
left.loglog(late, 2.0 * square[-1] * (late / late[-1]) ** -3.0, "k:")
left.set(xlabel="time $t$", ylabel="distance to the fixed point", title="infinite data")
left.legend(frameon=False)
for name, label in (("train_error", "training error"), ("test_error", "test error")):
    curve = limit[name]
    away = np.abs(curve.value - float(getattr(point, name)))
    seen = away > 2.0 * curve.stderr
    right.errorbar(times[seen], away[seen], curve.stderr[seen], fmt="o", markersize=3, label=label)
late = times[times > 30.0]
right.loglog(late, 0.9 * late**-2.0, "k:", label="$t^{-2}$")
right.set(xlabel="time $t$", title="four samples per dimension", xscale="log", yscale="log")
right.legend(frameon=False)

# %%
# On the left the power laws hold over three decades. On the right they begin in the same way, until the distance is no
# larger than twice the error bar: later points are left out. The training error crosses that of its fixed point.
plt.show()
