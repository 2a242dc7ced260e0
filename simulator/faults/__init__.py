"""What can fail (`forms`), when it does (`plan`), on the line (`line`) and in QuickBooks (`company`), and scripts."""

from __future__ import annotations

from simulator.faults.forms import ACTIONS, METHODS, Fault
from simulator.faults.plan import FaultPlan

__all__ = ["ACTIONS", "METHODS", "Fault", "FaultPlan"]
