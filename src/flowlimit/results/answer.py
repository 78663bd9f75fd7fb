"""What a limit and runs share beyond their curves: the nouns they came from, how it ended, and where it came from."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .labelled import make_tree
from .outcome import Outcome
from .record import Record
from .same import same

if TYPE_CHECKING:
    import xarray

NOUNS = ("model", "task", "training")


class Answer(Record):
    """A result of the three nouns.

    Two are equal if their problem and all their numbers are; seconds, versions and dates may differ.
    """

    model: Any
    task: Any
    training: Any
    result: Outcome
    stats: Any
    provenance: Mapping[str, Any]

    @property
    def problem(self) -> Mapping[str, Any]:
        """The problem as a plain dictionary: the nouns, and sizes of runs."""
        return self.provenance.get("problem", {})

    def noun(self, name: str) -> Any:
        """Return the model, the task or the training, or say why it is not there."""
        found = getattr(self, name)
        if found is None:
            raise ValueError(
                f"{name}: this {type(self).__name__} does not hold it, since a file keeps no functions and no data, or "
                f"since it was made by hand; give it, e.g. fl.load(path, {name}={name}), or "
                f"dataclasses.replace(result, {name}={name})"
            )
        return found

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Answer):
            return NotImplemented
        return same(self, other) and same(self.problem, other.problem)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def to_xarray(self) -> "xarray.Dataset":
        """Return every curve with its standard error over time, with long names and units, as a labelled data set.

        Attributes say how it ended and, as JSON, where it came from.
        """
        return super().to_xarray().assign_attrs(self._attributes())

    def to_datatree(self) -> "xarray.DataTree":
        """Return everything as a tree of labelled data sets: what `fl.save` writes."""
        return make_tree(self._groups(), self._attributes())

    def _groups(self) -> dict[str, Any]:
        """Return the groups of the tree by path."""
        raise NotImplementedError

    def _attributes(self) -> dict[str, Any]:
        """Return what the result says of itself beside its arrays, as strings and numbers that any file can hold."""
        return {
            "kind": type(self).__name__,
            "curves": json.dumps(list(self.curves)),  # files do not keep the order of their arrays
            "discrete": int(self.discrete),
            "result": str(self.result.code),
            "message": self.result.message,
            "stats": json.dumps(asdict(self.stats)),
            "provenance": json.dumps(dict(self.provenance)),
        }

    def _summary(self) -> list[str]:
        """Return the nouns as lines of text."""
        return list(self.provenance.get("summary", {}).values())
