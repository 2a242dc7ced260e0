"""The item of a session. Each call of a Web Connector writes it, so it must not grow over one write unit."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from adapters.dynamodb.sessions import SESSIONS
from adapters.dynamodb.transactions import new_commit_id
from domain.records.connection import MAX_BATCH_SIZE, Backoff
from domain.records.session import (
    CallingWebConnector,
    InFlight,
    LastResponse,
    Limits,
    OpenCompanyFile,
    Session,
    session_id,
)
from domain.records.sync_window import SyncWindow
from domain.timestamps import timestamp
from local.emulated_dynamodb.values import size_of
from tests.support.builders import CONNECTION_ID, NOON, a_connection, a_session
from tests.support.web_connector.interruptions import RandomIds

WRITE_UNIT_BYTES = 1_024

NEW_ID = RandomIds()

DICTIONARY = "0584218861c50de02e8fc41ef36670c0793c3c763db67cf6de2d938fec652799"


def a_long_running_session(requests: int) -> Session:
    """Return a session with the longest usual value of each field."""
    return a_session(
        id=session_id("ticket"),
        last_call_at=timestamp(NOON),
        in_flight=InFlight(tuple(NEW_ID() for _ in range(requests))),
        last_response=LastResponse(f"{{{NEW_ID()}}}", 99_999, progress=99, number=999, answered=999),
        company_file=OpenCompanyFile(
            "0123456789abcdef",
            is_fallback=True,
            path="C:\\Users\\Public\\Documents\\Intuit\\QuickBooks\\Company Files\\Angstrom Construction (Main).qbw",
            product_name="QuickBooks Desktop Enterprise Solutions: Professional Services 24.0",
            version="34.0",
        ),
        web_connector=CallingWebConnector("2001:db8:85a3:8d3:1319:8a2e:370:7348", "2.3.0.215"),
        limits=Limits(
            work_until=timestamp(NOON), linger_seconds=1_500, execution_seconds=1_799, batch_size=20, read_batch_size=20
        ),
        read_set_size=20,
        write_set_size=20,
        shard=9,
        message_set_to_forget="0" * 20,
        revision=9_999,
    )


def stored_bytes(session: Session) -> int:
    """Return the size of the stored item in DynamoDB's terms, with its index key and the id of its commit."""
    beside = {"live": {"S": "live-63"}, "live_minute": {"S": timestamp(NOON)}, "commit_id": {"S": new_commit_id()}}
    return size_of(SESSIONS.item(session) | beside)


def a_session_that_begins() -> Session:
    """Return a session as `authenticate` stores it, with the copy of a connection whose texts are long and differ."""
    mark, path = f"{{{NEW_ID()}}}", "C:\\Users\\Public\\Documents\\Intuit\\QuickBooks\\Company Files"
    connection = a_connection(
        id=NEW_ID(),
        app_id=NEW_ID(),
        owner_id=f"{{{NEW_ID()}}}",
        file_id=mark,
        name="Ångström & Söhne Hoch- und Tiefbau GmbH, Zweigniederlassung Nord",
        company_file=f"{path}\\Angstrom Construction Company (Main) 2026.qbw",
        company_file_paths=(f"{path}\\Angstrom Construction.qbw", "\\\\server\\books\\Angstrom Construction.qbw"),
        webhook_url=f"https://hooks.example.com/quickbooks/{NEW_ID()}/{NEW_ID()}",
        password_changed_at=timestamp(NOON),
        session_id=session_id("former ticket"),
        last_connected_at=timestamp(NOON),
        quickbooks_product_name="QuickBooks Desktop Enterprise Solutions: Professional Services 24.0",
        quickbooks_version="34.0",
        quickbooks_answered_at=timestamp(NOON),
        company_name="Ångström & Söhne Hoch- und Tiefbau GmbH",
        sync_window=SyncWindow("22:00", "05:30", "America/Argentina/Buenos_Aires"),
        linger_seconds=600,
        batch_size=MAX_BATCH_SIZE,
        read_set_size=MAX_BATCH_SIZE,
    )
    in_flight = InFlight((NEW_ID(),), may_be_joined=True)
    return replace(
        a_long_running_session(1),
        in_flight=in_flight,
        connection=connection,
        company_file=OpenCompanyFile(),
        last_response=None,
    )


def test_a_session_with_requests_in_flight_is_written_for_one_unit() -> None:
    for requests in range(MAX_BATCH_SIZE + 1):
        assert stored_bytes(a_long_running_session(requests)) <= WRITE_UNIT_BYTES


def test_a_session_that_begins_is_written_for_one_unit() -> None:
    assert stored_bytes(a_session_that_begins()) <= WRITE_UNIT_BYTES


def test_the_dictionary_with_which_sessions_were_stored_has_not_changed() -> None:
    """A session that is open during a deployment is unreadable with another one."""
    assert hashlib.sha256(SESSIONS.dictionary).hexdigest() == DICTIONARY


def test_a_session_is_read_as_it_was_stored() -> None:
    in_flight = InFlight(tuple(NEW_ID() for _ in range(3)), is_next_page=True, parse_error="It failed.")
    for session in (
        *map(a_long_running_session, range(1, 21)),
        a_session(),
        a_session_that_begins(),
        a_session(in_flight=in_flight, connection=a_connection(), backoff=Backoff(1, timestamp(NOON))),
        replace(a_long_running_session(1), in_flight=None, connection_id=CONNECTION_ID),
    ):
        assert SESSIONS.entity(SESSIONS.item(session)) == session
