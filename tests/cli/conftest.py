"""A problem in a file, for the tests of the command."""

import pytest


@pytest.fixture
def write(tmp_path):
    def give(text):
        path = tmp_path / "problem.toml"
        path.write_text(text)
        return path

    return give
