"""The package as cluster jobs find it: by its commands, in an environment that is handed to them."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(sys.executable).parent


@pytest.fixture(scope="session")
def commands():
    """The environment of jobs: commands beside this Python come first, and the package is the one under test."""
    return os.environ | {"PATH": os.pathsep.join([str(HERE), os.environ["PATH"], "/usr/sbin"])}  # daemons' home
