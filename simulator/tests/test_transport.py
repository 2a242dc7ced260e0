"""HTTP as .NET's client uses it: no redirects, no retries, only `text/xml` for an answer."""

from __future__ import annotations

from typing import Any

import pytest
import urllib3

from simulator.basics.errors import TransportError
from simulator.web_connector.transport import HttpTransport


class Pool(urllib3.PoolManager):
    """A pool that responds from memory and records the calls."""

    def __init__(self, response: urllib3.HTTPResponse | Exception) -> None:
        super().__init__()
        self.response = response
        self.calls: list[tuple[str, str, dict[str, Any]]] = []

    def request(self, method: str, url: str, **options: Any) -> Any:  # type: ignore[override]
        """Respond, or raise."""
        self.calls.append((method, url, options))
        if isinstance(self.response, Exception):
            raise self.response
        return self.response


def http_response(status: int, content_type: str) -> urllib3.HTTPResponse:
    return urllib3.HTTPResponse(body=b"<a/>", headers={"content-type": content_type}, status=status)


def test_a_call_is_posted_without_following_redirects() -> None:
    pool = Pool(http_response(200, "Text/XML; charset=utf-8"))

    response = HttpTransport(pool).post("https://qb.example.com/qbwc", {"SOAPAction": '"x"'}, b"<b/>")

    assert response == (200, b"<a/>")
    method, url, options = pool.calls[0]
    assert (method, url, options["redirect"]) == ("POST", "https://qb.example.com/qbwc", False)
    assert (options["headers"], options["body"]) == ({"SOAPAction": '"x"'}, b"<b/>")


def test_a_response_that_is_not_text_xml_is_refused() -> None:
    with pytest.raises(TransportError, match="'application/json', but expected 'text/xml'"):
        HttpTransport(Pool(http_response(200, "application/json"))).post("https://qb.example.com/", {}, b"")


def test_errors_are_passed_on_with_any_content() -> None:
    assert HttpTransport(Pool(http_response(502, "text/html"))).post("https://qb.example.com/", {}, b"")[0] == 502


def test_a_page_is_fetched_for_its_status() -> None:
    pool = Pool(http_response(302, "text/html"))

    assert HttpTransport(pool).get("https://qb.example.com/") == 302
    assert pool.calls[0][2]["redirect"] is False


@pytest.mark.parametrize("error", [urllib3.exceptions.ProtocolError("reset"), urllib3.exceptions.HTTPError("no route")])
def test_an_error_of_urllib3_is_a_transport_error(error: Exception) -> None:
    transport = HttpTransport(Pool(error))

    with pytest.raises(TransportError):
        transport.post("https://qb.example.com/", {}, b"")
    with pytest.raises(TransportError):
        transport.get("https://qb.example.com/")
