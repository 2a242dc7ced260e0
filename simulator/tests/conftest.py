"""Tests of the simulator open connections to this machine only."""

from __future__ import annotations

from pytest_socket import socket_allow_hosts


def pytest_runtest_setup() -> None:
    """Ban connections to other machines."""
    socket_allow_hosts(["127.0.0.1"])
