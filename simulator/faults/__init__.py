"""Faults on purpose: their forms, the plan that says when they are due, the line, QuickBooks, and scripts."""

from __future__ import annotations

from simulator.faults.forms import ACTIONS, METHODS, Fault
from simulator.faults.plan import FaultPlan

__all__ = ["ACTIONS", "METHODS", "Fault", "FaultPlan"]
