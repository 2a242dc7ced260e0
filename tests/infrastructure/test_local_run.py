"""What `make run` listens on, and how it is told to."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from local.gateway import Request, Response
from local.run import Options, main
from local.server import Server
from local.stack import held_until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("port", ["abc", "80x", "-1", "65536", "1.0", "٣"])
def test_a_port_that_is_none_is_refused_by_name(port: str) -> None:
    with pytest.raises(ValueError, match="PORT must be a number up to 65535"):
        Options.of({"PORT": port})


def test_the_port_is_3000_unless_said_otherwise() -> None:
    assert (Options.of({}).port, Options.of({"PORT": ""}).port, Options.of({"PORT": "3100"}).port) == (3000, 3000, 3100)


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--port=3100", 2)])
def test_whoever_gives_an_argument_reads_what_the_options_are(
    argument: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument]) == status
    assert "PORT (3000)" in capsys.readouterr().out


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


def test_a_script_that_is_not_there_or_wrong_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"QUICKBOOKS_SCRIPT: nowhere\.json cannot be read: No such file"):
        Options.of({"QUICKBOOKS_SCRIPT": "nowhere.json"})
    wrong = tmp_path / "wrong.json"
    wrong.write_text('[{"on": "authenticat", "do": "hang"}]', encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong.json: step 1: .*authenticate"):
        Options.of({"QUICKBOOKS_SCRIPT": str(wrong)})


def test_a_script_without_a_simulated_quickbooks_is_refused() -> None:
    with pytest.raises(ValueError, match="QUICKBOOKS is off"):
        Options.of({"QUICKBOOKS_SCRIPT": "x.json", "QUICKBOOKS": "off"})


def test_the_stack_says_that_it_is_ready_only_when_the_credentials_are_written() -> None:
    ready = threading.Event()
    answer = held_until(ready, lambda _request: Response(200, [], b""))

    before = [answer(Request(*call, [], b"", "127.0.0.1")).status for call in (("GET", "/qbwc"), ("POST", "/qbwc"))]
    ready.set()
    after = answer(Request("GET", "/qbwc", [], b"", "127.0.0.1")).status

    assert (before, after) == ([503, 200], 200)
