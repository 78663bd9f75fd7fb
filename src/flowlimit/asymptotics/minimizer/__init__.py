"""Finite-size minimisers: fixed points of gradient flow on one data set, one algorithm per file."""

from .verb import Minimizer, minimizer

__all__ = ["Minimizer", "minimizer"]
