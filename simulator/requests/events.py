"""The event that the company sends to its observer after each request, for terminals, inspection and logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node

    from simulator.requests.responses import Response

_REASONS = {
    1: "no match",
    500: "not found",
    1030: "not supported",
    3000: "invalid ID",
    3020: "invalid date",
    3040: "invalid amount",
    3070: "text too long",
    3100: "name in use",
    3120: "object not found",
    3130: "invalid parent",
    3140: "invalid reference",
    3150: "missing element",
    3160: "cannot be deleted",
    3170: "cannot be modified",
    3175: "locked by another user",
    3176: "related record is locked",
    3180: "cannot be saved",
    3200: "out-of-date EditSequence",
    3231: "not processed",
    3240: "invalid object",
    3250: "not available",
    3260: "no permission",
}
"""A few words for common statuses. Others are shown with QuickBooks' own message."""

OWN_QUESTIONS = {("HostQueryRq", "0"), ("CompanyQueryRq", "1"), ("PreferencesQueryRq", "2")}
"""Name and requestID of the queries that the Web Connector itself makes when it opens a company."""

_LABELS = ("RefNumber", "FullName", "Name", "Initial", "DataExtName", "TxnID", "ListID")


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """One request that was answered.

    `request_id` is its requestID. `label` is the number or name of its record (`INV-1042`), or '' if it has none.
    `status` and `message` are those of the response. `summary` is the result in a few words: "OK", "12 records",
    "invalid reference". `simplified` names the behaviours that it depends on and that are not QuickBooks' (`--strict`).
    """

    name: str
    request_id: str | None
    label: str
    status: int
    message: str
    seconds: float
    summary: str
    simplified: tuple[str, ...] = ()

    @property
    def is_own_question(self) -> bool:
        """Whether the Web Connector made this query by itself when it opened the company."""
        return (self.name, self.request_id) in OWN_QUESTIONS


def event_of(request: Node, response: Response, seconds: float, simplified: tuple[str, ...] = ()) -> RequestEvent:
    """Describe a request and its response."""
    return RequestEvent(
        name=request.tag,
        request_id=request.get("requestID"),
        label=_label(request, response),
        status=response.code,
        message=response.message,
        seconds=seconds,
        summary=_summary(request, response),
        simplified=simplified,
    )


def _label(request: Node, response: Response) -> str:
    if request.tag.endswith("QueryRq"):
        return ""
    texts = dict(response.rows)
    for fields in [texts, *(nested for nested in texts.values() if isinstance(nested, dict))]:
        for name in _LABELS:
            if isinstance(fields.get(name), str) and fields[name]:
                return str(fields[name])
    return next((text for name in _LABELS for text in [request.findtext(f".//{name}")] if text), "")


def _summary(request: Node, response: Response) -> str:
    if response.code:
        return _REASONS.get(response.code, response.message)
    if request.tag.endswith("QueryRq") and response.rows:
        return f"{len(response.rows)} record{'' if len(response.rows) == 1 else 's'}"
    return "OK"
