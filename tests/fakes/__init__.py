"""In-memory stand-ins for the ports. They pass the same contract suite as the adapters."""

from tests.fakes.store import FakeStore, StoredClaim

__all__ = ["FakeStore", "StoredClaim"]
