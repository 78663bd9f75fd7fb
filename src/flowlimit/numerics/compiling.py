"""How the package's functions become compiled programs: as by `equinox.filter_jit`, in about half the time on a CPU.

Most of what a user waits for the first time is the compiler. XLA has two ways to make a CPU's kernels; the older one is
about twice as fast for programs of many small kernels, as all here are, and what it makes runs as fast.
"""

from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from .kept import Call, Program, kept_program

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


class Compiled(Generic[P, R]):
    """A function that is compiled for every kind of its arguments, when it first meets the kind or ahead of that."""

    def __init__(self, function: Callable[P, R], donate: Donate) -> None:
        self._function, self._donate = function, donate
        self._inner = eqx.filter_jit(function, donate=donate)
        options: Callable[[], dict[str, Any]] = lambda: {"compiler_options": quick_options()} if quick_options() else {}
        self._options, self._outer = options, cache(lambda: eqx.filter_jit(function, donate=donate, **options()))
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns."""
        if any(isinstance(x, Tracer) for x in jax.tree.leaves((args, kwargs))) or is_staged():
            return self._inner(*args, **kwargs)  # options are for whole programs
        call, program = self._kept(*args, **kwargs)
        return self._outer()(*args, **kwargs) if program is None else program(call)

    def __reduce__(self) -> str:
        return self._function.__qualname__  # pickled as functions are, by name

    def ahead(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Compile for such arguments, whose numbers are not read: a call then finds its program."""
        program = self._kept(*args, **kwargs)[1]
        if program is None:
            lowered: Any = self._outer()
            lowered.lower(*args, **kwargs).compile()

    def blank(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return zeros in place of what a call returns, to compile ahead with."""
        program = self._kept(*args, **kwargs)[1]
        zeros = lambda like, device: jax.device_put(np.zeros(like.shape, like.dtype), device)
        if program is not None:  # whose results are bound to their device: what takes them is another program by that
            return program.filled([zeros(like, jax.devices()[0]) for like in program.shapes])
        shapes = eqx.filter_eval_shape(self._function, *args, **kwargs)
        return jax.tree.map(lambda x: zeros(x, None) if isinstance(x, jax.ShapeDtypeStruct) else x, shapes)

    def _kept(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Call, Program | None]:
        call = Call(self._function, (args, kwargs), self._donate != "none")
        return call, kept_program(call, self._options)


@overload
def compiled(function: Callable[P, R], *, donate: Donate = "none") -> Compiled[P, R]: ...
@overload
def compiled(*, donate: Donate) -> Callable[[Callable[P, R]], Compiled[P, R]]: ...
def compiled(function: Callable[..., Any] | None = None, *, donate: Donate = "none") -> Callable[..., Any]:
    """Compile a function for every kind of its arguments: arrays are traced, all else is part of the kind.

    ``donate`` says which arrays may be overwritten. Called while another function is traced, it becomes part of that.

    Examples
    --------
    >>> double = compiled(lambda x: 2 * x)
    >>> float(double(jnp.ones(())))
    2.0
    """
    return partial(Compiled, donate=donate) if function is None else Compiled(function, donate)
