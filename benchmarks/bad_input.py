"""Bad input, by the thousand: every constructor, verb, closed form, problem file and flag either works or refuses.

A refusal is a typed error (ValueError, TypeError, FlowlimitError, OSError of a path) whose message names an argument.
Faults are all else: another error, a message that names no argument, a result that is not finite, a value that should
not pass, a case that does not return in time, a process that ends.

python benchmarks/bad_input.py --cases 100000
"""

import argparse
import contextlib
import inspect
import io
import json
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

import flowlimit as fl

SECONDS = {"nouns": 5.0, "dictionaries": 5.0, "arguments": 60.0, "closed": 120.0, "files": 120.0, "tiny": 120.0}
"""What a case of each layer may take; a first one compiles."""
SHARES = {"nouns": 0.5, "dictionaries": 0.2, "arguments": 0.15, "closed": 0.08, "files": 0.065, "tiny": 0.005}
CHUNK = {"nouns": 20_000, "dictionaries": 20_000, "arguments": 2_500, "closed": 4_000, "files": 1_500, "tiny": 100}
"""Cases of one process: a case that ends it costs no more."""
MEMORY = 16 * 2**30
REFUSALS = (ValueError, TypeError, OSError, fl.FlowlimitError)


class Case(NamedTuple):
    """A call, and what is expected of it."""

    name: str
    call: Callable[[], Any]
    shown: str
    names: tuple[str, ...]  # one of which a refusal has to name
    passes: bool = True  # whether it may work


class Hang(BaseException):
    """A case took too long."""


# Values

NOUNS = [
    fl.Normal(),
    fl.Linear(),
    fl.GaussianDesign(),
    fl.HuberLoss(),
    fl.GradientFlow(1.0),
    fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)),
    fl.Independent(fl.Normal(), count=2),
]
ODD_NUMBERS = [0, -1, 1, 2, 1.0, 1e-320, 1e-200, 1e-70, 1e70, 1e308, -0.0, np.inf, -np.inf, np.nan, 10**400, 10**5000]
ODD_NUMBERS += [-(10**30), 2**63, 10**9, 10**12, 1e12, 1e-12, True, False, np.float32(0.5), np.int8(3), np.bool_(True)]
ODD = [None, "", "0.3", "None", "ü∞\u202e\x00", "a" * 10_000, b"x", 1j, (), [], [[]], {}, {1, 2}, {"a": 1}, object()]
ODD += [{"kind": "Normal"}, np.zeros(0), np.ones((2, 2)), np.array("a"), np.array(None), np.array([np.nan]), range(3)]
ODD += [
    [1.0, "a"],
    [1.0, None],
    [[1.0], [1.0, 2.0]],
    Fraction(1, 3),
    Decimal("0.1"),
    date(2025, 1, 1),
    np.datetime64(0, "s"),
]
ODD += [int, len, lambda *a: a, lambda: 1 / 0, Exception("x"), jnp.ones(3), jnp.array(0.3), [0.1, 0.2], (0.3, np.inf)]
ODD += [jax.random.key(0), np.float64(0.1), 3.5, -2.5, slice(1), ..., NotImplemented, io.StringIO("a"), Path("/x/y")]
ODD += NOUNS


def some(values: list[Any]) -> Any:
    """Return a strategy for one of some values, by place: hypothesis prints strategies, and not all values print."""
    return st.integers(0, len(values) - 1).map(lambda place: values[place])


numbers = st.one_of(st.floats(), st.integers(), some(ODD_NUMBERS))
anything = st.one_of(numbers, some(ODD), some(ODD_NUMBERS), st.text(max_size=5))
sizes = st.floats(-75.0, 75.0).map(lambda x: 10.0**x)
moderate = st.floats(-3.0, 3.0).map(lambda x: 10.0**x)
parts = st.one_of(st.floats(1e-9, 1.0), st.sampled_from([0.0, 1.0, 1e-12, 1.0 - 1e-12, 0.5]))
laws: Any = st.one_of(
    parts.map(fl.Bernoulli),
    parts.map(fl.SparseRademacher),
    parts.map(fl.BernoulliGauss),
    moderate.map(fl.Normal),
    moderate.map(fl.PointMass),
    st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=4).map(
        lambda x: fl.Empirical([0.0 if abs(y) < 1e-70 else y for y in x])
    ),
)
ratios = st.one_of(
    moderate, st.sampled_from([1.0, np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0), 0.999, 1.001, 1e-3, 1e3])
)

# Nouns

schedules = st.one_of(moderate, st.just(lambda i: 0.1 / (1 + i)), st.lists(moderate, max_size=4))
few = st.integers(1, 4)
functions: Any = some([jnp.tanh, lambda theta: theta**3, lambda theta: theta[2]])
matrices = st.sampled_from([np.eye(3) / np.sqrt(3.0), np.ones((2, 4)) / 2.0, np.full((3, 2), np.nan), np.ones((0, 2))])
designs = st.sampled_from([fl.GaussianDesign(), fl.BinaryDesign(), fl.MatrixDesign(jnp.eye(3)[:2])])
STEPS = {"step_size": schedules, "num_steps": few, "decay_factor": st.one_of(st.none(), schedules)}
MOVES = {"momentum": parts, "nesterov": st.booleans()}
FIELDS: dict[Any, dict[str, Any]] = {
    fl.Bernoulli: {"probability": parts, "value": moderate},
    fl.SparseRademacher: {"probability": parts, "value": moderate},
    fl.BernoulliGauss: {"probability": parts, "std": moderate},
    fl.Normal: {"std": moderate},
    fl.PointMass: {"value": moderate},
    fl.Empirical: {"values": st.lists(moderate, max_size=5)},
    fl.Independent: {"law": laws, "count": st.integers(0, 20)},
    fl.GaussianDesign: {},
    fl.BinaryDesign: {},
    fl.StudentDesign: {"degrees": moderate},
    fl.IIDDesign: {"law": laws},
    fl.MatrixDesign: {"matrix": matrices},
    fl.DiagonalLinear: {
        "init_scale": st.one_of(sizes, laws, st.lists(moderate)),
        "weight_decay": moderate,
        "depth": st.integers(0, 80),
        "truncation": moderate,
    },
    fl.Linear: {"weight_decay": moderate, "init_scale": moderate, "init_overlap": moderate},
    fl.Reparametrized: {
        "weight": functions,
        "init": st.one_of(moderate, laws, st.lists(moderate), functions),
        "weight_decay": moderate,
        "rate": moderate,
        "num_normals": few,
    },
    fl.HuberLoss: {"threshold": moderate, "noise_std": moderate, "tail": moderate},
    fl.LogisticLoss: {"slope": moderate},
    fl.SquaredLoss: {},
    fl.CustomLoss: {"label": functions, "loss": functions, "error": functions, "is_difference": st.booleans()},
    fl.Regression: {"aspect_ratio": ratios, "noise_var": moderate, "target": laws, "design": designs},
    fl.GeneralizedLinear: {"aspect_ratio": ratios, "target": laws, "loss": st.just(fl.HuberLoss()), "design": designs},
    fl.Classification: {"aspect_ratio": ratios, "target": laws, "slope": moderate, "design": designs},
    fl.Dataset: {
        "X": matrices,
        "y": st.sampled_from([np.ones(3), np.ones(2), [1.0, 2.0, np.nan]]),
        "w_star": st.sampled_from([None, np.ones(3), np.ones(4)]),
        "noise_var": moderate,
    },
    fl.GradientFlow: {"horizon": sizes},
    fl.GradientDescent: STEPS | MOVES,
    fl.StochasticGradientDescent: STEPS
    | MOVES
    | {"batch_fraction": parts, "persistent": st.booleans(), "label_noise": moderate},
    fl.Langevin: STEPS | {"temperature": moderate},
}


@st.composite
def nouns(draw: Any) -> Case:
    """Return a constructor with arguments of which some may be anything."""
    cls = draw(st.sampled_from(list(FIELDS)))
    fields = FIELDS[cls]
    given = {name: draw(st.one_of(valid, valid, anything)) for name, valid in fields.items() if draw(st.integers(0, 9))}
    if not draw(st.integers(0, 19)):
        given[draw(st.sampled_from(["alpha", "lr", "größe"]))] = 1.0
    return Case(cls.__name__, lambda: sound(cls(**given)), _call(cls, given), (*fields, *given))


@st.composite
def dictionaries(draw: Any) -> Case:
    """Return `from_dict` of a description in which something was replaced."""
    kinds = st.one_of(st.sampled_from([cls.__name__ for cls in FIELDS]), some(ODD), st.text(max_size=8))
    cls = draw(st.sampled_from(list(FIELDS)))
    kind = cls.__name__ if draw(st.integers(0, 9)) else draw(kinds)
    given: dict[Any, Any] = {"kind": kind} if draw(st.integers(0, 19)) else {}
    for name, valid in FIELDS[cls].items():
        if draw(st.integers(0, 9)):
            value = draw(st.one_of(valid, anything))
            given[name] = value.to_dict() if hasattr(value, "to_dict") and draw(st.booleans()) else value
    if not draw(st.integers(0, 9)):
        given[draw(st.one_of(st.integers(), st.text(max_size=3), st.none()))] = draw(anything)
    whole = given if draw(st.integers(0, 49)) else draw(anything)
    names = ("kind", "description", *{name for fields in FIELDS.values() for name in fields}, *map(str, given))
    return Case("from_dict", lambda: sound(fl.from_dict(whole)), f"fl.from_dict({_short(whole)})", names)


def sound(noun: Any) -> None:
    """Check that a noun prints, is finite, and survives a trip through JSON."""
    text, described = repr(noun), noun.to_dict()
    assert text.startswith(type(noun).__name__), f"prints as {text}"
    for leaf in jax.tree.leaves(noun):
        assert bool(jnp.isfinite(leaf).all()), f"not finite: {text}"
    words = json.dumps(described, allow_nan=False)
    if '"function"' not in words and '"sha256"' not in words:
        assert fl.from_dict(json.loads(words)).to_dict() == described, f"changes as a dictionary: {text}"
    if isinstance(noun, fl.Law):
        assert np.isfinite([float(noun.mean), float(noun.second_moment)]).all(), f"moments of {text}"


# Arguments of verbs

MODEL, TASK, TRAINING = (
    fl.DiagonalLinear(0.3),
    fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)),
    fl.GradientDescent(0.1, num_steps=3),
)
PROBLEM = (MODEL, TASK, TRAINING)
DATA = fl.Dataset(jnp.eye(4)[:2] / 2.0, jnp.ones(2), w_star=jnp.ones(4), noise_var=0.1)


def _real(low: float, high: float) -> Callable[[Any], bool]:
    """Return whether a value is a number of an interval."""
    return lambda x: (
        isinstance(x, int | float | np.number) and not isinstance(x, bool | np.bool_) and bool(low <= x <= high)
    )


def _whole(low: int, high: float = np.inf) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, int | np.integer) and not isinstance(x, bool) and bool(low <= x <= high)


def _key(x: Any) -> bool:
    return _whole(-(2**63), 2**63 - 1)(x) or (hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key))


def _none(x: Any) -> bool:
    return x is None


def _never(x: Any) -> bool:
    return False


def _any_of(*tests: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: any(test(x) for test in tests)


def _times(x: Any) -> bool:
    """Whether times might do: only the verb knows."""
    return x is None or isinstance(x, list | tuple | np.ndarray | jax.Array | range)


def _noun(kind: Any) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, kind)


TASKS = (fl.Regression, fl.GeneralizedLinear, fl.Classification)
LIMITED = _any_of(_none, _real(1e-300, np.inf))
POSITIONS = {"model": _noun(fl.Model), "task": _noun(TASKS), "training": _noun(fl.Training)}
EMPTY = {"observables": lambda x: x is None or x == {}}
BUDGETS = {"time_limit": LIMITED}
ARGUMENTS: dict[str, tuple[Any, dict[str, Any], dict[str, Callable[[Any], bool]]]] = {
    "solve_dmft": (
        fl.solve_dmft,
        dict(zip(POSITIONS, PROBLEM, strict=True)),
        POSITIONS
        | EMPTY
        | BUDGETS
        | {"rtol": _real(1e-8, 0.999), "key": _key, "save_at": _times, "start": _none}
        | {"memory_limit": _real(1.0, np.inf), "devices": _none, "progress": _any_of(_none, callable, _noun(bool))},
    ),
    "simulate": (
        fl.simulate,
        dict(zip(POSITIONS, PROBLEM, strict=True)) | {"dim": 4, "trials": 2},
        {"model": _any_of(_noun(fl.Model), _noun(list | tuple | str))}
        | {"task": _noun((*TASKS, fl.Dataset))}
        | EMPTY
        | {
            "training": _noun(fl.Training),
            "dim": _whole(1, 10**4),
            "trials": _any_of(_none, _whole(1, 10**4)),
            "key": _key,
        }
        | {"save_at": _times, "weights_at": _times, "rtol": _real(1e-12, 1e-2), "solver": _none, "devices": _none}
        | {"devices_per_trial": _whole(1, 1), "progress": _any_of(_none, callable, _noun(bool))},
    ),
    "check": (
        fl.check,
        dict(zip(POSITIONS, PROBLEM, strict=True)) | {"dims": (4,), "trials": 2},
        POSITIONS
        | BUDGETS
        | {"dims": _never, "trials": _whole(2, 10**4), "rtol": _real(1e-8, 0.999), "key": _key}
        | {"threshold": _real(1e-300, np.inf)},
    ),
    "conform": (
        fl.conform,
        dict(zip(POSITIONS, PROBLEM, strict=True)) | {"dim": 4, "trials": 2},
        POSITIONS
        | BUDGETS
        | {"dim": _whole(1, 10**4), "trials": _whole(2, 10**4), "rtol": _real(1e-8, 0.999), "key": _key},
    ),
    "draw": (
        fl.draw,
        {"task": TASK, "dim": 4, "key": 0},
        {"task": _noun(fl.Regression), "dim": _whole(1, 10**4), "key": _key, "trial": _whole(0, 2**31)},
    ),
    "fixed_point": (
        fl.fixed_point,
        {"model": MODEL, "task": TASK},
        {"model": _never, "task": _noun(fl.Regression), "case": _none},
    ),
    "convergence_rate": (
        fl.convergence_rate,
        {"model": MODEL, "task": TASK},
        {"model": _never, "task": _noun(fl.Regression), "case": _none},
    ),
    "timescales": (fl.timescales, {"model": MODEL, "task": TASK}, {"model": _never, "task": _noun(fl.Regression)}),
    "small_init_path": (
        fl.small_init_path,
        {"model": MODEL, "task": TASK, "times": 10.0},
        {"model": _never, "task": _noun(fl.Regression), "times": _any_of(_real(1e-70, 1e70), _times)},
    ),
    "state_evolution": (
        fl.state_evolution,
        {"model": MODEL, "task": TASK, "num_steps": 5},
        {
            "model": _never,
            "task": _noun(fl.Regression),
            "num_steps": _whole(1, 10**5),
            "start": _any_of(_none, _real(1e-70, 1e70)),
            "case": _none,
        },
    ),
    "amp": (
        fl.amp,
        {"model": MODEL, "dataset": DATA, "num_steps": 50, "throw": False},
        {
            "model": _never,
            "dataset": _never,
            "num_steps": _whole(1, 10**5),
            "start": _any_of(_none, _real(1e-70, 1e70)),
        },
    ),
    "minimizer": (fl.minimizer, {"model": MODEL, "dataset": DATA}, {"model": _never, "dataset": _never}),
    "sweep": (
        fl.sweep,
        {"verb": fl.timescales, "model": MODEL, "task": TASK, "over": {"model.init_scale": [0.1]}},
        {
            "verb": callable,
            "over": _never,
            "executor": _none,
            "shard": _none,
            "block_size": _any_of(_none, _whole(1, 10**9)),
        },
    ),
    "load": (fl.load, {"path": "/nowhere"}, {"path": _never}),
    "open_sweep": (fl.open_sweep, {"path": "/nowhere"}, {"path": _never}),
}


def _records() -> dict[str, Any]:
    """Return results for the verbs that take them, made once."""
    limit = fl.solve_dmft(fl.Linear(), TASK, TRAINING)
    runs = fl.simulate(fl.Linear(), TASK, TRAINING, dim=10, trials=3, weights_at=[0.1])
    rate = fl.convergence_rate(MODEL, TASK)
    path = f"{tempfile.mkdtemp()}/a.zarr"
    both = {"limit": _noun((fl.Limit, fl.Runs)), "runs": _noun((fl.Limit, fl.Runs))}
    return {
        "compare": (
            fl.compare,
            {"limit": limit, "runs": runs},
            both | {"at": _times, "names": _never, "threshold": _real(1e-300, np.inf)},
        ),
        "derivative": (
            fl.derivative,
            {"limit": limit, "wrt": "task.noise_var", "replicas": 2},
            {"limit": _noun(fl.Limit), "wrt": _never, "replicas": _whole(2, 64), "key": _key},
        ),
        "fit_tail": (
            fl.fit_tail,
            {"record": runs, "start": 0.1, "stop": 0.3},
            {"record": _never, "name": _never, "start": _never, "stop": _never},
        ),
        "label_phases": (fl.label_phases, {"record": runs}, {"record": _never}),
        "descent_times": (fl.descent_times, {"limit": limit}, {"limit": _never}),
        "save": (fl.save, {"result": runs, "path": path}, {"result": _never}),
        "plot.curves": (
            fl.plot.curves,
            {"names": ["train_error"]},
            {"names": _never, "labels": _none, "ax": _none, "results": _never},
        ),
        "plot.law": (
            fl.plot.law,
            {"limit": limit, "time": 0.1},
            {"limit": _never, "time": _real(0.0, 0.3), "runs": _none},
        ),
        "plot.kernels": (fl.plot.kernels, {"limit": limit}, {"limit": _never, "ax": _none}),
        "plot.fixed_point_law": (fl.plot.fixed_point_law, {"point": rate.point}, {"point": _never}),
    }


@st.composite
def arguments(draw: Any) -> Case:
    """Return a verb with one bad argument; those that only the verb can judge may pass."""
    name = draw(st.sampled_from(list(ARGUMENTS)))
    verb, given, tests = ARGUMENTS[name]
    argument = draw(st.sampled_from(list(tests)))
    value = draw(anything.filter(lambda x: _maybe(tests[argument], x) is not True or tests[argument] is _times))
    given = dict(given) | {argument: value}
    unsure = tests[argument] is _times or isinstance(value, list | dict | range | np.ndarray | jax.Array | tuple)
    call = lambda: verb(value) if (name, argument) == ("plot.curves", "results") else verb(**given)
    names = (*given, *inspect.signature(verb).parameters, argument)
    return Case(name, lambda: finished(call()), f"{argument}={_short(value)}", names, passes=unsure)


def _maybe(test: Callable[[Any], Any], value: Any) -> Any:
    try:
        return bool(test(value))
    except Exception:
        return False


# Closed forms, and whole problems of a few coordinates

targets = st.one_of(laws, st.sampled_from([fl.Bernoulli(0.0), fl.PointMass(0.0), fl.Normal(0.0), fl.Bernoulli(1.0)]))
nought = st.one_of(st.just(0.0), moderate, sizes)
CLOSED = ("fixed_point", "convergence_rate", "timescales", "small_init_path", "state_evolution")
INFINITE = {"rich", "rich_sharp", "descent", "search"}
"""Numbers that may be infinite, as their docstrings say."""


@st.composite
def closed(draw: Any) -> Case:
    """Return a closed form at extreme numbers."""
    name = draw(st.sampled_from(CLOSED))
    model = fl.DiagonalLinear(draw(st.one_of(moderate, sizes)), weight_decay=draw(nought))
    task = fl.Regression(draw(st.one_of(ratios, sizes)), noise_var=draw(nought), target=draw(targets))
    extra = (
        {"times": draw(sizes)} if name == "small_init_path" else {"num_steps": 20} if name == "state_evolution" else {}
    )
    verb = getattr(fl, name)
    shown = f"{model!r}, {task!r}, {_short(extra)}"
    return Case(name, lambda: finite(verb(model, task, **extra)), shown, (*SAID, "init_scale"))


SAID = (
    "model",
    "task",
    "training",
    "aspect_ratio",
    "noise_var",
    "weight_decay",
    "times",
    "target",
    "equations",
    "step_size",
)


def finite(result: Any) -> None:
    """Check that the numbers of a closed form are numbers."""
    for name, value in vars(result).items():
        if isinstance(value, jax.Array | np.ndarray | float):
            bad = np.isnan(value).any() if name in INFINITE else not np.isfinite(value).all()
            threshold = getattr(result, "case", None) == "threshold" and not np.isnan(value).any()
            assert not bad or threshold, f"{name} is {np.asarray(value).ravel()[:3]}"


trainings = st.one_of(
    st.builds(fl.GradientDescent, st.one_of(moderate, sizes), few, st.sampled_from([0.0, 0.9, 1.0])),
    st.builds(fl.StochasticGradientDescent, st.sampled_from([0.1, 1.0]), moderate, few),
    st.builds(fl.Langevin, moderate, moderate, few),
    st.builds(fl.GradientFlow, st.one_of(st.floats(-3.0, 1.0).map(lambda x: 10.0**x))),
)
models = st.one_of(
    st.builds(
        fl.DiagonalLinear,
        st.floats(-3.0, 1.0).map(lambda x: 10.0**x),
        st.one_of(st.just(0.0), moderate),
        st.integers(2, 3),
    ),
    st.builds(fl.Linear, st.one_of(st.just(0.0), moderate), moderate),
)


@st.composite
def tiny(draw: Any) -> Case:
    """Return a whole experiment of a few coordinates and steps."""
    model, training = draw(models), draw(trainings)
    task = fl.Regression(
        draw(st.floats(0.2, 4.0)), noise_var=draw(st.one_of(st.just(0.0), moderate)), target=draw(laws)
    )
    options = {"dim": draw(st.integers(1, 6)), "trials": draw(st.integers(1, 2))}
    call = lambda: finished(fl.simulate(model, task, training, **options))
    return Case("simulate", call, f"{model!r}, {task!r}, {training!r}, {options}", SAID)


def finished(result: Any) -> None:
    """Check that the curves of a result that says it is successful are finite."""
    for one in result if isinstance(result, list) else [result]:
        outcome = getattr(one, "result", None)
        if isinstance(one, fl.Runs | fl.Limit) and outcome is not None and outcome.code is fl.Code.SUCCESSFUL:
            for name, curve in one.curves.items():
                assert np.isfinite(curve.value).all(), f"{name} is not finite though successful"


# Problem files and flags

KEYS = {
    "model": ["kind", "init_scale", "weight_decay", "depth", "truncation", "("],
    "task": ["kind", "aspect_ratio", "noise_var", "target", "größe"],
    "training": ["kind", "step_size", "num_steps", "horizon", "momentum"],
    "solve_dmft": ["rtol", "time_limit"],
    "simulate": ["dim", "trials"],
    "check": ["dims", "trials"],
}
TOKENS = [
    "0.3",
    "1",
    "-1",
    "0",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e-320",
    "1e12",
    "100000",
    "true",
    '""',
    '"ü∞"',
    "[]",
    "[1, 2]",
]
TOKENS += [
    '"DiagonalLinear"',
    '"Linear"',
    '"Law"',
    '"Regression"',
    '"GradientFlow"',
    '"os:system"',
    "{}",
    "1979-05-27",
    "10" * 200,
]
TOKENS += [
    '{kind = "Normal"}',
    '{kind = "Bernoulli", probability = 2}',
    '{kind = "Nothing"}',
    "]",
    '"',
    "= =",
    "0x10",
    "1_000",
]
FLAGS = [
    "--init-scale",
    "--weight-decay",
    "--depth",
    "--aspect-ratio",
    "--noise-var",
    "--probability",
    "--set",
    "--key",
]
WORDS = [
    "0.3",
    "nan",
    "inf",
    "-1",
    "0",
    "1e400",
    "1e-320",
    "1e12",
    "a",
    "",
    "model.init_scale=nan",
    "task.noise_var=",
    "x=1",
    "(=1",
    "ü",
]


@st.composite
def files(draw: Any) -> Case:
    """Return a command with a file of odd lines and odd flags."""
    lines = []
    for table in draw(st.lists(st.sampled_from(list(KEYS)), max_size=3, unique=True)):
        lines.append(f"[{table}]")
        for key in draw(st.lists(st.sampled_from(KEYS[table]), max_size=3, unique=True)):
            quoted = key if re.fullmatch(r"\w+", key, re.ASCII) else f'"{key}"'
            lines.append(f"{quoted} = {draw(st.sampled_from(TOKENS))}")
    if not draw(st.integers(0, 9)):
        lines.insert(
            0, draw(st.one_of(st.text(max_size=10), st.just("key = -1"), st.just('imports = ["nowhere_at_all"]')))
        )
    command = draw(st.sampled_from(["fixed-point", "convergence-rate", "timescales"]))
    words = [command, "FILE", *(["--json"] if draw(st.booleans()) else [])]
    for flag in draw(st.lists(st.sampled_from(FLAGS), max_size=2, unique=True)):
        words += [flag, draw(st.sampled_from(WORDS))]
    text = "\n".join(lines)
    return Case(command, lambda: command_line(words, text), f"{words} {text!r}", ("",))


def command_line(words: list[str], text: str) -> None:
    """Run a command in this process; a traceback, or a number that is none, is a fault."""
    from flowlimit.cli.app import main

    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        file.flush()
        out, err, argv = io.StringIO(), io.StringIO(), sys.argv
        sys.argv = ["flowlimit", *(file.name if word == "FILE" else word for word in words)]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main()
            code: Any = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            sys.argv = argv
    said = err.getvalue().strip()
    if code == 0:
        allowed = r'"(rich|rich_sharp|descent|search|chi_w)": null'  # infinite, for which JSON has no word
        found = re.search(r"\b(nan|NaN|null)\b", re.sub(allowed, "", out.getvalue()))
        assert not found, f"exit 0, prints {found[0] if found else ''}: {out.getvalue()[:200]}"
    else:
        assert said, f"exit {code} without a word"
        assert "Traceback" not in said, said[-300:]
        assert len(said.splitlines()) < 12, f"many lines: {said[:300]}"


# Judging

LAYERS = ("nouns", "dictionaries", "arguments", "closed", "files", "tiny")


def judge(case: Case, seconds: float) -> tuple[str, str]:
    """Return what became of a case: "works", "refused", or a kind of fault with its words."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.call()
    except Hang:
        return "hang", f"more than {seconds:g} s"
    except AssertionError as error:
        return "wrong", f"{error}\n{_where(error)}" if not str(error) else str(error)
    except REFUSALS as error:
        if any(re.search(rf"(?<!\w){re.escape(name)}", str(error)) for name in case.names):
            return "refused", ""
        return "unnamed", f"{type(error).__name__}: {str(error)[:300]} {_where(error)}"
    except (Exception, SystemExit) as error:
        return "error", f"{type(error).__name__}: {str(error)[:300]} {_where(error)}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return ("works", "") if case.passes else ("accepted", "it should not pass")


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "flowlimit" in frame.filename]
    last = (ours or frames)[-1]
    return f"({Path(last.filename).name}:{last.lineno})"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__} that does not print"
    return text if len(text) < 200 else f"{text[:200]}..."


def _call(cls: type, given: Mapping[str, Any]) -> str:
    return f"fl.{cls.__name__}({', '.join(f'{name}={_short(value)}' for name, value in given.items())})"


def run_layer(layer: str, cases: int, seed: int, note: Path | None) -> dict[str, Any]:
    """Run the cases of a layer in this process."""
    counts: Counter[str] = Counter()
    faults: dict[str, dict[str, Any]] = {}
    strategies: dict[str, Callable[[], Any]] = {
        "nouns": nouns,
        "dictionaries": dictionaries,
        "arguments": arguments,
        "closed": closed,
        "files": files,
        "tiny": tiny,
    }

    if layer == "arguments":
        ARGUMENTS.update(_records())

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @hypothesis.given(strategies[layer]())
    def one(case: Case) -> None:
        if note is not None and layer not in ("nouns", "dictionaries"):
            note.write_text(f"{case.name}: {case.shown}")
        kind, words = judge(case, SECONDS[layer])
        counts[kind] += 1
        if kind not in ("works", "refused"):
            mark = re.sub(r"[\d.e+-]+|'[^']*'", "#", f"{kind} {case.name} {words}")[:160]
            fault = faults.setdefault(mark, {"kind": kind, "name": case.name, "case": case.shown[:400], "words": words})
            fault["count"] = fault.get("count", 0) + 1

    def hang(*_: Any) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, hang)
    one()
    return {"counts": counts, "faults": list(faults.values())}


def chunks(cases: int, only: str | None) -> Iterator[tuple[str, int]]:
    """Yield layers with numbers of cases that a process runs."""
    for layer in LAYERS if only is None else (only,):
        left = round(cases * (SHARES[layer] if only is None else 1.0))
        while left > 0:
            yield layer, min(left, CHUNK[layer])
            left -= CHUNK[layer]


def run_apart(layer: str, cases: int, seed: int) -> dict[str, Any]:
    """Run cases in a process of their own: what ends it is a fault like others."""
    with tempfile.TemporaryDirectory() as folder:
        note, report = Path(folder) / "case", Path(folder) / "report"
        words = [sys.executable, __file__, "--layer", layer, "--cases", str(cases), "--seed", str(seed)]
        done = subprocess.run(
            [*words, "--report", str(report), "--note", str(note)],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if report.exists():
            return json.loads(report.read_text())
        case = note.read_text() if note.exists() else "?"
        fault = {
            "kind": "crash",
            "name": layer,
            "case": case,
            "words": f"exit {done.returncode}: {done.stderr[-300:]}",
            "count": 1,
        }
        return {"counts": {"crash": 1}, "faults": [fault]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--layer", choices=LAYERS, help="one layer only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", type=Path, help="run in this process, and write what was found")
    parser.add_argument("--note", type=Path, help="file that always says which case runs")
    options = parser.parse_args()
    if options.report is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
        found = run_layer(options.layer, options.cases, options.seed, options.note)
        options.report.write_text(json.dumps(found))
        return
    faults, total, began = [], 0, time.perf_counter()
    print("| layer | cases | per minute | works | refused | faults |\n|---|---|---|---|---|---|")
    for place, (layer, cases) in enumerate(chunks(options.cases, options.layer)):
        started = time.perf_counter()
        found = run_apart(layer, cases, options.seed + place)
        done = sum(found["counts"].values())
        bad = done - found["counts"].get("works", 0) - found["counts"].get("refused", 0)
        rate = 60.0 * done / (time.perf_counter() - started)
        works, refused = (found["counts"].get(kind, 0) for kind in ("works", "refused"))
        print(f"| {layer} | {done} | {rate:.0f} | {works} | {refused} | {bad} |", flush=True)
        faults += found["faults"]
        total += done
    print(f"\n{total} cases in {time.perf_counter() - began:.0f} s, {len(faults)} kinds of faults")
    for fault in faults:
        print(f"\n{fault['count']} x {fault['kind']} in {fault['name']}: {fault['words']}\n  {fault['case']}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
