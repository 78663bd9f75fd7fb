"""Unknown flags and commands in the field's own words: ``--lr`` for ``--step-size``, ``dmft`` for the solver."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

from ..words import FIELDS, NAMES, meant
from .reads import as_typed


class Command(TyperCommand):
    """A command that says which flag may have been meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the flags; an unknown one is refused with the one that its word means."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            given = getattr(error, "option_name", None)
            if given is not None and hasattr(error, "possibilities"):  # NoSuchOption, of click or of typer's own copy
                flags = {param.name: param.opts for param in self.params if param.name}
                name = meant(given.lstrip("-").replace("-", "_"), flags, FIELDS)
                if name is not None and as_typed(name) in flags[name]:
                    error.possibilities = None  # pyright: ignore[reportAttributeAccessIssue]
                    error.message = f"No such option: {given}; did you mean {as_typed(name)}?"  # pyright: ignore[reportAttributeAccessIssue]
            raise


class Group(TyperGroup):
    """Commands; an unknown one is refused with the one that its word means."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first word names."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            said = str(getattr(error, "message", ""))
            if args and "No such command" in said and "Did you mean" not in said:
                names = {name.replace("-", "_"): name for name in self.commands}
                known = meant(args[0].replace("-", "_"), names, NAMES)
                if known is not None:
                    error.message = f"{said} Did you mean {names[known]!r}?"  # pyright: ignore[reportAttributeAccessIssue]
            raise
