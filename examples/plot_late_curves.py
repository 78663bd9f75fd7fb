r"""
How fast training converges, as a curve
=======================================

Late training is a sum of exponentials over the spectrum of the dynamics at its end, which begins at :math:`\gamma`. Two
amplitudes are fitted in the shaded stretch; the rest is prediction.
"""

import matplotlib.pyplot as plt
import numpy as np

import flowlimit as fl

model = fl.DiagonalLinear(1.0)
task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
rate = fl.convergence_rate(model, task)
gamma = float(rate.gamma)
times = np.linspace(0.0, 5.0, 51) / gamma
limit = fl.solve_dmft(model, task, fl.GradientFlow(times[-1]), rtol=2e-2, key=0, save_at=times)
tail = fl.fit_tail(limit, "train_error", start=1.0 / gamma, stop=2.0 / gamma)
later = times[times >= tail.start]

fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.3), layout="constrained")
left.semilogy(times, limit.train_error, "o", markersize=3, label="limit")
left.semilogy(later, tail.at(later).train_error, "k-", label="theory")
slope = limit.train_error[-1] * np.exp(-2.0 * gamma * (times - times[-1]))
left.semilogy(times[10:], slope[10:], "k:", label=r"$e^{-2\gamma t}$ alone")
left.axvspan(tail.start, tail.stop, alpha=0.15)
left.set(xlabel="time $t$", ylabel="training error")
left.legend(frameon=False)
right.plot(later, tail.at(later).train_error / limit.train_error[times >= tail.start] - 1.0, "k-")
right.axvspan(tail.start, tail.stop, alpha=0.15)
right.set(xlabel="time $t$", ylabel="theory over limit, less 1", ylim=(-0.02, 0.02))

# %%
# The training error falls by three more decades after the fit. A straight line through its logarithm would be off: the
# branch point of the response puts :math:`t^{-3/2}` before the exponential.
plt.show()
