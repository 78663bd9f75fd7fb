"""How to cite: this package, and the paper whose theory it implements."""

from .. import __version__

_PAPER = """@misc{nishiyama2025precise,
  title  = {Precise Dynamics of Diagonal Linear Networks: A Unifying Analysis by Dynamical Mean-Field Theory},
  author = {Nishiyama, Sota and Imaizumi, Masaaki},
  year   = {2025},
  eprint = {2510.01930},
  archivePrefix = {arXiv},
}"""


def citation() -> str:
    """Return BibTeX entries for flowlimit and the paper it implements.

    Examples
    --------
    >>> import flowlimit as fl
    >>> "2510.01930" in fl.citation()
    True
    """
    software = f"""@software{{flowlimit,
  title   = {{flowlimit: high-dimensional limits of learning flows}},
  author  = {{The flowlimit developers}},
  version = {{{__version__}}},
}}"""
    return f"{software}\n\n{_PAPER}"
