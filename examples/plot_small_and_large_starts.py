"""
Small starts generalise, large starts are fast
==============================================

Diagonal linear networks on sparse regression with half as many samples as coordinates. From a small start the gradient
flow finds a sparse solution, slowly; from a large one it fits the data at once, and generalises worse.
"""

import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
scales = [0.01, 0.1, 1.0, 10.0]
models = [fl.DiagonalLinear(init_scale=scale) for scale in scales]
training = fl.GradientFlow(horizon=300.0)
runs = fl.simulate(models, task, training, dim=400, trials=6, key=0, weights_at=[300.0])

# %%
# Training and test errors. Bars are one standard error over six trials; all four networks see the same data.

axes = fl.plot.curves(runs)
axes[0].set_ylim(1e-6, 0.3)

# %%
# The weights at the end tell why: the small start has most of them at zero, the large one spreads the fit over all.

figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.0), sharey=True, layout="constrained")
bins = np.linspace(-0.6, 1.3, 60)
for panel, result, scale in zip(panels, [runs[0], runs[-1]], [scales[0], scales[-1]], strict=True):
    for value, colour in ((0.0, "#0072B2"), (1.0, "#D55E00")):
        w = result.weights[:, 0][result.w_star == value]
        panel.hist(w, bins, color=colour, alpha=0.7, label=f"target {value:g}", weights=np.full(len(w), 1 / 2400))
    panel.set_yscale("log")
    panel.set_xticks([-0.5, 0.0, 0.5, 1.0])
    panel.set_xlabel("weight $w$ at $t = 300$")
    panel.set_title(f"init_scale {scale:g}", fontsize="medium")
panels[0].set_ylabel("fraction of coordinates")
panels[0].legend(frameon=False)
