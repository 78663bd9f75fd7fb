"""Descent in steps: both sides are explicit, with a samples side that is closed or stochastic."""
