"""
A limit over its simulation
===========================

The limit n, d -> infinity of a diagonal linear network, with a band of two standard errors, over runs at dim 400.
"""

import flowlimit as fl

model = fl.DiagonalLinear(init_scale=0.3)
task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
training = fl.GradientFlow(horizon=20.0)

limit = fl.solve_dmft(model, task, training, rtol=5e-2, key=0)
runs = fl.simulate(model, task, training, dim=400, trials=10, key=1, save_at=limit.times, weights_at=[limit.times[-1]])
axes = fl.plot.curves(limit, runs)

# %%
# Do they agree?

print(fl.compare(limit, runs))

# %%
# The kernels of the limit: correlations of weights and residuals, and their responses.

axes = fl.plot.kernels(limit)

# %%
# The law of a weight at the end, with the paths of the single site against the weights of the runs.

axis = fl.plot.law(limit, 20.0, runs)
