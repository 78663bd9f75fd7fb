"""Finite-size experiments: steps and flows on concrete data."""

from .data import BALANCED, Draws, checked_draws, draw_trial, join, shared_data
from .driver import Collected, first_trial, run
from .flows import FlowEngine
from .plan import Group, Plan, is_random, make_plan
from .start import init_normals
from .steps import StepEngine

__all__ = [
    "BALANCED",
    "Collected",
    "Draws",
    "FlowEngine",
    "Group",
    "Plan",
    "StepEngine",
    "checked_draws",
    "draw_trial",
    "first_trial",
    "init_normals",
    "is_random",
    "join",
    "make_plan",
    "run",
    "shared_data",
]
