"""Calls of the HTTP API (payload format 2.0) reach the handlers of the REST API, and long responses are compressed."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handlers import serve_console, web_connector
from handlers.common.bootstrap import Services
from handlers.common.http import MIN_COMPRESSED_CHARACTERS, for_both_apis, response
from handlers.common.settings import Settings
from local.programs import ROOT
from tests.support.services import ENVIRONMENT, using

if TYPE_CHECKING:
    from collections.abc import Mapping

ENVELOPE = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    '<serverVersion xmlns="http://developer.intuit.com/"/></soap:Body></soap:Envelope>'
)


def http_api_event(
    route: str, raw_path: str, headers: Mapping[str, str] | None = None, **members: Any
) -> dict[str, Any]:
    """Return a call as an HTTP API passes it. Absent members are left out, as AWS does."""
    method = route.split(" ", maxsplit=1)[0]
    return {
        "version": "2.0",
        "routeKey": route,
        "rawPath": raw_path,
        "rawQueryString": "",
        "headers": dict(headers or {}),
        "requestContext": {
            "domainName": "queue.example.com",
            "http": {"method": method, "path": raw_path},
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": route,
            "stage": "$default",
        },
        "isBase64Encoded": False,
        **members,
    }


@pytest.fixture(autouse=True)
def _services() -> Any:
    services = Services(Settings(ENVIRONMENT))
    services.store = object()  # type: ignore[assignment] # these calls read nothing
    with using(services):
        yield


@pytest.mark.parametrize("encoded", [False, True])
def test_a_soap_call_gets_its_reply(*, encoded: bool) -> None:
    body = base64.b64encode(ENVELOPE.encode()).decode() if encoded else ENVELOPE

    result = web_connector.handler(http_api_event("POST /qbwc", "/qbwc", body=body, isBase64Encoded=encoded), None)

    assert result["statusCode"] == 200
    assert "<serverVersionResult>qbxml-queue</serverVersionResult>" in result["body"]
    assert result["isBase64Encoded"] is False


def test_a_call_without_a_body_or_query_is_answered() -> None:
    assert web_connector.handler(http_api_event("GET /qbwc", "/qbwc"), None)["statusCode"] == 200
    assert web_connector.handler(http_api_event("POST /qbwc", "/qbwc"), None)["statusCode"] == 400


@pytest.mark.parametrize(
    ("raw_path", "url"),
    [("/qbwc", "https://queue.example.com/qbwc"), ("/connector/qbwc", "https://queue.example.com/connector/qbwc")],
)
def test_the_wsdl_names_the_url_of_the_call(raw_path: str, url: str) -> None:
    event = http_api_event("GET /qbwc", raw_path, queryStringParameters={"wsdl": ""}, rawQueryString="wsdl")

    assert f'location="{url}"' in web_connector.handler(event, None)["body"]


@pytest.mark.parametrize("mapping", ["", "/connector"])
def test_the_support_page_and_each_of_its_files_are_served(mapping: str) -> None:
    page = serve_console.handler(http_api_event("GET /support", f"{mapping}/support"), None)
    version = serve_console.assets_version()

    assert page["statusCode"] == 200
    assert f'src="app/assets/{version}/support.js"' in page["body"]
    for name in ("support.js", "style.css", "theme.js", "loading.js", "icon.svg"):
        path = f"{version}/{name}"
        event = http_api_event("GET /app/assets/{path+}", f"{mapping}/app/assets/{path}", pathParameters={"path": path})
        assert serve_console.handler(event, None)["statusCode"] == 200, name


@pytest.mark.parametrize("path", ["../../handlers/operate.py", "0000/support.js", "", "x/../../index.html"])
def test_no_other_file_is_reachable_through_the_route_of_the_files(path: str) -> None:
    event = http_api_event("GET /app/assets/{path+}", f"/app/assets/{path}", pathParameters={"path": path})

    assert serve_console.handler(event, None)["statusCode"] == 404


def replying(text: str, event: dict[str, Any]) -> dict[str, Any]:
    return for_both_apis(lambda _event, _context: response(200, "text/plain; charset=utf-8", text))(event, None)


@given(
    st.text(alphabet=st.characters(codec="utf-8"), min_size=MIN_COMPRESSED_CHARACTERS, max_size=5_000),
    st.sampled_from(["gzip", "gzip, deflate", "br;q=1.0, gzip;q=0.8", "GZIP", "deflate,gzip;q=0.001", "x-gzip"]),
)
def test_a_long_response_is_compressed_for_a_caller_that_accepts_gzip(text: str, accepted: str) -> None:
    result = replying(text, http_api_event("GET /qbwc", "/qbwc", {"accept-encoding": accepted}))

    assert result["isBase64Encoded"] is True
    assert result["headers"]["Content-Encoding"] == "gzip"
    assert result["headers"]["Vary"] == "Accept-Encoding"
    assert gzip.decompress(base64.b64decode(result["body"])).decode() == text


@pytest.mark.parametrize("accepted", [None, "", "identity", "br", "gzip;q=0", "gzip; q=0.000", "gzipped"])
def test_it_is_not_compressed_for_others_such_as_web_connectors(accepted: str | None) -> None:
    headers = {} if accepted is None else {"accept-encoding": accepted}
    text = "x" * 10_000

    result = replying(text, http_api_event("POST /qbwc", "/qbwc", headers))

    assert (result["body"], result["isBase64Encoded"]) == (text, False)
    assert "Content-Encoding" not in result["headers"]


def test_a_short_response_is_not_compressed() -> None:
    headers = {"accept-encoding": "gzip"}

    result = replying("x" * (MIN_COMPRESSED_CHARACTERS - 1), http_api_event("POST /qbwc", "/qbwc", headers))

    assert "Content-Encoding" not in result["headers"]


def test_the_rest_api_compresses_itself() -> None:
    event = json.loads((ROOT / "events" / "web_connector.json").read_text(encoding="utf-8"))
    event["headers"]["Accept-Encoding"] = "gzip"

    assert replying("x" * 10_000, event) == response(200, "text/plain; charset=utf-8", "x" * 10_000)
