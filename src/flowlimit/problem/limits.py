"""What has a limit: every verb that returns one asks here first."""

from typing import Any


def refuse_without_limit(task: Any) -> None:
    """Refuse a task whose design is not known to have the limit of Gaussian data; the limit would not see the design.

    Examples
    --------
    >>> import flowlimit as fl
    >>> refuse_without_limit(fl.Regression(0.5, 0.01, fl.Bernoulli(0.1), design=fl.BinaryDesign()))
    """
    design = getattr(task, "design", None)
    if design is not None and not design.has_limit:
        raise ValueError(
            f"design: given {design!r}, but the limit is known only for independent entries of mean 0 and variance "
            f"1/dim; leave design= out for the limit of such data, or train on this design with fl.simulate"
        )
