"""The item of a session. Each call of a Web Connector writes it, so it must not grow over one write unit."""

from __future__ import annotations

from dataclasses import replace

from adapters.dynamodb.sessions import SESSIONS
from adapters.dynamodb.transactions import new_commit_id
from domain.records.connection import Backoff
from domain.records.session import InFlight, LastResponse, Limits, OpenCompanyFile, Session, session_id
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, a_connection, a_session
from tests.support.web_connector.interruptions import RandomIds

WRITE_UNIT_BYTES = 1_024
MAX_REQUESTS_IN_A_SET = 20

NEW_ID = RandomIds()


def a_long_running_session(requests: int) -> Session:
    """Return a session with the longest usual value of each field."""
    return a_session(
        id=session_id("ticket"),
        last_call_at=timestamp(NOON),
        in_flight=InFlight(tuple(NEW_ID() for _ in range(requests))),
        last_response=LastResponse("ItemInventoryAssemblyQueryRq", NEW_ID(), progress=99, number=999),
        company_file=OpenCompanyFile("0123456789abcdef", is_fallback=True),
        limits=Limits(work_until=timestamp(NOON), linger_seconds=1_500, execution_seconds=1_799),
        message_set_to_forget="0" * 20,
        revision=9_999,
    )


def stored_bytes(session: Session) -> int:
    """Return the size of the stored item in DynamoDB's terms, with its index mark and the id of its commit."""
    values = {name: next(iter(value.values())) for name, value in SESSIONS.item(session).items()}
    values |= {"live": "live", "commit_id": new_commit_id()}
    return sum(len(name) + (1 if isinstance(value, bool) else len(value.encode())) for name, value in values.items())


def test_a_session_with_requests_in_flight_is_written_for_one_unit() -> None:
    for requests in range(MAX_REQUESTS_IN_A_SET + 1):
        assert stored_bytes(a_long_running_session(requests)) <= WRITE_UNIT_BYTES


def test_a_session_is_read_as_it_was_stored() -> None:
    in_flight = InFlight(tuple(NEW_ID() for _ in range(3)), is_next_page=True, parse_error="It failed.")
    for session in (
        *map(a_long_running_session, range(1, 21)),
        a_session(),
        a_session(in_flight=in_flight, connection=a_connection(), backoff=Backoff(1, timestamp(NOON))),
        replace(a_long_running_session(1), in_flight=None, connection_id=CONNECTION_ID),
    ):
        assert SESSIONS.entity(SESSIONS.item(session)) == session
