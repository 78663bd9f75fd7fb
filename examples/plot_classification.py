r"""
Classification: the limit of logistic regression
================================================

Logistic regression on a sign teacher, by gradient descent. Once the training samples are separated the loss goes on
falling and the test error with it, slowly: no fixed point is in sight.
"""

import matplotlib.pyplot as plt

import flowlimit as fl

model = fl.Linear()
task = fl.Classification(aspect_ratio=2.0, target=fl.Normal())
training = fl.GradientDescent(step_size=0.5, num_steps=60)
limit = fl.solve_dmft(model, task, training, rtol=5e-2, key=0)
runs = fl.simulate(model, task, training, dim=500, trials=10, key=0)
fl.plot.curves(limit, runs, names=["train_error", "test_error", "loss"])
print(fl.compare(limit, runs, names=["test_error", "loss"]))
plt.show()
