"""Valid entities for tests. A test names only the fields that its rule is about."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from domain.records.audit import Actor, ActorType
from domain.records.connection import Connection, OnboardingLink
from domain.records.request import QueuedRequest
from domain.records.session import Session
from domain.timestamps import timestamp

NOON = datetime(2026, 3, 14, 12, 0, 0, tzinfo=UTC)
APP_ID = "a0000000-0000-4000-8000-000000000001"
OTHER_APP_ID = "a0000000-0000-4000-8000-000000000002"
AN_ACTOR = Actor(ActorType.API_KEY, "key_0123456789abcdef")
CONNECTION_ID = "c0000000-0000-4000-8000-000000000001"
REQUEST_XML = (
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="1">'
    "<MaxReturned>10</MaxReturned></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)
RESPONSE_XML = (
    '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n<CustomerQueryRs requestID="1" statusCode="0" '
    'statusSeverity="Info" statusMessage="Status OK">\n<CustomerRet>\n<ListID>80000001-1</ListID>\n'
    "<Name>Ann</Name>\n</CustomerRet>\n</CustomerQueryRs>\n</QBXMLMsgsRs>\n</QBXML>\n"
)


@dataclass
class FixedClock:
    """A clock that stands still until a test moves it."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        """Return the current time of the clock."""
        return self.now

    def advance(self, **duration: float) -> datetime:
        """Advance the clock by a `timedelta(**duration)` and return the new time."""
        self.now += timedelta(**duration)
        return self.now


@dataclass
class SequentialIds:
    """Identifiers that count up, so a failing test shows the same identifiers each time."""

    last: int = 0

    def __call__(self) -> str:
        """Return the next identifier, in the form of a version 4 UUID."""
        self.last += 1
        return str(uuid.UUID(int=self.last, version=4))


_ids = SequentialIds(last=1_000_000)


def counting_bytes(size: int) -> bytes:
    """Return the same bytes each time. Secrets in tests need not be random."""
    return bytes(i % 256 for i in range(size))


def a_record(**fields: Any) -> QueuedRequest:
    """Return a waiting customer query of the connection, inserted at noon."""
    values: dict[str, Any] = {
        "id": _ids(),
        "connection_id": CONNECTION_ID,
        "app_id": APP_ID,
        "request_name": "CustomerQueryRq",
        "request_label": "1",
        "qbxml_version": "13.0",
        "inserted_at": timestamp(NOON),
        "updated_at": timestamp(NOON),
    }
    return QueuedRequest(**(values | fields))


def a_connection(**fields: Any) -> Connection:
    """Return a connection without a password that was never connected."""
    values: dict[str, Any] = {
        "id": CONNECTION_ID,
        "app_id": APP_ID,
        "owner_id": "57F3B9B1-86F1-4FCC-B1EE-566DE1813D20",
        "file_id": "90A44FB5-33D9-4815-AC85-BC87A7E7D1EB",
        "inserted_at": timestamp(NOON),
        "updated_at": timestamp(NOON),
    }
    return Connection(**(values | fields))


def a_link(now: datetime = NOON, **fields: Any) -> OnboardingLink:
    """Return an onboarding link that was created now and works for two days. No token belongs to it."""
    values: dict[str, Any] = {
        "token_hash": "0" * 64,
        "created_at": timestamp(now),
        "expires_at": timestamp(now + timedelta(days=2)),
    }
    return OnboardingLink(**(values | fields))


def a_session(**fields: Any) -> Session:
    """Return an open session of the connection without a request."""
    values: dict[str, Any] = {
        "id": "00" * 32,
        "connection_id": CONNECTION_ID,
        "last_call_at": timestamp(NOON),
    }
    return Session(**(values | fields))
