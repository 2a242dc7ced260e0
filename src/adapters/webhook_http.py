"""Posts webhooks over HTTP, to public addresses only.

The name is resolved once, every address that comes back is checked, and a checked address is
dialled: a name that changes its mind between check and connection (DNS rebinding) gains nothing.
TLS still asks for a certificate of the name. No redirects, no proxies from the environment.

With the standard library's `http.client` on a socket of our own, because the time limit is for the
whole exchange: a socket's time-out begins anew with each byte, so that a receiver which trickles
could hold an attempt for hours, and no HTTP library lets go of its socket while it connects.
"""

from __future__ import annotations

import contextlib
import http.client
import queue
import socket
import ssl
import threading
import time
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import InvalidRequest
from domain.webhooks.addresses import Receiver, allowed_address, receiver_of
from domain.webhooks.defaults import ANSWER_BYTES
from domain.webhooks.ports import DeliveryFailed, HttpResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Resolve: TypeAlias = Callable[[str, int], Sequence[str]]


def system_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host in the system's order of preference. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # A dict keeps the order and drops what is listed twice.
    return tuple({str(entry[4][0]): None for entry in found})


class WebhookHttp:
    """Implements `WebhookSender`. One instance serves many threads."""

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        resolve: Resolve = system_addresses,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Take what a deployment decides: loopback receivers (local work only), names, trusted authorities."""
        self._allow_loopback = allow_loopback
        self._resolve = resolve
        # Once: loading the system's authorities takes longer than a handshake.
        self._tls = tls or ssl.create_default_context()

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Post `body` and return the answer, whatever its status; at most 4 KiB of it is read.

        Status and headers must come within `timeout_seconds`, name lookup included. When the rest
        of the answer does not, what has come by then is returned: it is only kept to be read.
        Raises DeliveryFailed; `permanent` when the URL or an address of its host is not allowed.
        """
        deadline = _Deadline(timeout_seconds)
        try:
            receiver = receiver_of(url)
        except InvalidRequest as refused:
            raise DeliveryFailed(refused.message, permanent=True) from None
        try:
            addresses = self._addresses(receiver, deadline)
            with _connected(addresses, receiver.port, deadline) as plain, deadline.enforced(plain):
                secured = self._secured(plain, receiver)
                return _exchange(secured, receiver, headers, body, deadline)
        except (HTTPException, OSError) as failure:
            if isinstance(failure, TimeoutError) or deadline.is_over:
                raise DeliveryFailed(f"{receiver.host} did not answer within {timeout_seconds:g} seconds.") from None
            raise DeliveryFailed(_in_words(failure, receiver)) from failure

    def _addresses(self, receiver: Receiver, deadline: _Deadline) -> Sequence[str]:
        """Return the host's addresses, all of them allowed."""
        addresses = _within(deadline, lambda: self._resolve(receiver.host, receiver.port))
        for address in addresses:
            if not allowed_address(address, allow_loopback=self._allow_loopback):
                raise DeliveryFailed(f"{receiver.host} leads to {address}, which is no public address.", permanent=True)
        return addresses

    def _secured(self, plain: socket.socket, receiver: Receiver) -> socket.socket:
        if receiver.scheme == "http":
            return plain
        return self._tls.wrap_socket(plain, server_hostname=receiver.host)


class _Deadline:
    """The moment at which an exchange ends, whatever it is doing."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._ends

    @property
    def left(self) -> float:
        """Seconds, more than zero. Raises TimeoutError when it is over."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    @contextlib.contextmanager
    def enforced(self, connected: socket.socket) -> Iterator[None]:
        """Shut the connection down at the deadline, so that whoever reads or writes on it is let go."""
        # A second handle of the same connection: the first one is taken over by TLS.
        with connected.dup() as handle:
            timer = threading.Timer(self.left, _shut_down, [handle])
            timer.daemon = True
            timer.start()
            try:
                yield
            finally:
                timer.cancel()
                # Else it could meet another connection that was given the same file descriptor.
                timer.join()


def _shut_down(handle: socket.socket) -> None:
    # The receiver may have hung up by itself.
    with contextlib.suppress(OSError):
        handle.shutdown(socket.SHUT_RDWR)


def _within(deadline: _Deadline, lookup: Callable[[], Sequence[str]]) -> Sequence[str]:
    """Return what `lookup` returns or raise what it raises (OSError). Raises TimeoutError at the deadline.

    In a thread of its own: the system's resolver knows no time limit but its own, often half a minute.
    """
    answers: queue.SimpleQueue[Sequence[str] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(lookup())
        except OSError as failure:
            answers.put(failure)

    threading.Thread(target=look_up, daemon=True).start()
    try:
        answer = answers.get(timeout=deadline.left)
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _connected(addresses: Sequence[str], port: int, deadline: _Deadline) -> socket.socket:
    """Return a connection to the first address that accepts one, each given its share of the time left."""
    failure: OSError = socket.gaierror(socket.EAI_NONAME, "no address")
    for number, address in enumerate(addresses):
        try:
            connected = socket.create_connection((address, port), timeout=deadline.left / (len(addresses) - number))
        except OSError as refused:
            failure = refused
        else:
            connected.settimeout(deadline.left)
            return connected
    raise failure


def _exchange(
    connected: socket.socket, receiver: Receiver, headers: Mapping[str, str], body: bytes, deadline: _Deadline
) -> HttpResponse:
    connection = HTTPConnection(receiver.host, receiver.port)
    connection.sock = connected
    with contextlib.closing(connection):
        # A receiver may answer without reading it all (413) and hang up: its answer is still there to be read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request(
                "POST",
                receiver.target,
                body,
                {"Host": receiver.host_header, "Connection": "close", **headers},
            )
        with connection.getresponse() as response:
            # A connection that is shut down in the middle of the headers looks like their end.
            if deadline.is_over:
                raise TimeoutError
            return HttpResponse(response.status, _beginning(response), response.headers["Retry-After"])


def _beginning(response: http.client.HTTPResponse) -> str:
    """Return the first 4 KiB of the answer's text, as far as it comes."""
    text = b""
    # The status has been given; an answer that breaks off after it does not take it back.
    with contextlib.suppress(HTTPException, OSError):
        while len(text) < ANSWER_BYTES and (part := response.read1(ANSWER_BYTES - len(text))):
            text += part
    return text.decode(errors="replace")


def _in_words(failure: HTTPException | OSError, receiver: Receiver) -> str:
    """Return the failure for the app's owner; never more of the URL than its host."""
    host = receiver.host
    match failure:
        case ssl.SSLCertVerificationError():
            words = f"The certificate of {host} was refused: {failure.verify_message}."
        case ssl.SSLError():
            words = f"{host} could not agree on TLS: {failure.reason}."
        case socket.gaierror():
            words = f"The name {host} could not be resolved: {failure.strerror}."
        case ConnectionRefusedError():
            words = f"{host} refuses connections on port {receiver.port}."
        case http.client.RemoteDisconnected() | ConnectionResetError():
            words = f"{host} closed the connection without an answer."
        case HTTPException():
            words = f"{host} answered something that is not HTTP ({type(failure).__name__})."
        case _:
            words = f"{host} could not be reached: {failure.strerror or type(failure).__name__}."
    return words
