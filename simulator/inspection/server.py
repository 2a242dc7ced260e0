"""The HTTP server of the inspection API and its page. It listens on loopback and answers this machine only."""

from __future__ import annotations

import ipaddress
import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from simulator.basics.errors import HresultError
from simulator.inspection.inspector import BadParameterError, Inspector, NotFoundError
from simulator.inspection.processor import MAX_BODY_BYTES, RequestProcessor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulator.company import Company
    from simulator.inspection.inspector import Json

DEFAULT_HOST = "127.0.0.1"
MAX_TARGET_LENGTH = 2_000
MAX_PARAMETERS = 20
MAX_LENGTH_DIGITS = 15
TIMEOUT_SECONDS = 10

_PROCESSOR = "/qbxml"

_PAGE = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@contextmanager
def serving(
    company: Company,
    *,
    port: int = 0,
    host: str = DEFAULT_HOST,
    more_problems: Callable[[], list[str]] | None = None,
) -> Iterator[str]:
    """Serve the inspection API of a company while the block runs, and yield its URL. Port 0 means a free one.

    Raises `ValueError` for an address that other machines can reach, `OSError` for a port that is in use.
    """
    if not _is_loopback(host):
        raise ValueError(f"The inspection API listens on loopback only (127.0.0.1 or ::1), not on {host}.")
    inspector = Inspector(company) if more_problems is None else Inspector(company, more_problems)
    server = _Server((host, port), partial(_Handler, inspector, RequestProcessor(company)))
    thread = threading.Thread(target=server.serve_forever, name="inspection", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parameters(query: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS))
    except ValueError as error:
        raise BadParameterError(f"A URL can have {MAX_PARAMETERS} parameters at most.") from error


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection. Every answer is JSON, but for the files of the page and the responses of QuickBooks."""

    protocol_version = "HTTP/1.1"
    server_version = "qbxml-simulator"
    sys_version = ""
    timeout = TIMEOUT_SECONDS
    server: _Server

    def __init__(self, inspector: Inspector, processor: RequestProcessor, *arguments: object) -> None:
        self._inspector, self._processor = inspector, processor
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer a read, or a file of the page."""
        target = urlsplit(self.path)
        name = target.path.removeprefix("/")
        if name in _PAGE and self._refusal() is None:
            file, content_type = _PAGE[name]
            self._send(200, content_type, (files(__package__) / file).read_bytes())
            return
        self._respond(self._inspector.get)

    def do_POST(self) -> None:
        """Answer a document of QBXML, a reset, a snapshot or a restore."""
        if urlsplit(self.path).path == _PROCESSOR:
            self._process()
        else:
            self._respond(lambda path, _: self._inspector.post(path))

    def do_DELETE(self) -> None:
        """Delete a snapshot."""
        self._respond(lambda path, _: self._inspector.delete(path))

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name of the base class
        """Print nothing, because the terminal shows the requests of the Web Connector."""

    def _process(self) -> None:
        refusal = self._refusal(MAX_BODY_BYTES)
        if refusal is not None:
            self._error(*refusal)
            return
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            return
        try:
            response = self._processor.process(body, _parameters(urlsplit(self.path).query))
        except BadParameterError as error:
            self._error(400, "bad_parameter", str(error))
        except HresultError as error:
            failure = {"hresult": error.hresult, "message": error.message, "detail": error.detail}
            self._send_json(422, {"error": {"code": "hresult", **failure}})
        else:
            self._send(200, "text/xml; charset=utf-8", response.encode())

    def _respond(self, view: Callable[[list[str], dict[str, str]], Json]) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self._error(*refusal)
            return
        target = urlsplit(self.path)
        path = [unquote(part) for part in target.path.strip("/").split("/")]
        try:
            body = view(path, _parameters(target.query))
        except NotFoundError as error:
            self._error(404, "not_found", str(error))
        except BadParameterError as error:
            self._error(400, "bad_parameter", str(error))
        else:
            self._send_json(200, body)

    def _refusal(self, max_body_bytes: int = 0) -> tuple[int, str, str] | None:
        """Return the status, code and message of a request that is refused before its body is read.

        The Host header must name this server: with DNS rebinding, a web page could reach it under another name. The
        Origin header, if there is one, must be this server's page: no other page may reset the books.
        """
        port = self.server.server_port
        own = {f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"}
        if self.headers.get("Host", "") not in own:
            return 421, "wrong_host", f"Use the address http://127.0.0.1:{port}/."
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in own:
            return 403, "wrong_origin", "A page of another site cannot use this API."
        if len(self.path) > MAX_TARGET_LENGTH:
            return 414, "url_too_long", f"The URL has more than {MAX_TARGET_LENGTH} characters."
        refusal = self._refusal_of_body(max_body_bytes)
        if refusal is not None:
            self.close_connection = True
        return refusal

    def _refusal_of_body(self, max_body_bytes: int) -> tuple[int, str, str] | None:
        length, has_chunks = self.headers.get("Content-Length", "0"), "Transfer-Encoding" in self.headers
        if not max_body_bytes:
            return (413, "body_not_allowed", "Send no request body.") if length != "0" or has_chunks else None
        if has_chunks or not length.isdecimal() or length == "0":
            return 411, "length_required", "Send QBXML as the body, with its length as Content-Length."
        # A longer number is not converted: Python refuses numbers of thousands of digits.
        if len(length) > MAX_LENGTH_DIGITS or int(length) > max_body_bytes:
            return 413, "body_too_large", f"The body has more than {max_body_bytes} bytes."
        return None

    def _error(self, status: int, code: str, message: str) -> None:
        self._send_json(status, {"error": {"code": code, "message": message}})

    def _send_json(self, status: int, body: Json) -> None:
        self._send(status, "application/json", json.dumps(body, ensure_ascii=False).encode())

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": content_type, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
