"""What of a data set strains the theory of an estimate: said in words, with the number that it was judged by."""

import numpy as np

from ..problem.tasks import DataSource

FEW_SAMPLES = 50
SPREAD_OF_ROWS = 0.5
"""Standard deviation over mean of the rows' squared norms: of Gaussian rows of equal variances it is sqrt(2/dim)."""
KURTOSIS = 10.0
"""Of labels; 3 for Gaussian ones."""


def strains_of(dataset: DataSource) -> tuple[str, ...]:
    """Return a sentence for each thing that strains the estimate.

    Examples
    --------
    >>> import flowlimit as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 100)) / 10.0
    >>> strains_of(fl.Dataset(X, X[:, 0]))
    ()
    >>> strains_of(fl.Dataset(X[:30], X[:30, 0]))
    ('30 samples are few: error bars suppose many, and are rough below 50',)
    """
    known = dataset.known()
    X, y = np.asarray(known.X), np.asarray(known.y)
    sentences = []
    if len(X) < FEW_SAMPLES:
        sentences.append(f"{len(X)} samples are few: error bars suppose many, and are rough below {FEW_SAMPLES}")
    repeated = len(X) - len(np.unique(X, axis=0))
    if repeated:
        sentences.append(
            f"{repeated} rows of X are repeated: rows must be independent samples; keep one of each, or the estimate "
            f"is too small"
        )
    squares = (X**2).sum(axis=1)
    spread = float(squares.std() / squares.mean()) if squares.any() else 0.0
    if spread > SPREAD_OF_ROWS:
        sentences.append(
            f"squared norms of the rows of X vary by {spread:.2g} of their mean: heavy tails, outliers or few "
            f"effective features; the theory supposes that they are nearly equal, so look at the largest rows"
        )
    centred = y - y.mean()
    variance = float((centred**2).mean())
    kurtosis = float((centred**4).mean()) / variance**2 if variance > 0.0 else 3.0
    if kurtosis > KURTOSIS:
        sentences.append(f"labels have kurtosis {kurtosis:.3g}, heavy tails: a few samples decide the error")
    return tuple(sentences)
