"""The package asks nouns what they are: no `isinstance` on a concrete noun outside the file that defines it."""

import ast
import inspect
from pathlib import Path

import pytest

import flowlimit as fl
from flowlimit.problem.clocks import Clock
from flowlimit.problem.models.scales import PerCoordinate
from flowlimit.problem.momentum import Momentum, ScheduledDecay
from flowlimit.problem.noun import _KINDS, _is_abstract

PACKAGE = Path(fl.__file__).parent
NOUNS = [cls for cls in _KINDS.values() if cls.__module__.startswith("flowlimit.") and not _is_abstract(cls)]
CONCRETE = {cls.__name__: Path(inspect.getfile(cls)) for cls in [*NOUNS, *Clock.__subclasses__()]}


def asked(source: str) -> list[tuple[int, str]]:
    """Lines and names of classes that `isinstance`, or a comparison of `type(...)`, asks for."""
    found = []
    for node in ast.walk(ast.parse(source)):
        about = None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            about = node.args[1]
        elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node.left):
            about = ast.Tuple(node.comparators)
        if about is not None:
            names = (getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(about))
            found += [(node.lineno, name) for name in names]
    return found


def test_the_table_of_concrete_nouns_has_them_all():
    for kind in (fl.DiagonalLinear, fl.Regression, fl.MatrixDesign, fl.GradientFlow, fl.Dataset, fl.HuberLoss):
        assert kind.__name__ in CONCRETE
    for kind in (fl.StepClock, fl.ContinuousClock, PerCoordinate, Momentum, ScheduledDecay):
        assert kind.__name__ in CONCRETE
    assert not {"Law", "Task", "Model", "Design", "RowDesign", "Training", "DataSource"} & set(CONCRETE)


def test_no_concrete_noun_is_asked_for_outside_its_file():
    found = [
        f"{path.relative_to(PACKAGE)}:{line} asks for {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, name in asked(path.read_text())
        if name in CONCRETE and CONCRETE[name] != path
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(task, Regression)",
        "isinstance(task, Law | fl.Regression)",
        "isinstance(task, (int, tasks.Regression))",
        "type(task) is not fl.Regression",
        "type(task) in (Linear, Regression)",
    ],
)
def test_questions_are_seen(source):
    assert "Regression" in [name for _, name in asked(source)]
