"""From what a use case returns to an answer that fits.

Lambda hands API Gateway at most 6 MB, counted after the body was written as a JSON string once
more. A record can be larger: its response may have 4 MB and is shown in two forms. To a caller who
takes gzip such an answer goes out compressed. Else it leaves out, in this order and each time
saying so, `response_json`, `response_xml` and `request_xml`, until it fits.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import Response

from handlers.rest.errors import CONTENT_TYPE, NO_STORE
from handlers.rest.request_checks import header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from handlers.rest.request_checks import Event

MAX_RESPONSE_BYTES = 5 * 1024 * 1024
"""Lambda: 6 MB for a synchronous answer, headers included. One MB is left for them."""

WORST_GROWTH = 4
"""UTF-8 needs at most 4 bytes for a character, an escape in a JSON string at most 2 for one of JSON's own."""


def resource_answer(view: dict[str, Any], status: int = 200) -> Response[Any]:
    """Return `{"data": view}`; for what is always small."""
    return _json(status, _text({"data": view}))


def object_answer(body: dict[str, Any]) -> Response[Any]:
    """Return a body that the contract does not wrap in `data`."""
    return _json(200, _text(body))


def file_answer(text: str, content_type: str, name: str) -> Response[Any]:
    """Return a file to keep under `name`."""
    headers = {**NO_STORE, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(200, content_type, text, headers=headers)


def record_answer(event: Event, view: dict[str, Any], status: int = 200) -> Response[Any]:
    """Return `{"data": view}` of a record, without what does not fit."""
    return _fitting(event, status, ({"data": smaller} for smaller in _smaller(view)))


def list_answer(event: Event, views: Sequence[dict[str, Any]], page: int, total_pages: int) -> Response[Any]:
    """Return `{"data": [...], "page", "total_pages"}`, without the bodies of items that do not fit any more."""
    place = {"page": page, "total_pages": total_pages}

    def candidates() -> Iterator[dict[str, Any]]:
        yield {"data": views, **place}
        yield {"data": _trimmed(views), **place}

    return _fitting(event, 200, candidates())


def no_content() -> Response[Any]:
    """Return 204."""
    return Response(204, None, None, headers=dict(NO_STORE))


def _smaller(view: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the record whole, then with ever less."""
    yield view
    if view["response_json"] is not None:
        view |= {"response_json": None, "response_json_omitted": True}
        yield view
    yield _without_response(view)


def _trimmed(views: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the items: what is left of the room beside their other fields goes to the bodies of the first."""
    without_response = [_without_response(view) for view in views]
    bare = [view | {"request_xml": None, "request_omitted": True} for view in without_response]
    sizes = [_wire_size(_text(view)) for view in bare]
    room = MAX_RESPONSE_BYTES - sum(sizes)
    kept = []
    for forms, size in zip(zip(views, without_response, bare, strict=True), sizes, strict=True):
        costs = [_wire_size(_text(form)) - size for form in forms]
        chosen, cost = next((form, cost) for form, cost in zip(forms, costs, strict=True) if cost <= max(room, 0))
        room -= cost
        kept.append(chosen)
    return kept


def _without_response(view: dict[str, Any]) -> dict[str, Any]:
    return view if view["response_xml"] is None else view | {"response_xml": None, "response_omitted": True}


def _fitting(event: Event, status: int, candidates: Iterable[dict[str, Any]]) -> Response[Any]:
    """Answer with the first candidate that fits, compressed where the caller takes that; the last one always does."""
    compressed = _takes_gzip(event)
    text = ""
    for candidate in candidates:
        text = _text(candidate)
        if _fits(text):
            break
        if compressed:
            data = base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()
            if len(data) <= MAX_RESPONSE_BYTES:
                return _gzipped(status, data)
    return _json(status, text)


def _takes_gzip(event: Event) -> bool:
    """Whether the caller gets bytes when we answer gzip.

    API Gateway turns our base64 back into bytes only when the *first* type of `Accept` is one of the
    API's binary media types (`template.yaml`); `*/*` is none. Others would get base64 text.
    """
    encodings = [part.strip().lower() for part in (header(event, "Accept-Encoding") or "").split(",")]
    first_type = (header(event, "Accept") or "").split(",")[0].split(";")[0].strip().lower()
    return first_type == CONTENT_TYPE and any(
        name == "gzip" and weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
        for name, _, weight in (encoding.partition(";") for encoding in encodings)
    )


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _fits(text: str) -> bool:
    return len(text) * WORST_GROWTH <= MAX_RESPONSE_BYTES or _wire_size(text) <= MAX_RESPONSE_BYTES


def _wire_size(text: str) -> int:
    """Return the bytes that `text` has as a JSON string: how Lambda counts a body."""
    return len(json.dumps(text, ensure_ascii=False).encode())


def _gzipped(status: int, data: str) -> Response[Any]:
    """Return an answer of base64: Powertools' validation of answers reads bytes as UTF-8, which gzip is not."""
    headers = {**NO_STORE, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    response: Response[Any] = Response(status, CONTENT_TYPE, data, headers=headers)
    response.base64_encoded = True
    return response


def _json(status: int, text: str) -> Response[Any]:
    return Response(status, CONTENT_TYPE, text, headers=dict(NO_STORE))
