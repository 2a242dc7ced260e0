"""The options of `make run`, and its HTTP server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from local.gateway import MAX_BODY_BYTES, Request, Response
from local.programs import ROOT
from local.run import Options, main
from local.server import DRAINED_BYTES, Server
from local.stack import held_until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("port", ["abc", "80x", "-1", "65536", "1.0", "٣"])
def test_a_value_that_is_not_a_port_is_refused_by_name(port: str) -> None:
    with pytest.raises(ValueError, match="PORT must be a number up to 65535"):
        Options.of({"PORT": port})


def test_the_default_port_is_3000() -> None:
    assert (Options.of({}).port, Options.of({"PORT": ""}).port, Options.of({"PORT": "3100"}).port) == (3000, 3000, 3100)


@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--port=3100", 2)])
def test_an_argument_prints_the_options(argument: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([argument]) == status
    assert "PORT=3000" in capsys.readouterr().out


def test_make_run_starts_without_the_source_folder_on_the_path() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    command = [sys.executable, "-m", "local.run", "--help"]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603

    assert (result.returncode, result.stderr) == (0, "")


def test_many_clients_can_connect_at_once() -> None:
    """No connection is refused or reset while earlier ones wait to be accepted."""
    server = Server(0)

    with ExitStack() as connections:
        connections.callback(server.stop)
        at = urlsplit(server.base_url)
        connected = [
            connections.enter_context(socket.create_connection((at.hostname, at.port), timeout=1)) for _ in range(50)
        ]

    assert len(connected) == 50


def test_a_client_learns_that_the_connection_is_closed_after_a_body_that_is_far_too_large() -> None:
    """Otherwise it would send its next request on a closed connection, and get no response."""
    server = Server(0)
    server.start(lambda request: Response(413 if len(request.body) > MAX_BODY_BYTES else 200, [], b""))
    address = urlsplit(server.base_url)

    with ExitStack() as connection:
        connection.callback(server.stop)
        client = connection.enter_context(socket.create_connection((address.hostname, address.port), timeout=5))
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.sendall(head + b"%x\r\n" % (DRAINED_BYTES + 1))
        response = client.recv(1024)

    assert b" 413 " in response
    assert b"Connection: close\r\n" in response


def test_a_client_that_waits_for_100_continue_is_told_at_once_to_send_the_body() -> None:
    server = Server(0)
    server.start(lambda request: Response(200, [], request.body))
    address = urlsplit(server.base_url)

    with ExitStack() as connection:
        connection.callback(server.stop)
        client = connection.enter_context(socket.create_connection((address.hostname, address.port), timeout=5))
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        interim = client.recv(1024)
        client.sendall(b"ok")
        final = client.recv(1024)

    assert interim.startswith(b"HTTP/1.1 100")
    assert final.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "request_text",
    [
        b"GARBAGE\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: five\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + b"F" * 17 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1_0\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 2_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 70_000 + b"\r\n\r\n",
    ],
)
def test_a_request_that_is_not_http_is_refused_with_the_security_headers(request_text: bytes) -> None:
    server = Server(0)
    server.start(lambda _: Response(200, [], b""))
    address = urlsplit(server.base_url)

    with ExitStack() as connection:
        connection.callback(server.stop)
        client = connection.enter_context(socket.create_connection((address.hostname, address.port), timeout=5))
        client.sendall(request_text)
        head = client.recv(4096).decode()

    assert head.startswith(("HTTP/1.1 400", "HTTP/1.1 431"))
    assert "X-Content-Type-Options: nosniff" in head


@pytest.mark.parametrize("size", ["FFFFFFFFFFFFFFFF", "7fffffffffffffff", "FFFFFFFF", "2800001"])
def test_a_chunk_of_any_size_is_a_body_that_is_too_large(size: str) -> None:
    server = Server(0)
    server.start(lambda request: Response(413 if len(request.body) > MAX_BODY_BYTES else 200, [], b""))
    address = urlsplit(server.base_url)
    request_text = f"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n"

    with ExitStack() as connection:
        connection.callback(server.stop)
        client = connection.enter_context(socket.create_connection((address.hostname, address.port), timeout=5))
        client.sendall(request_text.encode())
        head = client.recv(4096).decode()

    assert head.startswith("HTTP/1.1 413")


def test_the_base_url_of_an_earlier_run_in_the_shell_is_not_taken_for_a_tunnel() -> None:
    assert Options.of({"BASE_URL": "http://127.0.0.1:3000"}).base_url is None


@pytest.mark.parametrize("url", ["http://queue.example.com", "queue.example.com", "https://queue.example.com/path"])
def test_a_base_url_that_the_web_connector_would_refuse_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="BASE_URL must be like https"):
        Options.of({"BASE_URL": url})


def test_the_simulated_quickbooks_is_strict_only_if_asked() -> None:
    assert not Options.of({}).strict
    assert Options.of({"STRICT": "on"}).strict


def test_a_base_url_is_taken_without_its_slash() -> None:
    assert Options.of({"BASE_URL": "https://queue.example.com/"}).base_url == "https://queue.example.com"


def test_a_missing_or_wrong_script_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"QUICKBOOKS_SCRIPT: nowhere\.json is neither a file nor .* lost-answer"):
        Options.of({"QUICKBOOKS_SCRIPT": "nowhere.json"})
    with pytest.raises(ValueError, match=r"QUICKBOOKS_SCRIPT: /nowhere/script\.json cannot be read: No such file"):
        Options.of({"QUICKBOOKS_SCRIPT": "/nowhere/script.json"})
    wrong = tmp_path / "wrong.json"
    wrong.write_text('[{"on": "authenticat", "do": "hang"}]', encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong.json: step 1: .*authenticate"):
        Options.of({"QUICKBOOKS_SCRIPT": str(wrong)})


def test_a_script_without_a_simulated_quickbooks_is_refused() -> None:
    with pytest.raises(ValueError, match="QUICKBOOKS is off"):
        Options.of({"QUICKBOOKS_SCRIPT": "x.json", "QUICKBOOKS": "off"})


def test_the_company_is_the_wholesale_one_unless_another_is_named() -> None:
    assert Options.of({}).company == "wholesale"
    assert Options.of({"COMPANY": "books.json"}).company == "books.json"


def test_a_file_that_is_not_a_company_ends_the_run_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "books.json"
    file.write_text("{}", encoding="utf-8")

    process = subprocess.run(
        [sys.executable, "-m", "local.run"],
        env={**os.environ, "PORT": "0", "STATE_DIR": str(tmp_path), "COMPANY": str(file)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert process.returncode == 1
    assert "is not a company file of the simulator" in process.stderr
    assert file.read_text(encoding="utf-8") == "{}"


def test_the_stack_is_ready_only_after_the_credentials_are_written() -> None:
    ready = threading.Event()
    response = held_until(ready, lambda _request: Response(200, [], b""))

    before = [response(Request(*call, [], b"", "127.0.0.1")).status for call in (("GET", "/qbwc"), ("POST", "/qbwc"))]
    ready.set()
    after = response(Request("GET", "/qbwc", [], b"", "127.0.0.1")).status

    assert (before, after) == ([503, 200], 200)
