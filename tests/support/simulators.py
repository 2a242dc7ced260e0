"""Simulators of test connections in memory: they note what the service asks of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STATE: Mapping[str, Any] = {
    "company": "wholesale",
    "today": "2026-03-14",
    "days_ahead": 0,
    "faults": [],
    "faults_happened": [],
    "problems": [],
    "bytes": 438_642,
    "max_bytes": 3_000_000,
    "seconds_today": 1.3,
    "max_seconds_a_day": 600,
}
"""What a simulator says about itself."""


@dataclass
class NotedSimulators:
    """Implements `Simulators`. Every operation has the result `answer`."""

    answer: Mapping[str, Any] = field(default_factory=lambda: {"data": STATE})
    woken: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def wake(self, connection_id: str) -> None:
        """Note the connection."""
        self.woken.append(connection_id)

    def call(self, connection_id: str, operation: str, **arguments: Any) -> Mapping[str, Any]:
        """Note the operation."""
        self.calls.append((connection_id, operation, arguments))
        return self.answer
