"""What the tests of this folder sweep, importable by workers and by scripts, and how stores are compared."""

import os
import signal
import time
from pathlib import Path

import numpy as np

import flowlimit as fl
from flowlimit.sweeps import store as store_module
from flowlimit.sweeps.store import Store

TASK = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
MODEL = fl.DiagonalLinear(init_scale=0.3)
OVER = {"factor": [i / 7 for i in range(48)]}
BLOCK_SIZE = 4
BLOCKS = 12


def numbers(model, task, *, factor):
    """A user's function: some milliseconds, so that a kill meets blocks under way."""
    time.sleep(0.01)
    if factor == OVER["factor"][9]:
        raise ValueError("a point that fails")
    return {"product": factor * float(model.init_scale), "powers": factor ** np.arange(3.0)}


def run(store, **options):
    return fl.sweep(numbers, MODEL, TASK, over=OVER, store=store, block_size=BLOCK_SIZE, **options)


def chunks(store):
    """Every file of a store by its path; marks aside, which tell seconds and workers."""
    store = Path(store)
    files = (path for path in store.rglob("*") if path.is_file() and path.suffix != ".partial")
    named = {path.relative_to(store).as_posix(): path.read_bytes() for path in files}
    return {name: data for name, data in named.items() if not name.startswith("marks/")}


def die_before_mark(block, once=None):
    """Arm this process: it is killed when a block's data are written and its mark is not; once, by a file it leaves."""
    put = store_module.put_mark

    def killed(path, mark):
        if mark["block"] == block and (once is None or not Path(once).exists()):
            if once is not None:
                Path(once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        put(path, mark)

    store_module.put_mark = killed


def die_within_data(block):
    """Arm this process: it is killed when some arrays of a block are written and others are not."""
    write, array = Store.write, Store._array

    def killed(store, name):
        if name == "powers":  # after "result" and "product"
            os.kill(os.getpid(), signal.SIGKILL)
        return array(store, name)

    def armed(store, own, rows, worker):
        if own == block:
            Store._array = killed
        return write(store, own, rows, worker)

    Store.write = armed
