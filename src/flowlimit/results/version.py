"""The version of the package's numbers, apart from that of the package."""

RESULTS_VERSION = 9
"""Raised when a verb gives other numbers for the same call: sweeps of an older version are not gone on with."""
