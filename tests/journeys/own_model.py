"""From "Your own model" to a model whose definition, runs and limit agree."""

from journey import travel


def main() -> None:
    """Run the page, and ask for the conformance of its model."""
    names = travel("docs/tutorials/own_model.md")
    assert names["comparison"].passed, names["comparison"]
    assert names["report"].passed, names["report"]


if __name__ == "__main__":
    main()
