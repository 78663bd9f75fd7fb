"""Numerical methods that know nothing of learning: random streams, a stabilised ODE solver, stable functions."""
