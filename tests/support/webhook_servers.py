"""Receivers on loopback. They use plain sockets, so a test controls every byte and every pause."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Exchange:
    """A server's side of one connection."""

    def __init__(self, connection: socket.socket, released: threading.Event) -> None:
        self.connection = connection
        self.released = released

    def read_request(self) -> tuple[bytes, bytes]:
        """Return the head and the body of the request."""
        text = b""
        while b"\r\n\r\n" not in text:
            text += self._read()
        head, _, body = text.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:"))
        while len(body) < length:
            body += self._read()
        return head, body

    def _read(self) -> bytes:
        part = self.connection.recv(65536)
        if not part:
            raise ConnectionError
        return part

    def send(self, text: bytes) -> None:
        """Send bytes."""
        self.connection.sendall(text)

    def hang(self) -> None:
        """Do nothing until the test ends."""
        self.released.wait()

    def trickle(self, text: bytes, seconds: float) -> None:
        """Send single bytes, `seconds` apart, until the other side or the test ends."""
        for byte in text:
            self.send(bytes([byte]))
            if self.released.wait(seconds):
                return


class Receiver:
    """Listens on a free loopback port and runs `script` for every connection. A context manager."""

    def __init__(self, script: Callable[[Exchange], Any], tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.tls = tls
        self.connections = 0
        self._released = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        """Accept connections."""
        self._spawn(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        """End every connection and wait for its thread."""
        self._released.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in list(self._threads):
            thread.join()
        self._listener.close()

    def _spawn(self, work: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._spawn(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        # The sender closes the connection when it has read enough. That is not a failure.
        with connection, contextlib.suppress(OSError):
            if self.tls is None:
                self.script(Exchange(connection, self._released))
                return
            with self.tls.wrap_socket(connection, server_side=True) as tls_connection:
                self.script(Exchange(tls_connection, self._released))
