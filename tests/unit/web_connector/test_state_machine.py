"""The rules that hold after any sequence of calls by consumers, Web Connectors and functions.

A short run; `make prove` runs 10,000 steps.
"""

from __future__ import annotations

from hypothesis import settings

from tests.support.web_connector.interleavings import Interleavings

TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
