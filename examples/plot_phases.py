r"""
Phases of learning
==================

From a large start the network is first lazy (linear), then weight decay makes it rich; from a small start it searches,
then descends, one coordinate after the other. Shaded: predicted phases; dotted: what the runs show.
"""

import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
large, small = fl.DiagonalLinear(100.0, weight_decay=0.3), fl.DiagonalLinear(1e-3)
times = np.geomspace(1e-6, 100.0, 60)
runs = fl.simulate(large, task, fl.GradientFlow(100.0), dim=400, trials=4, key=0, save_at=[0.0, *times])
axes = fl.plot.curves(runs)
fl.plot.shade_phases(fl.label_phases(runs, large, task), axes)
print(fl.label_phases(runs, large, task))

# %%
# From a small start
# ------------------
# The limit knows each path's own descent time.
limit = fl.solve_dmft(small, task, fl.GradientFlow(30.0), rtol=3e-2, key=0, save_at=[0.0, *np.geomspace(0.5, 30.0, 40)])
phases = fl.label_phases(limit, small, task)
axes = fl.plot.curves(limit)
fl.plot.shade_phases(phases, axes)
print(phases)

# %%
# The weights averaged over time follow the lasso path, with a penalty that falls like
# :math:`2 \log(1/\alpha)/t`: the dashed line is a lasso at every time, no flow.
averaged = limit.time_averaged()
late = averaged.times > 3.0
path = fl.small_init_path(small, task, averaged.times[late])
fig, axis = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
axis.plot(averaged.times[late], averaged.test_error[late], label="averaged weights, limit")
axis.plot(path.times, path.test_error, "k--", label="lasso path")
axis.set(xlabel="time $t$", ylabel="test error")
axis.legend(frameon=False)
plt.show()
