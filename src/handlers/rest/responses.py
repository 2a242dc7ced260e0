"""HTTP responses that fit into what Lambda can return.

Lambda returns at most 6 MB to API Gateway, counted after the body was encoded again as a JSON string. A record can be
larger, because its response may have 4 MB and is shown in two forms. A client that accepts gzip gets such a response
compressed. For other clients, `response_json` or `result`, `response_xml` and `request_xml` are left out, in this
order, until the response fits; of the records of a batch, `request_json` in place of `request_xml`. The record says so.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aws_lambda_powertools.event_handler import Response

from handlers.common.http import NO_STORE, header

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from handlers.rest.request_checks import Event

CONTENT_TYPE = "application/json"

MAX_RESPONSE_BYTES = 5 * 1024 * 1024
"""Lambda allows 6 MB for a synchronous response, headers included. One MB is left for them."""

MAX_TEXT_BYTES = 5 * MAX_RESPONSE_BYTES
"""A JSON text that would take more memory is not made. Python stores each character of a text in as many bytes as its
widest character needs, up to four. Only bodies of control characters or quotation marks, which JSON escapes, become so
large: QBXML of 4.3 MB, the most that Web Connectors send, takes 19 MB with an emoji."""

MAX_GROWTH = 12
"""A character outside the Basic Multilingual Plane takes two escapes of 6 bytes in a JSON string of ASCII."""


def render(
    event: Event, body: Mapping[str, Any] | None, status: int, headers: Mapping[str, str] | None = None
) -> Response[Any]:
    """Return the response with a body, without the parts that do not fit. 204 has no body. Adds `headers`."""
    all_headers = {**NO_STORE, **(headers or {})}
    if body is None:
        return Response(status, None, None, headers=dict(all_headers))
    accepts_gzip = _accepts_gzip(event)
    text = ""
    for candidate in _candidates(body):
        del text  # it can take 100 MB
        text = _text(candidate)
        if _fits(text):
            break
        if accepts_gzip:
            data = base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()
            if len(data) <= MAX_RESPONSE_BYTES:
                return _gzipped(status, data, all_headers)
    return Response(status, CONTENT_TYPE, text, headers=dict(all_headers))


def without_webhook_paths(body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a body with webhook URLs reduced to their origin, because the rest may be a credential of the receiver."""
    data = (body or {}).get("data")
    for view in data if isinstance(data, list) else [data]:
        if view and view.get("webhook_url"):
            url = urlsplit(view["webhook_url"])
            view["webhook_url"] = f"{url.scheme}://{url.netloc.rpartition('@')[2]}/…"
    return body


def _candidates(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the whole body, then smaller and smaller versions. The last one always fits."""
    match body.get("data"):
        case [{"request_xml": _}, *_] as views:
            if _can_be_text(views):
                yield body
            yield {**body, "data": _trimmed(views)}
        case {"request_xml": _}:
            view = body["data"]
            can_be_text = _can_be_text([view])
            if can_be_text:
                yield body
            for name in ("response_json", "result"):
                if view.get(name) is not None:
                    view |= {name: None, f"{name}_omitted": True}
                    if can_be_text:
                        yield {"data": view}
            yield {"data": _without_response(view)}
        case _:
            yield body


def _can_be_text(views: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the bodies of these records are small enough for a JSON text."""
    bodies = [view[name] for view in views for name in ("request_xml", "response_xml") if view[name]]
    return sum(map(_wire_size, bodies)) * max(map(_bytes_of_a_character, bodies), default=1) <= MAX_TEXT_BYTES


def _bytes_of_a_character(text: str) -> int:
    """Return how many bytes Python takes for each character of this text."""
    widest = ord(max(text, default=" "))
    return 1 if widest < 0x100 else 2 if widest < 0x10000 else 4  # noqa: PLR2004 - the widths of PEP 393


def _trimmed(views: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items without the bodies that do not fit. The first items keep their bodies."""
    without_response = [_without_response(view) for view in views]
    bare = [_without_request(view) for view in without_response]
    sizes = [_wire_size(_text(view)) for view in bare]
    room = MAX_RESPONSE_BYTES - sum(sizes)
    trimmed = []
    for forms, size in zip(zip(views, without_response, bare, strict=True), sizes, strict=True):
        costs = [_wire_size(_text(form)) - size for form in forms]
        view, cost = next((form, cost) for form, cost in zip(forms, costs, strict=True) if cost <= max(room, 0))
        room -= cost
        trimmed.append(view)
    return trimmed


def _without_response(view: dict[str, Any]) -> dict[str, Any]:
    if view["response_xml"] is None:
        return view
    without = view | {"response_xml": None, "response_omitted": True}
    # A record of a batch has the response in two forms, and a list item in one.
    return without | ({"response_json": None, "response_json_omitted": True} if "response_json" in view else {})


def _without_request(view: dict[str, Any]) -> dict[str, Any]:
    """Return a list item without its request, or a record of a batch without one of two forms (MAX_BATCH_BYTES)."""
    if "request_json" in view:
        return view | {"request_json": None, "request_json_omitted": True}
    without = view | {"request_xml": None, "request_omitted": True}
    return without | ({"modification": None, "modification_omitted": True} if view.get("modification") else {})


def _accepts_gzip(event: Event) -> bool:
    """Return whether a gzip response reaches the client as bytes.

    API Gateway decodes our base64 only if the first type of `Accept` is one of the API's binary media types
    (`template.yaml`), which `*/*` is not. Other clients would get base64 text.
    """
    encodings = [part.strip().lower() for part in (header(event, "Accept-Encoding") or "").split(",")]
    first_type = (header(event, "Accept") or "").split(",")[0].split(";")[0].strip().lower()
    return first_type == CONTENT_TYPE and any(
        name == "gzip" and weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
        for name, _, weight in (encoding.partition(";") for encoding in encodings)
    )


def _text(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _fits(text: str) -> bool:
    return len(text) * MAX_GROWTH <= MAX_RESPONSE_BYTES or _wire_size(text) <= MAX_RESPONSE_BYTES


def _wire_size(text: str) -> int:
    """Return the size of `text` as a JSON string, in bytes.

    Lambda measures a body in this way. With Python 3.11 it escapes every character outside ASCII. Later versions
    write UTF-8, which is never longer.
    """
    return len(json.dumps(text))


def _gzipped(status: int, data: str, headers: Mapping[str, str]) -> Response[Any]:
    """Return a base64 response, because Powertools reads a body of bytes as UTF-8, and gzip is not UTF-8."""
    all_headers = {**headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    response: Response[Any] = Response(status, CONTENT_TYPE, data, headers=all_headers)
    response.base64_encoded = True
    return response
