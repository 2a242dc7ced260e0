"""Posting to real receivers on loopback: kind ones, broken ones and hostile ones."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from adapters.webhook_http import WebhookHttp
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from tests.support.webhook_servers import ANSWER, Exchange, Receiver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LIMIT = 0.4
"""Seconds: the time limit of posts to receivers that never end."""
SLACK = 0.4
"""Seconds that a post may take beyond its limit on a busy machine."""

sender = WebhookHttp(allow_loopback=True)


def answering(text: bytes) -> Callable[[Exchange], None]:
    """Return the script of a receiver that reads the request and answers with these bytes."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(text)

    return script


def post(receiver: Receiver, path: str = "/", body: bytes = b"{}", limit: float = 5.0) -> HttpResponse:
    return sender.post(f"http://127.0.0.1:{receiver.port}{path}", {"webhook-id": "1"}, body, limit)


def failure_of(receiver: Receiver, limit: float = LIMIT, body: bytes = b"{}") -> DeliveryFailed:
    """Post, expect no answer within the limit, and return the failure."""
    began = time.monotonic()
    with pytest.raises(DeliveryFailed) as failed:
        post(receiver, body=body, limit=limit)
    assert time.monotonic() - began < limit + SLACK
    return failed.value


# --- What is sent and what is read


def test_a_post_is_one_plain_http_request() -> None:
    heard: list[tuple[bytes, bytes]] = []

    def script(exchange: Exchange) -> None:
        heard.append(exchange.read_request())
        exchange.send(ANSWER)

    with Receiver(script) as receiver:
        answer = post(receiver, "/hook?token=a%20b", b'{"id":1}')

    assert answer == HttpResponse(200, "ok")
    [(head, body)] = heard
    first, *headers = head.decode().split("\r\n")
    assert first == "POST /hook?token=a%20b HTTP/1.1"
    assert sorted(headers) == [
        "Accept-Encoding: identity",
        "Connection: close",
        "Content-Length: 8",
        f"Host: 127.0.0.1:{receiver.port}",
        "webhook-id: 1",
    ]
    assert body == b'{"id":1}'


def test_status_text_and_retry_after_are_returned_whatever_the_status() -> None:
    text = b"HTTP/1.1 503 Busy\r\nretry-after: 120\r\nContent-Length: 5\r\n\r\nlater"
    with Receiver(answering(text)) as receiver:
        assert post(receiver) == HttpResponse(503, "later", "120")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with Receiver(answering(ANSWER)) as other:
        location = f"http://127.0.0.1:{other.port}/"
        text = f"HTTP/1.1 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        with Receiver(answering(text)) as receiver:
            assert post(receiver).status == status

        assert other.connections == 0


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Receiver(answering(ANSWER)) as proxy, Receiver(answering(ANSWER)) as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")

        post(receiver)

        assert (proxy.connections, receiver.connections) == (0, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"HTTP/1.1 204 None\r\n\r\n", ""),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nbroken", "ab"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbreaks", "breaks"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xff\xc3\xa9", "\ufffdé"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok"),
    ],
)
def test_the_answers_text_is_read_in_every_framing_as_far_as_it_comes(text: bytes, expected: str) -> None:
    with Receiver(answering(text)) as receiver:
        assert post(receiver).body == expected


def test_of_a_huge_answer_4_kib_are_read() -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            exchange.send(b"x" * 65536)

    with Receiver(script) as receiver:
        assert post(receiver).body == "x" * 4096


def test_a_receiver_that_answers_and_hangs_up_before_it_has_read_everything_is_heard() -> None:
    def script(exchange: Exchange) -> None:
        exchange.connection.recv(100)
        exchange.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")

    with Receiver(script) as receiver:
        assert post(receiver, body=b"x" * 20_000_000).status == 413


# --- Receivers that do not come to an end


def test_a_slow_receiver_within_the_limit_is_waited_for() -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.released.wait(0.15)
        exchange.send(ANSWER)

    with Receiver(script) as receiver:
        assert post(receiver).status == 200


def test_a_receiver_that_never_answers_is_let_go_at_the_limit() -> None:
    with Receiver(Exchange.hang) as receiver:
        failure = failure_of(receiver)

    assert "did not answer within 0.4 seconds" in str(failure)
    assert not failure.permanent


def test_a_receiver_that_never_reads_is_let_go_at_the_limit() -> None:
    with Receiver(Exchange.hang) as receiver:
        failure = failure_of(receiver, body=b"x" * 50_000_000)

    assert "did not answer" in str(failure)


@pytest.mark.parametrize(
    "beginning", [b"", b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX-Header: "], ids=repr
)
def test_a_receiver_that_trickles_its_headers_is_let_go_at_the_limit(beginning: bytes) -> None:
    """Each byte begins a socket's time-out anew: only a limit for the whole exchange helps."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(beginning)
        exchange.trickle(b"HTTP/1.1 200 OK, as slowly as can be" * 10, 0.02)

    with Receiver(script) as receiver:
        failure = failure_of(receiver)

    assert "did not answer within" in str(failure)


def test_an_answer_whose_text_trickles_counts_with_what_came_within_the_limit() -> None:
    """The status is the answer (2xx within the limit); its text is only kept to be read."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        exchange.trickle(b"x" * 1000, 0.02)

    with Receiver(script) as receiver:
        began = time.monotonic()
        answer = post(receiver, limit=LIMIT)

    assert time.monotonic() - began < LIMIT + SLACK
    assert answer.status == 200
    assert 0 < len(answer.body) < 1000


# --- Receivers that break off


def test_a_receiver_that_hangs_up_is_told_so() -> None:
    with Receiver(Exchange.read_request) as receiver:
        assert "closed the connection without an answer" in str(failure_of(receiver, limit=5))


@pytest.mark.parametrize(
    "text",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
    ],
    ids=["another protocol", "no status", "too many headers", "a header too long"],
)
def test_an_answer_that_is_no_http_is_a_failure(text: bytes) -> None:
    with Receiver(answering(text)) as receiver:
        assert "not HTTP" in str(failure_of(receiver, limit=5))


def test_a_closed_port_is_told_so_and_the_url_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(DeliveryFailed) as failed:
        sender.post(f"http://127.0.0.1:{port}/?token=hidden", {}, b"", 5)

    assert str(failed.value) == f"127.0.0.1 refuses connections on port {port}."


# --- Which addresses are dialled


def sender_resolving(addresses: Sequence[str], asked: list[str], *, allow_loopback: bool = True) -> WebhookHttp:
    """Return a sender for which every name has these addresses; the names asked for are noted."""

    def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return addresses

    return WebhookHttp(allow_loopback=allow_loopback, resolve=resolve)


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:8.8.8.8"], ["169.254.169.254"]]
)
def test_a_name_that_leads_to_any_address_that_is_not_public_is_refused_for_good(addresses: list[str]) -> None:
    with pytest.raises(DeliveryFailed, match="no public address") as failed:
        sender_resolving(addresses, [], allow_loopback=False).post("https://example.com/", {}, b"", 5)

    assert failed.value.permanent


def test_where_loopback_is_allowed_other_private_addresses_are_still_refused() -> None:
    with pytest.raises(DeliveryFailed, match="no public address"):
        sender_resolving(["10.0.0.1"], []).post("https://example.com/", {}, b"", 5)


def test_an_address_in_the_url_is_checked_like_a_resolved_one() -> None:
    with Receiver(answering(ANSWER)) as receiver:
        with pytest.raises(DeliveryFailed, match="no public address") as failed:
            WebhookHttp().post(f"http://127.0.0.1:{receiver.port}/", {}, b"", 5)

        assert failed.value.permanent
        assert receiver.connections == 0


def test_the_checked_address_is_dialled_and_the_name_is_not_resolved_again() -> None:
    """DNS rebinding: a second lookup would give another address. The name does not exist, so one would fail."""
    asked: list[str] = []
    heard: list[bytes] = []

    def script(exchange: Exchange) -> None:
        heard.append(exchange.read_request()[0])
        exchange.send(ANSWER)

    with Receiver(script) as receiver:
        url = f"http://Hooks.Example.:{receiver.port}/"
        answer = sender_resolving(["127.0.0.1"], asked).post(url, {}, b"", 5)

    assert answer.status == 200
    assert asked == ["hooks.example"]
    assert f"Host: hooks.example:{receiver.port}".encode() in heard[0]


def test_the_next_address_is_dialled_when_one_refuses() -> None:
    with Receiver(answering(ANSWER)) as receiver:
        # Only 127.0.0.1 listens.
        url = f"http://hooks.example:{receiver.port}/"
        assert sender_resolving(["127.0.0.2", "127.0.0.1"], []).post(url, {}, b"", 5).status == 200


def test_a_name_without_an_address_is_told_so_and_may_come_back() -> None:
    def unknown(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def empty(_host: str, _port: int) -> Sequence[str]:
        return []

    for resolve in (unknown, empty):
        with pytest.raises(DeliveryFailed, match=r"name hooks\.example could not be resolved") as failed:
            WebhookHttp(resolve=resolve).post("https://hooks.example/", {}, b"", 5)
        assert not failed.value.permanent


def test_a_lookup_that_hangs_counts_against_the_limit() -> None:
    with Receiver(Exchange.hang) as blocker:

        def stuck(_host: str, _port: int) -> Sequence[str]:
            with socket.create_connection(("127.0.0.1", blocker.port)) as connection:
                connection.recv(1)
            return []

        began = time.monotonic()
        with pytest.raises(DeliveryFailed, match="did not answer within"):
            WebhookHttp(resolve=stuck).post("https://hooks.example/", {}, b"", LIMIT)

    assert time.monotonic() - began < LIMIT + SLACK


def test_the_system_resolves_localhost_to_loopback() -> None:
    with Receiver(answering(ANSWER)) as receiver:
        assert sender.post(f"http://localhost:{receiver.port}/", {}, b"", 5).status == 200


@pytest.mark.parametrize("url", ["", "gopher://example.com/", "http://exa mple.com/", "http://127.1/"])
def test_a_url_that_is_none_fails_for_good(url: str) -> None:
    with pytest.raises(DeliveryFailed) as failed:
        sender.post(url, {}, b"", 5)

    assert failed.value.permanent


# --- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a self-made certificate with its key for hooks.example and 127.0.0.1."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command")
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    subprocess.run(  # noqa: S603 - the arguments are this test's
        [
            *(openssl, "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=hooks.example"),
            *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", path, "-out", f"{path}.crt"),
            *("-addext", "subjectAltName=DNS:hooks.example,IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    with path.open("ab") as file:
        file.write(path.with_name(f"{path.name}.crt").read_bytes())
    return path


@pytest.fixture
def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def tls_sender(certificate: Path | None) -> WebhookHttp:
    """Return a sender that trusts this certificate; every name leads to loopback."""
    tls = ssl.create_default_context(cafile=certificate) if certificate else None
    return WebhookHttp(allow_loopback=True, resolve=lambda _host, _port: ["127.0.0.1"], tls=tls)


def test_tls_asks_for_the_name_and_verifies_it_although_an_address_is_dialled(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    names: list[str | None] = []
    server_tls.sni_callback = lambda _socket, name, _context: names.append(name)

    with Receiver(answering(ANSWER), server_tls) as receiver:
        answer = tls_sender(certificate).post(f"https://hooks.example:{receiver.port}/", {}, b"{}", 5)

    assert answer == HttpResponse(200, "ok")
    assert names == ["hooks.example"]


def test_a_certificate_for_an_address_is_accepted_for_it(certificate: Path, server_tls: ssl.SSLContext) -> None:
    with Receiver(answering(ANSWER), server_tls) as receiver:
        assert tls_sender(certificate).post(f"https://127.0.0.1:{receiver.port}/", {}, b"{}", 5).status == 200


def test_a_certificate_of_another_name_is_refused(certificate: Path, server_tls: ssl.SSLContext) -> None:
    with Receiver(answering(ANSWER), server_tls) as receiver:
        url = f"https://other.example:{receiver.port}/"
        with pytest.raises(DeliveryFailed, match=r"certificate of other\.example was refused") as failed:
            tls_sender(certificate).post(url, {}, b"{}", 5)

    assert not failed.value.permanent


def test_a_certificate_that_nobody_vouches_for_is_refused(server_tls: ssl.SSLContext) -> None:
    with Receiver(answering(ANSWER), server_tls) as receiver:
        url = f"https://hooks.example:{receiver.port}/"
        with pytest.raises(DeliveryFailed, match=r"certificate of hooks\.example was refused"):
            tls_sender(None).post(url, {}, b"{}", 5)


def test_a_receiver_that_speaks_no_tls_is_a_failure(certificate: Path) -> None:
    def script(exchange: Exchange) -> None:
        exchange.connection.recv(10)
        exchange.send(ANSWER)

    with Receiver(script) as receiver:
        url = f"https://hooks.example:{receiver.port}/"
        with pytest.raises(DeliveryFailed, match="could not agree on TLS"):
            tls_sender(certificate).post(url, {}, b"{}", 5)


def test_a_receiver_that_hangs_in_the_handshake_is_let_go_at_the_limit(certificate: Path) -> None:
    with Receiver(Exchange.hang) as receiver:
        began = time.monotonic()
        with pytest.raises(DeliveryFailed, match="did not answer within"):
            tls_sender(certificate).post(f"https://hooks.example:{receiver.port}/", {}, b"{}", LIMIT)

    assert time.monotonic() - began < LIMIT + SLACK


def test_a_receiver_that_trickles_over_tls_is_let_go_at_the_limit(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.trickle(b"HTTP/1.1 200 OK, as slowly as can be" * 10, 0.02)

    with Receiver(script, server_tls) as receiver:
        began = time.monotonic()
        with pytest.raises(DeliveryFailed, match="did not answer within"):
            tls_sender(certificate).post(f"https://hooks.example:{receiver.port}/", {}, b"{}", LIMIT)

    assert time.monotonic() - began < LIMIT + SLACK
