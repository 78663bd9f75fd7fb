"""How the package's functions become compiled programs: as by `equinox.filter_jit`, in about half the time on a CPU.

Most of what a user waits for the first time is the compiler. XLA has two ways to make a CPU's kernels; the older one is
about twice as fast for programs of many small kernels, as all here are, and what it makes runs as fast.
"""

from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any, Literal, ParamSpec, TypeVar, overload

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from .kept import Call, kept_program

QUICK = {"xla_cpu_use_fusion_emitters": False}
"""Options of the compiler; one that it does not know is left out."""
Donate = Literal["none", "all-except-first"]
P = ParamSpec("P")
R = TypeVar("R")


@cache
def quick_options() -> dict[str, Any]:
    """Return the options that this version of the compiler knows: none where time has passed over them."""
    try:
        jax.jit(jnp.negative, compiler_options=QUICK)(1.0)
    except jax.errors.JaxRuntimeError:
        return {}
    return QUICK


def is_staged() -> bool:
    """Whether operations become part of a program that is being traced, instead of being carried out."""
    return isinstance(lax.full((), 0.0), Tracer)


@overload
def compiled(function: Callable[P, R], *, donate: Donate = "none") -> Callable[P, R]: ...
@overload
def compiled(*, donate: Donate) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def compiled(function: Callable[..., Any] | None = None, *, donate: Donate = "none") -> Callable[..., Any]:
    """Compile a function for every kind of its arguments: arrays are traced, all else is part of the kind.

    ``donate`` says which arrays may be overwritten. Called while another function is traced, it becomes part of that.

    Examples
    --------
    >>> double = compiled(lambda x: 2 * x)
    >>> float(double(jnp.ones(())))
    2.0
    """
    if function is None:
        return partial(compiled, donate=donate)
    inner = eqx.filter_jit(function, donate=donate)
    options: Callable[[], dict[str, Any]] = lambda: {"compiler_options": quick_options()} if quick_options() else {}
    outer = cache(lambda: eqx.filter_jit(function, donate=donate, **options()))

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Tracer) for x in jax.tree.leaves((args, kwargs))) or is_staged():
            return inner(*args, **kwargs)  # options are for whole programs
        own = Call(function, (args, kwargs), donate != "none")
        program = kept_program(own, options())
        return outer()(*args, **kwargs) if program is None else program(own)

    return call
