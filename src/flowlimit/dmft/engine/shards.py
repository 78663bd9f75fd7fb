"""Paths over devices: which device has which paths, and programs that run on every device's part.

A part begins with its share of the paths that serve the responses, so that on a device as on one alone these are the
first. Paths are the last axis of every array that has them; all else (operators, averages) is on every device. Programs
see a part of the paths, and sums over paths are all-reduces, see `Paths.total`: no path ever leaves its device.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Bool, Float, Int

from ...numerics.devices import EVERYWHERE, read
from .state import Front, Paths, Rows, SampleCloud, SamplePaths, SampleRows

AXIS = "paths"
SPREAD: dict[type, tuple[str, ...]] = {
    Paths: ("normals", "theta", "w_star", "probability", "few_probability", "kicks", "root"),
    SamplePaths: ("normals", "teacher", "noise", "probability", "few_probability", "masks"),
    Front: ("theta", "velocity", "tangent", "z"),
    Rows: ("W", "response", "Q", "normals"),
    SampleRows: ("residuals", "response", "Q_l", "Q_w", "normals"),
}
"""Arrays with an axis of paths."""


class Dealt(NamedTuple):
    """Which path stands in which column, device by device; columns that are not ``live`` repeat one, with no weight."""

    path: Int[np.ndarray, "parts own"]
    live: Bool[np.ndarray, "parts own"]


def deal(first: int, last: int, parts: int) -> Dealt:
    """Deal paths out, the same number to each part.

    Examples
    --------
    >>> deal(0, 5, 2).path.tolist()
    [[0, 1, 2], [3, 4, 4]]
    """
    own = -(-(last - first) // parts)
    path = first + np.arange(parts * own).reshape(parts, own)
    return Dealt(np.minimum(path, last - 1), path < last)


def deal_all(paths: int, few: int, parts: int) -> Dealt:
    """Deal all paths out, those for the responses first in every part."""
    both = deal(0, few, parts), deal(few, paths, parts)
    return Dealt(*(np.concatenate(pair, axis=1) for pair in zip(*both, strict=True)))


def last_axis(ndim: int) -> PartitionSpec:
    """Return the layout of an array whose last axis is over the devices."""
    return PartitionSpec(*[None] * (ndim - 1), AXIS)


def put_paths(mesh: Mesh, array: Any, dealt: Dealt, *, weights: bool = False) -> jax.Array:
    """Put an array on the devices, each path where it was dealt; as ``weights``, repeated paths have none."""
    host, path, live = np.asarray(array), dealt.path.ravel(), dealt.live.ravel()
    part = lambda index: host[..., path[index[-1]]] * (live[index[-1]] if weights else 1.0)
    layout = NamedSharding(mesh, last_axis(host.ndim))
    return jax.make_array_from_callback((*host.shape[:-1], len(path)), layout, part)


def spread_paths(
    mesh: Mesh, paths: Paths, normals: Float[np.ndarray, "N M"], kicks: Float[np.ndarray, "NK k M"]
) -> Paths:
    """Return paths over devices; the large arrays come from the host, the small ones from ``paths``."""
    few = paths.few_probability.shape[0]
    first, every = deal(0, few, mesh.size), deal_all(paths.probability.shape[0], few, mesh.size)
    return Paths(
        normals=put_paths(mesh, normals, every),
        theta=put_paths(mesh, paths.theta, every),
        w_star=put_paths(mesh, paths.w_star, every),
        probability=put_paths(mesh, paths.probability, every, weights=True),
        few_probability=put_paths(mesh, paths.few_probability, first, weights=True),
        kicks=put_paths(mesh, kicks, every),
        root=None if paths.root is None else put_paths(mesh, paths.root, every),
        axis=AXIS,
        drawn=(paths.probability.shape[0], few),
    )


def spread_samples(mesh: Mesh, cloud: SampleCloud) -> SamplePaths:
    """Return paths of the samples side over devices."""
    few = len(cloud.few_probability)
    first, every = deal(0, few, mesh.size), deal_all(len(cloud.probability), few, mesh.size)
    return SamplePaths(
        normals=put_paths(mesh, cloud.normals, every),
        teacher=put_paths(mesh, cloud.teacher, every),
        noise=put_paths(mesh, cloud.noise, every),
        probability=put_paths(mesh, cloud.probability, every, weights=True),
        few_probability=put_paths(mesh, cloud.few_probability, first, weights=True),
        masks=put_paths(mesh, cloud.masks, every),
        axis=AXIS,
    )


def read_columns(mesh: Mesh | None, paths: Paths, array: jax.Array) -> np.ndarray:
    """Return an array on the host with the paths in the order in which they were drawn."""
    if mesh is None:
        return np.asarray(array)
    dealt = deal_all(*paths.drawn, mesh.size)
    return read(array)[..., dealt.live.ravel()][..., np.argsort(dealt.path[dealt.live])]


def without_history(mesh: Mesh | None, paths: Paths) -> Paths:
    """Return the paths with no normals, as drawn: what is small, for one device."""
    if mesh is None:
        return paths
    whole = lambda array: jnp.asarray(read_columns(mesh, paths, array))
    theta, w_star, probability = (whole(array) for array in (paths.theta, paths.w_star, paths.probability))
    M = len(probability)
    root = None if paths.root is None else whole(paths.root)
    return Paths(jnp.zeros((0, M)), theta, w_star, probability, jnp.zeros(0), jnp.zeros((0, len(theta), M)), root)


def layout(tree: Any) -> Any:
    """Return where each array of a tree is: its paths over the devices, or everywhere."""
    known = lambda x: type(x) in SPREAD

    def one(x: Any) -> Any:
        if not known(x):
            return EVERYWHERE
        inner = jax.tree.map(one, x, is_leaf=lambda y: y is not x and known(y))
        names = [name for name in SPREAD[type(x)] if getattr(x, name) is not None]
        fields = lambda x: [getattr(x, name) for name in names]
        return eqx.tree_at(fields, inner, [last_axis(leaf.ndim) for leaf in fields(x)])

    return jax.tree.map(one, tree, is_leaf=known)


def on_devices(mesh: Mesh | None, function: Callable[..., Any], *arguments: Any, like: Any) -> Any:
    """Call a function on every device's part of the paths; ``like`` is a tree of the kind that it returns."""
    if mesh is None:
        return function(*arguments)
    arrays, static = eqx.partition(arguments, eqx.is_array)
    part = lambda arrays: function(*eqx.combine(arrays, static))
    # Loops carry numbers that are the same on all devices beside others that are not: more than the check follows.
    return jax.shard_map(part, mesh=mesh, in_specs=(layout(arrays),), out_specs=layout(like), check_vma=False)(arrays)
