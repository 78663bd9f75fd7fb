"""Templates: where they are, and the command that prints them; tests/cluster has what they do."""

import pytest
from typer.testing import CliRunner

from flowlimit.cli.app import app
from flowlimit.sweeps.templates import names, read


def test_templates_are_part_of_the_package():
    assert names() == [
        "kubernetes_dask.yaml",
        "kubernetes_indexed_job.yaml",
        "slurm_array.sh",
        "slurm_dask.py",
        "slurm_distributed.py",
        "slurm_distributed.sh",
    ]
    for name in names():
        assert "Change: " in read(name)
    with pytest.raises(ValueError, match=r"given 'slurm', needs one of .*slurm_array.sh"):
        read("slurm")


def test_the_command_lists_and_prints_them():
    assert CliRunner().invoke(app, ["template"]).stdout.split() == names()
    assert CliRunner().invoke(app, ["template", "slurm_dask.py"]).stdout == read("slurm_dask.py")
