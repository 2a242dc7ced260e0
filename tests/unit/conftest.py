"""Unit tests open no sockets."""

from __future__ import annotations

import threading

from pytest_socket import disable_socket

from local.server import THREAD_NAME


def pytest_runtest_setup() -> None:
    """Ban sockets for every test of this folder.

    The ban holds in the whole process. A server that an earlier test left running would fail on its next call, and
    the unit test of that moment with it.
    """
    assert THREAD_NAME not in (thread.name for thread in threading.enumerate()), "an earlier test left a server running"
    disable_socket()
