"""The table of what works with what, written before the pages are read."""

from pathlib import Path

from flowlimit.verbs.matrix import matrix

PAGE = Path(__file__).parent / "matrix.md"
HEAD = """# What works with what

Each verb was asked with a small problem of each kind, up to where it would refuse it, when this page was built;
`flowlimit doctor --matrix` prints the same table. Where a verb takes some trainings only, they are named: flow
(`GradientFlow`), descent (`GradientDescent`), momentum, batches (`StochasticGradientDescent`), Langevin (`Langevin`).
`check`, `compare` and `conform` need both a limit and runs.

"""


def write_matrix(_app):
    """Write the page."""
    rows = matrix()
    verbs = list(rows[0].verbs)
    lines = [f"| model | task | {' | '.join(_code(verb) for verb in verbs)} |", "|---" * (len(verbs) + 2) + "|"]
    for index, row in enumerate(rows):
        first = not index or rows[index - 1].model != row.model
        lines.append(f"| {row.model if first else ''} | {row.task} | {' | '.join(row.verbs.values())} |")
    PAGE.write_text(HEAD + "\n".join(lines) + "\n")


def _code(verbs):
    return ", ".join(f"`{verb}`" for verb in verbs.split(", "))
