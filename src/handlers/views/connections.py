"""The view of a connection. It does not import code that reads QBXML, which endpoints of connections do not need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from domain.connections.calls import next_session_at
from domain.connections.second_machine import warnings
from domain.queueing.waiting_reason import of_connection
from domain.records.connection import MAX_BATCH_SIZE
from domain.records.session import MAX_LINGER_SECONDS
from domain.timestamps import timestamp
from handlers.views.schema import (
    ConnectionWarningView,
    Moment,
    QuickBooksStatus,
    Schema,
    Uuid,
    WaitingReasonView,
    waiting_reason,
    warning,
)

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.connection import Connection

# "from" is a keyword of Python, so this type cannot be written as a class.
SyncWindowView = TypedDict(
    "SyncWindowView",
    {
        "from": Annotated[str, Schema("Time of day, `HH:MM`")],
        "to": Annotated[str, Schema("Time of day, `HH:MM`")],
        "time_zone": Annotated[str, Schema("IANA name")],
    },
)


class ConnectionLinks(TypedDict):
    """Paths of a connection in the API and in the console."""

    self: str
    ui: str
    onboarding: Annotated[str | None, Schema("The onboarding page; null except in the response that creates the link")]


class ConnectionView(TypedDict):
    """A connection."""

    id: Uuid
    app_id: Uuid
    username: Annotated[str, Schema("User name of the Web Connector")]
    simulated: Annotated[bool, Schema("Whether it is a test connection, behind which a simulated QuickBooks works")]
    name: str | None
    company_file: Annotated[str | None, Schema("Path of the company file; null: the file that is open")]
    company_file_pinned: Annotated[
        bool, Schema("False after `reset_company_file`, until a session has found a company file")
    ]
    company_file_paths: Annotated[
        list[str], Schema("Paths at which the company file is accepted; see `accept_company_file`")
    ]
    webhook_url: Annotated[
        str | None, Schema("Webhook URL for requests that do not specify one. A read-only key sees only the origin")
    ]
    webhook_events: Annotated[
        list[str], Schema("The events of the connection that `webhook_url` gets: types, or `connection.*`")
    ]
    last_connected_at: Annotated[
        Moment | None,
        Schema("When the Web Connector last logged in. Calls that find no work are recorded every ten minutes"),
    ]
    status: Annotated[str, Schema(enum=["never_connected", "connected", "error"])]
    quickbooks_status: QuickBooksStatus
    quickbooks_answered_at: Annotated[
        Moment | None,
        Schema(
            "When QuickBooks first answered with the right company file open. A new onboarding link or"
            " `reset_company_file` begins a new test"
        ),
    ]
    company_name: Annotated[str | None, Schema("Name of the company in the company file")]
    qbxml_version: str | None
    quickbooks_product_name: str | None
    quickbooks_version: Annotated[
        str | None, Schema("QuickBooks' internal version, `34.0`. It is higher than that in the product's name")
    ]
    country: str | None
    last_error: Annotated[
        dict[str, Any] | None,
        Schema(
            "The last error that kept the Web Connector from QuickBooks: `code`, `reason` (a stable name, "
            "docs/errors.md), `message`, `hint`, `at`, and `hresult`, or `file_id`, `path` and "
            "`company_name` of the open file."
        ),
    ]
    login_failed_at: Annotated[
        Moment | None,
        Schema(
            "When the Web Connector last called with a wrong password, recorded at most once a minute. Null after a "
            "successful login and after a new password"
        ),
    ]
    password_changed_at: Annotated[
        Moment | None,
        Schema("When the password of the Web Connector was last set, by the API or through an onboarding link"),
    ]
    sync_window: Annotated[
        SyncWindowView | None,
        Schema(
            "Daily window for sending to QuickBooks, in local time; may cross midnight. Connections take turns: the "
            "first session begins up to ten minutes after the window opens, at most a fifth of its length. Null: any "
            "time"
        ),
    ]
    approval: Annotated[
        Literal["required"] | None, Schema("`required`: all writes wait for approval that are queued from now on")
    ]
    linger_seconds: Annotated[
        int,
        Schema("How long a session waits for more requests after its last one", minimum=0, maximum=MAX_LINGER_SECONDS),
    ]
    batch_size: Annotated[
        int,
        Schema("The largest number of writes that are sent to QuickBooks together", minimum=1, maximum=MAX_BATCH_SIZE),
    ]
    read_batch_size: Annotated[
        int,
        Schema("The largest number of reads that are sent to QuickBooks together", minimum=1, maximum=MAX_BATCH_SIZE),
    ]
    settle: Annotated[
        bool, Schema("Whether the service asks QuickBooks by itself about writes whose outcome is unknown")
    ]
    paused_at: Moment | None
    redirect_url: Annotated[str | None, Schema("Where the onboarding page sends the customer at the end")]
    onboarding_expires_at: Moment | None
    next_session_at: Annotated[
        Moment | None,
        Schema(
            "When the next session is expected, if the Web Connector polls as the service asked it to. Null while a "
            "session is running, if none can begin (the connection is paused, or the last password was wrong), or "
            "when the service does not know whether the expected call came"
        ),
    ]
    copied_at: Annotated[
        Moment | None,
        Schema(
            "When all objects of its subscriptions had been read to the end: programs that read the feed have a copy "
            "of the books as of then. Null without subscriptions, and while an object was never read or needs a resync"
        ),
    ]
    waiting_reason: Annotated[WaitingReasonView | None, Schema("Null if nothing blocks the queue")]
    warnings: Annotated[list[ConnectionWarningView], Schema("What needs a person, although nothing waits for it")]
    counts: NotRequired[
        Annotated[
            dict[str, int],
            Schema("Only in the list, with `counts=true`: the number of the connection's requests in each state"),
        ]
    ]
    awaiting_approval: NotRequired[
        Annotated[int, Schema("Beside `counts`: the number of requests that wait for approval", minimum=0)]
    ]
    links: ConnectionLinks
    inserted_at: Moment
    updated_at: Moment


class PasswordView(TypedDict):
    """A password that was set."""

    id: Uuid
    password: Annotated[str, Schema("Returned only this once")]


class QwcView(TypedDict):
    """The text of a `.qwc` file."""

    qwc: str


def connection(
    stored: Connection, now: datetime, onboarding_url: str | None = None, *, waits_since: str | None = None
) -> ConnectionView:
    """Return the view of a connection, with its waiting reason at `now`. It contains nothing about its password.

    `waits_since` is that of `of_connection`.
    Only the response to the creation of an onboarding link has its URL, because the token is stored as a hash.
    """
    session_at = next_session_at(stored, now, waits_since)
    window, link = stored.sync_window, stored.onboarding
    return {
        "id": stored.id,
        "app_id": stored.app_id,
        "username": stored.username,
        "simulated": stored.simulated,
        "name": stored.name,
        "company_file": stored.company_file,
        "company_file_pinned": stored.file_pinned,
        "company_file_paths": list(stored.company_file_paths),
        "webhook_url": stored.webhook_url,
        "webhook_events": list(stored.webhook_events),
        "last_connected_at": stored.last_connected_at,
        "status": stored.status,
        "quickbooks_status": stored.quickbooks_status,
        "quickbooks_answered_at": stored.quickbooks_answered_at,
        "company_name": stored.company_name,
        "qbxml_version": stored.qbxml_version,
        "quickbooks_product_name": stored.quickbooks_product_name,
        "quickbooks_version": stored.quickbooks_version,
        "country": stored.country,
        "last_error": stored.last_error,
        "login_failed_at": stored.login_failed_at,
        "password_changed_at": stored.password_changed_at,
        "sync_window": {"from": window.opens, "to": window.closes, "time_zone": window.time_zone} if window else None,
        "approval": "required" if stored.approval else None,
        "linger_seconds": stored.linger_seconds,
        "batch_size": stored.batch_size,
        "read_batch_size": stored.read_batch_size,
        "settle": not stored.settles_on_call_only,
        "paused_at": stored.paused_at,
        "redirect_url": link.redirect_url if link else None,
        "onboarding_expires_at": link.expires_at if link else None,
        "next_session_at": timestamp(session_at) if session_at else None,
        "copied_at": stored.copied_at,
        "waiting_reason": waiting_reason(of_connection(stored, now, waits_since)),
        "warnings": [warning(one) for one in warnings(stored, now, waits_since)],
        "links": {
            "self": f"/api/v1/connections/{stored.id}",
            "ui": f"/app/connections/{stored.id}",
            "onboarding": onboarding_url,
        },
        "inserted_at": stored.inserted_at,
        "updated_at": stored.updated_at,
    }
