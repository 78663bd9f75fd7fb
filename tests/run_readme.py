"""Run the first Python block of the README, as a reader would, and check that it leaves a picture.

    python tests/run_readme.py README.md picture.png

Kept free of pytest: it runs in an environment that has the wheel and nothing else.
"""

import re
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")


def main(readme: str, picture: str) -> None:
    block = re.search(r"```python\n(.*?)```", Path(readme).read_text(), flags=re.DOTALL)
    assert block, f"{readme} has no Python block"
    exec(compile(block.group(1), readme, "exec"), {})
    import matplotlib.pyplot as plt

    figure = plt.gcf()
    assert len(figure.axes) == 2, "the README draws two panels"
    assert all(axis.get_xlabel() and axis.get_ylabel() and axis.containers for axis in figure.axes)
    figure.savefig(picture, dpi=150)
    print(f"wrote {picture}, {Path(picture).stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
