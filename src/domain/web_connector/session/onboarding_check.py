"""The onboarding check: a session that asks QuickBooks for its version and its company, although nothing is queued.

A login proves that the password is right. Only an answer of QuickBooks proves that the company file can be opened and
that the application may use it. So while a customer sets up a connection, a login that has nothing to send opens a
session for this check (docs/decisions/0090). It reads, so a repeated check does no harm. It is not a queued request: it
has no record, and the session sends nothing else.

A session that has a request to send needs no check, because the Web Connector's first `sendRequestXML` contains
QuickBooks' answer to the same questions.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.connections.onboarding import is_connected
from domain.records.session import OnboardingCheck
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import (
    MEANINGS,
    Reason,
    connection_error,
    error_message,
    reason_details,
)
from domain.web_connector.outcomes.processor_exception import is_exception
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session.company_file_check import fact
from domain.web_connector.session.decision import Decision
from domain.web_connector.session.end import end_in_wrong_file, end_of_session
from domain.web_connector.session.polling import PAUSED
from domain.web_connector.session.receiving import FINISHED, SESSION_OVER

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.session import Session
    from domain.storage.changes import Change
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.company_file_check import CompanyFileCheck

QUESTION = (
    '<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="6.0"?>\n'
    '<QBXML><QBXMLMsgsRq onError="continueOnError"><HostQueryRq requestID="check"/><CompanyQueryRq requestID="check"/>'
    "</QBXMLMsgsRq></QBXML>"
)
"""The QBXML of the check. Every QuickBooks since 2007 supports this version, in all countries."""

SETTING_UP = timedelta(hours=1)
"""For this long after a link was created or a password was set, each login makes the check: a customer who mends
something and chooses Update Selected sees the result at once."""

AGAIN_AFTER = timedelta(minutes=10)
"""Later, a login makes the check only if the last recorded call is this old. A Web Connector that calls every minute
while its company file stays closed therefore costs hardly more than one that finds no work."""


def is_due(connection: Connection, now: datetime) -> bool:
    """Whether a login that has nothing to send makes the check.

    It does while the onboarding link is live, until QuickBooks has answered, and again if a later session reported a
    problem. A closed sync window and a backoff delay queued requests, not the check, because a person waits for it.
    Nothing is sent while the connection is paused.
    """
    link = connection.onboarding
    if link is None or link.expires_at <= timestamp(now) or connection.paused_at or is_connected(connection):
        return False
    begun = max(link.created_at, connection.password_changed_at or "")
    last = connection.last_connected_at or ""
    return begun > timestamp(now - SETTING_UP) or last <= timestamp(now - AGAIN_AFTER)


def sent(session: Session, check: CompanyFileCheck | None, now: datetime) -> Decision:
    """Return the decision to send the check, or the reason not to.

    `check` is the company file check of this call, or None if an earlier call made it.
    """
    if session.limits.paused:
        paused = replace(session, last_error=PAUSED).called(now)
        return Decision(Reply("", session.connection_id), [Put(session, paused)])
    if check is None:
        return Decision(Reply(QUESTION, session.connection_id))
    if check.is_other_company_file:
        ending = end_in_wrong_file(session, (), check, now)
        return Decision(Reply("", session.connection_id, problem=check.problem), ending)
    to_forget = None if check.has_other_mark else session.message_set_to_forget
    after = replace(
        session,
        onboarding_check=OnboardingCheck.SENT,
        connection=None,
        company_file=check.opened(session),
        message_set_to_forget=to_forget,
        last_error=None,
    ).called(now)
    return Decision(Reply(QUESTION, session.connection_id), [Put(session, after), *check.changes(session, now)])


def received(session: Session, connection: Connection | None, call: Call, now: datetime) -> Decision:
    """Return the decision after the answer to the check: the connection has its facts, or its last error.

    `connection` is the stored one, or None if it is missing.
    """
    if session.onboarding_check is not OnboardingCheck.SENT:
        return Decision(Reply(session.progress, session.connection_id))
    if is_exception(call["hresult"]):
        error = connection_error(call["hresult"], call["message"], now)
        return _failed(session, connection, error_message(error), error, now)
    facts = qbxml.host_facts(call["response"])
    if facts.product_name is None:
        reason = Reason.CHECK_NOT_ANSWERED
        message, _ = MEANINGS[reason]
        error = {
            "code": "quickbooks_connection_error",
            "message": message,
            **reason_details(reason),
            "at": timestamp(now),
        }
        return _failed(session, connection, message, error, now)
    changes: list[Change] = [Put(session, replace(session, onboarding_check=None).called(now))]
    if connection:
        after = replace(
            connection,
            quickbooks_product_name=fact(facts.product_name) or connection.quickbooks_product_name,
            quickbooks_version=fact(facts.version) or connection.quickbooks_version,
            company_name=fact(facts.company_name) or connection.company_name,
            quickbooks_answered_at=timestamp(now),
            last_error=None,
        )
        changes.append(Put(connection, after.changed(timestamp(now))))
    return Decision(Reply(FINISHED, session.connection_id), changes)


def _failed(
    session: Session, connection: Connection | None, message: str, error: dict[str, Any], now: datetime
) -> Decision:
    changes = end_of_session(
        session, (), connection, now, message, change=lambda after: replace(after, last_error=error)
    )
    return Decision(Reply(SESSION_OVER, session.connection_id, problem=error["code"]), changes)
