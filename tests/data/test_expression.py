"""Real data: the matrix of the extra, the archive that a user gives, and designs drawn from them."""

import hashlib
import io
import tarfile

import numpy as np
import pytest

from flowlimit.data import load_expression, sample_design, whiten


def archive(path, rows):
    """Write an archive in the form of the UCI one."""
    table = "," + ",".join(f"gene_{i}" for i in range(rows.shape[1])) + "\n"
    table += "".join(f"sample_{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(rows))
    with tarfile.open(path, "w:gz") as out:
        info = tarfile.TarInfo("TCGA-PANCAN-HiSeq-801x20531/data.csv")
        info.size = len(table)
        out.addfile(info, io.BytesIO(table.encode()))
    return path


def test_the_archive_is_read_and_checked(tmp_path):
    rows = np.round(np.random.default_rng(0).normal(size=(5, 7)), 6)
    path = archive(tmp_path / "genes.tar.gz", rows)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for _ in range(2):  # the second time from what was kept
        np.testing.assert_allclose(load_expression(path, sha256=digest), rows)
    assert len(list(tmp_path.glob("genes.tar.gz.*.npy"))) == 1
    (kept,) = tmp_path.glob("genes.tar.gz.*.npy")
    kept.write_bytes(kept.read_bytes()[:-9])  # the disk was full once
    np.testing.assert_allclose(load_expression(path), rows)
    np.testing.assert_allclose(np.load(kept), rows)
    other = archive(path, rows + 1.0)
    np.testing.assert_allclose(load_expression(other), rows + 1.0)
    with pytest.raises(ValueError, match="it is not whole, or another file"):
        load_expression(path, sha256="0" * 64)
    with pytest.raises(FileNotFoundError, match=r"give the path of TCGA.*or source='chop'"):
        load_expression(tmp_path / "none.tar.gz")


def test_the_real_matrix_is_whitened_and_sampled():
    pytest.importorskip("SurvSet")
    white = whiten(load_expression("chop"))
    assert white.shape == (414, 413)
    np.testing.assert_allclose(white.T @ white / 414, np.eye(413), atol=1e-9)
    X = sample_design(white, 100, 200, seed=1)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.var(axis=0), 1 / 200)
    assert not np.allclose(X, sample_design(white, 100, 200, seed=2))
    with pytest.raises(ValueError, match="the matrix has 414 and 413"):
        sample_design(white, 500, 200, seed=0)
