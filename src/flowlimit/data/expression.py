"""Gene expression: the UCI archive that the paper uses, and a matrix that a package on the registry carries."""

import contextlib
import hashlib
import tarfile
import warnings
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Float

from ..numerics.disk import write_file

Matrix = Float[np.ndarray, "samples features"]
ARCHIVE = "TCGA-PANCAN-HiSeq-801x20531.tar.gz"
SHAPE = (801, 20531)


def load_expression(source: Literal["chop"] | str | Path = "chop", *, sha256: str | None = None) -> Matrix:
    """Return a matrix of expression levels, a row a sample.

    Parameters
    ----------
    source
        ``"chop"``: 414 lymphoma samples with 3833 probes, from the extra ``data``. Or the path of the UCI archive
        TCGA-PANCAN-HiSeq-801x20531 (801 samples, 20531 genes), which you fetch yourself.
    sha256
        What the archive must hash to.

    Examples
    --------
    >>> load_expression("chop").shape  # doctest: +SKIP
    (414, 3833)
    """
    return _chop() if source == "chop" else read_archive(Path(source), sha256=sha256)


def _chop() -> Matrix:
    try:
        from SurvSet.data import SurvLoader
    except ImportError:
        raise ImportError("source: given 'chop', which needs SurvSet: pip install 'flowlimit[data]'") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its pickle names modules of an older NumPy
        table = SurvLoader().load_dataset("chop")["df"]
    return table[[name for name in table.columns if name.startswith("num_")]].to_numpy(dtype=float)


def read_archive(path: Path, *, sha256: str | None = None) -> Matrix:
    """Read the UCI archive, which must be whole; its numbers are kept beside it, so that the next time is quick."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; give the path of {ARCHIVE}, or source='chop'")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if sha256 not in (None, digest):
        raise ValueError(f"{path} hashes to {digest}, needs {sha256}: it is not whole, or another file")
    kept = path.with_name(f"{path.name}.{digest[:16]}.npy")  # of another archive by the same name there is another
    with contextlib.suppress(OSError, ValueError, EOFError):  # not there, or cut off
        return np.load(kept)
    matrix = _parse(path)
    with contextlib.suppress(OSError):  # a folder that is not ours to write in
        write_file(kept, lambda beside: np.save(beside, matrix))
    return matrix


def _parse(path: Path) -> Matrix:
    with tarfile.open(path) as archive:
        member = next((one for one in archive.getmembers() if one.name.endswith("/data.csv")), None)
        file = None if member is None else archive.extractfile(member)
        if file is None:
            raise ValueError(f"{path} has no data.csv; give the path of {ARCHIVE}")
        rows = [line.decode().rstrip().split(",")[1:] for line in file.readlines()[1:]]
    return np.array(rows, dtype=float)
