"""Unit tests open no sockets."""

from __future__ import annotations

from pytest_socket import disable_socket


def pytest_runtest_setup() -> None:
    """Ban sockets for every test of this folder."""
    disable_socket()
