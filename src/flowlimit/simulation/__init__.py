"""Finite-size experiments: steps and flows on concrete data."""

from .driver import Collected, run
from .flows import FlowEngine
from .measure import RESERVED
from .plan import Group, Plan, make_plan
from .steps import StepEngine

__all__ = ["RESERVED", "Collected", "FlowEngine", "Group", "Plan", "StepEngine", "make_plan", "run"]
