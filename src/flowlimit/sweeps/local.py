"""A Dask cluster on this machine, with the cores shared out evenly."""

from typing import Any

from ..numerics.devices import usable_cores


def local_cluster(workers: int) -> Any:
    """Return a cluster of worker processes, each with its part of the cores; use it in a ``with``.

    Its processes talk to each other by TLS, with a certificate that is made for this cluster and kept in memory: other
    users of the machine can neither give it work nor read what it computes.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> with fl.local_cluster(2) as cluster, Client(cluster) as client:  # doctest: +SKIP
    ...     fl.sweep(fl.fixed_point, model, task, over=axes, store="atlas.zarr", executor=client)
    """
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ValueError(f"workers: given {workers!r}, needs an int of at least 1, e.g. fl.local_cluster(2)")
    from distributed import LocalCluster
    from distributed.security import Security

    # NPROC is how XLA is told the number of its threads; it would take all cores in every worker.
    share = {"NPROC": str(max(1, usable_cores() // workers))}
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,  # pyright: ignore[reportArgumentType] none: it asks nobody for a name
        host="127.0.0.1",
        protocol="tls://",
        security=Security.temporary(),
        env=share,
    )
