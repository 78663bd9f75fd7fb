"""A table of numbers made ready for training: centred, scaled, and how predictions come back to its units."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.precision import own_settings
from .checks import as_float, flag
from .designs import as_matrix
from .tasks import Dataset

Columns = Float[np.ndarray, "dim"]


@dataclass(frozen=True, repr=False, eq=False)
class Prepared:
    """A `Dataset` made from a table, and the way back.

    The model that is trained is y = y_mean + y_scale sum_j ((x_j - x_mean_j)/(x_scale_j sqrt(dim))) w_j: its intercept
    is not trained, it is the mean of y at the mean of x.

    Attributes
    ----------
    dataset
        What to train on; columns have mean 0 and variance 1/dim, and y mean 0 and variance 1, as far as was asked for.
    names
        Names of the columns; their numbers if they have none.
    x_mean, x_scale, y_mean, y_scale
        What was taken away, and what was divided by.
    """

    dataset: Dataset
    names: tuple[str, ...]
    x_mean: Columns
    x_scale: Columns
    y_mean: float
    y_scale: float

    def coefficients(self, weights: Any) -> Columns:
        """Return the coefficients of the table's columns, in the table's units, for trained weights."""
        w = np.asarray(weights, dtype=float)
        if w.shape != self.x_scale.shape:
            raise ValueError(
                f"weights: given shape {w.shape}, needs {self.x_scale.shape}, one for each column, e.g. "
                f"estimate.stopped_weights"
            )
        return self.y_scale * w / (self.x_scale * np.sqrt(len(w)))

    def intercept(self, weights: Any) -> float:
        """Return the intercept that goes with the coefficients."""
        return float(self.y_mean - self.x_mean @ self.coefficients(weights))

    def predict(self, weights: Any, X: Any) -> Float[np.ndarray, "rows"]:
        """Return predictions for rows of a table like the first one, in the units of its y."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.x_mean):
            raise ValueError(f"X: given shape {rows.shape}, needs (rows, {len(self.x_mean)}), with the same columns")
        return rows @ self.coefficients(weights) + self.intercept(weights)

    def __repr__(self) -> str:
        samples, dim = self.dataset.X.shape
        moved = "columns and y centred" if np.any(self.x_mean) or self.y_mean else "nothing centred"
        scaled = f"y divided by {self.y_scale:.4g}" if self.y_scale != 1.0 else "y not scaled"
        return f"Prepared: {samples} samples, dim {dim}; {moved}; columns divided to variance 1/dim; {scaled}"


@own_settings()
def prepare(X: Any, y: Any, *, centre: bool = True, scale: bool = True) -> Prepared:
    """Make a table ready for training: centre and scale its columns and y, and remember how.

    Parameters
    ----------
    X, y
        Numbers of shape (samples, dim) and (samples,): arrays, or a pandas data frame and a series.
    centre
        Whether to take the means away from columns and y, which stands for an intercept. Without it the model has none.
    scale
        Whether to divide columns by their standard deviation (by their root mean square without ``centre``), and y by
        that of y, so that errors are shares of the variance of y. Without it, all of X is divided by one number, so
        that its entries have mean square 1/dim, and y stays as it is.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> rng = np.random.default_rng(0)
    >>> prepared = fl.prepare(3.0 + 2.0 * rng.normal(size=(40, 60)), rng.normal(size=40))
    >>> prepared.dataset
    Dataset(X=<array 40x60>, y=<array 40>)
    >>> bool(np.isclose(prepared.predict(np.zeros(60), np.zeros((1, 60)))[0], prepared.y_mean))
    True
    """
    centre, scale = flag("centre")(centre), flag("scale")(scale)
    names = tuple(str(name) for name in getattr(X, "columns", range(np.shape(X)[-1] if np.ndim(X) else 0)))
    table = np.asarray(as_matrix("X", X if isinstance(X, jnp.ndarray) else np.asarray(X)))
    labels = np.asarray(as_float("y", np.asarray(y), "needs numbers, one entry for each of X's samples"))
    if labels.shape != table.shape[:1]:
        raise ValueError(f"y: given shape {labels.shape}, needs {table.shape[:1]}, one entry for each of X's samples")
    x_mean = table.mean(axis=0) if centre else np.zeros(table.shape[1])
    y_mean = float(labels.mean()) if centre else 0.0
    spread = np.sqrt(((table - x_mean) ** 2).mean(axis=0))
    still = spread <= 1e-12 * np.maximum(np.abs(table).max(axis=0), np.finfo(float).tiny)
    if still.any():
        which = ", ".join(names[i] for i in np.flatnonzero(still)[:3])
        raise ValueError(f"X: given {int(still.sum())} columns that do not vary ({which}); leave them out")
    x_scale = spread if scale else np.full(table.shape[1], np.sqrt((spread**2).mean()))
    y_scale = float(np.sqrt(((labels - y_mean) ** 2).mean())) if scale else 1.0
    if not y_scale > 0.0:
        raise ValueError("y: given numbers that do not vary, needs some that do: there is nothing to learn")
    ready = (table - x_mean) / (x_scale * np.sqrt(table.shape[1]))
    return Prepared(Dataset(ready, (labels - y_mean) / y_scale), names, x_mean, x_scale, y_mean, y_scale)
