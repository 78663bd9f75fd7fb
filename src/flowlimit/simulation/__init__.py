"""Finite-size experiments: steps and flows on concrete data."""

from .data import draw_trial, join, shared_data
from .driver import Collected, first_trial, run
from .flows import FlowEngine
from .plan import Group, Plan, is_random, make_plan
from .steps import StepEngine

__all__ = [
    "Collected",
    "FlowEngine",
    "Group",
    "Plan",
    "StepEngine",
    "draw_trial",
    "first_trial",
    "is_random",
    "join",
    "make_plan",
    "run",
    "shared_data",
]
