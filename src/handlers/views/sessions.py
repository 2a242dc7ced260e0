"""The JSON of the sessions of a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.connections.sessions import SessionResult, result_of
from handlers.views.schema import Moment, Schema

if TYPE_CHECKING:
    from domain.records.session import Session


class SessionView(TypedDict):
    """A session of the Web Connector."""

    began_at: Annotated[Moment, Schema("When the Web Connector logged in")]
    last_call_at: Annotated[
        Moment,
        Schema("The last call that changed the session. A session that sends one read after the other has few"),
    ]
    ended_at: Annotated[Moment | None, Schema("When it ended, or when the service noticed it. Null while it runs")]
    result: Annotated[
        SessionResult,
        Schema(
            "`completed`: nothing was left that it could send. `stopped`: it ended before that, and `message` says why"
        ),
    ]
    message: Annotated[str | None, Schema("Why it was stopped, for the user of the Web Connector")]
    requests: Annotated[
        int,
        Schema(
            "How many requests ended with an answer of QuickBooks. Each page of a query is one. 0: it read for "
            "subscriptions only, or made the check of a setup, or no request ended with an answer",
            minimum=0,
        ),
    ]
    subscription_messages: Annotated[
        int,
        Schema(
            "How many messages it sent to QuickBooks to read for subscriptions. Each has one or several queries. "
            "0 for sessions that an earlier version ended",
            minimum=0,
        ),
    ]
    address: Annotated[
        str | None,
        Schema("The IP address of the login. Computers of one office can share it", examples=["203.0.113.7"]),
    ]
    web_connector_version: Annotated[
        str | None,
        Schema(
            "The version that a Web Connector at this address said right before the login. Null: it is not known",
            examples=["2.3.0.215"],
        ),
    ]
    quickbooks_product_name: Annotated[str | None, Schema("Null until QuickBooks was reached")]
    quickbooks_version: Annotated[str | None, Schema("Null until QuickBooks was reached", examples=["34.0"])]
    company_file_path: Annotated[
        str | None, Schema("The path of the company file that was open. Null until QuickBooks was reached")
    ]


class SessionListView(TypedDict):
    """The newest sessions of a connection, newest first."""

    data: list[SessionView]


def session_view(session: Session) -> SessionView:
    """Return the view of a session."""
    file = session.company_file
    return {
        "began_at": session.began_at,
        "last_call_at": session.last_call_at,
        "ended_at": session.last_call_at if session.ended else None,
        "result": result_of(session),
        "message": session.last_error,
        "requests": session.answered,
        "subscription_messages": session.subscription_messages,
        "address": session.web_connector.address,
        "web_connector_version": session.web_connector.version,
        "quickbooks_product_name": file.product_name,
        "quickbooks_version": file.version,
        "company_file_path": file.path,
    }
