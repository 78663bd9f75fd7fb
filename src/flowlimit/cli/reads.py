"""Which verb reads which part of a problem: the flags a verb offers and what it refuses follow from the tables here.

A file is shared by verbs, so that a table of another verb may stand in it. Flags and addresses are given to one verb,
which reads them or refuses them.
"""

from collections.abc import Iterable
from typing import NamedTuple

TRAINED = frozenset({"model", "task", "training", "key"})
AT_THE_END = frozenset({"model", "task"})
READS = {
    "solve-dmft": TRAINED | {"solve_dmft"},
    "simulate": TRAINED | {"simulate"},
    "check": TRAINED | {"solve_dmft", "check"},
    "estimate": TRAINED - {"task"},
    "select": TRAINED - {"task"},
    "fixed-point": AT_THE_END,
    "convergence-rate": AT_THE_END,
    "timescales": AT_THE_END,
}
"""Verb -> nouns, key and tables of settings that it reads."""
SWEPT = ("fixed-point", "convergence-rate", "timescales", "solve-dmft", "simulate")
"""Verbs that `sweep` takes; it reads what the swept verb reads."""
NO_TRAINING = "its answer is that of gradient flow for t -> infinity"


PROBLEM, TRAINING, ACCURACY, OUTPUT = "Problem", "Training", "Accuracy and size", "Output"
"""Headings of flags in a command's help."""
HEADINGS = {"model": PROBLEM, "task": PROBLEM, "training": TRAINING}
"""Noun -> heading of its flags; those of the key and of tables of settings say how accurate an answer is."""


class Flag(NamedTuple):
    """A flag: what it changes, its type, and its help."""

    address: str
    kind: type
    help: str

    @property
    def part(self) -> str:
        """The noun or the table of settings that it changes."""
        return self.address.partition(".")[0]

    @property
    def heading(self) -> str:
        """Where it stands in a command's help."""
        return HEADINGS.get(self.part, ACCURACY)


DRAWS = "How targets and noise are drawn: independent, or with their laws' exact composition (balanced)."
FLAGS = {
    "init_scale": Flag("model.init_scale", float, "Init scale alpha (0.3)."),
    "weight_decay": Flag("model.weight_decay", float, "Weight decay lambda (0)."),
    "depth": Flag("model.depth", int, "Depth of the diagonal network (2)."),
    "aspect_ratio": Flag("task.aspect_ratio", float, "Samples over dim (0.5)."),
    "noise_var": Flag("task.noise_var", float, "Variance of the label noise (0.01)."),
    "probability": Flag("task.target", float, "Probability that a target coordinate is 1, else 0 (0.1)."),
    "horizon": Flag("training.horizon", float, "Train by gradient flow up to this time (20)."),
    "step_size": Flag("training.step_size", float, "Train by gradient descent with this step size."),
    "num_steps": Flag("training.num_steps", int, "Number of steps of gradient descent."),
    "momentum": Flag("training.momentum", float, "Momentum of descent (0)."),
    "nesterov": Flag("training.nesterov", bool, "Nesterov's momentum."),
    "batch_fraction": Flag("training.batch_fraction", float, "Train on random batches, this part of the samples each."),
    "label_noise": Flag("training.label_noise", float, "Standard deviation of fresh label noise at each step."),
    "temperature": Flag("training.temperature", float, "Add Langevin noise of this temperature to each step."),
    "key": Flag("key", int, "Random key (0)."),
    "rtol": Flag("solve_dmft.rtol", float, "Relative accuracy of the limit's errors, at two standard errors (0.01)."),
    "time_limit": Flag(
        "solve_dmft.time_limit", float, "Seconds after which the best limit so far is given (no limit)."
    ),
    "dim": Flag("simulate.dim", int, "Number of coordinates of the runs (1000)."),
    "trials": Flag("simulate.trials", int, "Independent repetitions of the runs (10)."),
    "draws": Flag("simulate.draws", str, DRAWS),
}
"""Name of a flag, with underscores -> what it is."""


def offered(verb: str) -> dict[str, Flag]:
    """Return the flags that a verb offers: `sweep` those of all verbs that it takes.

    Examples
    --------
    >>> list(offered("convergence-rate"))
    ['init_scale', 'weight_decay', 'depth', 'aspect_ratio', 'noise_var', 'probability']
    """
    reads = frozenset().union(*(READS[one] for one in SWEPT)) if verb == "sweep" else READS[verb]
    # check has its own --dims and --trials
    return {name: flag for name, flag in FLAGS.items() if flag.part in reads}


def refuse_unread(verb: str, flags: Iterable[str] = (), addresses: Iterable[tuple[str, str]] = ()) -> None:
    """Refuse flags, and addresses given by some other flag, that a verb would not read."""
    given = [(as_typed(name), FLAGS[name].part) for name in flags]
    given += [(f"{flag} {address}", part_of(address)) for flag, address in addresses]
    for shown, part in given:
        if part in KNOWN and part not in READS[verb]:
            raise ValueError(f"{shown}: given, but {verb} does not read {UNREAD.get(part, f'[{part}]')}; leave it out")


def part_of(address: str) -> str:
    """Return the part of a problem that an address is in; options of verbs have addresses of one word."""
    first, dot, _ = address.partition(".")
    return first if dot or first not in FLAGS else FLAGS[first].part


def overlap(one: str, two: str) -> bool:
    """Whether two addresses change the same number.

    Examples
    --------
    >>> overlap("task.target", "task.target.probability"), overlap("task.target", "task.noise_var")
    (True, False)
    """
    return f"{one}.".startswith(f"{two}.") or f"{two}.".startswith(f"{one}.")


def as_typed(name: str) -> str:
    """Return a flag as it is typed.

    Examples
    --------
    >>> as_typed("init_scale")
    '--init-scale'
    """
    return f"--{name.replace('_', '-')}"


UNREAD = {
    "training": f"the training: {NO_TRAINING}",
    "key": "the key: its answer is not random",
    "task": "the task: data are given",
}
KNOWN = frozenset().union(*READS.values())
