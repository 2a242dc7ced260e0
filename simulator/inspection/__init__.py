"""A JSON API and a page that show the books of a company, for tests and for the curious. Loopback only."""

from __future__ import annotations

from simulator.inspection.server import DEFAULT_HOST, serving

__all__ = ["DEFAULT_HOST", "serving"]
