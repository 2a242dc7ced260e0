"""What `make run` listens on, and how it is told to."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from local.run import Options
from local.server import Server


@pytest.mark.parametrize("port", ["abc", "80x", "-1", "65536", "1.0", "٣"])
def test_a_port_that_is_none_is_refused_by_name(port: str) -> None:
    with pytest.raises(ValueError, match="PORT must be a number up to 65535"):
        Options.of({"PORT": port})


def test_the_port_is_3000_unless_said_otherwise() -> None:
    assert (Options.of({}).port, Options.of({"PORT": ""}).port, Options.of({"PORT": "3100"}).port) == (3000, 3000, 3100)


def test_many_callers_may_connect_at_once() -> None:
    """None is refused or reset because the ones before it have not been accepted yet."""
    server = Server(0)

    with ExitStack() as connections:
        connections.callback(server.stop)
        at = urlsplit(server.base_url)
        connected = [
            connections.enter_context(socket.create_connection((at.hostname, at.port), timeout=1)) for _ in range(50)
        ]

    assert len(connected) == 50
