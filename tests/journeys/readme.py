"""From the README's first block to a picture with two panels."""

from pathlib import Path

from journey import travel

PICTURE = Path("errors.png")


def main() -> None:
    """Run the block that draws, and look at what it drew."""
    travel("README.md", first=1)
    import matplotlib.pyplot as plt

    panels = plt.gcf().axes
    assert len(panels) == 2, "the README draws two panels"
    assert all(panel.get_xlabel() and panel.get_ylabel() and panel.containers for panel in panels)
    assert PICTURE.stat().st_size > 10_000, "the README saves its picture"


if __name__ == "__main__":
    main()
