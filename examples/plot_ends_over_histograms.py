r"""
Where training ends
===================

The law of the weights at :math:`t = \infty` in the paper's three cases, over the minimisers of four drawn data sets
each: the lasso with weight decay, least squares, and the interpolator of least norm :math:`J_\alpha`.
"""

import matplotlib.pyplot as plt

import flowlimit as fl

target = fl.Bernoulli(0.1)
problems = [
    (fl.DiagonalLinear(0.3, weight_decay=0.1), fl.Regression(0.5, noise_var=0.01, target=target)),
    (fl.DiagonalLinear(0.3), fl.Regression(1.5, noise_var=0.01, target=target)),
    (fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=target)),
]
fig, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
for (model, task), axis in zip(problems, axes, strict=True):
    found = [fl.minimizer(model, fl.draw(task, dim=1000, key=0, trial=trial)) for trial in range(4)]
    fl.plot.fixed_point_law(fl.fixed_point(model, task), *found, ax=axis)
    print(found[0])

# %%
# The arrow is the probability that a weight is exactly 0, the dot beside it the share of the drawn minimisers. Nothing
# was fitted and no flow was solved.
plt.show()
