"""Long names of curves and kernels, for axes of labelled data. Everything here is without a unit."""

LONG_NAMES = {
    "time": "time t",
    "train_error": "training error: the mean over the training samples",
    "test_error": "test error: the mean over new samples, noise included",
    "loss": "loss that training lowers, with its penalty",
    "norm_1": "|w|_1 / d",
    "norm_2": "|w|_2 / sqrt(d)",
    "C_w": "E[(w(t) - w*)(w(s) - w*)]",
    "C_f": "covariance of the residuals at t and s",
    "R_w": "response of w(t) at s",
    "R_f": "response of the residual at t to s",
    "S": "integration from 0 to t",
    "w": "weight of the single site",
    "g": "gradient of the single site",
    "z": "Gaussian field of the single site",
    "w_star": "target w*",
    "probability": "probability of a path",
    "weights": "weights w",
}


def long_name(name: str) -> str:
    """Return what a curve is, in words; an observable is named by the user.

    Examples
    --------
    >>> long_name("norm_1_stderr")
    'standard error of |w|_1 / d'
    """
    if name.endswith("_stderr"):
        return f"standard error of {long_name(name.removesuffix('_stderr'))}"
    return LONG_NAMES.get(name, name.replace("_", " "))


def attributes(name: str) -> dict[str, str]:
    """Return the attributes of a labelled array: its long name, and that it has no unit."""
    return {"long_name": long_name(name), "units": "1"}
