"""An independent account of each filter of requests: values to try, and which records meet them."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta, timezone
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from domain.listing.filters import RequestFilter
from domain.records.batch import batch_id
from domain.records.request import QueuedRequest, State
from domain.records.webhook import WebhookState
from domain.timestamps import timestamp_from
from tests.support.builders import NOON

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAMES = ("CustomerQueryRq", "InvoiceAddRq", "InvoiceAddRequestRq")
LABELS = (None, "nightly", "night", "Ünïcödé 夜", "run #7")
CAUSES = ("3170", "0x80040408", "not_sent_in_time", "quickbooks_error")
RECEIVERS = ("https://shop.example", "https://other.example:8443")
QUERY_IDS = tuple(str(uuid.UUID(int=number, version=4)) for number in (1, 2, 2**41))
"""Of the first two, page 1 may be in a history. Of the third it never is, as if it had been deleted."""

NOBODY = "00000000-0000-4000-8000-00000000dead"
"""The id of no request."""

moments = st.builds(
    lambda hours, more, offset: timestamp_from((NOON + hours + more).astimezone(timezone(offset)).isoformat()),
    st.integers(-60, 200).map(lambda hours: timedelta(hours=hours)),
    st.sampled_from([timedelta(), timedelta(), timedelta(microseconds=1), timedelta(microseconds=-1)]),
    st.integers(-23 * 60, 23 * 60).map(lambda minutes: timedelta(minutes=minutes)),
)
"""Timestamps of times in any zone: many are those of records, or midnight."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """The values to try for a filter, and whether a record meets one."""

    values: st.SearchStrategy[Any]
    meets: Callable[[Any, QueuedRequest], bool]


def is_retrying(record: QueuedRequest) -> bool:
    """Whether a webhook of the record failed and is tried again."""
    return record.webhook_state is WebhookState.PENDING and record.webhook.attempts_in_round > 0


def is_failing(record: QueuedRequest) -> bool:
    """Whether the last attempt of the record's webhook failed."""
    return is_retrying(record) or record.webhook_state is WebhookState.FAILED


def awaits_approval(record: QueuedRequest) -> bool:
    """Whether nobody has decided about the record yet."""
    open_ = record.approval is not None and record.approval.decision is None
    return open_ and record.state in {State.WAITING, State.RETRYABLE} and not record.recovery.active


def is_in_batch(member_id: str, batch: str) -> bool:
    """Whether an id is one of a batch: of version 8, and the id of the batch but for five bits of its first byte."""
    return member_id[14] == "8" and f"{int(member_id[:2], 16) & 0b11100000:02x}{member_id[2:]}" == batch


def why_it_failed(record: QueuedRequest) -> str | None:
    """Return the status code of a request that QuickBooks refused, or the code of another error."""
    if record.error is None:
        return None
    facts = {"quickbooks_error": "status_code", "quickbooks_connection_error": "hresult"}
    return str(record.error.details.get(facts.get(record.error.code, ""), record.error.code))


def receiver_of(url: str | None) -> str | None:
    """Return the beginning of a URL up to its path, without user and password."""
    return url and re.sub(r"^(https?://)(?:[^/]*@)?([^/]*).*", r"\1\2", url)


def _since(name: str) -> Oracle:
    time = attrgetter(name)
    return Oracle(moments, lambda at, record: time(record) is not None and _time(time(record)) >= _time(at))


def _before(name: str) -> Oracle:
    time = attrgetter(name)
    return Oracle(moments, lambda at, record: time(record) is not None and _time(time(record)) < _time(at))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


ORACLES = {
    "state": Oracle(st.sampled_from([*State]), lambda state, record: record.state == state),
    "webhook_state": Oracle(st.sampled_from([*WebhookState]), lambda state, record: record.webhook_state == state),
    "webhook_retrying": Oracle(st.booleans(), lambda truth, record: is_retrying(record) == truth),
    "webhook_failing": Oracle(st.booleans(), lambda truth, record: is_failing(record) == truth),
    "awaiting_approval": Oracle(st.booleans(), lambda truth, record: awaits_approval(record) == truth),
    "cause": Oracle(st.sampled_from(CAUSES), lambda cause, record: why_it_failed(record) == cause),
    "receiver": Oracle(
        st.sampled_from(RECEIVERS),
        lambda origin, record: receiver_of(record.webhook.url) == origin,
    ),
    "request_name": Oracle(st.sampled_from(NAMES), lambda name, record: record.request_name == name),
    "label": Oracle(st.sampled_from([*LABELS[1:], "Nightly"]), lambda label, record: record.label == label),
    "label_prefix": Oracle(
        st.sampled_from(["n", "nightly", "run #8"]),
        lambda prefix, record: record.label is not None and record.label[: len(prefix)] == prefix,
    ),
    "query_id": Oracle(st.sampled_from(QUERY_IDS), lambda query_id, record: record.query_id == query_id),
    # Positions in a history, in place of which `of_history` writes ids.
    "ids": Oracle(
        st.lists(st.integers(0, 100).map(str), min_size=1, max_size=20).map(tuple), lambda ids, record: record.id in ids
    ),
    "batch_id": Oracle(st.integers(0, 100).map(str), lambda batch, record: is_in_batch(record.id, batch)),
    "from": _since("inserted_at"),
    "to": _before("inserted_at"),
    "updated_since": _since("updated_at"),
    "updated_before": _before("updated_at"),
    "sent_since": _since("sent_at"),
    "sent_before": _before("sent_at"),
}
"""By the name of the filter in the API."""


def fields_of(conditions: dict[str, Any]) -> dict[str, Any]:
    """Return conditions by the names of the fields of `RequestFilter`."""
    names = {own.name.rstrip("_"): own.name for own in fields(RequestFilter)}
    return {names[name]: value for name, value in conditions.items()}


def conditions(
    names: Sequence[str] = tuple(ORACLES), times: st.SearchStrategy[str] = moments
) -> st.SearchStrategy[RequestFilter]:
    """Return filters with up to four conditions."""
    values = {name: times if ORACLES[name].values is moments else ORACLES[name].values for name in names}
    chosen = st.lists(st.sampled_from(list(names)), unique=True, max_size=4)
    return chosen.flatmap(lambda some: st.fixed_dictionaries({name: values[name] for name in some})).map(
        lambda given: RequestFilter(**fields_of(given))
    )


def of_history(which: RequestFilter, ids: Sequence[str]) -> RequestFilter:
    """Return a filter with the ids of a history in place of positions, and one id of no request."""
    if which.batch_id is not None:
        member = ids[int(which.batch_id) % len(ids)] if ids else NOBODY
        which = replace(which, batch_id=batch_id(member) or member)
    if which.ids is None:
        return which
    chosen = (ids[int(number) % len(ids)] for number in which.ids if ids)
    return replace(which, ids=(*chosen, NOBODY))


def meets(which: RequestFilter, record: QueuedRequest) -> bool:
    """Whether a record meets all conditions, judged without the code under test."""
    given = {own.name.rstrip("_"): getattr(which, own.name) for own in fields(which)}
    return all(ORACLES[name].meets(value, record) for name, value in given.items() if value is not None)
