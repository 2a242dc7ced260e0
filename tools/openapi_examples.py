"""Examples of bodies for the API document. The functions that make the real responses make these.

The tests check each example against its schema.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.apps.administration import NewKey
from domain.errors import CursorExpired, InvalidRequest, QuotaExceeded
from domain.events.feed import Cursor, FeedEvent
from domain.listing.causes import FailureGroup, FailureReport
from domain.listing.overview import ConnectionOverview, Overview
from domain.listing.usage import ConnectionUse, MonthOfUse, UsageReport
from domain.listing.value_search import Hit, Unsearched, UnsearchedConnection, ValueReport
from domain.qbxml.codes.statuses import describe_status
from domain.queueing.waiting_reason import of_request
from domain.records.app import ApiKey, Contact, Environment, Scope
from domain.records.audit import Action, Actor, ActorType, Subject, audit_entry, begun_entry
from domain.records.connection import Connection
from domain.records.event import EventOutcome, LoggedEvent
from domain.records.permissions import PERMISSIONS, Role
from domain.records.request import (
    Attempts,
    ErrorCode,
    ListedRequest,
    Paging,
    QueuedRequest,
    Settling,
    State,
    StoredRequest,
    WhetherExecuted,
)
from domain.records.session import CallingWebConnector, LastResponse, OpenCompanyFile, Session
from domain.records.subscription import (
    BooksCopy,
    ChangePage,
    CopyPhase,
    CopyState,
    ObjectCopy,
    ObjectPass,
    PageKind,
    Subscription,
    SubscriptionWebhook,
)
from domain.records.sync_window import SyncWindow
from domain.records.webhook import ListedWebhookState, Webhook, WebhookAttempt, WebhookState
from domain.storage.statistics import Series, Slot
from domain.subscriptions.progress import Progress
from domain.timestamps import TimeRange, timestamp
from domain.webhooks.ports import PlannedChanges, PlannedEvent
from domain.whole_values import MatchedAs
from handlers.views.api_keys import key_view, new_key_view
from handlers.views.audit_log import audit_entry_view
from handlers.views.changes_event import changes_event_body
from handlers.views.connection_event import connection_event_body
from handlers.views.connections import connection
from handlers.views.contact import contact_view
from handlers.views.failures import failures
from handlers.views.feed_event import feed_event
from handlers.views.requests import listed_request, queued_request
from handlers.views.search import search
from handlers.views.sessions import session_view
from handlers.views.statistics import app_statistics, statistics
from handlers.views.subscriptions import subscription_view
from handlers.views.usage import usage
from handlers.views.webhook_event import event_body, resolved_event_body

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from handlers.views.audit_log import AuditEntryView

_NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)
_END = _NOON + timedelta(seconds=7)
_WEBHOOK_URL = "https://example.com/webhooks/quickbooks"
_SYNC_WINDOW = {"from": "20:00", "to": "06:00", "time_zone": "America/New_York"}

_SIMULATOR = {
    "company": "wholesale",
    "today": "2026-03-14",
    "days_ahead": 0,
    "faults": ["receiveResponseXML:2:lose-response"],
    "faults_happened": [],
    "problems": [],
    "bytes": 438642,
    "max_bytes": 3_000_000,
    "seconds_today": 1.3,
    "max_seconds_a_day": 600,
}
_CUSTOMERS = {
    "data": [{"ListID": "80000001-1767225600", "FullName": "Bluewater Marine", "Balance": "1250.00"}],
    "total": 1,
    "offset": 0,
    "limit": 100,
}

_CONNECTION = Connection(
    id="6d2f6c1e-93a4-4c39-8a47-0b1f6c0d7e21",
    app_id="3f0c2a52-7c1d-4f0e-9b7a-5a1d3c8e2b10",
    owner_id="",
    file_id="",
    inserted_at=timestamp(_NOON - timedelta(days=1)),
    updated_at=timestamp(_NOON),
    name="Harbor Street Bakery",
    webhook_url=_WEBHOOK_URL,
    webhook_events=("connection.stalled", "connection.calling_again"),
    last_connected_at=timestamp(_NOON),
    qbxml_version="16.0",
    quickbooks_product_name="QuickBooks Enterprise Solutions 2023",
    quickbooks_version="33.0",
    quickbooks_answered_at=timestamp(_NOON),
    company_name="Bluewater Dental LLC",
    country="US",
    sync_window=SyncWindow(_SYNC_WINDOW["from"], _SYNC_WINDOW["to"], _SYNC_WINDOW["time_zone"]),
)
_WAITING = QueuedRequest(
    id="b1f0c7de-2c55-4a53-9d0e-6d4b7f1a9c32",
    connection_id=_CONNECTION.id,
    app_id=_CONNECTION.app_id,
    request_name="CustomerQueryRq",
    request_label="order-1042",
    qbxml_version="13.0",
    inserted_at=timestamp(_NOON),
    updated_at=timestamp(_NOON),
    webhook=Webhook.to(_WEBHOOK_URL),
)
_REQUEST_XML = (
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="order-1042">'
    "<MaxReturned>1</MaxReturned></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)
_RESPONSE_XML = (
    '<QBXML><QBXMLMsgsRs><CustomerQueryRs requestID="order-1042" statusCode="0" statusSeverity="Info" '
    'statusMessage="Status OK"><CustomerRet><ListID>80000001-1234567890</ListID><FullName>Example</FullName>'
    "</CustomerRet></CustomerQueryRs></QBXMLMsgsRs></QBXML>"
)
_SENT = replace(_WAITING, state=State.SENT, attempts=Attempts(1))
_WEBHOOK = replace(
    _SENT.webhook,
    state=WebhookState.SUCCEEDED,
    attempts=(WebhookAttempt(timestamp(_END), "ok", status_code=200, duration_ms=84),),
)
_RECEIVED = replace(_SENT, response_size=len(_RESPONSE_XML)).moved(State.RESPONSE_RECEIVED, _END)
_RECEIVED = _RECEIVED.with_webhook(_END, _WEBHOOK)
_UNDELIVERED = _RECEIVED.with_webhook(
    _END,
    replace(
        _SENT.webhook,
        state=WebhookState.FAILED,
        attempts=(WebhookAttempt(timestamp(_END), "overloaded", status_code=503, duration_ms=84),),
        attempts_in_round=1,
    ),
)
_STATUS = describe_status(3140)
_FAILED = _SENT.failed(
    _END,
    ErrorCode.QUICKBOOKS_ERROR,
    "There is an invalid reference to QuickBooks Customer in the Invoice.",
    {
        "status_code": 3140,
        "status_severity": "Error",
        "request_id": "order-1042",
        "reason": _STATUS.reason,
        "retryable": _STATUS.retryable,
        "hint": _STATUS.hint,
    },
)
_FAILED_XML = (
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><InvoiceAddRq requestID="order-1042"><InvoiceAdd><CustomerRef>'
    "<ListID>80000009-1234567890</ListID></CustomerRef></InvoiceAdd></InvoiceAddRq></QBXMLMsgsRq></QBXML>"
)
_RESOLVED = replace(
    _SENT.failed(_NOON, ErrorCode.OUTCOME_UNKNOWN, "QuickBooks may have executed the request.", {"retryable": False}),
    request_name="InvoiceAddRq",
    settling=Settling(1, WhetherExecuted.NO),
)
_TREE = {
    "name": "CustomerQueryRq",
    "attributes": {"request_id": "order-1042"},
    "children": [{"name": "MaxReturned", "text": 1}],
}


def _event(record: QueuedRequest, request_xml: str, response_xml: str | None = None) -> Any:
    return json.loads(event_body(StoredRequest(record, request_xml, response_xml), timestamp(_END)))


def _resolved_event() -> Any:
    return json.loads(resolved_event_body(StoredRequest(_RESOLVED, _FAILED_XML), timestamp(_END)))


def _connection_event() -> Any:
    planned = PlannedEvent(_CONNECTION.id, _CONNECTION.app_id, EventOutcome.STALLED, 17, timestamp(_NOON), 0, _END)
    return json.loads(connection_event_body(_CONNECTION, planned, timestamp(_END)))


def _feed() -> Any:
    page = replace(_RECEIVED, paging=Paging(page=3, first_page_id=_WAITING.id, page_size=1))
    deleted = "0e1f6d0c-8a57-4f3b-9a3e-5d7c2b1a4f60"
    events: list[tuple[EventOutcome, str, StoredRequest | Connection | None]] = [
        (EventOutcome.COMPLETED, page.id, StoredRequest(page, _REQUEST_XML, _RESPONSE_XML)),
        (EventOutcome.QUERY_COMPLETED, page.id, StoredRequest(page, _REQUEST_XML, _RESPONSE_XML)),
        (EventOutcome.FAILED, deleted, None),
        (EventOutcome.CONNECTED, "", _CONNECTION),
    ]
    data = []
    for number, (outcome, request_id, stored) in enumerate(events, 1):
        logged = LoggedEvent(outcome, request_id, _CONNECTION.id)
        event = FeedEvent(logged, timestamp(_END), Cursor(1773489607000, number if number < len(events) else None))
        data.append(json.loads(feed_event(event, stored)))
    return {"data": data, "next": data[-1]["cursor"], "has_more": False}


def _queued() -> Any:
    waiting = of_request(_WAITING, replace(_CONNECTION, sync_window=None), _NOON)
    return queued_request(StoredRequest(_WAITING, _REQUEST_XML), waiting=waiting, below_connection=True)


def _refusal() -> Any:
    try:
        qbxml.parse_request_json({"CustomerQueryRq": {"MaxReturnd": 1}})
    except InvalidRequest as error:
        return {"error": {"code": error.code, "message": error.message, "details": error.details}}
    raise AssertionError("the example is refused")


def _audit_log() -> list[AuditEntryView]:
    """Return the entries of a discard of many requests and of a new password."""
    subject = Subject(_CONNECTION.app_id, _WAITING.id, 2, _CONNECTION.id)
    discard = begun_entry(Action.REQUESTS_DISCARDED, _AN_ACTOR, subject, timestamp(_END))
    discard = discard.completed(timestamp(_END), {"discarded": 200, "in_flight": 1, "has_dependants": 0})
    subject = Subject(_CONNECTION.app_id, _CONNECTION.id, 4, _CONNECTION.id)
    password = audit_entry(Action.PASSWORD_SET, Actor(ActorType.ONBOARDING_LINK, _LINK_ID), subject, timestamp(_NOON))
    return [audit_entry_view(entry) for entry in (discard, password)]


_CONTACT = Contact("Bluewater Books", "https://bluewater.example/logo.png", "+1 555 010 0199", "help@bluewater.example")
_KEY = ApiKey("ab" * 32, _CONNECTION.app_id, Scope.PROPOSE, "sk_Zm9vYmFy", timestamp(_NOON), name="Nightly sync")
_KEY_VIEW = key_view(_KEY, timestamp(_NOON))
_NEW_KEY_VIEW = new_key_view(NewKey(_KEY, "sk_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6"))
_AN_ACTOR = Actor(ActorType.API_KEY, "key_3b1f0c9d5e7a2468", "Nightly sync")
_LINK_ID = "link_9c1d0b7e35a2f468"
_ENDED = StoredRequest(_RECEIVED, _REQUEST_XML, _RESPONSE_XML)
_ONE_PAGE = {"page": 1, "total_pages": 1}
_CONNECTION_VIEW = connection(_CONNECTION, _NOON)
_SUBSCRIPTION = Subscription(
    "e0000000-0000-4000-8000-000000000001",
    _CONNECTION.id,
    _CONNECTION.app_id,
    timestamp(_NOON),
    timestamp(_NOON),
    ("Customer", "Invoice"),
    15,
    "all",
    timestamp(_NOON),
    include={"Invoice": ("lines", "linked")},
    webhook=SubscriptionWebhook(_WEBHOOK_URL),
)
_SUBSCRIPTION_VIEW = subscription_view(
    Progress(
        CopyState(
            BooksCopy(
                _CONNECTION.id, _CONNECTION.app_id, read={"Customer": timestamp(_NOON)}, last_run_at=timestamp(_NOON)
            ),
            (
                ObjectCopy(
                    _CONNECTION.id,
                    "Customer",
                    CopyPhase.CHANGES,
                    timestamp(_NOON),
                    1_773_489_600_000,
                    "2026-03-14T12:00:00+00:00",
                    records=1_280,
                ).changed(7, _NOON),
                ObjectCopy(
                    _CONNECTION.id,
                    "Invoice",
                    CopyPhase.SNAPSHOT,
                    timestamp(_NOON),
                    1_773_489_600_001,
                    reading=ObjectPass(timestamp(_NOON), records=600),
                ),
            ),
            (_SUBSCRIPTION,),
        ),
        _CONNECTION,
        _NOON,
    ),
    _SUBSCRIPTION,
)

_RECORD = {"ListID": "80000001-1773489500", "Name": "Harbor Street Bakery"}
_CHANGED = {"id": _RECORD["ListID"], "edit_sequence": "1773489501", "time_modified": "2026-03-14T07:58:21-05:00"}
_PAGE = ChangePage(
    _CONNECTION.id,
    _CONNECTION.app_id,
    1_773_489_600_123,
    PageKind.CHANGED,
    "Customer",
    1_773_489_600_000,
    timestamp(_NOON),
    1,
    json.dumps([{**_CHANGED, "record": _RECORD}]),
)


def _changes_event() -> Any:
    planned = PlannedChanges(_CONNECTION.id, _CONNECTION.app_id, _SUBSCRIPTION.id, _PAGE.sequence, 0, _END)
    return json.loads(changes_event_body(_PAGE, planned, timestamp(_END)))


_RECORD_CHANGE = {
    "type": "record.changed",
    "at": timestamp(_NOON),
    "found_in": "changes",
    "object": "Customer",
    "sequence": 1_773_489_600_002,
    "generation": 1_773_489_600_000,
    "id": "80000001-1767225600",
    "edit_sequence": "1773489590",
    "time_modified": "2026-03-14T07:59:50-04:00",
    "record": {"ListID": "80000001-1767225600", "FullName": "Bluewater Marine", "Phone": "555-0100"},
}

_SESSION = Session(
    id="f" * 64,
    connection_id=_CONNECTION.id,
    last_call_at=timestamp(_END),
    last_response=LastResponse(number=12, answered=12),
    company_file=OpenCompanyFile(
        path="C:\\Books\\Bluewater.qbw", product_name="QuickBooks Desktop Enterprise Solutions 24.0", version="34.0"
    ),
    web_connector=CallingWebConnector("203.0.113.7", "2.3.0.215"),
    ended=True,
    began_at=timestamp(_NOON),
)

_OVERVIEW = Overview(
    "2026-03-14",
    timestamp(_NOON),
    [
        ConnectionOverview(
            _CONNECTION,
            {
                "2026-03-14": {
                    Slot(Series.QUEUED, 9): 40,
                    Slot(Series.RESPONSE_RECEIVED, 9): 38,
                    Slot(Series.ERROR, 9): 1,
                    Slot(Series.WAITING_TIME, 7): 30,
                    Slot(Series.WAITING_TIME, 8): 9,
                    Slot(Series.EXECUTING_TIME, 4): 37,
                    Slot(Series.EXECUTING_TIME, 6): 2,
                }
            },
            {ListedWebhookState.SUCCEEDED: 39},
            _WAITING,
        )
    ],
)

_SINCE = timestamp(_NOON - timedelta(days=1))
_FAILURES = FailureReport(
    [
        FailureGroup(
            "3140",
            _CONNECTION,
            12,
            timestamp(_NOON - timedelta(hours=3)),
            timestamp(_END),
            _FAILED,
            queued_again=3,
            failed_again=2,
            repeatable=9,
        )
    ],
    [FailureGroup("https://example.com", _CONNECTION, 4, timestamp(_NOON), timestamp(_END), _UNDELIVERED)],
)

_USAGE = UsageReport(
    [
        ConnectionUse(
            _CONNECTION,
            [MonthOfUse("2026-02", 812, 640, 9), MonthOfUse("2026-03", 377, 301, 2)],
            {Slot(Series.WAITING_TIME, 7): 1160, Slot(Series.EXECUTING_TIME, 4): 1178},
        )
    ]
)

_SEARCH = ValueReport(
    [Hit(_CONNECTION, _FAILED, [MatchedAs.ERROR])],
    (_FAILED.inserted_at, _FAILED.id),
    [UnsearchedConnection(_CONNECTION, timestamp(_NOON - timedelta(days=90)), Unsearched.TIME)],
)

_REQUEST_ID = "0b33c224-1d0e-4c52-8f27-6a1f1f5d2c11"

_MEMBER = {
    "id": "5a3f9f0e-4d6b-4e0c-8a55-1c7de0b9a1f4",
    "name": "Maria Weber",
    "email": "maria@example.com",
    "role": Role.SUPPORT,
    "joined_at": timestamp(_NOON),
    "last_signed_in_at": timestamp(_END),
}
_INVITATION = {
    "id": "c8de2f31-70b5-4f4c-9d1a-2b6f1f3c9e07",
    "email": "sam@example.com",
    "role": Role.VIEWER,
    "invited_at": timestamp(_NOON),
    "invited_by": _MEMBER["id"],
    "expires_at": timestamp(_NOON + timedelta(days=14)),
}

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "AppStatisticsResponse": {"statistics": {"data": app_statistics(_OVERVIEW, _NOON)}},
    "SearchResponse": {"search": {"data": search(_SEARCH)}},
    "FailuresResponse": {"failures": {"data": failures(_FAILURES, TimeRange(_SINCE), _NOON)}},
    "UsageResponse": {"usage": {"data": usage(_USAGE, "2026-02", "2026-03")}},
    "People": {"people": {"data": [_MEMBER], "invitations": [_INVITATION]}},
    "MemberResponse": {"member": {"data": _MEMBER}},
    "InvitationResponse": {"invitation": {"data": _INVITATION}},
    "NewInvitation": {"support": {"email": "sam@example.com", "role": Role.VIEWER}},
    "ChangedMember": {"support": {"role": Role.SUPPORT}},
    "ApiKeyResponse": {
        "full": {
            "data": {
                "app_id": _CONNECTION.app_id,
                "scope": Scope.FULL,
                "key_id": _AN_ACTOR.id,
                "name": _AN_ACTOR.name,
                "person_id": None,
                "role": None,
                "permissions": sorted(PERMISSIONS[Scope.FULL]),
                "environment": Environment.PRODUCTION,
            }
        }
    },
    "KeyResponse": {"key": {"data": _KEY_VIEW}},
    "NewKeyResponse": {"key": {"data": _NEW_KEY_VIEW}},
    "KeyList": {"keys": {"data": [_KEY_VIEW]}},
    "NewApiKey": {"key": {"name": "Nightly sync", "scope": "propose"}},
    "ChangedApiKey": {"key": {"name": "Daily sync"}},
    "NewRotation": {"end": {"expires_at": "2027-01-31T00:00:00Z"}},
    "AuditLog": {"entries": {"data": _audit_log(), "next": None}},
    "ChangedContact": {"phone": {"phone": "+1 555 010 0199"}, "no_logo": {"logo_url": None}},
    "ContactResponse": {"contact": {"data": contact_view(_CONTACT)}},
    "ChangedConnection": {"sync_window": {"sync_window": _SYNC_WINDOW}, "no_webhook": {"webhook_url": None}},
    "CompletedEvent": {"completed": _event(_RECEIVED, _REQUEST_XML, _RESPONSE_XML)},
    "ConnectionPage": {"connections": {"data": [_CONNECTION_VIEW], **_ONE_PAGE}},
    "ConnectionResponse": {"connection": {"data": _CONNECTION_VIEW}},
    "NewSubscription": {
        "subscription": {
            "objects": ["Customer", "ItemInventory", "Invoice"],
            "every_minutes": 15,
            "start": "all",
            "include": {"Invoice": ["lines", "linked"]},
        }
    },
    "ChangedSubscription": {"interval": {"every_minutes": 60, "derived": "daily"}},
    "SubscriptionResponse": {"subscription": {"data": _SUBSCRIPTION_VIEW}},
    "Changes": {"changes": {"data": [_RECORD_CHANGE], "next": None, "read_from": timestamp(_NOON)}},
    "SessionList": {"sessions": {"data": [session_view(_SESSION)]}},
    "SubscriptionList": {"subscriptions": {"data": [_SUBSCRIPTION_VIEW]}},
    "ConnectionWebhookEvent": {"stalled": _connection_event()},
    "DiscardedEvent": {"discarded": _event(_WAITING.moved(State.DISCARDED, _END), _REQUEST_XML)},
    "DiscardedPart": {"part": {"data": {"discarded": 200, "in_flight": 1, "has_dependants": 0}, "next": "WyI1YjQ…"}},
    "NewQueueAgain": {"failed": {"filter": {"state": "error", "to": "2026-03-14T12:00:00Z"}}},
    "QueuedAgainPart": {"part": {"data": {"queued": 12, "queued_before": 0, "left_out": 1}, "next": None}},
    "NewDiscard": {
        "invoices": {"filter": {"request_name": "InvoiceAddRq", "label_prefix": "import-7-"}, "dry_run": True},
        "chosen": {"filter": {"ids": [_WAITING.id]}},
    },
    "ChangesWebhookEvent": {"changed": _changes_event()},
    "FailedEvent": {"failed": _event(_FAILED, _FAILED_XML)},
    "Feed": {"events": _feed(), "no_events": {"data": [], "next": "1773489607000", "has_more": False}},
    "ListedRequestPage": {
        "requests": {
            "data": [listed_request(ListedRequest(_RECEIVED, _REQUEST_XML, _RESPONSE_XML))],
            **_ONE_PAGE,
            "total": 1,
            "counts": {"response_received": 1},
            "awaiting_approval": 0,
        }
    },
    "NewConnection": {
        "connection": {
            "name": "Harbor Street Bakery",
            "webhook_url": _WEBHOOK_URL,
            "webhook_events": ["connection.stalled", "connection.calling_again"],
        }
    },
    "NewOnboardingUrl": {"redirect": {"redirect_url": "https://example.com/quickbooks/connected"}},
    "ResolvedEvent": {"resolved": _resolved_event()},
    "SimulatorResponse": {"simulator": {"data": _SIMULATOR}},
    "BooksResponse": {"books": {"data": {"path": "lists/Customer", "shown": _CUSTOMERS}}},
    "NewAdvance": {"a_week": {"days": 7}},
    "NewFaults": {
        "a_lost_response": {
            "steps": [{"on": "receiveResponseXML", "call": 2, "do": "lose-response"}],
            "expect": {"executed": {"CustomerAddRq": 3}, "repeated_writes": 0},
        }
    },
    "NewApproval": {"seen": {"revision": 1}},
    "NewApprovals": {"seen": {"requests": [{"id": _WAITING.id, "revision": 1}]}},
    "NewRejections": {
        "chosen": {"ids": [_WAITING.id], "reason": "These invoices exist already."},
        "batch": {"reason": "The order was cancelled."},
    },
    "DecisionsResponse": {
        "some": {
            "data": {
                "decided": 1,
                "refused": 1,
                "requests": [
                    {"id": _WAITING.id, "error": None},
                    {
                        "id": _FAILED.id,
                        "error": {
                            "code": "invalid_state",
                            "message": "The request is error, so nobody can decide about it any more.",
                            "details": {"state": "error"},
                        },
                    },
                ],
            }
        }
    },
    "NewRejection": {"duplicate": {"reason": "This invoice exists already."}},
    "NewPassword": {"password": {"password": "correct horse battery staple"}},
    "NewQueuedRequest": {
        "tree": {"request_json": {"request": _TREE}, "webhook_url": _WEBHOOK_URL},
        "short": {"request_json": {"CustomerQueryRq": {"@requestID": "order-1042", "MaxReturned": 1}}},
        "labelled": {
            "request_json": {"CustomerQueryRq": {"MaxReturned": 1}},
            "label": "nightly sync",
            "metadata": {"order": "1042"},
        },
        "xml": {"request_xml": _REQUEST_XML},
    },
    "NewContinuation": {
        "corrected": {
            "request_json": {
                "InvoiceAddRq": {
                    "InvoiceAdd": {
                        "CustomerRef": {"ListID": {"$from": _REQUEST_ID, "path": "CustomerRet/ListID"}},
                        "RefNumber": "W7",
                    }
                }
            }
        },
        "same": {},
    },
    "NewBatch": {
        "requests": {
            "requests": [
                {"ref": "c", "request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}},
                {
                    "ref": "i",
                    "request_json": {
                        "InvoiceAddRq": {
                            "InvoiceAdd": {
                                "CustomerRef": {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}},
                                "RefNumber": "W7",
                            }
                        }
                    },
                },
            ]
        }
    },
    "PasswordResponse": {"password": {"data": {"id": _CONNECTION.id, "password": "correct horse battery staple"}}},
    "QueuedRequestBatch": {"queued": {"data": [_queued()]}},
    "QueuedRequestResponse": {"queued": {"data": _queued()}, "ended": {"data": queued_request(_ENDED)}},
    "RedeliveredPart": {"part": {"data": {"redelivered": 12}, "next": None}},
    "NewRedelivery": {
        "since": {"failed_since": "2026-03-14T12:00:00Z", "include_pending": True},
        "night": {"failed_since": "2026-03-13T22:00:00Z", "failed_before": "2026-03-14T06:00:00Z"},
        "of_invoices": {"filter": {"request_name": "InvoiceAddRq"}, "dry_run": True},
    },
    "NewWebhookTest": {"url": {"webhook_url": _WEBHOOK_URL}},
    "StatisticsResponse": {"statistics": {"data": statistics(_OVERVIEW)}},
    "WebhookTestResponse": {
        "accepted": {
            "data": {"delivered": True, "status_code": 200, "response": "ok", "duration_ms": 84, "error": None}
        }
    },
    "Qwc": {"qwc": {"qwc": "<?xml version='1.0'?><QBWCXML>…</QBWCXML>"}},
}
"""The examples of each component schema that is a whole body."""

ERROR_EXAMPLES: Mapping[str, Any] = {
    CursorExpired.code: {
        "error": {
            "code": CursorExpired.code,
            "message": "Events behind this cursor are gone, because events are kept for seven days.",
            "details": {"oldest": "1773489607000"},
        }
    },
    InvalidRequest.code: _refusal(),
    QuotaExceeded.code: {
        "error": {
            "code": QuotaExceeded.code,
            "message": "This app may queue 100 requests per second.",
            "details": {"limit": "creates_per_second", "value": 100},
        }
    },
}
"""An example for errors with details, by code."""


_BATCH_ID = "00b3c224-1d0e-8c52-8f27-6a1f1f5d2c11"

PATH_EXAMPLES: Mapping[str, str] = {
    "connection_id": _CONNECTION.id,
    "key_id": _KEY.id,
    "request_id": _REQUEST_ID,
    "batch_id": _BATCH_ID,
    "invitation_id": _INVITATION["id"],
    "subscription_id": _SUBSCRIPTION.id,
    "person_id": _MEMBER["id"],
}
"""Examples of the ids in paths."""

PARAMETER_EXAMPLES: Mapping[str, Sequence[Any]] = {
    "connection_id": [_CONNECTION.id],
    "key_id": [_KEY.id],
    "subscription_id": [_SUBSCRIPTION.id],
    "request_id": ["order-1007"],
    "query_id": [_REQUEST_ID],
    "batch_id": [_BATCH_ID],
    "search_phrase": ["Bluewater"],
    "queued_by": ["key_3b1f0c9d5e7a2468"],
    "search": ["Bluewater"],
    "ref_number": ["INV-1042"],
    "object": ["Customer"],
    "id": ["80000001-1767225600"],
    "before": [1_773_489_600_002],
    "order": ["newest"],
    "writes": ["true"],
    "offset": [100],
    "label": ["nightly"],
    "metadata": ['{"order":"1007"}'],
    "webhook_url": [_WEBHOOK_URL],
    "send_by": ["2026-03-14T18:00:00Z"],
    "send_within": [3600],
    "iterate": ["true"],
    "max_returned": [20],
    "qbxml_version": ["13.0"],
    "name": ["Blue"],
    "from_name": ["A"],
    "to_name": ["M"],
    "from_modified_date": ["2026-03-14T00:00:00Z"],
    "to_modified_date": ["2026-03-15T00:00:00Z"],
    "from_transaction_date": ["2026-03-01"],
    "to_transaction_date": ["2026-03-31"],
    "list_id": ["80000001-1263558758"],
    "sort_direction": ["asc"],
}
"""Examples of parameters whose schemas have none. `list_id` is that of every parameter whose name ends with it."""
