"""Double precision and one kind of random numbers within our calls, whatever the user's program does with jax.

The limit is compared with simulations to many digits: nothing here makes sense in single precision, and numbers under
one key must not depend on flags. So every public verb, and every noun with its methods, works under `own_settings`, and
the user's own settings are as they were before and after: a program in single precision goes on in single precision.
Settings belong to a thread: a thread that we start enters them anew.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from inspect import isfunction
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

SETTINGS = (
    (jax.enable_x64, True),
    (jax.threefry_partitionable, True),
    (jax.default_prng_impl, "threefry2x32"),
    (jax.numpy_dtype_promotion, "standard"),
    (jax.debug_nans, False),  # a panel that is too long is seen by its NaN, and taken shorter
    (jax.debug_infs, False),
)


@contextmanager
def own_settings() -> Iterator[None]:
    """Work in double precision with the package's random numbers; ``@own_settings()`` makes a function do so.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> with jax.enable_x64(False):
    ...     with own_settings():
    ...         inside = jnp.ones(()).dtype
    ...     outside = jnp.ones(()).dtype
    >>> inside, outside
    (dtype('float64'), dtype('float32'))
    """
    with ExitStack() as stack:
        for setting, value in SETTINGS:
            stack.enter_context(setting(value))
        yield


class _DoubleMeta(type(eqx.Module)):
    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        inside = {key: value if key.startswith("__") else _inside(value) for key, value in namespace.items()}
        return super().__new__(cls, name, bases, inside, **kwargs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        with own_settings():
            return super().__call__(*args, **kwargs)


class DoubleModule(eqx.Module, metaclass=_DoubleMeta):
    """A module that is made, read from a pickle, and whose methods and properties are called under `own_settings`."""

    def __reduce__(self) -> Any:
        # jax reads arrays of a pickle in the precision of the process: in a worker of a sweep, often single.
        arrays = {name: np.asarray(value) for name, value in vars(self).items() if _is_number(value)}
        return _read, (type(self), arrays, {name: value for name, value in vars(self).items() if name not in arrays})


def _is_number(value: Any) -> bool:
    return isinstance(value, jax.Array) and not jnp.issubdtype(value.dtype, jax.dtypes.extended)


@own_settings()
def _read(kind: type, arrays: dict[str, np.ndarray], others: dict[str, Any]) -> Any:
    module = object.__new__(kind)
    for name, value in others.items():
        object.__setattr__(module, name, value)
    for name, value in arrays.items():
        object.__setattr__(module, name, jnp.asarray(value))
    return module


def _inside(value: Any) -> Any:
    if isinstance(value, property) and value.fget is not None:
        return property(_inside(value.fget), doc=value.__doc__)
    if not isfunction(value):
        return value

    @wraps(value)
    def method(*args: Any, **kwargs: Any) -> Any:
        with own_settings():
            return value(*args, **kwargs)

    return method
