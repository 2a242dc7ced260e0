"""Injected faults: their forms, the plan of when they are due, the line, QuickBooks, and scripts."""

from __future__ import annotations

from simulator.faults.forms import ACTIONS, METHODS, Fault
from simulator.faults.plan import FaultPlan

__all__ = ["ACTIONS", "METHODS", "Fault", "FaultPlan"]
