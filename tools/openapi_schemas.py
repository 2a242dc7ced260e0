"""What the API answers with, as JSON Schema; the tests hold real answers against it."""

from __future__ import annotations

from typing import Any

from domain.requests.record import State, WebhookState
from domain.requests.waiting_reason import CODES
from domain.web_connector.session.record import MAX_LINGER_SECONDS

Schema = dict[str, Any]

UUID: Schema = {"type": "string", "format": "uuid"}
MOMENT: Schema = {
    "type": "string",
    "format": "date-time",
    "description": "ISO 8601, UTC, microseconds",
    "examples": ["2026-03-14T12:00:00.000000Z"],
}
COUNT: Schema = {"type": "integer", "minimum": 1}


def ref(name: str) -> Schema:
    """Return the reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def text(description: str = "") -> Schema:
    """Return the schema of a text."""
    return {"type": "string"} | ({"description": description} if description else {})


def nullable(schema: Schema) -> Schema:
    """Return the schema of what may be null."""
    return {**schema, "type": [schema["type"], "null"]}


def an_object(properties: dict[str, Schema], *, optional: tuple[str, ...] = (), description: str = "") -> Schema:
    """Return the schema of an object with these properties and no others."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }
    return schema | ({"description": description} if description else {})


def data(schema: Schema) -> Schema:
    """Return the schema of an answer that wraps something in `data`."""
    return an_object({"data": schema})


def page_of(schema: Schema) -> Schema:
    """Return the schema of one page of a list."""
    total = {"type": "integer", "minimum": 0, "description": "0 when there is nothing"}
    return an_object({"data": {"type": "array", "items": schema}, "page": COUNT, "total_pages": total})


OMITTED: Schema = {"type": "boolean", "description": "true when it is null because it did not fit; else absent"}

DETAILS: Schema = {
    "type": "object",
    "description": "`reason`: a stable name of what went wrong (docs/quickbooks-errors.md); `hint`: what to do, in a "
    "user's words; `retryable`: whether the same request may succeed later; `status_code` or `hresult` as QuickBooks "
    "gave it.",
}

ERROR: Schema = nullable(
    an_object({"message": text(), "code": text("stable"), "details": DETAILS}, description="why it ended so")
)

WAITING_REASON: Schema = nullable(
    an_object(
        {
            "code": {"type": "string", "enum": list(CODES)},
            "message": text("for a developer"),
            "hint": nullable(text("what to do; null: nothing")),
        },
        description="what it waits for; null: nothing",
    )
)

RECORD_HEAD: dict[str, Schema] = {
    "id": UUID,
    "connection_id": UUID,
    "request_name": {"type": "string", "examples": ["CustomerQueryRq"]},
    "page": COUNT | {"description": "1, or the page of an iterated query"},
    "state": {"type": "string", "enum": [state.value for state in State]},
    "webhook_state": {"type": "string", "enum": [state.value for state in WebhookState]},
    "waiting_reason": WAITING_REASON,
}
RECORD_TAIL: dict[str, Schema] = {
    "error": ERROR,
    "webhook_url": nullable(text()),
    "webhook_attempts": {
        "type": "array",
        "items": an_object({"attempted_at": MOMENT, "response": text("the answer, cut to 4 KiB, or the failure")}),
    },
    "webhook_error": nullable(text("why delivery failed, last")),
    "links": an_object({"self": text(), "ui": text(), "connection_ui": text()}),
    "inserted_at": MOMENT,
    "updated_at": MOMENT,
}

SCHEMAS: dict[str, Schema] = {
    "Error": an_object(
        {
            "error": an_object(
                {"code": text("stable"), "message": text("for people"), "details": {"type": "object"}},
                optional=("details",),
            )
        }
    ),
    "QueuedRequest": an_object(
        RECORD_HEAD
        | {
            "request_xml": text(),
            "request_json": {"type": "object"},
            "response_xml": nullable(text("as QuickBooks sent it")),
            "response_json": {
                "type": ["array", "null"],
                "items": {"type": "object"},
                "description": "the same by the schema: arrays where it repeats, booleans; "
                "sort a report's rows by `@rowNumber`",
            },
            "response_omitted": OMITTED,
            "response_json_omitted": OMITTED,
        }
        | RECORD_TAIL,
        optional=("response_omitted", "response_json_omitted"),
    ),
    "ListedRequest": an_object(
        RECORD_HEAD
        | {
            "request_xml": nullable(text("null only with `request_omitted`")),
            "response_xml": nullable(text("null also when it is over 256 KiB")),
            "request_omitted": OMITTED,
            "response_omitted": OMITTED,
        }
        | RECORD_TAIL,
        optional=("request_omitted", "response_omitted"),
    ),
    "Connection": an_object(
        {
            "id": UUID,
            "app_id": UUID,
            "username": text("the Web Connector's user name"),
            "name": nullable(text()),
            "company_file": nullable(text("the company file's path; null: the one that is open")),
            "company_file_pinned": {
                "type": "boolean",
                "description": "false after `reset_company_file`, until a session has taken a company file",
            },
            "webhook_url": nullable(text("where the outcome of its requests is posted")),
            "last_connected_at": nullable(MOMENT),
            "status": {"type": "string", "enum": ["never_connected", "connected", "error"]},
            "qbxml_version": nullable(text()),
            "quickbooks_product_name": nullable(text()),
            "country": nullable(text()),
            "last_error": {
                "type": ["object", "null"],
                "description": "What kept the Web Connector from QuickBooks last: `code`, `reason` (a stable name, "
                "docs/quickbooks-errors.md), `message`, `hint`, `at`, and `hresult` or `file_id`.",
            },
            "sync_window": nullable(
                an_object(
                    {"from": text("time of day, `HH:MM`"), "to": text(), "time_zone": text("IANA name")},
                    description="the hours in which QuickBooks may be worked with; null: at any hour",
                )
            ),
            "linger_seconds": {
                "type": "integer",
                "minimum": 0,
                "maximum": MAX_LINGER_SECONDS,
                "description": "how long a session waits for more after its last request",
            },
            "paused_at": nullable(MOMENT),
            "redirect_url": nullable(text("where the onboarding page leads when it is done")),
            "onboarding_expires_at": nullable(MOMENT),
            "waiting_reason": WAITING_REASON,
            "links": an_object(
                {
                    "self": text(),
                    "ui": text(),
                    "onboarding": nullable(text("the onboarding page; null but in the response that creates it")),
                }
            ),
            "inserted_at": MOMENT,
            "updated_at": MOMENT,
        }
    ),
}

RECORD, CONNECTION = data(ref("QueuedRequest")), data(ref("Connection"))

ANSWERS: dict[str, Schema] = {
    "create_queued_request": RECORD,
    "get_queued_request": RECORD,
    "get_queued_request_of_connection": RECORD,
    "discard_queued_request": RECORD,
    "discard_queued_request_of_connection": RECORD,
    "redeliver_queued_request": RECORD,
    "redeliver_queued_request_of_connection": RECORD,
    "query_customers": RECORD,
    "query_vendors": RECORD,
    "query_sales_orders": RECORD,
    "query_invoices": RECORD,
    "query_items": RECORD,
    "list_queued_requests": page_of(ref("ListedRequest")),
    "list_connections": page_of(ref("Connection")),
    "create_connection": CONNECTION,
    "create_onboarding_url": CONNECTION,
    "get_connection": CONNECTION,
    "update_connection": CONNECTION,
    "pause_connection": CONNECTION,
    "resume_connection": CONNECTION,
    "reset_company_file": CONNECTION,
    "get_api_key": data(an_object({"app_id": UUID, "scope": {"type": "string", "enum": ["full", "read_only"]}})),
    "set_connection_password": data(an_object({"id": UUID, "password": text("shown this once")})),
    "get_connection_qwc": an_object({"qwc": text()}),
    "post_connection_qwc": an_object({"qwc": text()}),
}
"""The body of each operation's success, by operation id; what is not here has none."""
