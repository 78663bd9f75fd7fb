"""The paper reproduced: every figure and table, with a verdict on what it claims."""

from .book import BOOK, find, labels
from .report import Entry, write_summary
from .run import reproduce
from .verdict import Verdict

__all__ = ["BOOK", "Entry", "Verdict", "find", "labels", "reproduce", "write_summary"]
