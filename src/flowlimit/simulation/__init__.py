"""Finite-size experiments: steps and flows on concrete data."""

from .driver import Collected, first_trial, run
from .flows import FlowEngine
from .plan import Group, Plan, make_plan, starts_at_random
from .steps import StepEngine

__all__ = [
    "Collected",
    "FlowEngine",
    "Group",
    "Plan",
    "StepEngine",
    "first_trial",
    "make_plan",
    "run",
    "starts_at_random",
]
