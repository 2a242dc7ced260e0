"""In-memory stand-ins for the ports. They pass the same contract suite as the adapters."""

from tests.fakes.index_lag import IndexLag
from tests.fakes.store import FakeStore

__all__ = ["FakeStore", "IndexLag"]
