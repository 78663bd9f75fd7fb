"""What tests of verbs on concrete data share."""

import sys
from pathlib import Path

import numpy as np
import pytest

import flowlimit as fl

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import own_data


@pytest.fixture(scope="session")
def small():
    """80 samples of 120 features, whose target `own_data.draw` returns as well."""
    X, y, _ = own_data.draw(np.random.default_rng(0), 80, np.eye(120), "normal")
    return fl.Dataset(X, y)
