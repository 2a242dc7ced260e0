"""Examples of bodies for the API document. The tests check each against its schema."""

from __future__ import annotations

from typing import Any

_APP_ID = "3f0c2a52-7c1d-4f0e-9b7a-5a1d3c8e2b10"
_CONNECTION_ID = "6d2f6c1e-93a4-4c39-8a47-0b1f6c0d7e21"
_REQUEST_ID = "b1f0c7de-2c55-4a53-9d0e-6d4b7f1a9c32"
_REQUEST = (
    f'<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="{_REQUEST_ID}">'
    "<MaxReturned>1</MaxReturned></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)
_RESPONSE = (
    f'<QBXML><QBXMLMsgsRs><CustomerQueryRs requestID="{_REQUEST_ID}" statusCode="0" statusSeverity="Info" '
    'statusMessage="Status OK"><CustomerRet><ListID>80000001-1234567890</ListID><FullName>Example</FullName>'
    "</CustomerRet></CustomerQueryRs></QBXMLMsgsRs></QBXML>"
)
_RECORD_HEAD = {
    "id": _REQUEST_ID,
    "connection_id": _CONNECTION_ID,
    "request_name": "CustomerQueryRq",
    "query_id": _REQUEST_ID,
    "page": 1,
    "last_page": True,
    "state": "response_received",
    "webhook_state": "succeeded",
    "waiting_reason": None,
    "request_xml": _REQUEST,
}
_RECORD_TAIL = {
    "error": None,
    "webhook_url": "https://example.com/webhooks/quickbooks",
    "webhook_attempts": [
        {
            "attempted_at": "2026-03-14T12:00:07.000000Z",
            "response": "ok",
            "status_code": 200,
            "duration_ms": 84,
            "next_attempt_at": None,
        }
    ],
    "webhook_error": None,
    "links": {
        "self": f"/api/v1/queued_requests/{_REQUEST_ID}",
        "ui": f"/app/queued_requests/{_REQUEST_ID}",
        "connection_ui": f"/app/connections/{_CONNECTION_ID}",
    },
    "inserted_at": "2026-03-14T12:00:00.000000Z",
    "updated_at": "2026-03-14T12:00:07.000000Z",
}

EXAMPLES: dict[str, dict[str, Any]] = {
    "Error": {
        "error": {
            "code": "invalid_request",
            "message": "request_xml: CustomerQueryRq has no child MaxReturnd.",
            "details": {
                "problems": [
                    {
                        "field": "request_xml",
                        "message": "CustomerQueryRq has no child MaxReturnd.",
                        "line": 3,
                        "column": 1,
                        "path": "CustomerQueryRq/MaxReturnd",
                        "suggestion": "Did you mean MaxReturned?",
                    }
                ]
            },
        }
    },
    "QueuedRequest": {
        **_RECORD_HEAD,
        "request_json": {
            "version": "13.0",
            "request": {
                "name": "CustomerQueryRq",
                "attributes": {"request_id": _REQUEST_ID},
                "children": [{"name": "MaxReturned", "text": "1"}],
            },
        },
        "response_xml": _RESPONSE,
        "response_json": [
            {
                "QBXMLMsgsRs": {
                    "CustomerQueryRs": {
                        "@requestID": _REQUEST_ID,
                        "@statusCode": 0,
                        "@statusSeverity": "Info",
                        "@statusMessage": "Status OK",
                        "CustomerRet": [{"ListID": "80000001-1234567890", "FullName": "Example"}],
                    }
                }
            }
        ],
        **_RECORD_TAIL,
    },
    "ListedRequest": {**_RECORD_HEAD, "response_xml": _RESPONSE, **_RECORD_TAIL},
    "Connection": {
        "id": _CONNECTION_ID,
        "app_id": _APP_ID,
        "username": _CONNECTION_ID,
        "name": "Harbor Street Bakery",
        "company_file": None,
        "company_file_pinned": True,
        "webhook_url": "https://example.com/webhooks/quickbooks",
        "last_connected_at": "2026-03-14T12:00:00.000000Z",
        "status": "connected",
        "qbxml_version": "16.0",
        "quickbooks_product_name": "QuickBooks Enterprise Solutions 2023",
        "country": "US",
        "last_error": None,
        "login_failed_at": None,
        "sync_window": {"from": "20:00", "to": "06:00", "time_zone": "America/New_York"},
        "linger_seconds": 0,
        "paused_at": None,
        "redirect_url": None,
        "onboarding_expires_at": None,
        "waiting_reason": None,
        "links": {
            "self": f"/api/v1/connections/{_CONNECTION_ID}",
            "ui": f"/app/connections/{_CONNECTION_ID}",
            "onboarding": None,
        },
        "inserted_at": "2026-03-14T11:00:00.000000Z",
        "updated_at": "2026-03-14T12:00:00.000000Z",
    },
    "NewQueuedRequest": {
        "request_json": {
            "request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 1}]},
        },
        "webhook_url": "https://example.com/webhooks/quickbooks",
    },
    "NewConnection": {"name": "Harbor Street Bakery", "webhook_url": "https://example.com/webhooks/quickbooks"},
    "ChangedConnection": {"sync_window": {"from": "20:00", "to": "06:00", "time_zone": "America/New_York"}},
    "NewPassword": {"password": "correct horse battery staple"},
    "NewOnboardingUrl": {"redirect_url": "https://example.com/quickbooks/connected"},
}
"""An example for each component schema that is a body or an item of a body."""
