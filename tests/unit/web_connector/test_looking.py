"""`if_exists`: an addition looks for its object first, and two objects never come from one identity."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.connections.service import ConnectionService
from domain.errors import InvalidRequest
from domain.existing.identity import PARTIES, identity_query, with_identity
from domain.qbxml.request.from_xml import parse_request_xml
from domain.records.lookup import IfExists, LookupStep, ObjectLookup
from domain.records.request import State, WhetherExecuted, message_set_id
from domain.web_connector.outcomes import looking
from domain.web_connector.outcomes.lookup_messages import in_flight
from local.rebuild import continued
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, counting_bytes
from tests.support.web_connector.company_files import CompanyFile
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.existing import CUSTOMER, CUTS, INVOICE, KINDS, played
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import (
    hcp,
    labels_in,
    nothing_stored,
    response_to,
    set_response,
    stored_response,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from xml.etree.ElementTree import Element

    from domain import qbxml
    from domain.records.request import QueuedRequest

LOOKUP = ObjectLookup(IfExists.RETURN)
RET = "<CustomerRet><ListID>80-1</ListID><FullName>Ada</FullName></CustomerRet>"
VENDOR = "<VendorRet><ListID>90-1</ListID><Name>Ada</Name></VendorRet>"

# CI tries some of the cuts with an act; `make prove` tries pairs of both (`tests/proofs/existing.py`).
SAMPLE = [
    (name, {at: cut}, {then: act})
    for name, kind in KINDS.items()
    for at, cut, then, act in product(range(4), CUTS, kind.messages[:4], kind.acts)
][::151]


@pytest.mark.parametrize(("kind", "cuts", "acts"), SAMPLE)
def test_no_second_object_is_added_whatever_is_lost_whoever_else_works_or_restores(
    kind: str, cuts: dict[int, str], acts: dict[int, str]
) -> None:
    played(kind, cuts, acts)


def added(qbwc: Connector, content: str = CUSTOMER, name: str = "CustomerAddRq") -> str:
    """Queue an addition that looks first, and return its id."""
    return qbwc.queue(name, content, lookup=LOOKUP)


def messages(record: QueuedRequest) -> list[str]:
    """Return the kinds of the messages that were sent."""
    return [message.kind.value for message in record.lookup.messages] if record.lookup else []


def refused(text: str) -> str:
    """Return the answer that the name is in use."""
    return response_to(text, code=3100, severity="Error", message="The name is in use.")


def test_an_object_that_exists_ends_the_request_in_the_form_of_the_addition(qbwc: Connector) -> None:
    request_id = added(qbwc)
    query = qbwc.begin()

    assert "<CustomerQueryRq" in query
    assert "MessageSetID" not in query
    assert qbwc.receive(response_to(query, content=RET)) == 100

    record = qbwc.record(request_id)
    assert (record.state, record.outcome, record.executed) == (State.RESPONSE_RECEIVED, "found", WhetherExecuted.NO)
    assert messages(record) == ["query"]
    response = qbwc.response(request_id) or ""
    assert f'<CustomerAddRs requestID="{record.request_label}" statusCode="0"' in response
    assert "<ListID>80-1</ListID>" in response


def test_an_object_that_does_not_exist_is_added_in_the_same_session(qbwc: Connector) -> None:
    request_id = added(qbwc)
    query = qbwc.begin()
    assert 0 < qbwc.receive(response_to(query, code=500, severity="Warn")) < 100

    addition = qbwc.send()
    assert f'newMessageSetID="{qbwc.record(request_id).message_set_id}"' in addition
    qbwc.receive(response_to(addition, content=RET))

    record = qbwc.record(request_id)
    assert (record.outcome, record.executed) == ("created", WhetherExecuted.YES)
    assert messages(record) == ["query", "add"]
    assert (record.attempts.sessions, qbwc.connection.message_set_to_forget) == (1, record.message_set_id)


def test_a_session_that_ends_before_the_addition_begins_again_with_the_query(qbwc: Connector) -> None:
    request_id = added(qbwc)
    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn"))
    qbwc.close()

    query = qbwc.begin()

    assert "<CustomerQueryRq" in query
    assert qbwc.receive(response_to(query, content=RET)) == 100
    assert qbwc.record(request_id).outcome == "found"


def test_a_late_answer_to_an_earlier_query_is_not_taken_for_the_answer_to_this_one(qbwc: Connector) -> None:
    request_id = added(qbwc)
    first = qbwc.begin()
    qbwc.receive(response_to(first, code=500, severity="Warn"))
    qbwc.receive(refused(qbwc.send()))
    again = qbwc.send()
    progress = qbwc.receive(response_to(first, code=500, severity="Warn"))

    assert progress < 100
    assert qbwc.record(request_id).state is State.SENT
    qbwc.receive(response_to(again, content=RET))
    assert qbwc.record(request_id).outcome == "found"


def test_a_name_that_another_list_holds_ends_the_request_with_list_and_id(qbwc: Connector) -> None:
    request_id = added(qbwc)
    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn"))
    qbwc.receive(refused(qbwc.send()))
    qbwc.receive(response_to(qbwc.send(), code=500, severity="Warn"))
    elsewhere = qbwc.send()
    assert "<EntityQueryRq" in elsewhere
    qbwc.receive(response_to(elsewhere, content=VENDOR))

    record = qbwc.record(request_id)
    assert record.error is not None
    assert (record.error.code, record.executed) == ("name_in_use", WhetherExecuted.NO)
    assert (record.error.details["list"], record.error.details["list_id"]) == ("Vendor", "90-1")
    assert messages(record) == ["query", "add", "query", "query"]


def test_several_objects_end_the_request_with_their_ids(qbwc: Connector) -> None:
    request_id = added(qbwc, INVOICE.format("W7"), "InvoiceAddRq")
    row = (
        "<InvoiceRet><TxnID>{}</TxnID><CustomerRef><ListID>1</ListID><FullName>{}</FullName></CustomerRef>"
        "<RefNumber>w7</RefNumber></InvoiceRet>"
    )
    owner = "CUSTOMER of all invoices"
    rows = row.format("1", owner) + row.format("2", "Another customer") + row.format("3", owner)
    qbwc.receive(response_to(qbwc.begin(), content=rows))

    record = qbwc.record(request_id)
    assert record.error is not None
    assert (record.error.code, record.error.details["ids"]) == ("ambiguous_match", ["1", "3"])
    assert record.executed is WhetherExecuted.NO


def test_an_ambiguous_match_names_at_most_20_objects(qbwc: Connector) -> None:
    request_id = added(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=RET * 25))

    error = qbwc.record(request_id).error
    assert error is not None
    assert "25 objects" in error.message
    assert len(error.details["ids"]) == 20


def lost_addition(qbwc: Connector) -> str:
    """Lose the response to an addition, and return its id."""
    request_id = added(qbwc)
    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn"))
    assert "<CustomerAddRq" in qbwc.send()
    qbwc.close_and_wait()
    return request_id


def test_an_addition_that_was_never_executed_looks_again_before_it_is_sent_again(qbwc: Connector) -> None:
    request_id = lost_addition(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin()))

    query = qbwc.send()
    assert "<CustomerQueryRq" in query
    qbwc.receive(response_to(query, code=500, severity="Warn"))
    addition = qbwc.send()
    assert f'newMessageSetID="{qbwc.record(request_id).message_set_id}"' in addition
    qbwc.receive(response_to(addition, content=RET))

    record = qbwc.record(request_id)
    assert record.outcome == "created"
    assert messages(record) == ["query", "add", "status_check", "query", "add"]


@pytest.mark.parametrize(("rows", "end"), [(RET, "found"), ("", "outcome_unknown")])
def test_if_quickbooks_cannot_tell_the_object_is_looked_for_and_never_added_again(
    qbwc: Connector, rows: str, end: str
) -> None:
    request_id = lost_addition(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin(), 9004))
    query = qbwc.send()
    assert "<CustomerQueryRq" in query
    # The session ends, and the next one asks the same.
    qbwc.close()
    query = qbwc.begin()
    assert "<CustomerQueryRq" in query
    qbwc.receive(response_to(query, content=rows) if rows else response_to(query, code=1))

    record = qbwc.record(request_id)
    assert (record.outcome or (record.error and record.error.code)) == end
    assert record.executed is WhetherExecuted.UNKNOWN
    assert qbwc.send() == ""
    # A Web Connector that hung may still deliver the addition, which QuickBooks must then recognise.
    assert qbwc.connection.message_set_to_forget is None


def not_stored(write: str) -> str:
    """Return the answer that QuickBooks could not store its response, which does not tell whether it executed it."""
    return nothing_stored(write, 9005)


def cut_off(write: str) -> str:
    """Return the beginning of a response."""
    return stored_response(write)[:-30]


NOT_TELLING = [not_stored, cut_off]
"""Answers to a write that do not tell whether QuickBooks executed it."""


@pytest.mark.parametrize("answer", NOT_TELLING)
@pytest.mark.parametrize(("rows", "end"), [(RET, "found"), ("", "outcome_unknown")])
def test_after_an_answer_that_does_not_tell_the_object_is_looked_for_and_never_added_again(
    qbwc: Connector, answer: Callable[[str], str], rows: str, end: str
) -> None:
    request_id = added(qbwc)
    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn"))
    qbwc.receive(answer(qbwc.send()))
    query = qbwc.send()
    assert "<CustomerQueryRq" in query
    # The session ends, and the next one asks the same.
    qbwc.close()
    query = qbwc.begin()
    assert "<CustomerQueryRq" in query
    qbwc.receive(response_to(query, content=rows) if rows else response_to(query, code=1))

    record = qbwc.record(request_id)
    assert (record.outcome or (record.error and record.error.code)) == end
    assert record.executed is WhetherExecuted.UNKNOWN
    assert messages(record) == ["query", "add", "query", "query"]
    assert qbwc.send() == ""


def test_an_answer_from_another_company_file_is_not_believed_after_quickbooks_could_not_tell(qbwc: Connector) -> None:
    request_id = lost_addition(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin(), 9004))
    qbwc.change(request_id, recovery=_of_another_file(qbwc.record(request_id)))
    for _ in range(3):
        query = qbwc.send() if qbwc.in_flight else qbwc.begin()
        assert "<CustomerQueryRq" in query
        qbwc.receive(response_to(query, content=RET))
        qbwc.close()

    error = qbwc.record(request_id).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "other_file")


def test_in_a_file_without_a_mark_there_is_no_last_query_after_quickbooks_could_not_tell(qbwc: Connector) -> None:
    request_id = added(qbwc)
    qbwc.authenticate()
    qbwc.receive(response_to(qbwc.send(hcp(None)), code=500, severity="Warn"))
    assert "<CustomerAddRq" in qbwc.send()
    for _ in range(3):
        qbwc.close_and_wait()
        qbwc.authenticate()
        assert "<CustomerQueryRq" not in qbwc.send(hcp(None))
    qbwc.close_and_wait()

    error = qbwc.record(request_id).error
    assert error is not None
    assert error.code == "outcome_unknown"


def _of_another_file(record: QueuedRequest) -> object:
    return type(record.recovery)(begun=True, active=True, company_file_key="another")


def test_a_query_that_is_lost_in_three_sessions_ends_the_request_and_keeps_its_place_until_then(
    qbwc: Connector,
) -> None:
    request_id, behind = added(qbwc), qbwc.write("Bob")
    for _ in range(3):
        assert "<CustomerQueryRq" in qbwc.begin()
        qbwc.close()

    record = qbwc.record(request_id)
    assert record.error is not None
    assert (record.executed, qbwc.record(behind).state) == (WhetherExecuted.NO, State.WAITING)
    assert "Bob" in qbwc.begin()


def test_nothing_is_added_after_its_send_by(qbwc: Connector) -> None:
    moment = int(qbwc.clock.now.timestamp()) + 120
    request_id = qbwc.queue("CustomerAddRq", CUSTOMER, lookup=LOOKUP, send_by=moment)
    query = qbwc.begin()
    qbwc.clock.advance(seconds=200)
    qbwc.receive(response_to(query, code=500, severity="Warn"))

    assert qbwc.send() == ""
    record = qbwc.record(request_id)
    assert record.error is not None
    assert (record.error.code, record.executed) == ("not_sent_in_time", WhetherExecuted.NO)


# --- Queries of several requests in one message set


def named(qbwc: Connector, *names: str) -> list[str]:
    """Queue additions of customers that look first, and return their ids."""
    return [added(qbwc, f"<CustomerAdd><Name>{name}</Name></CustomerAdd>") for name in names]


def asking(qbwc: Connector, **fields: Any) -> None:
    """Let the connection send up to 20 queries together."""
    qbwc.store.connections.clear()
    qbwc.connect(read_set_size=20, **fields)


def nothing_found(queries: str) -> str:
    """Return the answer that no object exists."""
    return set_response(queries, codes=dict.fromkeys(labels_in(queries), 500))


def sizes_of_messages(file: CompanyFile, names: Sequence[str], **settings: Any) -> list[int]:
    """Queue an addition of each name, and return the number of requests in each message of a session."""
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect(**settings)
    ids = named(qbwc, *names)
    sizes, text = [], qbwc.begin()
    while text:
        sizes.append(len(labels_in(text)))
        qbwc.receive(file.begin(text)())
        text = qbwc.send()
    assert {qbwc.record(request_id).outcome for request_id in ids} <= {"found", "created"}
    return sizes


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=45), st.integers(1, 20), st.data())
def test_each_request_asks_once_and_only_what_is_missing_is_added(
    there: list[bool], size: int, data: st.DataObject
) -> None:
    file, names = CompanyFile(), [f"Customer {number}" for number in range(len(there))]
    for name, exists in zip(names, there, strict=True):
        if exists:
            file.by_hand(f"<CustomerAddRq><CustomerAdd><Name>{name}</Name></CustomerAdd></CustomerAddRq>")
    repeated = data.draw(st.lists(st.sampled_from(names), max_size=3))
    written = len(names) - sum(there)

    sizes = sizes_of_messages(file, [*names, *repeated], read_set_size=size, read_batch_size=size)

    assert sum(sizes) == len(names) + len(repeated) + written
    assert max(sizes) <= size
    if not repeated:
        assert len(sizes) == -(-len(names) // size) + written
    assert len(file.company.executed) >= written
    assert all(len(file.objects("Customer", name)) == 1 for name in names)


@pytest.mark.parametrize(
    ("missing", "first_size", "messages"), [(0, 1, 14), (0, 20, 10), (100, 1, 114), (100, 20, 110)]
)
def test_two_hundred_customers_take_few_messages(missing: int, first_size: int, messages: int) -> None:
    file = CompanyFile()
    for number in range(missing, 200):
        file.by_hand(f"<CustomerAddRq><CustomerAdd><Name>C {number}</Name></CustomerAdd></CustomerAddRq>")

    sizes = sizes_of_messages(file, [f"C {number}" for number in range(200)], read_set_size=first_size)

    assert len(sizes) == messages


def test_a_request_for_the_same_object_asks_after_the_earlier_one_has_ended(qbwc: Connector) -> None:
    asking(qbwc)
    named(qbwc, "Ada", "Bob", "ADA", "Cleo")

    assert len(labels_in(qbwc.begin())) == 2


def test_for_numbers_that_of_another_customer_counts_as_the_same(qbwc: Connector) -> None:
    asking(qbwc)
    for owner, number in (("Ann", "w7"), ("Bob", "8"), ("Bob", "W7")):
        content = INVOICE.format(number).replace("Customer of all invoices", owner)
        qbwc.queue("InvoiceAddRq", content, lookup=LOOKUP)

    assert len(labels_in(qbwc.begin())) == 2


def test_queries_are_in_no_set_with_reads_and_what_follows_them_is_written_alone(qbwc: Connector) -> None:
    asking(qbwc, batch_size=20)
    qbwc.queue(content="<ListID>80-1</ListID>")
    named(qbwc, "Ada", "Bob")
    qbwc.write("Cleo")
    qbwc.write("Dan")
    sent, text = [], qbwc.begin()
    while text:
        sent.append(re.findall(r"<Customer(\w+)Rq requestID", text))
        qbwc.receive(nothing_found(text) if len(sent) == 2 else set_response(text))
        text = qbwc.send()

    assert sent == [["Query"], ["Query", "Query"], ["Add"], ["Add"], ["Add", "Add"]]


@pytest.mark.parametrize("hresult", ["0x800706BE", "0x80040424"], ids=["may be executed", "busy"])
def test_after_an_exception_nothing_that_was_asked_about_is_written_until_it_is_asked_again(
    qbwc: Connector, hresult: str
) -> None:
    asking(qbwc)
    first, *others = named(qbwc, "Ada", "Bob", "Cleo")
    qbwc.receive(nothing_found(qbwc.begin()))
    assert "Ada" in qbwc.send()

    qbwc.receive(hresult=hresult)

    assert [qbwc.record(request_id).state for request_id in others] == [State.RETRYABLE] * 2
    assert "<CustomerAddRq" not in qbwc.send()
    qbwc.close()
    qbwc.clock.advance(hours=1)
    assert "<CustomerAddRq" not in qbwc.begin()
    assert qbwc.record(first).state is State.SENT


def test_a_pause_between_the_queries_and_what_follows_holds_all_of_it(qbwc: Connector) -> None:
    asking(qbwc)
    ids = named(qbwc, "Ada", "Bob", "Cleo")
    qbwc.receive(nothing_found(qbwc.begin()))
    addition = qbwc.send()
    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)
    service.pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)

    qbwc.receive(set_response(addition))

    assert qbwc.send() == ""
    assert qbwc.states() == ["response_received", "retryable", "retryable"]
    service.resume(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    qbwc.close()
    query = qbwc.begin()
    assert "<CustomerQueryRq" in query
    assert labels_in(query) == [in_flight(qbwc.record(ids[1])).request_label]


def test_one_that_is_too_late_to_be_added_does_not_take_the_others_with_it(qbwc: Connector) -> None:
    asking(qbwc)
    moment = int(qbwc.clock.now.timestamp()) + 120
    late = qbwc.queue("CustomerAddRq", CUSTOMER, lookup=LOOKUP, send_by=moment)
    other = named(qbwc, "Bob")[0]
    queries = qbwc.begin()
    qbwc.clock.advance(seconds=200)
    qbwc.receive(nothing_found(queries))

    query = qbwc.send()

    assert "<CustomerQueryRq" in query
    assert labels_in(query) == [in_flight(qbwc.record(other)).request_label]
    error = qbwc.record(late).error
    assert error is not None
    assert error.code == "not_sent_in_time"


def test_an_error_of_the_service_in_one_request_does_not_end_the_others(
    qbwc: Connector, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(qbwc)
    ids = named(qbwc, "Ada", "Bob", "Cleo")
    queries = qbwc.begin()
    real = with_identity

    def faulty(addition: qbxml.Request, rows: Sequence[Element]) -> list[Element]:
        if "Bob" in addition.to_xml():
            raise KeyError("Bob")
        return real(addition, rows)

    monkeypatch.setattr(looking, "with_identity", faulty)
    qbwc.receive(nothing_found(queries))

    assert [qbwc.record(one).state for one in ids] == [State.TICKETED, State.ERROR, State.TICKETED]
    assert qbwc.record(ids[1]).executed is WhetherExecuted.NO


def test_behind_a_request_whose_query_was_not_answered_nothing_is_added_before_it(qbwc: Connector) -> None:
    asking(qbwc)
    named(qbwc, "Ada", "Bob", "Cleo", "Dan")
    queries = qbwc.begin()
    labels = labels_in(queries)

    qbwc.receive(set_response(queries, codes=dict.fromkeys(labels, 500), only=[labels[0], *labels[2:]]))

    sent, text = [], qbwc.send()
    while text:
        sent.append(re.findall(r"<Customer(Query|Add)Rq.*?<(?:Name|FullName)>(\w+)", text))
        qbwc.receive(nothing_found(text) if "QueryRq" in text else set_response(text))
        text = qbwc.send()
    others = [[(kind, name)] for name in ("Bob", "Cleo", "Dan") for kind in ("Query", "Add")]
    assert sent == [[("Add", "Ada")], *others]


@pytest.mark.parametrize(("seconds", "asks_again"), [(60, False), (400, True)])
def test_after_five_minutes_the_answers_are_too_old_to_write_what_follows(
    qbwc: Connector, seconds: int, *, asks_again: bool
) -> None:
    asking(qbwc)
    named(qbwc, "Ada", "Bob", "Cleo")
    qbwc.receive(nothing_found(qbwc.begin()))
    addition = qbwc.send()
    qbwc.clock.advance(seconds=seconds)
    qbwc.receive(set_response(addition))

    assert ("<CustomerQueryRq" in qbwc.send()) is asks_again


def test_if_a_claimed_request_is_missing_those_behind_it_are_sent(qbwc: Connector) -> None:
    asking(qbwc)
    first, *others = named(qbwc, "Ada", "Bob", "Cleo")
    qbwc.receive(nothing_found(qbwc.begin()))
    del qbwc.store.records[first]

    for name in ("Bob", "Cleo"):
        addition = qbwc.send()
        assert name in addition
        assert len({*qbwc.session.ids_in_flight}) == len(qbwc.session.ids_in_flight)
        qbwc.receive(set_response(addition))

    assert {qbwc.record(one).outcome for one in others} == {"created"}


@pytest.mark.parametrize("code", [3100, 3200])
def test_an_answer_of_any_kind_keeps_the_size_of_the_next_set_of_queries(qbwc: Connector, code: int) -> None:
    asking(qbwc)
    named(qbwc, *map(str, range(45)))
    qbwc.receive(nothing_found(qbwc.begin()))

    qbwc.receive(response_to(qbwc.send(), code=code, severity="Error"))

    assert qbwc.session.read_set_size == 20


def test_a_set_of_queries_ends_where_the_low_lane_is_due() -> None:
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect(has_low_lane=True, read_set_size=20)
    named(qbwc, *map(str, range(30)))
    for _ in range(3):
        qbwc.queue(is_low=True)
    file, lanes, text = CompanyFile(), "", qbwc.begin()
    while text:
        is_write, is_low = "MessageSetID" in text, qbwc.in_flight[0].is_low
        lanes += "L" if is_low else "N" * is_write
        qbwc.receive(file.begin(text)())
        text = qbwc.send()

    assert lanes == "NNNNNNNNNL" * 3 + "NNN"


# --- Updates

PHONES = "<CustomerAdd><Name>Ada</Name><Phone>1</Phone></CustomerAdd>"
MAX_READ_AGAIN = 3


def updated(qbwc: Connector) -> str:
    """Queue an addition that updates, and return its id."""
    return qbwc.queue("CustomerAddRq", PHONES, lookup=ObjectLookup(IfExists.UPDATE))


def there(sequence: int, phone: str) -> str:
    """Return the customer as QuickBooks returns it."""
    return (
        f"<CustomerRet><ListID>80-1</ListID><EditSequence>{sequence}</EditSequence><Name>Ada</Name><FullName>Ada</FullName>"
        f"<Phone>{phone}</Phone></CustomerRet>"
    )


def set_id_in(text: str) -> str:
    """Return the ID of the message set of a write."""
    return str(re.findall(r'newMessageSetID="(\w+)"', text)[0])


def stale(text: str) -> str:
    """Return the answer that the object was changed meanwhile."""
    return response_to(text, code=3200, severity="Error", message="The edit sequence is out of date.")


def test_an_object_without_a_difference_ends_the_update_and_nothing_is_sent(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    assert qbwc.receive(response_to(qbwc.begin(), content=there(5, "1"))) == 100

    record = qbwc.record(request_id)
    assert (record.outcome, record.executed, messages(record)) == ("unchanged", WhetherExecuted.NO, ["query"])


def test_what_differs_is_sent_as_a_mod_and_the_response_has_the_form_of_the_addition(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    mod = qbwc.send()
    assert "<CustomerMod><ListID>80-1</ListID><EditSequence>5</EditSequence><Phone>1</Phone></CustomerMod>" in mod
    assert qbwc.receive(response_to(mod, content=there(6, "1"))) == 100

    record = qbwc.record(request_id)
    assert (record.outcome, record.executed) == ("updated", WhetherExecuted.YES)
    assert (record.request_name, messages(record)) == ("CustomerAddRq", ["query", "mod"])
    response = qbwc.response(request_id) or ""
    assert f'<CustomerAddRs requestID="{record.request_label}" statusCode="0"' in response
    assert "<EditSequence>6</EditSequence>" in response
    assert set_id_in(mod) == record.message_set_id == qbwc.connection.message_set_to_forget
    assert set_id_in(mod) != message_set_id(request_id)


def test_an_update_adds_an_object_that_does_not_exist(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn"))
    addition = qbwc.send()
    assert set_id_in(addition) == message_set_id(request_id)
    qbwc.receive(response_to(addition, content=there(5, "1")))

    assert qbwc.record(request_id).outcome == "created"


def test_an_object_that_changes_all_the_time_is_read_again_three_times_and_each_mod_has_an_id(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    text = qbwc.begin()
    ids = []
    for sequence in range(1 + MAX_READ_AGAIN):
        qbwc.receive(response_to(text, content=there(sequence, "9")))
        mod = qbwc.send()
        ids.append(set_id_in(mod))
        qbwc.receive(stale(mod))
        text = qbwc.send()

    assert (text, len(set(ids))) == ("", 1 + MAX_READ_AGAIN)
    record = qbwc.record(request_id)
    assert record.error is not None
    assert (record.error.details["status_code"], record.executed) == (3200, WhetherExecuted.NO)
    assert record.error.details["request_id"] == record.request_label
    assert messages(record) == ["query", "mod"] * (1 + MAX_READ_AGAIN)


def gone(text: str) -> str:
    """Return the answer that QuickBooks has no object with an id in the request."""
    return response_to(text, code=3120, severity="Error", message="The object cannot be found.")


def test_an_object_that_was_deleted_after_it_was_read_is_added(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    qbwc.receive(gone(qbwc.send()))
    query = qbwc.send()
    assert "<CustomerQueryRq" in query
    qbwc.receive(response_to(query, code=500, severity="Warn"))
    addition = qbwc.send()
    assert set_id_in(addition) == message_set_id(request_id)
    qbwc.receive(response_to(addition, content=there(6, "1")))

    record = qbwc.record(request_id)
    assert (record.outcome, messages(record)) == ("created", ["query", "mod", "query", "add"])


def test_a_reference_that_leads_nowhere_ends_the_update_with_the_second_refusal(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    text = qbwc.begin()
    for _ in range(2):
        qbwc.receive(response_to(text, content=there(5, "9")))
        qbwc.receive(gone(qbwc.send()))
        text = qbwc.send()

    record = qbwc.record(request_id)
    assert record.error is not None
    assert (text, record.error.details["status_code"], record.executed) == ("", 3120, WhetherExecuted.NO)
    assert messages(record) == ["query", "mod"] * 2


def test_an_addition_that_names_an_object_that_does_not_exist_is_not_followed_by_a_query(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn"))
    qbwc.receive(gone(qbwc.send()))

    assert qbwc.send() == ""
    assert qbwc.record(request_id).state is State.ERROR


def test_a_late_answer_to_an_earlier_mod_is_not_taken_for_the_answer_to_this_one(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    first = qbwc.send()
    qbwc.receive(stale(first))
    qbwc.receive(response_to(qbwc.send(), content=there(6, "9")))
    second = qbwc.send()
    qbwc.receive(stale(first))
    assert qbwc.record(request_id).state is State.SENT

    qbwc.receive(response_to(second, content=there(7, "1")))
    assert qbwc.record(request_id).outcome == "updated"


def lost_mod(qbwc: Connector) -> tuple[str, str]:
    """Lose the response to a Mod, and return the id of the request and the Mod."""
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    mod = qbwc.send()
    qbwc.close_and_wait()
    return request_id, mod


def test_the_response_to_a_mod_is_recovered_by_its_own_id(qbwc: Connector) -> None:
    request_id, mod = lost_mod(qbwc)
    check = qbwc.begin()
    assert (set_id_in(check), "CustomerMod" in check) == (set_id_in(mod), False)
    qbwc.receive(response_to(mod, content=there(6, "1")))

    record = qbwc.record(request_id)
    assert (record.outcome, record.executed) == ("updated", WhetherExecuted.YES)
    assert messages(record) == ["query", "mod", "status_check"]


@pytest.mark.parametrize(("sequence", "is_same"), [(5, True), (6, False)])
def test_a_mod_that_was_never_executed_is_made_again_and_the_same_text_keeps_its_id(
    qbwc: Connector, sequence: int, *, is_same: bool
) -> None:
    request_id, mod = lost_mod(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin()))
    qbwc.receive(response_to(qbwc.send(), content=there(sequence, "9")))
    again = qbwc.send()

    assert (set_id_in(again) == set_id_in(mod)) is is_same
    assert (again.replace(' oldMessageSetID="', "") == mod) is is_same
    qbwc.receive(response_to(again, content=there(7, "1")))
    assert qbwc.record(request_id).outcome == "updated"


@pytest.mark.parametrize(
    ("found", "end"),
    [
        (there(6, "1"), "updated"),
        (there(6, "9"), "outcome_unknown"),
        (there(5, "9").replace("80-1", "80-2"), "outcome_unknown"),
        ("", "outcome_unknown"),
    ],
)
def test_if_quickbooks_cannot_tell_whether_it_executed_a_mod_the_object_shows_it(
    qbwc: Connector, found: str, end: str
) -> None:
    request_id, _ = lost_mod(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin(), 9004))
    query = qbwc.send()
    assert "<CustomerQueryRq" in query
    qbwc.receive(response_to(query, content=found) if found else response_to(query, code=1))

    record = qbwc.record(request_id)
    assert (record.outcome or (record.error and record.error.code)) == end
    assert record.executed is WhetherExecuted.UNKNOWN
    assert qbwc.send() == ""


def test_if_quickbooks_cannot_tell_and_the_object_is_as_it_was_the_same_mod_is_sent_again(qbwc: Connector) -> None:
    request_id, mod = lost_mod(qbwc)
    qbwc.receive(nothing_stored(qbwc.begin(), 9004))
    qbwc.receive(response_to(qbwc.send(), content=there(5, "9")))

    assert qbwc.send() == mod
    qbwc.receive(response_to(mod, content=there(6, "1")))
    assert qbwc.record(request_id).outcome == "updated"


@pytest.mark.parametrize("answer", NOT_TELLING)
@pytest.mark.parametrize(("found", "end"), [(there(6, "1"), "updated"), (there(6, "9"), "outcome_unknown")])
def test_after_an_answer_to_a_mod_that_does_not_tell_the_object_shows_it(
    qbwc: Connector, answer: Callable[[str], str], found: str, end: str
) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    qbwc.receive(answer(qbwc.send()))
    qbwc.receive(response_to(qbwc.send(), content=found))

    record = qbwc.record(request_id)
    assert (record.outcome or (record.error and record.error.code)) == end
    assert qbwc.send() == ""


@pytest.mark.parametrize("answer", NOT_TELLING)
def test_after_answers_that_do_not_tell_a_mod_is_sent_at_most_four_times(
    qbwc: Connector, answer: Callable[[str], str]
) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    sent = []
    while mod := qbwc.send():
        sent.append(mod)
        qbwc.receive(answer(mod))
        qbwc.receive(response_to(qbwc.send(), content=there(5, "9")))

    assert (len(sent), set(sent)) == (4, {sent[0]})
    error = qbwc.record(request_id).error
    assert error is not None
    assert error.code == "outcome_unknown"


def test_a_mod_that_was_not_handed_over_is_made_anew_in_the_next_session(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    qbwc.close()
    query = qbwc.begin()
    assert "<CustomerQueryRq" in query
    qbwc.receive(response_to(query, content=there(6, "1")))

    assert qbwc.record(request_id).outcome == "unchanged"


def test_nothing_follows_an_addition_about_which_quickbooks_cannot_tell_if_its_object_differs(qbwc: Connector) -> None:
    """If a Mod followed, somebody renamed the object, and the Mod was refused, the addition would be sent again."""
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn"))
    assert "<CustomerAddRq" in qbwc.send()
    qbwc.close_and_wait()
    qbwc.receive(nothing_stored(qbwc.begin(), 9004))
    qbwc.receive(response_to(qbwc.send(), content=there(5, "9")))

    assert qbwc.send() == ""
    record = qbwc.record(request_id)
    assert record.error is not None
    assert (record.error.code, record.executed) == ("outcome_unknown", WhetherExecuted.UNKNOWN)


def refused_again(check: str, name: str, code: int) -> str:
    """Return the stored refusal of a write that a status check asks about."""
    write = f'<{name}Rq requestID="" newMessageSetID="{set_id_in(check)}"'
    return stored_response(write, code=code, severity="Error", message="Refused.", label="")


@pytest.mark.parametrize(("is_modifying", "code"), [(False, 3100), (True, 3200)])
def test_after_a_restore_a_stored_refusal_is_followed_by_nothing(
    qbwc: Connector, code: int, *, is_modifying: bool
) -> None:
    """The service may have sent more after the moment of the backup."""
    if is_modifying:
        request_id, _ = lost_mod(qbwc)
    else:
        request_id = updated(qbwc)
    before = qbwc.record(request_id)
    restored = continued(before, qbwc.clock.now, has_request=True, has_response=False)
    qbwc.change(request_id, **{name: getattr(restored, name) for name in ("state", "recovery", "attempts")})
    qbwc.clock.advance(hours=2)
    check = qbwc.begin()
    assert "<CustomerQueryRq" not in check
    qbwc.receive(refused_again(check, "CustomerMod" if is_modifying else "CustomerAdd", code))

    assert qbwc.send() == ""
    record = qbwc.record(request_id)
    assert record.error is not None
    assert (record.error.code, record.executed) == ("outcome_unknown", WhetherExecuted.UNKNOWN)


def test_a_warning_in_the_response_to_a_mod_is_kept(qbwc: Connector) -> None:
    request_id = updated(qbwc)
    qbwc.receive(response_to(qbwc.begin(), content=there(5, "9")))
    warning = "A field was not saved."
    qbwc.receive(response_to(qbwc.send(), content=there(6, "1"), code=530, severity="Warn", message=warning))

    response = qbwc.response(request_id) or ""
    assert f'statusCode="530" statusSeverity="Warn" statusMessage="{warning}"' in response
    assert qbwc.record(request_id).outcome == "updated"


# --- What identifies an object


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<DepositAddRq><DepositAdd/></DepositAddRq>", "by a name, or by a number"),
        ("<JournalEntryAddRq><JournalEntryAdd><RefNumber>7</RefNumber></JournalEntryAdd></JournalEntryAddRq>", "by a"),
        ("<CustomerQueryRq/>", "is not an addition"),
        (
            "<InvoiceAddRq><InvoiceAdd><CustomerRef><ListID>1</ListID></CustomerRef></InvoiceAdd></InvoiceAddRq>",
            "must have RefNumber",
        ),
        ("<InvoiceAddRq><InvoiceAdd><RefNumber>7</RefNumber></InvoiceAdd></InvoiceAddRq>", "must have CustomerRef"),
        (
            (
                "<CustomerAddRq><CustomerAdd><Name>Job</Name><ParentRef><ListID>1</ListID></ParentRef></CustomerAdd>"
                "</CustomerAddRq>"
            ),
            "must have ParentRef/FullName",
        ),
    ],
)
def test_a_request_without_an_identity_is_refused_by_what_it_lacks(xml: str, message: str) -> None:
    request = parse_request_xml(
        f'<?qbxml version="16.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">{xml}</QBXMLMsgsRq></QBXML>',
        validate=False,
    )

    with pytest.raises(InvalidRequest) as caught:
        identity_query(request)

    assert message in caught.value.problems[0].message
    assert caught.value.problems[0].field == "if_exists"


def test_each_type_of_the_table_has_the_element_of_its_owner_and_a_query_by_number() -> None:
    for subject, party in PARTIES.items():
        xml = (
            f"<{subject}AddRq><{subject}Add><{party}><ListID>1</ListID></{party}><RefNumber>7</RefNumber>"
            f"</{subject}Add></{subject}AddRq>"
        )
        request = parse_request_xml(
            f'<?qbxml version="16.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">{xml}</QBXMLMsgsRq></QBXML>',
            validate=False,
        )
        query = identity_query(request)
        assert (query.name, query.element.findtext("RefNumber")) == (f"{subject}QueryRq", "7")


def test_a_claim_begins_with_the_query_unless_something_is_recovered() -> None:
    for step in LookupStep:
        assert ObjectLookup(IfExists.RETURN, step).claimed(recovering=False).step is LookupStep.LOOK
        recovered = ObjectLookup(IfExists.RETURN, step).claimed(recovering=True).step
        assert recovered is (LookupStep.LAST_LOOK if step is LookupStep.LAST_LOOK else LookupStep.ADD)


@pytest.mark.parametrize("step", LookupStep)
def test_while_it_looks_a_request_has_a_plain_read_in_flight(qbwc: Connector, step: LookupStep) -> None:
    record = qbwc.record(added(qbwc))
    assert record.lookup
    record = replace(record, lookup=replace(record.lookup, step=step))

    sent = in_flight(record)

    assert (sent.lookup is None, sent.is_read, sent.recovering) == (record.looks, record.looks, False)
