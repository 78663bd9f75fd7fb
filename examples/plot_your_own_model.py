r"""
A model of your own
===================

A model is a function from parameters to a weight. Here each weight is a product of two parameters, as in a network with
one hidden unit a coordinate, started with unequal layers: five lines. Simulation, limit and error bars follow.
"""

import matplotlib.pyplot as plt

import flowlimit as fl

model = fl.Reparametrized(
    weight=lambda theta: theta[0] * theta[1],
    init=lambda normals, w_star: [0.8, 0.3 * normals[0]],  # a random second layer
    num_normals=1,
)
task = fl.Regression(aspect_ratio=0.8, noise_var=0.05, target=fl.SparseRademacher(0.3))
training = fl.GradientFlow(horizon=10.0)

limit = fl.solve_dmft(model, task, training, rtol=5e-2, key=0)
runs = fl.simulate(model, task, training, dim=1000, trials=10, key=0)
axes = fl.plot.curves(limit, runs)
print(fl.compare(limit, runs))

# %%
# For more than a function (another optimiser's drift, a weight that depends on time) write a subclass of ``fl.Model``
# with ``init``, ``weight``, ``drift`` and ``penalty`` of one coordinate: ``flowlimit/problem/models/linear.py`` is the
# shortest of the shipped ones.
plt.show()
