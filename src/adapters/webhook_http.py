"""Posts webhooks over HTTP, to public addresses only.

The name is resolved once, every address is checked, and the connection goes to a checked address. A name that resolves
differently a moment later (DNS rebinding) therefore has no effect. TLS still verifies the certificate for the name.
Redirects are not followed, and proxies of the environment are not used.

This uses `http.client` on our own socket, because the time limit covers the whole exchange. The time-out of a socket
restarts with every byte, so a slow receiver could hold an attempt for hours. HTTP libraries do not give access to the
socket while they connect (decision 0004).
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from concurrent.futures import Future
from http.client import SWITCHING_PROTOCOLS, HTTPConnection, HTTPException, HTTPResponse, parse_headers
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import InvalidRequest
from domain.webhooks.addresses import check_url, is_allowed
from domain.webhooks.defaults import MAX_INTERIM_RESPONSES, MAX_RESPONSE_BYTES
from domain.webhooks.ports import DeliveryFailed, HttpResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from domain.webhooks.addresses import Receiver, UrlRules

    Resolve: TypeAlias = Callable[[str, int], Sequence[str]]

_FIRST_FINAL_STATUS = 200
"""RFC 9110 §15.2: any number of 1xx responses may precede the final one. 101 ends HTTP on the connection."""


def system_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, without duplicates, in the system's order of preference. Raises OSError."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))


class WebhookHttp:
    """Implements `WebhookSender`. One instance serves many threads."""

    def __init__(
        self, rules: UrlRules, *, resolve: Resolve = system_addresses, tls: ssl.SSLContext | None = None
    ) -> None:
        """`resolve` returns the addresses of a name, and `tls` has the authorities."""
        self._rules = rules
        self._resolve = resolve
        # Created once, because loading the system's authorities takes longer than a handshake.
        self._tls = tls or ssl.create_default_context()

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Post `body` and return the response, whatever its status.

        Status and headers must arrive within `timeout_seconds`, which includes the name lookup. At most 4 KiB of the
        body is read, as far as it arrives in time. Raises DeliveryFailed, which is `permanent` if the URL or an address
        of its host is not allowed.
        """
        deadline = _Deadline(timeout_seconds)
        try:
            receiver = check_url(url, self._rules)
        except InvalidRequest as problem:
            raise DeliveryFailed(problem.message, permanent=True) from None
        try:
            addresses = self._addresses(receiver, deadline)
            with _connect(addresses, receiver.port, deadline) as plain, deadline.enforced(plain):
                is_plain = receiver.scheme == "http"
                connected = plain if is_plain else self._tls.wrap_socket(plain, server_hostname=receiver.host)
                return _exchange(connected, receiver, headers, body, deadline)
        except (HTTPException, OSError) as failure:
            if isinstance(failure, TimeoutError) or deadline.is_over:
                unit = "second" if timeout_seconds == 1 else "seconds"
                reason = f"{receiver.host} did not respond within {timeout_seconds:g} {unit}."
                raise DeliveryFailed(reason, timed_out=True) from None
            raise DeliveryFailed(_description(failure, receiver)) from failure

    def _addresses(self, receiver: Receiver, deadline: _Deadline) -> Sequence[str]:
        """Return the addresses of the host. Raises DeliveryFailed if one of them is not allowed."""
        addresses = _in_time(deadline, lambda: self._resolve(receiver.host, receiver.port))
        for address in addresses:
            if not is_allowed(address, allow_loopback=self._rules.allow_loopback):
                raise DeliveryFailed(f"{receiver.host} resolves to {address}, which is not public.", permanent=True)
        return addresses


class _Deadline:
    """The time at which an exchange ends, even if it is not complete."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    @property
    def seconds_left(self) -> float:
        """The seconds left, always more than zero. Raises TimeoutError if none are left."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    @contextlib.contextmanager
    def enforced(self, connected: socket.socket) -> Iterator[None]:
        """Shut the connection down at the deadline. That ends every read and write on it."""
        # A second handle of the connection, because TLS takes over the first one.
        with connected.dup() as handle:
            timer = threading.Timer(self.seconds_left, _shut_down, [handle])
            timer.daemon = True
            timer.start()
            try:
                yield
            finally:
                timer.cancel()
                # Wait for the timer, because it could shut down a new connection with the same file descriptor.
                timer.join()


def _shut_down(handle: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the receiver may have closed the connection
        handle.shutdown(socket.SHUT_RDWR)


def _in_time(deadline: _Deadline, lookup: Callable[[], Sequence[str]]) -> Sequence[str]:
    """Return the result of `lookup`, or raise its OSError. Raises TimeoutError at the deadline.

    The lookup runs in its own thread, because the system's resolver can take half a minute.
    """
    result: Future[Sequence[str]] = Future()

    def look_up() -> None:
        try:
            result.set_result(lookup())
        except OSError as failure:
            result.set_exception(failure)

    threading.Thread(target=look_up, daemon=True).start()
    return result.result(timeout=deadline.seconds_left)


def _connect(addresses: Sequence[str], port: int, deadline: _Deadline) -> socket.socket:
    """Return a connection to the first address that accepts one. Each address gets its share of the time left."""
    failure: OSError = socket.gaierror(socket.EAI_NONAME, "no address")
    for number, address in enumerate(addresses):
        share = deadline.seconds_left / (len(addresses) - number)
        try:
            connected = socket.create_connection((address, port), timeout=share)
        except OSError as refused:
            failure = refused
        else:
            connected.settimeout(deadline.seconds_left)
            return connected
    raise failure


class _TooManyInterimResponses(HTTPException):
    """The receiver sent more than MAX_INTERIM_RESPONSES."""


class _Response(HTTPResponse):
    """A response whose parts are all bounded.

    `http.client` bounds lines and headers, but it reads any number of interim responses and trailers, as fast as the
    receiver sends them. It also takes an interim response other than 100 for the final one.
    """

    def _read_status(self) -> tuple[str, int, str]:
        """Return version, status and reason of the final response. Skips interim ones."""
        for _ in range(MAX_INTERIM_RESPONSES + 1):
            line: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]  # not in the type stubs
            if line[1] >= _FIRST_FINAL_STATUS or line[1] == SWITCHING_PROTOCOLS:
                return line
            parse_headers(self.fp)
        raise _TooManyInterimResponses

    def _read_and_discard_trailer(self) -> None:
        """Leave the trailers unread, because the connection is closed after the response."""


class _Connection(HTTPConnection):
    response_class = _Response


def _exchange(
    connected: socket.socket, receiver: Receiver, headers: Mapping[str, str], body: bytes, deadline: _Deadline
) -> HttpResponse:
    connection = _Connection(receiver.host, receiver.port)
    connection.sock = connected
    headers = {"Host": receiver.host_header, "Connection": "close", **headers}
    with contextlib.closing(connection):
        # A receiver may respond (413) and close the connection before it has read everything.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", receiver.target, body, headers)
        with connection.getresponse() as response:
            # A connection that is shut down during the headers looks like their end.
            if deadline.is_over:
                raise TimeoutError
            return HttpResponse(response.status, _text(response), response.headers["Retry-After"])


def _text(response: HTTPResponse) -> str:
    """Return the first 4 KiB of the response. A lost connection after the status does not make the attempt fail."""
    text = b""
    with contextlib.suppress(HTTPException, OSError):
        while len(text) < MAX_RESPONSE_BYTES and (part := response.read1(MAX_RESPONSE_BYTES - len(text))):
            text += part
    return text.decode(errors="replace")


def _description(failure: HTTPException | OSError, receiver: Receiver) -> str:
    """Describe a failure for the app's owner. The text contains only the host of the URL."""
    for kind, description in _DESCRIPTIONS:
        if isinstance(failure, kind):
            return description.format(failure=failure, host=receiver.host, port=receiver.port)
    return f"{receiver.host} could not be reached: {getattr(failure, 'strerror', None) or type(failure).__name__}."


_DESCRIPTIONS: tuple[tuple[type[Exception], str], ...] = (
    (ssl.SSLCertVerificationError, "The certificate of {host} was rejected: {failure.verify_message}."),
    (ssl.SSLError, "The TLS handshake with {host} failed: {failure.reason}."),
    (socket.gaierror, "The name {host} could not be resolved: {failure.strerror}."),
    (ConnectionRefusedError, "{host} refused the connection on port {port}."),
    (ConnectionResetError, "{host} closed the connection without a response."),
    (_TooManyInterimResponses, f"{{host}} sent more than {MAX_INTERIM_RESPONSES} interim responses (HTTP 1xx)."),
    (HTTPException, "The response of {host} is not HTTP ({failure.__class__.__name__})."),
)
