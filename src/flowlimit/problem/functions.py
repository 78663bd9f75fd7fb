"""One call of a user's functions before anything is solved: they return numbers of the right kind, indices in range.

Out of range, jax takes the nearest entry and says nothing: ``theta[2]`` of two parameters is ``theta[1]``. So functions
that a user wrote run once with every index checked. (A slice may be shorter than it says, as in all of Python.)
"""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import checkify

from ..types import is_traced
from .noun import Noun, functions_of, kind_of

HINTS = (
    (jax.errors.TracerArrayConversionError, "use jax.numpy in place of numpy, e.g. jnp.tanh for np.tanh"),
    (jax.errors.ConcretizationTypeError, "use jnp.where in place of if, and no float() or int()"),
)


def is_users(noun: Noun) -> bool:
    """Whether a noun holds functions of a user, or is of a class of theirs."""
    return any(True for _ in functions_of(noun)) or ":" in kind_of(type(noun))


def is_tracing() -> bool:
    """Whether this runs inside jit, where numbers are not known."""
    return is_traced(jnp.zeros(()))


def takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with that many arguments, as far as Python can tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # written in C, without a signature
        return True
    return True


def called(words: str, function: Callable[..., Any], *arguments: Any, indices: bool) -> Any:
    """Return the shapes and types of what a function returns, or refuse it; ``indices`` for a function of a user."""
    try:
        found = jax.eval_shape(function, *arguments)
    except Exception as problem:
        raise ValueError(f"{words}: {_reason(problem)}") from problem
    for leaf in jax.tree.leaves(found):
        if leaf.dtype != jnp.float64:
            raise ValueError(f"{words}: it returns {leaf.dtype}, needs real numbers of double precision")
    if indices and (outside := _outside(function, *arguments)):
        raise ValueError(f"{words}: {outside}")
    return found


def _reason(problem: Exception) -> str:
    hint = next((hint for kind, hint in HINTS if isinstance(problem, kind)), None)
    return f"{str(problem).splitlines()[0] if str(problem) else type(problem).__name__}" if hint is None else hint


def _outside(function: Callable[..., Any], *arguments: Any) -> str | None:
    """Return what is said of an index out of range, None if there is none, or if it cannot be seen inside a trace."""
    if is_tracing() or any(map(is_traced, jax.tree.leaves((function, arguments)))):
        return None
    error, _ = jax.jit(checkify.checkify(function, errors=checkify.index_checks))(*arguments)
    message = error.get()
    return None if message is None else message.splitlines()[0].strip()
