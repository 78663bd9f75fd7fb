"""From "Start here" to a limit that agrees with runs."""

from pathlib import Path

from journey import travel


def main() -> None:
    """Run the page, and ask whether limit and runs agree within their error bars."""
    names = travel("docs/start.md")
    assert names["comparison"].passed, names["comparison"]
    assert Path("errors.png").exists(), "the page's command draws a picture"


if __name__ == "__main__":
    main()
