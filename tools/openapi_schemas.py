"""Parts of the API document that no type of the handlers expresses.

Each recursion passes through an object with a name, because generators of clients support no other.
"""

from __future__ import annotations

from typing import Any

from domain.queueing.waiting_calls import MAX_WAIT_SECONDS


def _reference(schema: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{schema}"}


_SCALAR = {"type": ["string", "number", "boolean", "null"]}
_REFERENCE = _reference("NewReference")
_NODE = _reference("NewRequestNode")
_ELEMENT = _reference("NewRequestElement")
_NAME = "[A-Za-z_][A-Za-z0-9_.-]{0,99}"
_VERSION = {
    "description": "The QBXML version. The default is 13.0, or the highest that QuickBooks supports if that is lower.",
    "anyOf": [
        {"type": "string", "pattern": "^([A-Z]{2})?[0-9]{1,2}\\.[0-9]$"},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 99},
        {"type": "null"},
    ],
    "examples": ["13.0"],
}

REQUEST_JSON: dict[str, dict[str, Any]] = {
    "NewRequestTree": {
        "description": "A request as a tree. `request` may be an array with the tree from `QBXML` down.",
        "type": "object",
        "properties": {
            "version": _VERSION,
            "request": {"anyOf": [_NODE, {"type": "array", "items": _NODE, "minItems": 1, "maxItems": 1}]},
        },
        "required": ["request"],
        "additionalProperties": False,
    },
    "NewRequestNode": {
        "description": "An element of a request. It has either text or children, and the children may be in any order.",
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": f"^{_NAME}$", "examples": ["CustomerQueryRq"]},
            "attributes": {
                "description": "`request_id` is the request label (`requestID` in QBXML).",
                "type": ["object", "null"],
                "propertyNames": {"pattern": f"^{_NAME}$"},
                "additionalProperties": _SCALAR,
            },
            "text": {"anyOf": [_SCALAR, _REFERENCE]},
            "children": {"type": ["array", "null"], "items": _NODE},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    "NewShortRequest": {
        "description": "A request in the form of `response_json`: the request element and, optionally, `version`.",
        "type": "object",
        "properties": {"version": _VERSION},
        "propertyNames": {"pattern": "^(version|[A-Za-z_][A-Za-z0-9_.-]{0,97}Rq)$"},
        "additionalProperties": {"anyOf": [_ELEMENT, _SCALAR]},
        "minProperties": 1,
        "maxProperties": 2,
    },
    "NewRequestElement": {
        "description": "An element of a request: its attributes (`@requestID`), text (`#text`) and child elements. An "
        "element that repeats is an array.",
        "type": "object",
        "propertyNames": {"pattern": f"^(#text|@?{_NAME})$"},
        "additionalProperties": {
            "anyOf": [
                _ELEMENT,
                _REFERENCE,
                {"type": "array", "items": {"anyOf": [_ELEMENT, _REFERENCE, _SCALAR]}},
                _SCALAR,
            ]
        },
    },
    "NewReference": {
        "description": "In a batch: a value of the response to another request, in place of a text.",
        "type": "object",
        "properties": {
            "$from": {"description": "The `ref` of a request before it in the batch, or an id.", "type": "string"},
            "path": {
                "description": "The place of the value in the response.",
                "type": "string",
                "examples": ["CustomerRet/ListID", "InvoiceRet[1]/TxnID"],
            },
        },
        "required": ["$from", "path"],
        "additionalProperties": False,
    },
}
"""The two forms of `request_json`."""

IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes retries safe: a call that is repeated with the same key within 24 hours returns the first "
    "record with status 200.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "example": "order-1042",
}

CONNECTION_KEY: dict[str, Any] = {
    **IDEMPOTENCY_KEY,
    "description": "Makes retries safe: a call that is repeated with the same key returns the connection of the first "
    "one with status 200.",
    "example": "customer-1042",
}

PREFER_WAIT: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`wait=20` holds the call for up to 20 seconds, until the request has ended, or the last page of an "
    "iterated query (RFC 7240). Other preferences are ignored.",
    "schema": {"type": "string"},
    "example": f"wait={MAX_WAIT_SECONDS}",
}

PREFERENCE_APPLIED: dict[str, Any] = {
    "Preference-Applied": {
        "description": "`wait=…` if the call could be held. It is missing if too many calls were waiting.",
        "schema": {"type": "string"},
    }
}

EVENT_HEADERS: list[dict[str, Any]] = [
    {"name": name, "in": "header", "required": True, "description": description, "schema": schema}
    for name, description, schema in (
        ("webhook-id", "The id of the event, the same for every attempt", {"type": "string", "format": "uuid"}),
        ("webhook-timestamp", "The time of the attempt, in seconds since 1970", {"type": "string"}),
        (
            "webhook-signature",
            "`v1,` and the signature of Standard Webhooks, for each active secret; separated by spaces",
            {"type": "string"},
        ),
        ("X-Qube-Signature", "`t=<time>,v1=<signature>`", {"type": "string"}),
    )
]

RETRY_AFTER = {"description": "Seconds to wait before the next call", "schema": {"type": "integer", "minimum": 1}}


def json_or_xml(body: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Return the schemas of a body that has exactly one of `request_json` and `request_xml`.

    `name` is that of the body, such as NewQueuedRequest.
    """
    kind = name.removeprefix("New").removesuffix("Request").removesuffix("Queued")
    forms: dict[str, dict[str, Any]] = {
        "request_json": {"anyOf": [_reference("NewRequestTree"), _reference("NewShortRequest")]},
        "request_xml": {"type": "string", "minLength": 1},
    }
    schemas: dict[str, dict[str, Any]] = {
        schema: body
        | {
            "properties": body["properties"]
            | {other: {"type": "null"} for other in forms}
            | {form: forms[form] | {"description": body["properties"][form]["description"]}},
            "required": [form],
        }
        for schema, form in ((f"New{kind}JsonRequest", "request_json"), (f"New{kind}XmlRequest", "request_xml"))
    }
    either = {"description": body["description"], "oneOf": [_reference(schema) for schema in schemas]}
    return schemas | {name: either}
