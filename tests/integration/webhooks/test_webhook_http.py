"""Posting to receivers on loopback: correct, broken and hostile ones."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from typing import TYPE_CHECKING

import pytest

from adapters.webhook_http import WebhookHttp
from domain.webhooks.addresses import UrlRules
from domain.webhooks.defaults import MAX_INTERIM_RESPONSES
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from tests.support.webhook_servers import RESPONSE, Exchange, Receiver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

pytestmark = pytest.mark.system

LIMIT = 0.4
"""The time limit in seconds of posts to receivers that never finish."""
SLACK = 5
"""Seconds that a post may take beyond its limit on a busy machine. Without the limit, each post would take longer."""

DEPLOYED = UrlRules()
LOCAL = UrlRules(allow_http=True, allow_loopback=True, ports=frozenset(range(1, 2**16)))
"""Allows every port, because the receivers of the tests listen on free ones under any name."""

sender = WebhookHttp(LOCAL)


def responding(text: bytes) -> Callable[[Exchange], None]:
    """Return the script of a receiver that reads the request and responds with these bytes."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(text)

    return script


def post(receiver: Receiver, path: str = "/", body: bytes = b"{}", limit: float = 5.0) -> HttpResponse:
    return sender.post(f"http://127.0.0.1:{receiver.port}{path}", {"webhook-id": "1"}, body, limit)


def failure_of(receiver: Receiver, limit: float = LIMIT, body: bytes = b"{}") -> DeliveryFailed:
    """Post, expect a failure within the limit, and return it."""
    start = time.monotonic()
    with pytest.raises(DeliveryFailed) as caught:
        post(receiver, body=body, limit=limit)
    assert time.monotonic() - start < limit + SLACK
    assert caught.value.timed_out is ("did not respond within" in str(caught.value))
    return caught.value


# --- Requests and responses


def test_a_post_is_one_plain_http_request() -> None:
    requests: list[tuple[bytes, bytes]] = []

    def script(exchange: Exchange) -> None:
        requests.append(exchange.read_request())
        exchange.send(RESPONSE)

    with Receiver(script) as receiver:
        response = post(receiver, "/hook?token=a%20b", b'{"id":1}')

    assert response == HttpResponse(200, "ok")
    [(head, body)] = requests
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


def test_status_text_and_retry_after_are_returned_for_any_status() -> None:
    text = b"HTTP/1.1 503 Busy\r\nretry-after: 120\r\nContent-Length: 5\r\n\r\nlater"
    with Receiver(responding(text)) as receiver:
        assert post(receiver) == HttpResponse(503, "later", "120")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    with Receiver(responding(RESPONSE)) as other:
        location = f"http://127.0.0.1:{other.port}/"
        text = f"HTTP/1.1 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        with Receiver(responding(text)) as receiver:
            assert post(receiver).status == status

        assert other.connections == 0


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Receiver(responding(RESPONSE)) as proxy, Receiver(responding(RESPONSE)) as receiver:
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
def test_the_response_text_that_arrives_is_read_in_every_framing(text: bytes, expected: str) -> None:
    with Receiver(responding(text)) as receiver:
        assert post(receiver).body == expected


@pytest.mark.parametrize("status", [100, 102, 103, 199])
@pytest.mark.parametrize("number", [1, 2, MAX_INTERIM_RESPONSES])
def test_interim_responses_precede_the_final_one(status: int, number: int) -> None:
    text = f"HTTP/1.1 {status} Wait\r\nLink: </a>\r\n\r\n".encode() * number
    with Receiver(responding(text + RESPONSE)) as receiver:
        assert post(receiver) == HttpResponse(200, "ok")


def test_switching_protocols_is_a_final_response() -> None:
    with Receiver(responding(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + RESPONSE)) as receiver:
        assert post(receiver).status == 101


def test_4_kib_of_a_huge_response_are_read() -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            exchange.send(b"x" * 65536)

    with Receiver(script) as receiver:
        assert post(receiver).body == "x" * 4096


def test_a_receiver_may_respond_and_close_before_it_has_read_everything() -> None:
    def script(exchange: Exchange) -> None:
        exchange.connection.recv(100)
        exchange.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")

    with Receiver(script) as receiver:
        assert post(receiver, body=b"x" * 20_000_000).status == 413


# --- Receivers that never finish


def test_a_slow_receiver_may_use_the_whole_limit() -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.released.wait(0.15)
        exchange.send(RESPONSE)

    with Receiver(script) as receiver:
        assert post(receiver).status == 200


def test_a_receiver_that_never_responds_is_cut_off_at_the_limit() -> None:
    with Receiver(Exchange.hang) as receiver:
        failure = failure_of(receiver)

    assert "did not respond within 0.4 seconds" in str(failure)
    assert not failure.permanent


def test_a_receiver_that_never_reads_is_cut_off_at_the_limit() -> None:
    with Receiver(Exchange.hang) as receiver:
        failure = failure_of(receiver, body=b"x" * 50_000_000)

    assert "did not respond" in str(failure)


@pytest.mark.parametrize(
    "beginning", [b"", b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX-Header: "], ids=repr
)
def test_a_receiver_that_trickles_its_headers_is_cut_off_at_the_limit(beginning: bytes) -> None:
    """Each byte restarts the time-out of a socket, so the whole exchange needs a limit."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(beginning)
        exchange.trickle(b"HTTP/1.1 200 OK, as slowly as can be" * 10, 0.02)

    with Receiver(script) as receiver:
        failure = failure_of(receiver)

    assert "did not respond within" in str(failure)


@pytest.mark.parametrize("status", [100, 102, 103, 199])
@pytest.mark.parametrize("headers", [b"", b"X: 1\r\n" * 90])
def test_a_receiver_that_sends_interim_responses_without_end_is_stopped_after_five(status: int, headers: bytes) -> None:
    """Each takes processor time, so the time limit is not enough."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        while True:
            exchange.send(f"HTTP/1.1 {status} Wait\r\n".encode() + headers + b"\r\n")

    with Receiver(script) as receiver:
        failure = failure_of(receiver, limit=30)

    assert str(failure) == "127.0.0.1 sent more than 5 interim responses (HTTP 1xx)."
    assert not failure.permanent
    assert not failure.timed_out


def test_trailers_are_not_read() -> None:
    """They would be read as fast as the receiver sends them, until the time limit."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n")
        exchange.hang()

    with Receiver(script) as receiver:
        start = time.monotonic()
        response = post(receiver, limit=30)

    assert response == HttpResponse(200, "ok")
    assert time.monotonic() - start < SLACK


def test_a_slow_response_keeps_the_text_that_arrived_in_time() -> None:
    """The status decides (2xx within the limit). The text is kept for people."""

    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        exchange.trickle(b"x" * 1000, 0.02)

    with Receiver(script) as receiver:
        start = time.monotonic()
        response = post(receiver, limit=LIMIT)

    assert time.monotonic() - start < LIMIT + SLACK
    assert response.status == 200
    assert 0 < len(response.body) < 1000


# --- Receivers that break off


def test_a_receiver_that_closes_the_connection_is_a_failure() -> None:
    with Receiver(Exchange.read_request) as receiver:
        assert "closed the connection without a response" in str(failure_of(receiver, limit=5))


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
def test_a_response_that_is_not_http_is_a_failure(text: bytes) -> None:
    with Receiver(responding(text)) as receiver:
        assert "not HTTP" in str(failure_of(receiver, limit=5))


def test_the_failure_names_a_closed_port_and_not_the_url() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(DeliveryFailed) as caught:
        sender.post(f"http://127.0.0.1:{port}/?token=hidden", {}, b"", 5)

    assert str(caught.value) == f"127.0.0.1 refused the connection on port {port}."


# --- Which addresses are dialled


def sender_resolving(addresses: Sequence[str], hosts: list[str], rules: UrlRules = LOCAL) -> WebhookHttp:
    """Return a sender that resolves every name to these addresses and lists the names in `hosts`."""

    def resolve(host: str, _port: int) -> Sequence[str]:
        hosts.append(host)
        return addresses

    return WebhookHttp(rules, resolve=resolve)


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["10.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:8.8.8.8"], ["169.254.169.254"]]
)
def test_a_name_with_any_address_that_is_not_public_is_refused_permanently(addresses: list[str]) -> None:
    with pytest.raises(DeliveryFailed, match="not public") as caught:
        sender_resolving(addresses, [], DEPLOYED).post("https://example.com/", {}, b"", 5)

    assert caught.value.permanent


def test_where_loopback_is_allowed_other_private_addresses_are_still_refused() -> None:
    with pytest.raises(DeliveryFailed, match="not public"):
        sender_resolving(["10.0.0.1"], []).post("https://example.com/", {}, b"", 5)


def test_an_address_in_the_url_is_checked_like_a_resolved_one() -> None:
    with Receiver(responding(RESPONSE)) as receiver:
        with pytest.raises(DeliveryFailed, match="not public") as caught:
            WebhookHttp(UrlRules(allow_http=True)).post(f"http://127.0.0.1:{receiver.port}/", {}, b"", 5)

        assert caught.value.permanent
        assert receiver.connections == 0


@pytest.mark.parametrize(
    ("rules", "url", "reason"),
    [
        (DEPLOYED, "http://hooks.example/", "must begin with https://"),
        (DEPLOYED, "https://hooks.example:8443/", r"must use an allowed port \(443\)"),
        (UrlRules(allow_http=True), "http://hooks.example:8080/", r"must use an allowed port \(80, 443\)"),
        (DEPLOYED, "https://127.0.0.1/", "not public"),
        (DEPLOYED, "https://localhost/", "not public"),
    ],
)
def test_a_stored_url_that_the_rules_no_longer_allow_is_not_even_resolved(
    rules: UrlRules, url: str, reason: str
) -> None:
    hosts: list[str] = []

    with pytest.raises(DeliveryFailed, match=reason) as caught:
        sender_resolving(["8.8.8.8"], hosts, rules).post(url, {}, b"", 5)

    assert caught.value.permanent
    assert hosts == []


def test_the_checked_address_is_dialled_and_the_name_is_not_resolved_again() -> None:
    """DNS rebinding: a second lookup would give another address. Here it would fail, as the name does not exist."""
    hosts: list[str] = []
    heads: list[bytes] = []

    def script(exchange: Exchange) -> None:
        heads.append(exchange.read_request()[0])
        exchange.send(RESPONSE)

    with Receiver(script) as receiver:
        url = f"http://Hooks.Example.:{receiver.port}/"
        response = sender_resolving(["127.0.0.1"], hosts).post(url, {}, b"", 5)

    assert response.status == 200
    assert hosts == ["hooks.example"]
    assert f"Host: hooks.example:{receiver.port}".encode() in heads[0]


def test_the_next_address_is_dialled_when_one_refuses() -> None:
    with Receiver(responding(RESPONSE)) as receiver:
        # Only 127.0.0.1 listens.
        url = f"http://hooks.example:{receiver.port}/"
        assert sender_resolving(["127.0.0.2", "127.0.0.1"], []).post(url, {}, b"", 5).status == 200


def test_a_name_without_an_address_is_not_a_permanent_failure() -> None:
    def unknown(_host: str, _port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def empty(_host: str, _port: int) -> Sequence[str]:
        return []

    for resolve in (unknown, empty):
        with pytest.raises(DeliveryFailed, match=r"name hooks\.example could not be resolved") as caught:
            WebhookHttp(DEPLOYED, resolve=resolve).post("https://hooks.example/", {}, b"", 5)
        assert not caught.value.permanent


def test_a_lookup_that_hangs_counts_against_the_limit() -> None:
    end = threading.Event()
    with Receiver(Exchange.hang) as blocker:

        def stuck(_host: str, _port: int) -> Sequence[str]:
            with socket.create_connection(("127.0.0.1", blocker.port)) as connection:
                connection.recv(1)
            end.set()
            return []

        with pytest.raises(DeliveryFailed, match="did not respond within"):
            WebhookHttp(DEPLOYED, resolve=stuck).post("https://hooks.example/", {}, b"", LIMIT)

        assert not end.is_set()


def test_the_system_resolves_localhost_to_loopback() -> None:
    with Receiver(responding(RESPONSE)) as receiver:
        assert sender.post(f"http://localhost:{receiver.port}/", {}, b"", 5).status == 200


@pytest.mark.parametrize("url", ["", "gopher://example.com/", "http://exa mple.com/", "http://127.1/"])
def test_an_invalid_url_fails_permanently(url: str) -> None:
    with pytest.raises(DeliveryFailed) as caught:
        sender.post(url, {}, b"", 5)

    assert caught.value.permanent


# --- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a self-signed certificate with its key for hooks.example, xn--bcher-kva.example and 127.0.0.1."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command")
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    subprocess.run(  # noqa: S603 - the arguments are this test's
        [
            *(openssl, "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=hooks.example"),
            *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", path, "-out", f"{path}.crt"),
            *("-addext", "subjectAltName=DNS:hooks.example,DNS:xn--bcher-kva.example,IP:127.0.0.1"),
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
    """Return a sender that trusts this certificate and resolves every name to loopback."""
    tls = ssl.create_default_context(cafile=certificate) if certificate else None
    return WebhookHttp(LOCAL, resolve=lambda _host, _port: ["127.0.0.1"], tls=tls)


def test_tls_verifies_the_name_although_an_address_is_dialled(certificate: Path, server_tls: ssl.SSLContext) -> None:
    names: list[str | None] = []
    server_tls.sni_callback = lambda _socket, name, _context: names.append(name)

    with Receiver(responding(RESPONSE), server_tls) as receiver:
        response = tls_sender(certificate).post(f"https://hooks.example:{receiver.port}/", {}, b"{}", 5)

    assert response == HttpResponse(200, "ok")
    assert names == ["hooks.example"]


def test_one_form_of_an_international_host_is_resolved_sent_to_tls_and_sent_as_host(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    resolved: list[str] = []
    heads: list[bytes] = []
    names: list[str | None] = []
    server_tls.sni_callback = lambda _socket, name, _context: names.append(name)

    def resolve(host: str, _port: int) -> Sequence[str]:
        resolved.append(host)
        return ["127.0.0.1"]

    def script(exchange: Exchange) -> None:
        heads.append(exchange.read_request()[0])
        exchange.send(RESPONSE)

    with Receiver(script, server_tls) as receiver:
        tls = ssl.create_default_context(cafile=certificate)
        WebhookHttp(LOCAL, resolve=resolve, tls=tls).post(f"https://BÜCHER.Example.:{receiver.port}/", {}, b"", 5)

    assert resolved == names == ["xn--bcher-kva.example"]
    assert f"Host: xn--bcher-kva.example:{receiver.port}".encode() in heads[0]


def test_a_certificate_for_an_address_is_accepted(certificate: Path, server_tls: ssl.SSLContext) -> None:
    with Receiver(responding(RESPONSE), server_tls) as receiver:
        assert tls_sender(certificate).post(f"https://127.0.0.1:{receiver.port}/", {}, b"{}", 5).status == 200


def test_a_certificate_of_another_name_is_refused(certificate: Path, server_tls: ssl.SSLContext) -> None:
    with Receiver(responding(RESPONSE), server_tls) as receiver:
        url = f"https://other.example:{receiver.port}/"
        with pytest.raises(DeliveryFailed, match=r"certificate of other\.example was rejected") as caught:
            tls_sender(certificate).post(url, {}, b"{}", 5)

    assert not caught.value.permanent


def test_a_self_signed_certificate_is_refused(server_tls: ssl.SSLContext) -> None:
    with Receiver(responding(RESPONSE), server_tls) as receiver:
        url = f"https://hooks.example:{receiver.port}/"
        with pytest.raises(DeliveryFailed, match=r"certificate of hooks\.example was rejected"):
            tls_sender(None).post(url, {}, b"{}", 5)


def test_a_receiver_that_speaks_no_tls_is_a_failure(certificate: Path) -> None:
    def script(exchange: Exchange) -> None:
        exchange.connection.recv(10)
        exchange.send(RESPONSE)

    with Receiver(script) as receiver:
        url = f"https://hooks.example:{receiver.port}/"
        with pytest.raises(DeliveryFailed, match=r"TLS handshake with hooks\.example failed"):
            tls_sender(certificate).post(url, {}, b"{}", 5)


def test_a_receiver_that_hangs_in_the_handshake_is_cut_off_at_the_limit(certificate: Path) -> None:
    with Receiver(Exchange.hang) as receiver:
        start = time.monotonic()
        with pytest.raises(DeliveryFailed, match="did not respond within"):
            tls_sender(certificate).post(f"https://hooks.example:{receiver.port}/", {}, b"{}", LIMIT)

    assert time.monotonic() - start < LIMIT + SLACK


def test_a_receiver_that_trickles_over_tls_is_cut_off_at_the_limit(
    certificate: Path, server_tls: ssl.SSLContext
) -> None:
    def script(exchange: Exchange) -> None:
        exchange.read_request()
        exchange.trickle(b"HTTP/1.1 200 OK, as slowly as can be" * 10, 0.02)

    with Receiver(script, server_tls) as receiver:
        start = time.monotonic()
        with pytest.raises(DeliveryFailed, match="did not respond within"):
            tls_sender(certificate).post(f"https://hooks.example:{receiver.port}/", {}, b"{}", LIMIT)

    assert time.monotonic() - start < LIMIT + SLACK
