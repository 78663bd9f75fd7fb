"""Numerical methods that know nothing of learning: random streams, a stabilised ODE solver, stable functions."""

from .. import types as types  # double precision, before any array is made
