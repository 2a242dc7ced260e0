"""Unit tests open no sockets, and none fails because the machine is busy."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from pytest_socket import disable_socket

# How long an example takes is measured in `benchmarks/`, not here.
settings.register_profile("unit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unit")


def pytest_runtest_setup() -> None:
    """Ban sockets for every test of this folder."""
    disable_socket()
