"""What the linter of prose finds, and what it leaves alone. The pages themselves are linted by ``.ci/run``."""

import pytest
from pages import blocks, inside, prose
from prose import RULES, ours


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("per", "It takes 12 seconds a run."),
        ("per", "Trials are spread, one a device."),
        ("per", "There is one hidden unit a coordinate."),
        ("start", "Small starts are slow."),
        ("start", "It is relative to its start."),
        ("start", "The layer starts at zero."),
        ("end", "The test error at the end is small."),
        ("end", "It says where training ends."),
        ("end", "the error less its\nend"),
        ("room", "There is room for more."),
        ("own", "Each has a program of its own."),
        ("own", "It reads its own data."),
        ("aphorism", "Truth first: check it."),
    ],
)
def test_found(rule, text):
    assert [name for _, name, _, _ in ours(text)] == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "It takes 12 seconds per run.",
        "A worker starts; then it ends, at the end of the job.",
        "## Three nouns\n\nA problem is a model.",
        "Each trial is stopped by its own curve.",
        "Your own model.",
    ],
)
def test_left_alone(text):
    assert not list(ours(text))


def test_every_rule_is_tried():
    tried = {name for _, name, _, _ in ours("one a run, its start, its end, a room, of its own, its own, Truth first")}
    assert tried == {rule.name for rule in RULES}


PAGE = """# A page

Words with `its own code`, $its\\ start$ and [a link](its-end.md).

    indented("its own")

```{code-cell}
:tags: [hide]
fenced("its own")
```

- A list

  ```python
  its = "own"
  ```
"""


def test_code_and_formulas_are_no_prose():
    assert not list(ours(prose(PAGE)))
    assert len(prose(PAGE)) == len(PAGE)


def test_blocks():
    assert [(block.language, block.line, inside(block).strip()) for block in blocks(PAGE)] == [
        ("indented", 5, 'indented("its own")'),
        ("{code-cell}", 7, 'fenced("its own")'),
        ("python", 14, 'its = "own"'),
    ]
