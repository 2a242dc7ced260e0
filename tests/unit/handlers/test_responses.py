"""A response always fits into Lambda's limit and names the bodies that it omits."""

from __future__ import annotations

import base64
import gzip
import json
import random
from typing import Any

import pytest

from handlers.rest.responses import MAX_RESPONSE_BYTES, render, without_webhook_paths

MIB = 1024 * 1024
GZIP = {"Accept": "application/json", "Accept-Encoding": "gzip"}


def event(headers: dict[str, str] | None = None) -> dict[str, Any]:
    """Return a call with these headers."""
    return {"headers": headers or {}}


def respond(call: dict[str, Any], record: dict[str, Any]) -> Any:
    """Return the response with a record."""
    return render(call, {"data": record}, 200)


def respond_list(call: dict[str, Any], views: list[dict[str, Any]], page: int, total_pages: int) -> Any:
    """Return the response with a page of a list."""
    return render(call, {"data": views, "page": page, "total_pages": total_pages}, 200)


def view(**fields: Any) -> dict[str, Any]:
    """Return the fields of a record's view that the size limit concerns."""
    return {"id": "1", "request_xml": "<QBXML/>", "response_xml": None, "response_json": None} | fields


def item(**fields: Any) -> dict[str, Any]:
    """Return the fields of a list item's view that the size limit concerns."""
    return {"id": "1", "request_xml": "<QBXML/>", "response_xml": None} | fields


def body(response: Any) -> Any:
    """Parse the body of a response. Check that Lambda would accept the response."""
    data = response.body
    if response.base64_encoded:
        assert len(data) <= MAX_RESPONSE_BYTES
        return json.loads(gzip.decompress(base64.b64decode(data)))
    assert len(json.dumps(data)) <= MAX_RESPONSE_BYTES
    return json.loads(data)


def incompressible(size: int) -> str:
    """Return text that gzip hardly compresses."""
    return base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()


def test_a_response_that_fits_is_whole_and_not_compressed() -> None:
    whole = view(response_xml="x" * MIB, response_json=[{"a": "x" * MIB}])

    response = respond(event(GZIP), whole)

    assert body(response) == {"data": whole}
    assert "Content-Encoding" not in response.headers


def test_a_client_that_accepts_gzip_gets_everything() -> None:
    whole = view(response_xml="<A>" * MIB, response_json=[{"a": "b" * 4 * MIB}])

    response = respond(event(GZIP), whole)

    assert body(response) == {"data": whole}
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Accept-Encoding": "gzip"},
        {"Accept-Encoding": "gzip", "Accept": "*/*"},
        {"Accept-Encoding": "gzip", "Accept": "text/plain, application/json"},
        {"Accept-Encoding": "identity, gzip;q=0", "Accept": "application/json"},
        {"Accept-Encoding": "br, deflate", "Accept": "application/json"},
        {"Accept": "application/json"},
    ],
)
def test_other_clients_get_only_the_xml_if_both_forms_do_not_fit(headers: dict[str, str]) -> None:
    response = respond(event(headers), view(response_xml="x" * 4 * MIB, response_json=[{"a": "x" * 4 * MIB}]))

    data = body(response)["data"]
    assert data["response_json"] is None
    assert data["response_json_omitted"] is True
    assert data["response_xml"] == "x" * 4 * MIB
    assert "response_omitted" not in data


@pytest.mark.parametrize(
    "headers",
    [
        {"accept": "application/json", "accept-encoding": "gzip"},
        {"ACCEPT": "Application/JSON;q=0.9, */*", "ACCEPT-ENCODING": "deflate, GZIP;q=0.5"},
    ],
)
def test_accept_headers_are_read_in_any_case(headers: dict[str, str]) -> None:
    response = respond(event(headers), view(response_xml="x" * 6 * MIB))

    assert response.headers["Content-Encoding"] == "gzip"


def test_a_response_that_fits_in_no_form_is_marked_as_omitted() -> None:
    response = respond(event(), view(response_xml="x" * 6 * MIB, response_json=[{"a": 1}]))

    data = body(response)["data"]
    assert (data["response_xml"], data["response_json"]) == (None, None)
    assert data["response_omitted"] is True
    assert data["response_json_omitted"] is True


def test_the_size_is_that_of_the_body_as_a_json_string() -> None:
    quotes = '"' * 2 * MIB

    data = body(respond(event(), view(response_xml=quotes)))["data"]

    assert data["response_xml"] is None


@pytest.mark.parametrize("character", ["é", "\ufffd", "\U0001f600"])
def test_characters_outside_ascii_count_as_escapes(character: str) -> None:
    """Lambda's Python 3.11 escapes them, so 0.9 million of these characters are more than 5 MB."""
    data = body(respond(event(), view(response_xml=character * 900_000, response_json=[{"a": "b"}])))["data"]

    assert data["response_omitted"] is True


def test_a_response_that_does_not_compress_is_omitted() -> None:
    data = body(respond(event(GZIP), view(response_xml=incompressible(6 * MIB))))["data"]

    assert data["response_omitted"] is True


def test_a_list_omits_the_responses_of_the_last_items() -> None:
    views = [item(id=str(number), response_xml="x" * 250_000) for number in range(100)]

    items = body(respond_list(event(), views, 1, 1))["data"]

    omissions = [listed.get("response_omitted", False) for listed in items]
    assert omissions == sorted(omissions)
    assert omissions.count(False) == 20
    assert all((listed["response_xml"] is None) == listed.get("response_omitted", False) for listed in items)


def test_a_list_omits_requests_only_if_they_do_not_fit_either() -> None:
    views = [item(id=str(number), request_xml="x" * MIB) for number in range(10)]

    items = body(respond_list(event(), views, 1, 1))["data"]

    assert [listed["request_xml"] is None for listed in items] == [False] * 4 + [True] * 6
    assert all(listed["request_omitted"] for listed in items[4:])
    assert not any("response_omitted" in listed for listed in items)


def test_a_list_that_fits_with_gzip_is_whole() -> None:
    views = [item(id=str(number), response_xml="x" * 250_000) for number in range(100)]

    assert body(respond_list(event(GZIP), views, 2, 3)) == {"data": views, "page": 2, "total_pages": 3}


@pytest.mark.parametrize("body", [None, {"data": None}, {"data": []}, {"data": {"scope": "read_only"}}])
def test_a_read_only_key_gets_a_body_without_webhook_urls_unchanged(body: Any) -> None:
    assert without_webhook_paths(body) == body
