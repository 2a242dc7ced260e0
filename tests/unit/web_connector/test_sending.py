"""sendRequestXML: the request that is sent, its session, and the number of times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.records.request import Paging, State
from domain.records.session import RequestInFlight
from domain.storage.changes import AddRequest, Put
from tests.support.builders import CONNECTION_ID, a_record
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from tests.support.web_connector.connector import Connector


def test_the_sent_qbxml_has_a_prologue_and_is_ascii(qbwc: Connector) -> None:
    qbwc.queue("CustomerQueryRq", "<FullName>Zoë</FullName>")

    request = qbwc.begin()

    assert request.startswith('<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="13.0"?>\n<QBXML>')
    assert "Zo&#235;" in request
    assert request.isascii()


def test_a_write_has_a_message_set_id_and_a_read_has_none(qbwc: Connector) -> None:
    write = qbwc.write()
    qbwc.queue()

    first = qbwc.begin()
    qbwc.receive(response_to(first))
    second = qbwc.send()

    assert f'newMessageSetID="{qbwc.record(write).message_set_id}"' in first
    assert "newMessageSetID" not in second


def test_a_request_is_sent_with_the_version_it_was_queued_with(qbwc: Connector) -> None:
    qbwc.queue(qbxml_version="16.0")

    assert '<?qbxml version="16.0"?>' in qbwc.begin()


def test_the_first_call_stores_the_quickbooks_facts(qbwc: Connector) -> None:
    qbwc.queue()

    qbwc.begin()

    connection = qbwc.connection
    assert connection.quickbooks_product_name == "QuickBooks Enterprise 24"
    assert connection.country == "US"
    assert connection.qbxml_version == "16.0"
    assert connection.company_file_paths == ("C:\\Books\\acme.qbw",)
    assert connection.file_id_seen == connection.file_id
    assert qbwc.session.connection is None
    assert qbwc.session.connection is None


def test_the_country_of_quickbooks_is_preferred_to_that_of_the_call(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    qbwc.send(hcp().replace("<Country>US<", "<Country>CA<"))

    assert qbwc.connection.country == "CA"


def test_the_version_of_quickbooks_is_the_newest_that_quickbooks_lists(qbwc: Connector) -> None:
    """The version in the call is that of the request processor, which can be newer."""
    qbwc.queue()
    qbwc.authenticate()

    qbwc.send(hcp().replace(">16.0<", ">13.0<"))

    assert qbwc.connection.qbxml_version == "13.0"


@pytest.mark.parametrize(
    "facts", ["", "HOSTQUERY/COMPANYQUERY/PREFQUERY is currently not supported in QBPOS.", "<QBXML>"]
)
def test_a_session_continues_without_facts(qbwc: Connector, facts: str) -> None:
    qbwc.queue()
    qbwc.authenticate()

    assert qbwc.send(facts) != ""

    assert qbwc.connection.qbxml_version == "16.0"  # of the request processor
    assert qbwc.connection.country == "US"
    assert qbwc.connection.quickbooks_product_name is None


@pytest.mark.parametrize(("major", "minor"), [("x", "0"), ("16", "x"), ("", "0"), ("16", "")])
def test_a_version_of_the_request_processor_that_is_not_a_number_is_not_stored(
    qbwc: Connector, major: str, minor: str
) -> None:
    qbwc.queue()
    qbwc.authenticate()
    before = qbwc.connection.qbxml_version

    assert qbwc.call("sendRequestXML", qbwc.ticket, "", "C:\\Books\\acme.qbw", "US", major, minor) != ""

    assert qbwc.connection.qbxml_version == before


def test_facts_are_stored_although_the_connection_changed_meanwhile(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    qbwc.store.commit(Put(qbwc.connection, replace(qbwc.connection, name="New name").changed("x")))

    assert qbwc.send(hcp()) != ""

    assert qbwc.connection.name == "New name"
    assert qbwc.connection.quickbooks_product_name == "QuickBooks Enterprise 24"


def test_a_session_continues_if_the_connection_was_removed(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    del qbwc.store.connections[CONNECTION_ID]

    assert qbwc.send(hcp()) != ""


def test_a_read_may_be_fetched_twice_in_one_session(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    first = qbwc.begin()

    assert qbwc.send() == first

    assert qbwc.record(request_id).attempts.sessions == 1
    assert qbwc.receive(response_to(first)) == 100


def test_a_write_is_sent_once_if_fetched_twice_and_its_response_is_accepted(qbwc: Connector) -> None:
    request_id = qbwc.write()
    first = qbwc.begin()

    assert qbwc.send() == ""
    assert request_id in qbwc.last_error()

    assert qbwc.record(request_id).state is State.SENT
    assert qbwc.receive(response_to(first)) == 100
    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_write_without_response_recovers_later(qbwc: Connector) -> None:
    request_id = qbwc.write()
    qbwc.begin()
    qbwc.send()

    qbwc.close()

    record = qbwc.record(request_id)
    assert (record.state, record.recovering) == (State.RETRYABLE, True)


def test_a_request_that_can_no_longer_be_written_does_not_block_the_queue(qbwc: Connector) -> None:
    bad = a_record(id=qbwc.new_id())
    qbwc.store.commit(AddRequest(bad, "<QBXML><not closed", "broken"))
    good = qbwc.queue()

    request = qbwc.begin()

    assert good in request
    error = qbwc.record(bad.id).error
    assert error is not None
    assert error.code == "qbxml_parse_error"
    assert qbwc.receive(response_to(request)) == 100


def test_a_request_without_a_stored_body_does_not_block_the_queue(qbwc: Connector) -> None:
    request_without_body, good = qbwc.queue(), qbwc.queue()
    real = qbwc.store.with_request_xml

    def with_request_xml(records: Sequence[QueuedRequest]) -> Sequence[RequestInFlight]:
        return [RequestInFlight(it.record, it.request_xml if it.record.id == good else None) for it in real(records)]

    qbwc.store.with_request_xml = with_request_xml  # type: ignore[method-assign]

    assert good in qbwc.begin()

    error = qbwc.record(request_without_body).error
    assert error is not None
    assert error.message == "The request was not sent: its body is missing"


def test_a_lone_request_that_can_no_longer_be_written_ends_the_session(qbwc: Connector) -> None:
    qbwc.store.commit(AddRequest(a_record(id=qbwc.new_id()), "<QBXML><not closed", "broken"))

    assert qbwc.begin() == ""

    assert "malformed" in qbwc.last_error()


def test_a_request_that_cannot_be_written_for_an_unexpected_reason_does_not_block_the_queue(qbwc: Connector) -> None:
    """No version of the service stores a record without a QBXML version."""
    bad = qbwc.queue(qbxml_version=None, paging=Paging(page_size=5))
    good = qbwc.queue()

    assert good in qbwc.begin()

    error = qbwc.record(bad).error
    assert error is not None
    assert (error.code, error.message) == ("qbxml_parse_error", "The request was not sent: unexpected AttributeError")


def test_a_fault_of_the_store_does_not_end_a_request(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.authenticate()

    def requests_in_flight(session: Session, front: int = 0) -> NoReturn:  # noqa: ARG001 - it always fails
        raise OSError("the connection was reset")

    qbwc.store.requests_in_flight = requests_in_flight  # type: ignore[method-assign]

    with pytest.raises(OSError, match="reset"):
        qbwc.send(hcp())

    assert qbwc.record(request_id).state is State.TICKETED
