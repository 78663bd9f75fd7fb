"""Unknown flags and commands in the field's own words: ``--lr`` for ``--step-size``, ``dmft`` for the solver."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

from ..words import FIELDS, NAMES, meant
from .reads import as_typed

Row = tuple[str, str]
"""A line of help: what is typed, and what it does."""
WIDEST = 30
"""Columns of what is typed, beyond which what it does stands on the next line."""


class Command(TyperCommand):
    """A command that says which flag may have been meant, and shows flags by what they are for."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and flags under the headings that they have."""
        write_sections(formatter, params_by_heading(self, ctx))

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
    """Commands by what a person wants; an unknown one is refused with the one that its word means."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands first, then the flags."""
        self.format_commands(ctx, formatter)
        write_sections(formatter, params_by_heading(self, ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command with its line under the heading that it has."""
        room = formatter.width - 6 - max(map(len, self.commands))
        rows = [
            (getattr(command, "rich_help_panel", None) or "Commands", (name, command.get_short_help_str(room)))
            for name, command in self.commands.items()
            if not command.hidden
        ]
        write_sections(formatter, rows)

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


def params_by_heading(command: Any, ctx: Any) -> list[tuple[str, Row]]:
    """Return a row of help for each argument and flag, after its heading."""
    rows = []
    for param in command.get_params(ctx):
        row = param.get_help_record(ctx)
        if row is not None:
            plain = "Arguments" if param.param_type_name == "argument" else "Options"
            rows.append((getattr(param, "rich_help_panel", None) or plain, row))
    return rows


def write_sections(formatter: Any, rows: list[tuple[str, Row]]) -> None:
    """Write rows under their headings, in columns of one width; a heading stands where its first row does."""
    width = max((len(typed) for _, (typed, _) in rows if len(typed) <= WIDEST), default=0)
    sections: dict[str, list[Row]] = {}
    for heading, (typed, does) in rows:
        sections.setdefault(heading, []).append((typed.ljust(width), does))
    for heading, own in sections.items():
        with formatter.section(heading):
            formatter.write_dl(own)
