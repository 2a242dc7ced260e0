"""A QuickBooks company file: the request processor, the sessions of applications, and stored message sets."""

from __future__ import annotations

from simulator.company.company import GENERATED, Company, CompanySession, Execution, Snapshot

__all__ = ["GENERATED", "Company", "CompanySession", "Execution", "Snapshot"]
