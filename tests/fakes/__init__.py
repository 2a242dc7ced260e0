"""In-memory stand-ins for the ports. They pass the same contract suite as the adapters."""

from tests.fakes.store import FakeStore

__all__ = ["FakeStore"]
