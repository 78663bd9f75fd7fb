"""One grammar for all verbs: a problem comes from a TOML file, from flags, or from both; flags come first."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from .reads import FLAGS, NO_TRAINING, PROBLEM, READS, Flag, as_typed, offered, overlap, refuse_unread

Option = typer.Option
File = Annotated[Path | None, typer.Argument(help="A problem in TOML, as flowlimit init writes it.", metavar="FILE")]
Set = Annotated[
    list[str] | None,
    Option(
        "--set",
        help="Any other number of the problem by address, e.g. model.init_scale=0.1.",
        rich_help_panel=PROBLEM,
    ),
]
NOUNS = ("model", "task", "training")


class Problem(NamedTuple):
    """What a command is about: nouns, a key, settings of the verbs, and the flags that were given."""

    model: Any
    task: Any
    training: Any
    key: int
    settings: Any
    flags: Mapping[str, Any]

    @property
    def nouns(self) -> tuple[Any, Any, Any]:
        """The model, the task and the training, as verbs take them."""
        return self.model, self.task, self.training

    def options(self, table: str, **given: Any) -> dict[str, Any]:
        """Return the settings of a table: what flags give, else what the file says."""
        flags = {n: v for n, v in self.flags.items() if FLAGS[n].part == table}
        return dict(getattr(self.settings, table).changed(flags | given))


def takes_problem(verb: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the file and the flags of a problem that its verb reads, in place of its argument ``problem``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        flags = offered(verb)
        own = [p for name, p in inspect.signature(command).parameters.items() if name != "problem"]

        @functools.wraps(command)
        def run(file: Path | None, other: list[str] | None, **given: Any) -> None:
            said = {name: given.pop(name) for name in flags}
            command(read_problem(given.get("verb", verb), file, said, other or ()), **given)

        needed, free = ([p for p in own if (p.default is p.empty) == without] for without in (True, False))
        shared = [_parameter("file", File), *(_parameter(n, _option(n, flag)) for n, flag in flags.items())]
        parameters = [*needed, *shared, _parameter("other", Set), *free]
        run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=annotation)


def _option(name: str, flag: Flag) -> Any:
    return Annotated[flag.kind | None, Option(as_typed(name), help=flag.help, rich_help_panel=flag.heading)]


def read_problem(
    verb: str = "solve-dmft",
    file: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    other: Sequence[str] = (),
) -> Problem:
    """Return the problem that a file, flags (by name, None if not given) and addresses say to a verb."""
    from .problem_file import Reader
    from .training import change_training

    given = {name: value for name, value in (flags or {}).items() if value is not None}
    addresses = [text.partition("=")[0].strip() for text in other]
    refuse_unread(verb, given, [("--set", address) for address in addresses])
    _refuse_doubles(given, addresses)
    reader = Reader(file)
    of = lambda noun: {n: v for n, v in given.items() if FLAGS[n].part == noun}
    nouns = {name: reader.noun(name) for name in NOUNS}
    if "training" not in READS[verb]:
        _refuse_training(verb, reader, nouns["training"])
    before = nouns["training"]
    nouns["model"] = _changed(nouns["model"], of("model"))
    nouns["task"] = _changed(nouns["task"], of("task"))
    nouns["training"] = change_training(before, of("training"))
    if reader.says("training") and type(nouns["training"]) is not type(before):
        typer.echo(f"training: flags say {nouns['training']!r}, in place of {before!r} in {file}", err=True)
    for text in other:
        _set(nouns, text)
    return Problem(**nouns, key=reader.file.changed(of("key")).key, settings=reader.file, flags=given)


def _refuse_doubles(flags: Mapping[str, Any], addresses: Sequence[str]) -> None:
    """Refuse two ways of giving one number: one of them would be ignored."""
    known = [(as_typed(name), FLAGS[name].address) for name in flags]
    for address in addresses:
        for shown, other in known:
            if overlap(address, other):
                raise ValueError(f"--set {address}: given beside {shown}, which says the same; leave out one of them")
        known.append((f"--set {address}", address))


def _refuse_training(verb: str, reader: Any, training: Any) -> None:
    if training.clock.in_steps:
        reader.refuse(
            ("training",),
            f"training: given {training!r}, but {verb} does not read it: {NO_TRAINING}. Leave [training] out of the "
            f"file for that answer; for this training: flowlimit solve-dmft {reader.path}",
        )


def _changed(noun: Any, flags: dict[str, Any]) -> Any:
    import flowlimit as fl

    if "probability" in flags:
        flags["target"] = fl.Bernoulli(flags.pop("probability"))
    return noun.replaced(**flags) if flags else noun


def _set(nouns: dict[str, Any], text: str) -> None:
    from .axes import parse_axis

    address, values = parse_axis(text, flag="--set")
    if address.partition(".")[0] not in nouns or "." not in address or len(values) != 1:
        raise ValueError(f"--set: given {text!r}, needs an address of the model, task or training and one number")
    nouns |= at_address(nouns, address, values[0], "--set")


def at_address(nouns: Mapping[str, Any], address: str, value: Any, flag: str) -> Mapping[str, Any]:
    """Return nouns with one number replaced."""
    from flowlimit.sweeps.problem import Swept

    try:
        return Swept(print, nouns).at({address: value}).nouns
    except ValueError as error:
        raise ValueError(f"{flag}: {str(error).removeprefix('over: ')}") from None
