"""A plugin of pytest that names each failure as it happens, with the command that runs this test alone.

`make test` and `make test-changed` load it with `-p tests.failures`. pytest itself names failures at the end.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


class Failures:
    """Prints failures of this process, and of the workers of pytest-xdist."""

    def __init__(self, terminal: TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print a failure in two lines: what failed, and the command for this test."""
        if not report.failed:
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = str(crash.message if crash else report.longrepr).strip().partition("\n")[0]
        self._terminal.ensure_newline()
        self._terminal.write_line(f"FAILED {report.nodeid}: {reason[:200]}", red=True)
        self._terminal.write_line(f"    .venv/bin/python -m pytest {shlex.quote(report.nodeid)}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Add the reporter where there is a terminal: not in the workers."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(terminal), "failures")
