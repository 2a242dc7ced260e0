"""These tests need the environment of `make test-runtime`. Without it, none are collected."""

from __future__ import annotations

import os

import pytest

collect_ignore_glob = [] if "RUNTIME_BUILT" in os.environ else ["test_*.py"]

COLD_STARTS = pytest.StashKey[dict[str, tuple[float, float]]]()


@pytest.fixture
def cold_starts(pytestconfig: pytest.Config) -> dict[str, tuple[float, float]]:
    """Return a dictionary for the seconds of each function's first and second call, by name."""
    return pytestconfig.stash.setdefault(COLD_STARTS, {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show how long the functions took."""
    if measured := config.stash.get(COLD_STARTS, None):
        terminalreporter.section("cold starts: start and first call, next call")
        for name, (first, second) in sorted(measured.items()):
            terminalreporter.write_line(f"{name:28}{first * 1000:8.0f} ms{second * 1000:8.0f} ms")
