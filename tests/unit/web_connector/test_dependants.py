"""Requests of a batch that wait for others: when they are sent, with which values, and how they end."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from domain.batches.dependants import with_dependants
from domain.maintenance.sweep import sweep
from domain.queueing.service import RequestService
from domain.records.batch import MAX_DEPENDANTS
from domain.records.request import ENDED, Claim, QueuedRequest, State
from domain.records.session import SILENCE_SECONDS
from domain.storage.changes import ChangeRequest
from domain.timestamps import timestamp
from simulator import Company
from tests.support.builders import AN_ACTOR, APP_ID, FixedClock
from tests.support.queueing import new_request
from tests.support.web_connector.connector import Connector, CountingStore
from tests.support.web_connector.quickbooks import labels_in, nothing_stored, response_to, stored_response

if TYPE_CHECKING:
    from domain.queueing.new_request import NewRequest
    from domain.storage.changes import Change

LIST_ID = "<CustomerRet><ListID>80000001-1</ListID><FullName>Ann &amp; Bob</FullName></CustomerRet>"


def customer(name: str = "Ann", ref: str | None = "c", *depends_on: str) -> NewRequest:
    """Return a write that others can depend on."""
    return new_request({"CustomerAddRq": {"CustomerAdd": {"Name": name}}}, ref, *depends_on)


def job(ref: str | None = None, source: str = "c", path: str = "CustomerRet/ListID", **fields: Any) -> NewRequest:
    """Return a write with a value of the response to another."""
    parent = {"ParentRef": {"ListID": {"$from": source, "path": path}}}
    return new_request({"CustomerAddRq": {"CustomerAdd": {"Name": "Job", **parent}}}, ref, **fields)


@pytest.fixture
def qbwc() -> Connector:
    """Return a connected Web Connector."""
    connector = Connector()
    connector.connect()
    return connector


def error_of(qbwc: Connector, request_id: str) -> tuple[str, dict[str, Any]]:
    """Return the code of the error in which a request ended, and its details without the advice, which it must have."""
    error = qbwc.record(request_id).error
    assert error
    details = dict(error.details)
    assert "dependency_id" in details.pop("hint")
    assert details.pop("retryable") is False
    return error.code, details


def test_customer_invoice_and_payment_run_in_one_session(qbwc: Connector) -> None:
    company = Company.generated(customers=2, sales_orders=0, now=qbwc.clock.now.timestamp)
    (item, *_) = company.books["ItemInventory"]
    by_customer = {"CustomerRef": {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}}}
    line = {"ItemRef": {"FullName": item.fields["Name"]}, "Quantity": 2, "Rate": "12.50"}
    due = {"$from": "i", "path": "InvoiceRet/BalanceRemaining"}
    applied = {"TxnID": {"$from": "i", "path": "InvoiceRet/TxnID"}, "PaymentAmount": due}
    payment = {**by_customer, "TotalAmount": due, "AppliedToTxnAdd": applied}
    ids = qbwc.batch(
        customer("Ada"),
        new_request({"InvoiceAddRq": {"InvoiceAdd": {**by_customer, "RefNumber": "W7", "InvoiceLineAdd": line}}}, "i"),
        new_request({"ReceivePaymentAddRq": {"ReceivePaymentAdd": payment}}),
    )

    result = qbwc.simulator(company).run_once()

    assert result.requests == 3
    assert [qbwc.record(request_id).state for request_id in ids] == [State.RESPONSE_RECEIVED] * 3
    assert "<IsPaid>true</IsPaid>" in company.begin_session("check").process_request(
        '<?xml version="1.0"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError"><InvoiceQueryRq>'
        "<RefNumber>W7</RefNumber></InvoiceQueryRq></QBXMLMsgsRq></QBXML>"
    )


def test_a_dependant_enters_the_queue_behind_the_requests_that_wait_there(qbwc: Connector) -> None:
    first, dependant = qbwc.batch(customer(), job())
    behind = [qbwc.write(str(number)) for number in range(12)]

    order: list[str] = []
    request = qbwc.begin()
    while request:
        order += labels_in(request)
        qbwc.receive(response_to(request, content=LIST_ID))
        request = qbwc.send()

    assert order == [first, *behind, dependant]


def test_a_dependant_is_sent_with_the_value_of_the_response(qbwc: Connector) -> None:
    first, second = qbwc.batch(customer(), job(path="CustomerRet/FullName"))

    qbwc.receive(response_to(qbwc.begin(), content=LIST_ID))

    assert "<ParentRef><ListID>Ann &amp; Bob</ListID></ParentRef>" in qbwc.send()
    assert qbwc.store.bodies[second].references[0].value == "Ann & Bob"
    assert qbwc.record(first).dependants == (1,)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_request_with_several_dependencies_waits_for_all_in_any_order(
    qbwc: Connector, order: tuple[int, ...]
) -> None:
    *ids, last = qbwc.batch(
        *(customer(name, name) for name in "abc"), new_request({"HostQueryRq": {}}, None, "a", "b", "c")
    )
    for number in order:
        assert last not in {record.id for record in qbwc.store.queue_front(qbwc.connection.id, 10)}
        record = qbwc.record(ids[number])
        claimed = record.claimed("another", qbwc.clock())
        sent = claimed.sent(qbwc.clock()).as_change_of(record)
        qbwc.store.commit(ChangeRequest(record, sent))
        qbwc.store.commit(*_ended(qbwc, sent))
    assert [record.id for record in qbwc.store.queue_front(qbwc.connection.id, 10)] == [last]


def _ended(qbwc: Connector, sent: QueuedRequest) -> list[Change]:
    after = sent.moved(State.RESPONSE_RECEIVED, qbwc.clock.advance(seconds=1))
    return with_dependants(qbwc.store, [ChangeRequest(sent, after, LIST_ID)], qbwc.clock())


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_dependant_gets_the_values_of_all_dependencies_that_end_in_one_commit(
    qbwc: Connector, order: tuple[str, ...]
) -> None:
    company = {"CompanyName": {"$from": "b", "path": "CustomerRet/FullName"}}
    name = {"Name": {"$from": "a", "path": "CustomerRet/FullName"}}
    *ids, last = qbwc.batch(
        customer("Ann", "a"), customer("Bob", "b"), new_request({"CustomerAddRq": {"CustomerAdd": {**name, **company}}})
    )
    changes = []
    for ref in order:
        record = qbwc.record(ids["ab".index(ref)])
        sent = record.claimed("another", qbwc.clock()).sent(qbwc.clock()).as_change_of(record)
        qbwc.store.commit(ChangeRequest(record, sent))
        values = f"<CustomerRet><FullName>value of {ref}</FullName></CustomerRet>"
        response = response_to(qbwc.store.bodies[record.id].request_xml, content=values)
        changes.append(ChangeRequest(sent, sent.moved(State.RESPONSE_RECEIVED, qbwc.clock()), response))

    qbwc.store.commit(*with_dependants(qbwc.store, changes, qbwc.clock()))

    assert [reference.value for reference in qbwc.store.bodies[last].references] == ["value of a", "value of b"]
    assert [record.id for record in qbwc.store.queue_front(qbwc.connection.id, 10)] == [last]


class TestFailures:
    """A dependency that does not end with a response."""

    def test_an_error_of_quickbooks_ends_the_dependants_and_theirs(self, qbwc: Connector) -> None:
        first, second, third, other = qbwc.batch(
            customer(), job("j"), customer("Eve", None, "j"), customer("Joe", None)
        )

        qbwc.receive(response_to(qbwc.begin(), code=3100, severity="Error"))

        assert error_of(qbwc, second) == (
            "dependency_failed",
            {"dependency_id": first, "dependency_code": "quickbooks_error"},
        )
        assert error_of(qbwc, third)[1] == {"dependency_id": second, "dependency_code": "dependency_failed"}
        assert labels_in(qbwc.send()) == [other]
        assert qbwc.store.counts == qbwc.store.exact_counts()

    def test_a_dependant_ends_once_and_names_the_first_of_its_dependencies_that_failed(self, qbwc: Connector) -> None:
        first, _, third, last = qbwc.batch(
            customer(), job("j"), customer("Eve", "e", "c", "j"), customer("Joe", None, "e")
        )

        qbwc.receive(response_to(qbwc.begin(), code=3100, severity="Error"))

        assert error_of(qbwc, third)[1] == {"dependency_id": first, "dependency_code": "quickbooks_error"}
        assert error_of(qbwc, last)[1] == {"dependency_id": third, "dependency_code": "dependency_failed"}

    def test_an_unknown_outcome_ends_the_dependants(self, qbwc: Connector) -> None:
        _, second = qbwc.batch(customer(), job())
        request = qbwc.begin()

        qbwc.receive(stored_response(request).partition("</QBXMLMsgsRs>")[0])

        assert error_of(qbwc, second)[1]["dependency_code"] == "outcome_unknown"

    def test_a_recovered_write_releases_its_dependants(self, qbwc: Connector) -> None:
        _, second = qbwc.batch(customer(), job())
        request = qbwc.begin()
        check = qbwc.take_over()

        assert "<CustomerAddRq" not in check
        qbwc.receive(stored_response(request, content=LIST_ID))

        assert labels_in(qbwc.send()) == [second]

    def test_a_write_that_was_never_executed_is_sent_again_before_its_dependants(self, qbwc: Connector) -> None:
        first, second = qbwc.batch(customer(), job())
        qbwc.begin()
        qbwc.close_and_wait()
        check = qbwc.begin()
        qbwc.receive(nothing_stored(check))
        request = qbwc.send()

        assert labels_in(request) == [first]
        qbwc.receive(response_to(request, content=LIST_ID))
        assert labels_in(qbwc.send()) == [second]

    @pytest.mark.parametrize(
        ("path", "content", "code"),
        [
            ("CustomerRet/ListID", "", "reference_unresolved"),
            ("CustomerRet/ListID", "<CustomerRet><ListID></ListID></CustomerRet>", "reference_unresolved"),
            ("CustomerRet/ListID", f"<CustomerRet><ListID>{'8' * 37}</ListID></CustomerRet>", "reference_invalid"),
            ("CustomerRet/Notes", f"<CustomerRet><Notes>{'x' * 4000}</Notes></CustomerRet>", "reference_invalid"),
        ],
    )
    def test_a_value_that_is_missing_or_does_not_fit_ends_the_dependant(
        self, qbwc: Connector, path: str, content: str, code: str
    ) -> None:
        first, second, third = qbwc.batch(customer(), job("j", path=path), customer("Eve", None, "j"))

        qbwc.receive(response_to(qbwc.begin(), content=content))

        place = "CustomerAddRq/CustomerAdd/ParentRef/ListID"
        assert error_of(qbwc, second) == (code, {"dependency_id": first, "path": path, "place": place})
        assert error_of(qbwc, third)[1] == {"dependency_id": second, "dependency_code": code}
        assert qbwc.record(first).state is State.RESPONSE_RECEIVED
        assert qbwc.send() == ""

    def test_each_end_has_its_webhook(self, qbwc: Connector) -> None:
        qbwc.store.connections[qbwc.connection.id] = replace(
            qbwc.connection, webhook_url="https://example.com/hook"
        ).changed(timestamp(qbwc.clock()))
        ids = qbwc.batch(customer(), job("j"), customer("Eve", None, "j"))

        qbwc.receive(response_to(qbwc.begin(), code=3100, severity="Error"))

        assert [qbwc.record(request_id).webhook_state.value for request_id in ids] == ["pending"] * 3
        assert all(qbwc.record(request_id).state in ENDED for request_id in ids)

    def test_the_search_finds_dependants_that_failed(self, qbwc: Connector) -> None:
        _, second = qbwc.batch(customer(), job())
        qbwc.receive(response_to(qbwc.begin(), code=3100, severity="Error"))

        assert "dependency_failed" in qbwc.store.bodies[second].search_text

    def test_the_sweep_ends_the_dependants_of_a_request_that_it_ends(self, qbwc: Connector) -> None:
        read = new_request({"CustomerQueryRq": {"FullName": "Ann"}}, "r")
        first, second = qbwc.batch(read, customer("Bob", None, "r"))
        for _ in range(3):
            assert qbwc.take_over()
        qbwc.clock.advance(seconds=SILENCE_SECONDS + 60)

        sweep(qbwc.store, qbwc.clock, qbwc.clock.now.replace(year=2030))

        assert qbwc.record(first).state is State.ERROR
        assert error_of(qbwc, second)[0] == "dependency_failed"


def test_a_request_with_dependants_is_sent_alone(qbwc: Connector) -> None:
    qbwc.store.connections[qbwc.connection.id] = replace(qbwc.connection, batch_size=20).changed(
        timestamp(qbwc.clock())
    )
    qbwc.batch(*(customer(str(number), str(number)) for number in range(6)), job(source="3"))
    sizes: list[int] = []
    request = qbwc.begin()
    while request:
        sizes.append(len(labels_in(request)))
        qbwc.receive(_answer(request))
        request = qbwc.send()

    assert sum(sizes) == 7
    assert 1 in sizes[2:]
    assert all(record.state is State.RESPONSE_RECEIVED for record in qbwc.records)


@pytest.mark.parametrize("needed", [{0}, {3}, {3, 4}, {2, 3, 6}, {5, 6}, {0, 1, 2, 3, 4, 5, 6}], ids=str)
def test_no_request_with_dependants_is_in_a_message_set_with_others(qbwc: Connector, needed: set[int]) -> None:
    """A commit ends at most one of them, because each can release many."""
    qbwc.store.connections[qbwc.connection.id] = replace(qbwc.connection, batch_size=20).changed(
        timestamp(qbwc.clock())
    )
    dependants = [job(source=str(number)) for number in needed]
    ids = qbwc.batch(*(customer(str(number), str(number)) for number in range(7)), *dependants)
    sent: list[list[str]] = []
    request = qbwc.begin()
    while request:
        sent.append([label for label in labels_in(request) if label in ids])
        qbwc.receive(_answer(request))
        request = qbwc.send()

    alone = {labels[0] for labels in sent if len(labels) == 1}
    assert {ids[number] for number in needed} <= alone
    assert sum(map(len, sent)) == 7 + len(needed)


@pytest.mark.parametrize("had", [9, 10, 11, 99, 100, 101])
def test_a_released_dependant_passes_no_request_that_was_not_read(qbwc: Connector, had: int) -> None:
    """The session already had the first ones, so it looks behind them, a larger part of the queue each time."""
    _, dependant = qbwc.batch(customer(), job())
    request = qbwc.begin()
    behind = [qbwc.write(str(number)) for number in range(had + 2)]
    for request_id in behind[:had]:
        qbwc.change(request_id, claim=Claim(qbwc.session.id))
    order = []

    while request:
        qbwc.receive(response_to(request, content=LIST_ID))
        request = qbwc.send()
        order += labels_in(request)

    assert order == [*behind[had:], dependant]


def _answer(request: str) -> str:
    text = response_to(request, content=LIST_ID)
    for label in labels_in(request)[1:]:
        part = response_to(request, content=LIST_ID, label=label).splitlines()[3]
        text = text.replace("</QBXMLMsgsRs>", f"{part}\n</QBXMLMsgsRs>")
    return text


class Rival(CountingStore):
    """A store in which another caller discards a request before the next commit."""

    def __init__(self) -> None:
        super().__init__()
        self.victim = ""
        self.discarded: list[str] = []

    def commit(self, *changes: Change) -> None:
        """Let the rival commit first."""
        victim, self.victim = self.victim, ""
        if victim:
            self.discarded.append(victim)
            RequestService(self, FixedClock()).discard(APP_ID, victim, actor=AN_ACTOR)
        super().commit(*changes)


@pytest.mark.parametrize("code", [0, 3100])
def test_a_dependant_that_is_discarded_meanwhile_stays_discarded(code: int) -> None:
    store = Rival()
    qbwc = Connector(store=store)
    qbwc.connect()
    first, second, third = qbwc.batch(customer(), job(), job())
    request = qbwc.begin()
    store.victim = second

    qbwc.receive(response_to(request, code=code, severity="Error" if code else "Info", content=LIST_ID))

    assert store.discarded == [second]
    assert qbwc.record(second).state is State.DISCARDED
    assert qbwc.record(first).state is (State.ERROR if code else State.RESPONSE_RECEIVED)
    assert qbwc.record(third).state is (State.ERROR if code else State.TICKETED)
    assert store.counts == store.exact_counts()


def test_a_dependant_that_was_discarded_is_not_released(qbwc: Connector) -> None:
    _, second = qbwc.batch(customer(), job())
    request = qbwc.begin()
    RequestService(qbwc.store, qbwc.clock).discard(APP_ID, second, actor=AN_ACTOR)

    qbwc.receive(response_to(request, content=LIST_ID))

    assert qbwc.send() == ""


@pytest.mark.parametrize("number", [1, MAX_DEPENDANTS])
def test_the_end_of_a_request_with_dependants_takes_one_call_more(qbwc: Connector, number: int) -> None:
    qbwc.write("alone")
    qbwc.batch(customer(), *(job() for _ in range(number)))
    received, sent = [], []
    request = qbwc.begin()
    while request:
        qbwc.receive(response_to(request, content=LIST_ID))
        received.append(sum(qbwc.store.calls.values()))
        request = qbwc.send()
        sent.append(sum(qbwc.store.calls.values()))

    assert received == [3, 4, *[3] * (number - 1), 4]  # the last one ends the session
    assert sent == [*[3] * (number + 1), 1]


def test_a_lingering_session_sends_the_dependants_of_its_last_request(qbwc: Connector) -> None:
    qbwc.store.connections[qbwc.connection.id] = replace(qbwc.connection, linger_seconds=60).changed(
        timestamp(qbwc.clock())
    )
    _, second = qbwc.batch(customer(), job())

    qbwc.receive(response_to(qbwc.begin(), content=LIST_ID))

    assert labels_in(qbwc.send()) == [second]
