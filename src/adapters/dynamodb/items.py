"""Entities as DynamoDB items and back: every key and attribute of every table is written here.

An item is a mapping of names to attribute values (`{"S": …}`), as boto3's client and a stream's
images have it. An attribute that is None is left out: that is what makes the sparse indexes sparse.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from domain.apps.record import ApiKey, App, Scope
from domain.connections.record import Connection, OnboardingLink
from domain.connections.sync_window import SyncWindow
from domain.requests.record import (
    Paging,
    QueuedRequest,
    Recovery,
    RequestError,
    State,
    Tombstone,
    Webhook,
    WebhookAttempt,
    WebhookState,
)
from domain.storage.changes import IdempotencyClaim
from domain.storage.counts import INSERTED, CountKey, DayCounts, Pair
from domain.web_connector.session.record import InFlight, LastResponse, Limits, OpenCompanyFile, Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

AttributeValue: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, AttributeValue]

BODY = "body"
"""The sort key of the payload item that holds the request, a small response and the text to search."""

PURGE = "purge"
"""The one partition of the sparse index of deleted connections; there are few at any time."""

LIVE = "live"
"""The one partition of the sparse index of open sessions. Each Web Connector call rewrites one entry:
a partition takes 1,000 writes a second (DynamoDB), some thousands of connectors at work at once."""

TOMBSTONE_DAYS = 90
"""How long a deleted or expired record answers 410 before it answers 404."""

STATE_CODES = {
    State.WAITING: "w",
    State.RETRYABLE: "y",
    State.TICKETED: "t",
    State.SENT: "s",
    State.RESPONSE_RECEIVED: "r",
    State.ERROR: "e",
    State.DISCARDED: "d",
}
WEBHOOK_STATE_CODES = {
    WebhookState.NOT_APPLICABLE: "n",
    WebhookState.PENDING: "p",
    WebhookState.SUCCEEDED: "s",
    WebhookState.FAILED: "f",
}
"""One letter each in the names of count attributes: a list reads every day's row, so that each byte
of a name is paid for thousands of times. `irs` = inserted, response_received, succeeded."""

_PAIRS: dict[str, Pair] = {
    code + webhook_code: (state, webhook_state)
    for state, code in STATE_CODES.items()
    for webhook_state, webhook_code in WEBHOOK_STATE_CODES.items()
}


COUNT_ATTRIBUTES = tuple(sort + code for sort in "iu" for code in _PAIRS)
"""Every number that a row of counts may hold."""


def item_of(values: Mapping[str, str | int | bool | bytes | None]) -> Item:
    """Return the item with these attributes; those that are None are left out."""
    return {name: _attribute(value) for name, value in values.items() if value is not None}


def _attribute(value: str | float | bytes) -> AttributeValue:
    match value:
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case bytes():
            return {"B": value}
        case _:
            return {"N": str(value)}


def text(item: Item, name: str) -> str | None:
    """Return a text attribute, or None when the item has none."""
    value = item.get(name)
    return None if value is None else str(value["S"])


def number(item: Item, name: str, default: int = 0) -> int:
    """Return a whole number attribute."""
    value = item.get(name)
    return default if value is None else int(value["N"])


# --- queued_requests


def record_item(record: QueuedRequest, expires_at: int | None = None) -> Item:
    """Return the record's item, about 1 KB without its bodies; DynamoDB removes it some time after `expires_at`."""
    return item_of(
        {
            "id": record.id,
            "connection_id": record.connection_id,
            "app_id": record.app_id,
            "request_name": record.request_name,
            "request_label": record.request_label,
            "qbxml_version": record.qbxml_version,
            "inserted_at": record.inserted_at,
            "updated_at": record.updated_at,
            "state": record.state.value,
            "webhook_state": record.webhook_state.value,
            "webhook_url": record.webhook.url,
            "webhook_attempts": _json([[attempt.attempted_at, attempt.response] for attempt in record.webhook.attempts])
            if record.webhook.attempts
            else None,
            "webhook_error": record.webhook.error,
            "webhook_round": record.webhook.round,
            "webhook_tries": record.webhook.tries,
            "error": _json(record.error.as_dict()) if record.error else None,
            "page": record.paging.page,
            "first_page_id": record.paging.first_page_id,
            "priority": record.queue_priority,
            "sessions": record.sessions,
            "response_lost": True if record.recovery.response_lost else None,
            "recovering": True if record.recovery.active else None,
            "recovery_sessions": record.recovery.sessions or None,
            "company_file_mark": record.recovery.company_file_mark,
            "page_size": record.paging.page_size,
            "last_session_id": record.last_session_id,
            "response_size": record.response_size,
            "response_parts": record.response_parts,
            "revision": record.revision,
            "expires_at": expires_at,
        }
    )


def record_from_item(item: Item) -> QueuedRequest:
    """Return the record of an item that is no tombstone."""
    attempts = text(item, "webhook_attempts")
    error = text(item, "error")
    return QueuedRequest(
        id=item["id"]["S"],
        connection_id=item["connection_id"]["S"],
        app_id=item["app_id"]["S"],
        request_name=item["request_name"]["S"],
        request_label=item["request_label"]["S"],
        qbxml_version=item["qbxml_version"]["S"],
        inserted_at=item["inserted_at"]["S"],
        updated_at=item["updated_at"]["S"],
        state=State(item["state"]["S"]),
        webhook=Webhook(
            state=WebhookState(item["webhook_state"]["S"]),
            url=text(item, "webhook_url"),
            attempts=tuple(WebhookAttempt(*attempt) for attempt in json.loads(attempts)) if attempts else (),
            error=text(item, "webhook_error"),
            round=number(item, "webhook_round"),
            tries=number(item, "webhook_tries"),
        ),
        error=RequestError(**json.loads(error)) if error else None,
        paging=Paging(number(item, "page", 1), text(item, "first_page_id"), number(item, "page_size") or None),
        queue_priority=number(item, "priority"),
        sessions=number(item, "sessions"),
        recovery=Recovery(
            response_lost="response_lost" in item,
            active="recovering" in item,
            sessions=number(item, "recovery_sessions"),
            company_file_mark=text(item, "company_file_mark"),
        ),
        last_session_id=text(item, "last_session_id"),
        response_size=number(item, "response_size"),
        response_parts=number(item, "response_parts"),
        revision=number(item, "revision"),
    )


def queue_key(record: QueuedRequest) -> Item:
    """Return where a record that waits stands in its connection's queue: the texts sort in the order of sending."""
    position = f"{record.queue_priority}#{record.inserted_at}#{record.id}"
    return item_of({"connection_id": record.connection_id, "position": position})


def tombstone_item(record: QueuedRequest, deleted_at: str, expires_at: int) -> Item:
    """Return what stays of a deleted record. Without its moments it is in no index, so in no list."""
    return item_of(
        {
            "id": record.id,
            "connection_id": record.connection_id,
            "app_id": record.app_id,
            "deleted_at": deleted_at,
            "expires_at": expires_at,
        }
    )


def request_from_item(item: Item) -> QueuedRequest | Tombstone:
    """Return the record or what is left of it."""
    if "deleted_at" in item:
        return Tombstone(item["id"]["S"], item["connection_id"]["S"], item["app_id"]["S"], item["deleted_at"]["S"])
    return record_from_item(item)


# --- counts


def count_attribute(key: CountKey) -> str:
    """Return the name of the attribute that holds a count."""
    sort = "i" if key.sort == INSERTED else "u"
    return sort + STATE_CODES[key.state] + WEBHOOK_STATE_CODES[key.webhook_state]


def day_counts_from_items(items: Iterable[Item]) -> list[DayCounts]:
    """Return the rows of a connection, which come in order of day; counts of zero are left out."""
    return [
        DayCounts(item["day"]["S"], inserted=_counts_of(item, "i"), updated=_counts_of(item, "u")) for item in items
    ]


def _counts_of(item: Item, sort: str) -> dict[Pair, int]:
    counts = {pair: number(item, sort + code) for code, pair in _PAIRS.items() if sort + code in item}
    return {pair: count for pair, count in counts.items() if count}


# --- connections


def connection_item(connection: Connection) -> Item:
    """Return the connection's item."""
    values = asdict(connection)
    values["last_error"] = _json(connection.last_error) if connection.last_error else None
    values["sync_window"] = _json(connection.sync_window.as_dict()) if connection.sync_window else None
    values["onboarding"] = _json(connection.onboarding.as_dict()) if connection.onboarding else None
    values["purge"] = PURGE if connection.deleted_at else None
    return item_of(values)


def connection_from_item(item: Item) -> Connection:
    """Return the connection of an item."""
    last_error = text(item, "last_error")
    sync_window = text(item, "sync_window")
    onboarding = text(item, "onboarding")
    return Connection(
        id=item["id"]["S"],
        app_id=item["app_id"]["S"],
        owner_id=item["owner_id"]["S"],
        file_id=item["file_id"]["S"],
        inserted_at=item["inserted_at"]["S"],
        updated_at=item["updated_at"]["S"],
        name=text(item, "name"),
        company_file=text(item, "company_file"),
        webhook_url=text(item, "webhook_url"),
        password_hash=text(item, "password_hash"),
        session_id=text(item, "session_id"),
        message_set_to_forget=text(item, "message_set_to_forget"),
        last_connected_at=text(item, "last_connected_at"),
        qbxml_version=text(item, "qbxml_version"),
        quickbooks_product_name=text(item, "quickbooks_product_name"),
        country=text(item, "country"),
        company_file_seen=text(item, "company_file_seen"),
        file_id_seen=text(item, "file_id_seen"),
        file_pinned="file_pinned" not in item or bool(item["file_pinned"]["BOOL"]),
        last_error=json.loads(last_error) if last_error else None,
        sync_window=SyncWindow.of(json.loads(sync_window)) if sync_window else None,
        linger_seconds=number(item, "linger_seconds"),
        paused_at=text(item, "paused_at"),
        onboarding=OnboardingLink.of(json.loads(onboarding)) if onboarding else None,
        last_worked_at=text(item, "last_worked_at"),
        deleted_at=text(item, "deleted_at"),
        revision=number(item, "revision"),
    )


# --- sessions


def session_item(session: Session) -> Item:
    """Return the session's item; the record in flight is kept in it as the item that is stored for it."""
    in_flight = session.in_flight
    return item_of(
        {
            "ticket": session.id,
            "connection_id": session.connection_id,
            "last_call_at": session.last_call_at,
            "expires_at": session.expires_at,
            "in_flight": _json(record_item(in_flight.record)) if in_flight else None,
            "search_text": in_flight.search_text or None if in_flight else None,
            "parse_error": in_flight.parse_error if in_flight else None,
            "last_response": _json(asdict(session.last_response)) if session.last_response else None,
            "connection": _json(connection_item(session.connection)) if session.connection else None,
            "company_file_mark": session.company_file.mark,
            "company_file_is_fallback": True if session.company_file.is_fallback else None,
            "exception_reported": True if session.exception_reported else None,
            "message_set_to_forget": session.message_set_to_forget,
            "last_error": session.last_error,
            "connection_error": _json(session.connection_error) if session.connection_error else None,
            "paused": True if session.limits.paused else None,
            "work_until": session.limits.work_until,
            "linger_seconds": session.limits.linger_seconds or None,
            "live": None if session.ended else LIVE,
            "revision": session.revision,
        }
    )


def session_from_item(item: Item) -> Session:
    """Return the session of an item."""
    in_flight = text(item, "in_flight")
    connection = text(item, "connection")
    last_response = text(item, "last_response")
    connection_error = text(item, "connection_error")
    return Session(
        id=item["ticket"]["S"],
        connection_id=item["connection_id"]["S"],
        last_call_at=item["last_call_at"]["S"],
        in_flight=InFlight(
            record_from_item(json.loads(in_flight)), text(item, "search_text") or "", text(item, "parse_error")
        )
        if in_flight
        else None,
        last_response=LastResponse(**json.loads(last_response)) if last_response else None,
        connection=connection_from_item(json.loads(connection)) if connection else None,
        company_file=OpenCompanyFile(text(item, "company_file_mark"), "company_file_is_fallback" in item),
        exception_reported="exception_reported" in item,
        message_set_to_forget=text(item, "message_set_to_forget"),
        last_error=text(item, "last_error"),
        connection_error=json.loads(connection_error) if connection_error else None,
        limits=Limits("paused" in item, text(item, "work_until"), number(item, "linger_seconds")),
        ended="live" not in item,
        revision=number(item, "revision"),
    )


# --- idempotency_keys


def claim_from_item(item: Item) -> IdempotencyClaim:
    """Return the claim of an item."""
    return IdempotencyClaim(item["body_hash"]["S"], item["record_id"]["S"], number(item, "expires_at"))


# --- apps


def app_item(app: App) -> Item:
    """Return the app's item."""
    return item_of(
        {
            "id": app.id,
            "name": app.name,
            "inserted_at": app.inserted_at,
            "webhook_secrets": _json(list(app.webhook_secrets)),
            "revision": app.revision,
        }
    )


def app_from_item(item: Item) -> App:
    """Return the app of an item."""
    return App(
        id=item["id"]["S"],
        name=item["name"]["S"],
        inserted_at=item["inserted_at"]["S"],
        webhook_secrets=tuple(json.loads(item["webhook_secrets"]["S"])),
        revision=number(item, "revision"),
    )


def api_key_item(key: ApiKey) -> Item:
    """Return the key's item. Its id is the hash, so that the authorizer finds it by one read."""
    return item_of(
        {
            "id": key.hash,
            "key_of": key.app_id,
            "scope": key.scope.value,
            "label": key.label,
            "inserted_at": key.inserted_at,
            "revoked_at": key.revoked_at,
            "revision": key.revision,
        }
    )


def api_key_from_item(item: Item) -> ApiKey:
    """Return the key of an item."""
    return ApiKey(
        hash=item["id"]["S"],
        app_id=item["key_of"]["S"],
        scope=Scope(item["scope"]["S"]),
        label=item["label"]["S"],
        inserted_at=item["inserted_at"]["S"],
        revoked_at=text(item, "revoked_at"),
        revision=number(item, "revision"),
    )


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
