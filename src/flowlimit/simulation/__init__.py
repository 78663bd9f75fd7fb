"""Finite-size experiments: steps and flows on concrete data."""

from .data import join, shared_data, trial_data
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
    "join",
    "make_plan",
    "run",
    "shared_data",
    "starts_at_random",
    "trial_data",
]
