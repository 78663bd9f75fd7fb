"""
A phase diagram of 1600 points
==============================

Where gradient flow of a diagonal network ends and how fast, over init scale and samples per coordinate: a sweep of
``fl.convergence_rate`` over a grid of 40 by 40. Each point is solved to rounding, so the picture has no noise.

Below aspect ratio 1 the network interpolates, and its fixed point depends on its init scale (left; dots mark the best).
With enough samples for a sparse target, small initialisations reach a smaller test error and take much longer
(middle): this is the trade-off that the paper proves, seen on the right as lines that rise. It has its limits: with
too few samples, here below 0.3, no initialisation finds the target and small ones gain nothing; close to 1 the noise
makes a finite init scale the best. The rate falls with the init scale everywhere. Above aspect ratio 1 the fixed point
is least squares for all, and only the rate depends on the init scale. At 1 the test
error has its peak and the rate vanishes.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LogNorm

import flowlimit as fl

model = fl.DiagonalLinear(init_scale=0.3)
task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
axes = {
    "model.init_scale": np.geomspace(0.02, 5.0, 40),
    "task.aspect_ratio": np.linspace(0.1, 1.9, 40),
}
table = fl.sweep(fl.convergence_rate, model, task, over=axes)
print(table)

data = table.to_xarray().rename({"model.init_scale": "scale", "task.aspect_ratio": "ratio"})
assert (data["gamma"].diff("scale") > 0.0).all()  # slower from smaller initialisations, at every aspect ratio
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.0, 3.6), layout="constrained")
maps = ((left, "test_error", "test error", (0.02, 0.2)), (middle, "gamma", r"rate $\gamma$", (1e-5, 10.0)))
for panel, name, title, (low, high) in maps:
    values, norm = data[name], LogNorm(low, high)
    colours = panel.pcolormesh(data["ratio"], data["scale"], values, norm=norm, cmap="viridis", rasterized=True)
    levels = np.geomspace(low, high, 7)[1:-1]
    panel.contour(data["ratio"], data["scale"], values, levels, colors="white", linewidths=0.6)
    figure.colorbar(colours, ax=panel, label=title, extend="both")
    panel.set(yscale="log", xlabel="aspect ratio (samples per coordinate)", ylabel="init scale")
best = data["test_error"].sel(ratio=slice(None, 0.99)).idxmin("scale")
left.plot(best["ratio"], best, "o", color="white", markeredgecolor="black", markersize=3.5, label="best start")
left.legend(loc="upper right", fontsize="small")

chosen = [0.2, 0.4, 0.6, 0.8]
for ratio, colour in zip(chosen, plt.get_cmap("viridis")(np.linspace(0.0, 0.85, len(chosen))), strict=True):
    line = data.sel(ratio=ratio, method="nearest")
    right.plot(line["gamma"], line["test_error"], color=colour, label=f"{float(line['ratio']):.2f}")
    right.plot(line["gamma"][0], line["test_error"][0], "o", color=colour)
right.set(xscale="log", yscale="log", xlabel=r"rate $\gamma$", ylabel="test error", title="dots: smallest init scale")
right.set_yticks([0.04, 0.06, 0.08, 0.1], ["0.04", "0.06", "0.08", "0.10"])
right.set_yticks([], minor=True)
right.legend(title="aspect ratio", frameon=False, fontsize="small")
plt.show()
