"""How the Web Connector reaches the service: a Protocol of two methods, and its implementation over HTTP.

Tests pass a scripted server instead. `simulator.faults` wraps a transport to lose and repeat calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import urllib3

from simulator.basics.errors import TransportError

if TYPE_CHECKING:
    from collections.abc import Mapping

CALL_TIMEOUT_SECONDS = 100
"""The default of .NET's SoapHttpClientProtocol, which the Web Connector uses."""


class Transport(Protocol):
    """The part of HTTP that the Web Connector uses. It does not follow redirects."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Send a SOAP call. Return status code and body. Raises `TransportError` if no response arrives."""
        ...

    def get(self, url: str) -> int:
        """Fetch a page as the certificate check does. Return its status code. Raises `TransportError`."""
        ...


class HttpTransport:
    """The real transport: a pool of kept-alive connections, no retries, no redirects. `pool` is for tests."""

    def __init__(self, pool: urllib3.PoolManager | None = None) -> None:
        self._pool = pool or urllib3.PoolManager(
            timeout=urllib3.Timeout(total=CALL_TIMEOUT_SECONDS), retries=urllib3.Retry(False), maxsize=4
        )

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Send a SOAP call. Refuse a 200 that is not `text/xml`, as .NET's client does."""
        try:
            response = self._pool.request("POST", url, headers=dict(headers), body=body, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            raise TransportError(f"{type(error).__name__}: {error}") from error
        content_type = response.headers.get("Content-Type", "")
        if response.status == 200 and content_type.split(";")[0].strip().lower() != "text/xml":  # noqa: PLR2004 - HTTP OK
            raise TransportError(f"Client found response content type of '{content_type}', but expected 'text/xml'.")
        return response.status, response.data

    def get(self, url: str) -> int:
        """Fetch a page without following redirects."""
        try:
            return self._pool.request("GET", url, redirect=False).status
        except urllib3.exceptions.HTTPError as error:
            raise TransportError(f"{type(error).__name__}: {error}") from error
