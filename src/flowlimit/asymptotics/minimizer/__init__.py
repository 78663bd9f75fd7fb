"""Finite-size minimisers: where gradient flow on one data set ends, one algorithm a file."""

from .verb import Minimizer, minimizer

__all__ = ["Minimizer", "minimizer"]
