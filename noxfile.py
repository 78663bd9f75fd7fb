"""The stages of .ci/run one at a time: ``nox -s lint``, ``nox -s tests-3.12`` and so on."""

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "tests", "docs"]
PYTHONS = ["3.11", "3.12", "3.13"]


@nox.session
def lint(session):
    session.install("-c", "constraints.txt", "ruff", "codespell")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")


@nox.session
def prose(session):
    session.install("-c", "constraints.txt", "-e", ".[dev]")
    session.run("python", "tests/prose.py", *session.posargs)


@nox.session
def types(session):
    session.install("-c", "constraints.txt", "-e", ".[dev]")
    session.run("pyright")


@nox.session(python=PYTHONS)
def tests(session):
    session.install("-e", ".[dev,verify,cluster]")
    session.run("pytest", "-q", *session.posargs)


@nox.session
def coverage(session):
    session.install("-c", "constraints.txt", "-e", ".[dev,verify,cluster,data,explore]")
    session.run("pytest", "-q", "-m", "", "--cov", "--cov-report=term:skip-covered", *session.posargs)


@nox.session(python=PYTHONS[-1], venv_backend="uv")
def newest(session):
    session.install("--upgrade", "--prerelease", "allow", ".")
    session.run("python", "tests/run_versions.py")


@nox.session(python=PYTHONS[0], venv_backend="uv")
def lowest(session):
    session.install("--resolution", "lowest-direct", ".")
    session.run("python", "-W", "error", "-W", "ignore::DeprecationWarning", "tests/run_versions.py")


@nox.session
def docs(session):
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")


@nox.session
def benchmarks(session):
    session.install("-e", ".")
    session.run("python", "benchmarks/simulate_steps.py")
    session.run("python", "benchmarks/simulate_memory.py", *session.posargs)
