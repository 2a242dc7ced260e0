"""The HTTP server in front of the gateway: loopback only, HTTP/1.1 with keep-alive, one thread per connection."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from local.gateway import MAX_BODY_BYTES, Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

HOST = "127.0.0.1"

SECURITY_HEADERS = {"Strict-Transport-Security": "max-age=31536000", "X-Content-Type-Options": "nosniff"}
"""The headers of responses that do not come from the gateway. Its functions and the template set theirs."""

DRAINED_BYTES = 4 * MAX_BODY_BYTES
"""A body that is too large is read up to this size, so that the sender can read the response."""

MAX_LINE_BYTES = 1024
MAX_TRAILERS = 100
"""The size of a line between chunks, and the number of lines after the last one."""

_DIGITS = re.compile("[0-9A-Fa-f]{1,16}", re.ASCII)

THREAD_NAME = "http"
"""The thread that accepts connections."""

IDLE_SECONDS = 75
"""How long a connection stays open without a request."""


class _Handler(BaseHTTPRequestHandler):
    """Reads a request, calls `application` and writes the response."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    wbufsize = -1  # one packet for headers and body, because a second one would wait for an acknowledgement
    disable_nagle_algorithm = True
    application: Callable[[Request], Response]

    def __getattr__(self, name: str) -> Any:
        """Treat every method alike: the standard library looks for `do_<METHOD>`."""
        if name.startswith("do_"):
            return self._respond
        raise AttributeError(name)

    def handle_one_request(self) -> None:
        """Serve one request. A caller that closed the connection is not an error."""
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def handle_expect_100(self) -> bool:
        """Tell the client at once to send the body: curl waits a second for that."""
        go_on = super().handle_expect_100()
        self.wfile.flush()
        return go_on

    def version_string(self) -> str:
        """Omit the name of the software."""
        return "local"

    def send_error(self, code: int, *_: Any) -> None:
        """Refuse a request that is not HTTP, and close the connection."""
        self.request_version = self.protocol_version  # otherwise no headers are sent to an HTTP/0.9 client
        self.send_response(code)
        for name, value in {**SECURITY_HEADERS, "Connection": "close", "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Do not log requests to the terminal."""

    def _respond(self) -> None:
        body = self._body()
        if body is None:
            return
        request = Request(self.command, self.path, self.headers.items(), body, self.client_address[0])
        response = type(self).application(request)
        self.send_response(response.status)
        for name, value in response.headers:
            if name.lower() not in {"content-length", "connection", "transfer-encoding"}:
                self.send_header(name, value)
        if self.close_connection:
            # Otherwise the client would send its next request on this connection.
            self.send_header("Connection", "close")
        # The functions leave out the body of a response to HEAD, so its length is not known.
        if response.status not in {204, 304} and self.command != "HEAD":
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def _body(self) -> bytes | None:
        """Return the body. A body that is too large is cut one byte after the limit, so that the gateway refuses it."""
        try:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                return self._chunks()
            length = _size(self.headers.get("Content-Length", "0"), 10)
        except ValueError:
            self.send_error(400)
            return None
        body = self.rfile.read(min(length, MAX_BODY_BYTES + 1))
        remaining_bytes = min(length, DRAINED_BYTES) - len(body)
        while remaining_bytes > 0 and (drained := self.rfile.read(min(remaining_bytes, 65536))):
            remaining_bytes -= len(drained)
        if length > DRAINED_BYTES:
            self.close_connection = True
        return body

    def _chunks(self) -> bytes:
        """Return the body that arrives in chunks, cut as `_body` describes. Raises ValueError if it is malformed."""
        chunks: list[bytes] = []
        size = 0
        while length := _size(self.rfile.readline(MAX_LINE_BYTES).partition(b";")[0].strip(), 16):
            size += length
            if size > DRAINED_BYTES:
                self.close_connection = True
                return bytes(MAX_BODY_BYTES + 1)
            chunk = self.rfile.read(length)
            if size - length <= MAX_BODY_BYTES:
                chunks.append(chunk)
            if self.rfile.readline(MAX_LINE_BYTES).strip():
                raise ValueError
        for _ in range(MAX_TRAILERS):
            if not self.rfile.readline(MAX_LINE_BYTES).strip():
                return b"".join(chunks)
        raise ValueError


def _size(text: str | bytes, base: int) -> int:
    """Return a number of bytes. Raises ValueError if it is not one."""
    digits = text if isinstance(text, str) else text.decode("ascii")
    if not _DIGITS.fullmatch(digits):
        raise ValueError
    return int(digits, base)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    """The number of connections that may wait to be accepted. With the default of 5, some were reset under load."""


class Server:
    """An HTTP server on loopback. It binds its port at once and serves after `start`."""

    def __init__(self, port: int) -> None:
        """Bind a port; 0 selects a free one. Raises OSError when it is in use."""
        self._server = _Listener((HOST, port), _Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, name=THREAD_NAME, daemon=True
        )

    @property
    def base_url(self) -> str:
        """The URL of the server, without a slash at the end."""
        return f"http://{HOST}:{self._server.server_port}"

    @property
    def named_url(self) -> str:
        """The URL with a host name. A `.qwc` file allows http only for localhost, and never allows an IP address."""
        return f"http://localhost:{self._server.server_port}"

    def start(self, application: Callable[[Request], Response]) -> None:
        """Pass each request to `application`, in the thread of its connection."""
        self._server.RequestHandlerClass = type("Handler", (_Handler,), {"application": staticmethod(application)})
        self._thread.start()

    def stop(self) -> None:
        """Stop, and release the port."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
