"""Arrays over several devices, of one process or of several: putting, reading, and what processes agree on.

In a job of several processes (`jax.distributed`) each runs the same program on the host and holds the data of its
devices. So what depends on a clock or on a user's answer must be agreed on, and numbers must be read together.
"""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

Devices = tuple[Any, ...]
EVERYWHERE = PartitionSpec()
ROWS_AT_ONCE = 32
"""Rows that are read together where other processes hold parts of them: no device needs memory for all."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_devices(devices: Sequence[Any]) -> Devices:
    """Return the devices, or refuse what is none, what is there twice, and a job that this process has no part in."""
    given = tuple(devices) if isinstance(devices, Iterable) else (devices,)
    if not given or not all(isinstance(device, jax.Device) for device in given):
        what = f"{', '.join(type(one).__name__ for one in given):.200}" if given else "none"
        raise ValueError(f"devices: given {what}, needs at least one jax device, e.g. devices=jax.devices()")
    if len(set(given)) < len(given):
        raise ValueError(f"devices: given {len(given)} devices, some of them twice, e.g. give devices=jax.devices()")
    if all(device.process_index != jax.process_index() for device in given):
        raise ValueError("devices: given none of this process's; every process of a job needs devices=jax.devices()")
    return given


def is_shared(mesh: Mesh | None) -> bool:
    """Whether devices belong to several processes."""
    return mesh is not None and mesh.is_multi_process


def put(mesh: Mesh, array: Any, spec: PartitionSpec = EVERYWHERE) -> jax.Array:
    """Put a host's array on devices; of a job's processes, each puts its own part.

    Examples
    --------
    >>> mesh = Mesh(np.array(jax.devices()[:1]), ("paths",))
    >>> put(mesh, np.arange(3.0), PartitionSpec("paths")).shape
    (3,)
    """
    whole = np.asarray(array)
    return jax.make_array_from_callback(whole.shape, NamedSharding(mesh, spec), lambda index: whole[index])


def put_here(array: Any) -> jax.Array:
    """Put a host's array on the default device; `jax.numpy.asarray` compiles a program for every shape it meets.

    Examples
    --------
    >>> put_here(np.arange(3)).tolist()
    [0, 1, 2]
    """
    return jax.device_put(np.asarray(array))


def put_like(array: Any, like: jax.Array) -> jax.Array:
    """Put a host's array where another is: bound to its device or not, by which compiled programs differ."""
    return jax.device_put(np.asarray(array), like.sharding if like.committed else None)


def put_everywhere(mesh: Mesh | None, tree: Any) -> Any:
    """Put all arrays of a tree on every device; with no mesh they stay where they are."""
    if mesh is None:
        return tree
    return jax.tree.map(lambda leaf: put(mesh, leaf) if isinstance(leaf, jax.Array) else leaf, tree)


def read(array: jax.Array) -> np.ndarray:
    """Return a whole array on the host, also one of which other processes hold parts.

    Examples
    --------
    >>> read(jnp.arange(3)).tolist()
    [0, 1, 2]
    """
    if array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)
    if array.ndim < 2 or array.shape[0] <= ROWS_AT_ONCE:
        return np.asarray(_gathered(array.sharding.mesh, array))  # pyright: ignore[reportAttributeAccessIssue]
    rows = range(0, array.shape[0], ROWS_AT_ONCE)
    return np.concatenate([read(array[first : first + ROWS_AT_ONCE]) for first in rows])


@partial(jax.jit, static_argnums=0)
def _gathered(mesh: Mesh, array: jax.Array) -> jax.Array:
    return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, EVERYWHERE))


def any_process(mesh: Mesh | None, flag: bool) -> bool:
    """Whether any of the processes that work together says so: the same answer in each.

    Examples
    --------
    >>> any_process(None, True)
    True
    """
    return bool(_over_processes(mesh, np.array(flag), "max")) if is_shared(mesh) else flag


def of_first_process(mesh: Mesh | None, array: np.ndarray) -> np.ndarray:
    """Return the first process's array, in every process: for what rounding may make differ."""
    if not is_shared(mesh):
        return array
    assert mesh is not None
    is_first = mesh.devices.flat[0].process_index == jax.process_index()
    return _over_processes(mesh, array if is_first else np.zeros_like(array), "sum")


def _over_processes(mesh: Mesh | None, array: np.ndarray, how: str) -> np.ndarray:
    """Add or compare the processes' arrays, each given once."""
    assert mesh is not None
    flat = Mesh(mesh.devices.reshape(-1), ("device",))
    ours = [device for device in flat.devices if device.process_index == jax.process_index()]
    parts = [
        jax.device_put(array[None] if device == ours[0] else np.zeros_like(array)[None], device) for device in ours
    ]
    spread = NamedSharding(flat, PartitionSpec("device"))
    every = jax.make_array_from_single_device_arrays((flat.size, *array.shape), spread, parts)
    return np.asarray(_reduced(flat, how, every))


@partial(jax.jit, static_argnums=(0, 1))
def _reduced(mesh: Mesh, how: str, every: jax.Array) -> jax.Array:
    one = jnp.sum(every, axis=0) if how == "sum" else jnp.max(every, axis=0)
    return jax.lax.with_sharding_constraint(one, NamedSharding(mesh, EVERYWHERE))
