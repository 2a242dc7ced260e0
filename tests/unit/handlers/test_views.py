"""The JSON views of stored entities."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domain.records.approval import Approval
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.request import ListedRequest, RequestError, State, StoredRequest
from domain.records.webhook import WebhookAttempt
from handlers.views.requests import listed_request, queued_request
from tests.support.builders import REQUEST_XML, RESPONSE_XML, a_record

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_response_that_is_not_qbxml_is_shown_unchanged() -> None:
    stored_request = StoredRequest(a_record(state=State.ERROR, response_size=9), REQUEST_XML, "<not xml")

    view = queued_request(stored_request)

    assert (view["response_xml"], view["response_json"]) == ("<not xml", None)


def test_a_list_item_marks_bodies_that_are_too_large() -> None:
    record = a_record(state=State.RESPONSE_RECEIVED, response_size=200)
    marks = {"request_omitted", "response_omitted"}

    assert marks & set(listed_request(ListedRequest(record, REQUEST_XML, RESPONSE_XML))) == set()
    assert marks & set(listed_request(ListedRequest(record, REQUEST_XML))) == {"response_omitted"}
    assert marks & set(listed_request(ListedRequest(record, None))) == marks
    assert marks & set(listed_request(ListedRequest(a_record(), REQUEST_XML))) == set()


INTERNAL = {
    "recovery.running_until",
    "app_id",
    "request_label",  # it is in the request
    "webhook.round",
    "webhook.attempts_in_round",
    "paging.page_size",
    "paging.may_begin",
    "recovery.begun",
    "recovery.active",
    "recovery.sessions",
    "recovery.company_file_key",
    "settling.executed",  # it is in `executed`
    "queue_priority",
    "attempts.lost_responses",
    "attempts.failed_sessions",
    "claim.session_id",
    "message_set",
    "dependants",
    "queued_at",
    "claim.state_before",
    "claim.updated_before",
    "response_size",
    "response_attempt",
    "response_chunks",
    "revision",
    "approval.send_by",
}
"""Fields of a record that clients do not see."""


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each field, including the fields of nested dataclasses."""
    for field in fields(value):
        member, place = getattr(value, field.name), f"{path}{field.name}"
        if is_dataclass(member):
            yield from leaves(member, f"{place}.")
        else:
            yield place, member


def other_than(value: Any) -> Any:
    """Return another value for a field."""
    match value:
        case StrEnum():
            return next(member for member in type(value) if member is not value)
        case bool():
            return not value
        case int():
            return value + 1
        case tuple():
            return (WebhookAttempt("2026-03-14T12:00:01.000000Z", "refused"),)
        case _:
            return "14.0"


def with_another_value(entity: Any, path: str) -> Any:
    """Return the record with another value at a path."""
    name, _, rest = path.partition(".")
    member = getattr(entity, name)
    if name in {"dependencies", "dependants"}:
        return replace(entity, **{name: (1,)})
    if name == "id":
        return replace(entity, id="00000000-0000-8000-8000-0000000000ff")
    if name == "send_by":
        return replace(entity, send_by=1_795_550_000)
    if name == "lookup":
        return replace(entity, lookup=ObjectLookup(IfExists.RETURN))
    if name == "error":
        return replace(entity, error=RequestError("outcome_unknown", "Nobody can tell."))
    return replace(entity, **{name: with_another_value(member, rest) if rest else other_than(member)})


def test_every_field_of_a_record_is_in_its_view_or_internal() -> None:
    record = a_record(state=State.ERROR, approval=Approval("key_3b1f0c9d5e7a2468"))
    before = queued_request(StoredRequest(record, REQUEST_XML))

    hidden = {
        path
        for path, _ in leaves(record)
        if queued_request(StoredRequest(with_another_value(record, path), REQUEST_XML)) == before
    }

    assert hidden == INTERNAL, "add the field to src/handlers/views/requests.py, or to INTERNAL here"
