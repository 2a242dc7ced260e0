"""Message sets of several requests: which requests are sent together, and what happens to each of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import MayBeExecuted
from domain.queueing.service import RequestService
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.request import FIRST_IN_LINE, LAST_IN_LINE, Attempts, Paging, State
from domain.records.session import MAX_EXECUTION_SECONDS, Limits, RequestInFlight
from domain.storage.changes import ChangeRequest, RemoveRequest
from domain.timestamps import timestamp
from domain.web_connector.outcomes.lost_response import MAX_SESSIONS
from domain.web_connector.outcomes.outcome import Answered
from domain.web_connector.protocol.soap import Call
from domain.web_connector.session import receiving, sending, sets
from domain.web_connector.session.decision import Decision
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from domain.web_connector.session.sets import MAX_OBJECTS
from tests.support.builders import AN_ACTOR, APP_ID, NOON, a_record, a_session
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to, set_response

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

READ = ("CustomerQueryRq", "<MaxReturned>1</MaxReturned>")
RPC_FAILED = "0x800706BE"
PARSE_ERROR = "0x80040400"
BUSY = "0x80040424"


@pytest.fixture
def batch() -> Connector:
    """Return a connection that sends up to five requests together."""
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect(batch_size=5, read_batch_size=5)
    return qbwc


def read(qbwc: Connector, **fields: Any) -> str:
    """Queue a read that may be sent with others."""
    return qbwc.queue(*READ, **fields)


def requests_in(text: str) -> list[str]:
    """Return the names of the requests that were sent together."""
    return re.findall(r"<(\w+Rq) requestID", text)


def labels_in(text: str) -> list[str]:
    """Return the request labels that were sent."""
    return re.findall(r'requestID="([^"]*)"', text)


def send_set(
    qbwc: Connector, kind: Callable[[Connector], str] = Connector.write, size: int = 2
) -> tuple[list[str], str]:
    """Queue requests and run a session until a set of `size` is sent. Return the ids of its requests and its text."""
    lengths = [length for length in (1, 2, 4, 5) if length < size]
    ids = [kind(qbwc) for _ in range(sum(lengths) + size)]
    request = qbwc.begin()
    for _ in lengths:
        qbwc.receive(set_response(request))
        request = qbwc.send()
    assert len(labels_in(request)) == size
    return ids[-size:], request


def states_of(qbwc: Connector, ids: Sequence[str]) -> list[str]:
    """Return the states of these requests."""
    return [qbwc.record(request_id).state.value for request_id in ids]


def codes_of(qbwc: Connector, ids: Sequence[str]) -> list[str | None]:
    """Return the error codes of these requests."""
    errors = [qbwc.record(request_id).error for request_id in ids]
    return [error.code if error else None for error in errors]


class Failing(dict[str, str]):
    """Parameters of a call of which one cannot be read."""

    def get(self, name: str, default: str = "") -> str:  # type: ignore[override]
        """Fail for the HRESULT."""
        if name == "hresult":
            raise RuntimeError(name)
        return super().get(name, default)


@pytest.mark.parametrize("text", ["<QBXML>", ""])
def test_an_error_of_the_service_ends_all_requests_of_a_set_and_the_first_has_the_text(
    batch: Connector, text: str
) -> None:
    send_set(batch)
    requests, _ = batch.store.requests_in_flight(batch.session)

    call = Call("receiveResponseXML", Failing(response=text))
    answer = receiving.answer(batch.session, requests, call, batch.clock.now)

    assert isinstance(answer, Answered)
    found = answer.outcomes
    errors = [outcome.after.error for outcome in found]
    assert [error.code for error in errors if error] == ["outcome_unknown"] * 2
    assert [outcome.response_xml for outcome in found] == [text or None, None]


# --- Which requests are sent together


def sizes(qbwc: Connector) -> list[int]:
    """Run a session in which QuickBooks answers each set, and return the number of requests in each."""
    request, sizes = qbwc.begin(), []
    while request:
        sizes.append(len(requests_in(request)))
        qbwc.receive(set_response(request))
        request = qbwc.send()
    return sizes


ALONE: dict[str, dict[str, Any]] = {
    "has dependants": {"dependants": (1,)},
    "is of the low lane": {"is_low": True},
    "looks for its object": {"lookup": ObjectLookup(IfExists.RETURN)},
    "was sent before": {"sent_at": timestamp(NOON)},
    "is a later page": {"paging": Paging(page=2)},
    "is a first page": {"paging": Paging(page_size=100)},
    "may begin to iterate": {"paging": Paging(may_begin=True)},
    "is recovered": {"queue_priority": FIRST_IN_LINE},
    "comes after the others": {"queue_priority": LAST_IN_LINE},
    "has a label that XML can write in two ways": {"request_label": "a & b"},
}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("fields", ALONE.values(), ids=list(ALONE))
def test_a_request_that_goes_alone_has_no_companions_and_is_not_one(fields: dict[str, Any], place: int) -> None:
    session = a_session(read_set_size=3, limits=Limits(read_batch_size=3))
    records = [a_record() for _ in range(5)]
    first, *behind = records
    assert list(sets.companions(session, first, behind)) == records[1:3]

    records[place] = replace(records[place], **fields)
    first, *behind = records

    assert list(sets.companions(session, first, behind)) == records[1 : min(max(place, 1), 3)]


@pytest.mark.parametrize("kind", [Connector.write, read])
@pytest.mark.parametrize(
    ("batch_size", "expected"), [(1, [1] * 12), (2, [1, 2, 2, 2, 2, 2, 1]), (5, [1, 2, 4, 5]), (20, [1, 2, 4, 5])]
)
def test_the_size_doubles_up_to_the_setting(
    qbwc: Connector, kind: Callable[[Connector], str], batch_size: int, expected: list[int]
) -> None:
    qbwc.store.connections[qbwc.connection.id] = replace(
        qbwc.connection, batch_size=batch_size, read_batch_size=batch_size
    )
    ids = [kind(qbwc) for _ in range(12)]

    assert sizes(qbwc) == expected

    assert states_of(qbwc, ids) == ["response_received"] * 12
    for request_id in ids:
        assert f'requestID="{request_id}"' in (qbwc.response(request_id) or "")
    assert qbwc.store.counts == qbwc.store.recount()


def test_a_set_has_only_reads_or_only_writes_in_queue_order(batch: Connector) -> None:
    for kind in (read, read, read, Connector.write, Connector.write, read, read):
        kind(batch)
    names = []
    request = batch.begin()
    while request:
        names.append(requests_in(request))
        batch.receive(set_response(request))
        request = batch.send()

    customers, add = "CustomerQueryRq", "CustomerAddRq"
    assert names == [[customers], [customers] * 2, [add] * 2, [customers] * 2]


UNFIT: dict[str, Callable[[Connector], str]] = {
    "a read without a bound": Connector.queue,
    "an iterated query": Connector.iterate,
    "another version": lambda qbwc: read(qbwc, qbxml_version="14.0"),
    "a request that was sent before": lambda qbwc: read(qbwc, state=State.RETRYABLE, sent_at=timestamp(NOON)),
    "a label that can be written in several ways": lambda qbwc: read(qbwc, request_label="Ann's"),
    "a read of many objects": lambda qbwc: qbwc.queue(READ[0], f"<MaxReturned>{MAX_OBJECTS + 1}</MaxReturned>"),
    "a read of an unknown number": lambda qbwc: qbwc.queue(READ[0], "<MaxReturned>many</MaxReturned>"),
    "a read of many names": lambda qbwc: qbwc.queue(READ[0], "<FullName>x</FullName>" * (MAX_OBJECTS + 1)),
    "a macro": lambda qbwc: qbwc.queue(*READ, ' defMacro="TxnID:1"'),
    "a large request": lambda qbwc: qbwc.queue(READ[0], f"<FullName>{'x' * 256 * 1024}</FullName>"),
}


@pytest.mark.parametrize("unfit", UNFIT.values(), ids=UNFIT)
def test_a_request_that_does_not_fit_is_sent_alone_and_in_its_turn(
    batch: Connector, unfit: Callable[[Connector], str]
) -> None:
    for _ in range(5):
        read(batch)
    alone = unfit(batch)
    for _ in range(2):
        read(batch)
    labels = []
    request = batch.begin()
    while request:
        labels.append(labels_in(request))
        batch.receive(set_response(request))
        request = batch.send()

    assert [len(group) for group in labels] == [1, 2, 2, 1, 2]
    assert labels[3] == [batch.record(alone).request_label]


UNFIT_BY_BODY = {
    name: UNFIT[name] for name in ("a read without a bound", "a read of many objects", "a macro", "a large request")
}


@pytest.mark.parametrize("unfit", UNFIT_BY_BODY.values(), ids=UNFIT_BY_BODY)
def test_no_further_body_is_read_for_a_request_that_is_sent_alone(
    batch: Connector, unfit: Callable[[Connector], str]
) -> None:
    for _ in range(3):
        read(batch)
    for _ in range(12):
        unfit(batch)
    request = batch.begin()
    for _ in range(3):
        batch.receive(set_response(request))
        request = batch.send()
    for _ in range(5):
        batch.receive(set_response(request))
        request = batch.send()

        assert len(labels_in(request)) == 1
        assert not batch.store.calls["with_request_xml"]


def test_rollback_is_sent_alone_and_other_requests_continue_after_an_error(batch: Connector) -> None:
    ids, request = send_set(batch)

    assert 'onError="continueOnError"' in request
    assert "stopOnError" in batch.store.bodies[ids[0]].request_xml


def test_a_slow_or_large_response_keeps_the_next_set_small(batch: Connector) -> None:
    for _ in range(12):
        batch.write()
    request = batch.begin()
    batch.clock.advance(seconds=4)
    batch.receive(set_response(request))

    request = batch.send()
    assert len(requests_in(request)) == 2
    batch.clock.advance(seconds=30)
    batch.receive(set_response(request))
    request = batch.send()
    assert len(requests_in(request)) == 1

    batch.receive(set_response(request, content="x" * 400_000))
    assert len(requests_in(batch.send())) == 2


@pytest.mark.parametrize("position", range(4))
def test_a_request_that_cannot_be_written_ends_alone(batch: Connector, position: int) -> None:
    ids = [batch.write() for _ in range(7)]
    bad = ids.pop(3 + position)
    batch.store.bodies[bad] = replace(batch.store.bodies[bad], request_xml="<QBXML><not closed")
    request = batch.begin()
    while request:
        batch.receive(set_response(request))
        request = batch.send()

    assert codes_of(batch, [bad]) == ["qbxml_parse_error"]
    assert states_of(batch, ids) == ["response_received"] * 6


# --- Responses


@pytest.mark.parametrize("kind", [Connector.write, read])
def test_the_times_of_the_last_change_of_a_set_follow_the_order_of_execution(
    batch: Connector, kind: Callable[[Connector], str]
) -> None:
    ids, request = send_set(batch, kind, 4)

    batch.receive(set_response(request))

    records = [batch.record(request_id) for request_id in ids]
    times = [record.updated_at for record in records]
    assert times == sorted(set(times))
    assert [record.responded_at for record in records] == times


def test_each_request_gets_its_own_response_although_labels_repeat(batch: Connector) -> None:
    ids, request = send_set(batch, lambda qbwc: qbwc.write(request_label="same"), 4)
    assert labels_in(request) == ids

    batch.receive(set_response(request, codes={ids[1]: 3100}))

    assert codes_of(batch, ids) == [None, "quickbooks_error", None, None]
    for position, request_id in enumerate(ids):
        response = batch.response(request_id) or ""
        assert labels_in(response) == ["same"]
        assert (f"<ListID>{position}</ListID>" in response) is (request_id != ids[1])


def test_a_write_without_its_own_response_is_never_sent_again(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)

    batch.receive(set_response(request, only=ids[:2]))

    assert codes_of(batch, ids) == [None, None, "outcome_unknown", "outcome_unknown"]
    assert [batch.response(request_id) for request_id in ids[2:]] == [None, None]
    assert batch.send() == ""


def test_a_text_with_a_part_that_belongs_to_no_request_is_kept_for_a_person(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)
    text = set_response(request).replace(ids[2], "another")

    batch.receive(text)

    assert codes_of(batch, ids) == [None, None, "outcome_unknown", None]
    assert batch.response(ids[2]) == text


def test_responses_in_another_order_belong_to_the_requests_that_they_name(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)
    head, *parts = set_response(request).split("<CustomerAddRs")
    *parts, last = parts
    last, tail = last.split("</QBXMLMsgsRs>")
    text = "<CustomerAddRs".join([head, last, *reversed(parts)]) + f"</QBXMLMsgsRs>{tail}"

    batch.receive(text)

    for position, request_id in enumerate(ids):
        assert f"<ListID>{position}</ListID>" in (batch.response(request_id) or "")


def test_responses_without_labels_belong_to_the_writes_at_their_positions(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)

    batch.receive(re.sub(' requestID="[^"]*"', "", set_response(request)))

    assert states_of(batch, ids) == ["response_received"] * 4
    for position, request_id in enumerate(ids):
        assert f"<ListID>{position}</ListID>" in (batch.response(request_id) or "")


def test_responses_without_labels_belong_to_no_request_if_one_is_missing(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)

    batch.receive(re.sub(' requestID="[^"]*"', "", set_response(request, only=ids[:3])))

    assert codes_of(batch, ids) == ["outcome_unknown"] * 4


def test_the_first_of_two_responses_to_one_write_counts(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)

    batch.receive(set_response(request).replace(ids[3], ids[1]))

    assert codes_of(batch, ids) == [None, None, None, "outcome_unknown"]
    assert "<ListID>1</ListID>" in (batch.response(ids[1]) or "")


def test_a_read_with_two_responses_of_its_own_is_sent_alone(batch: Connector) -> None:
    ids, request = send_set(batch, read, 4)

    batch.receive(set_response(request).replace(ids[3], ids[1]))

    assert states_of(batch, ids)[0] == states_of(batch, ids)[2] == "response_received"
    assert labels_in(batch.send()) == [ids[1]]


def test_a_read_without_its_own_response_is_sent_alone(batch: Connector) -> None:
    ids, request = send_set(batch, read, 4)

    batch.receive(set_response(request, only=labels_in(request)[:2]))

    assert labels_in(batch.send()) == [ids[2]]


@pytest.mark.parametrize("kind", [Connector.write, read])
@pytest.mark.parametrize("following", [Connector.write, read])
def test_a_repeated_response_is_recognised_for_each_request(
    batch: Connector, kind: Callable[[Connector], str], following: Callable[[Connector], str]
) -> None:
    ids, request = send_set(batch, kind, 4)
    behind = following(batch)
    response = set_response(request)
    batch.receive(response)
    before = {request_id: batch.record(request_id) for request_id in ids}
    if labels_in(batch.send()) != [behind]:
        pytest.fail("The next request was not sent.")

    batch.receive(response)

    assert {request_id: batch.record(request_id) for request_id in ids} == before
    assert batch.record(behind).state is State.SENT


def test_a_late_response_to_an_earlier_read_does_not_end_the_writes_of_a_set(batch: Connector) -> None:
    read(batch)
    read(batch)
    ids = [batch.write() for _ in range(7)]
    request, late = batch.begin(), []
    while len(labels_in(request)) < 4:
        late.append(set_response(request))
        batch.receive(late[-1])
        request = batch.send()
    for response in late:
        batch.receive(response)

    batch.receive(set_response(request))

    assert states_of(batch, ids[:5]) == ["response_received"] * 5


@pytest.mark.parametrize("text", ["", "<QBXML>", response_to('<CustomerAddRq requestID="x">'), "<QBXML/>"])
def test_quickbooks_is_asked_for_the_response_if_a_text_does_not_name_the_set(batch: Connector, text: str) -> None:
    ids, request = send_set(batch, size=4)

    batch.receive(text)

    assert batch.send() == ""
    batch.close()
    check = batch.begin()
    assert requests_in(check) == []
    batch.receive(set_response(request))
    assert states_of(batch, ids) == ["response_received"] * 4


def test_a_response_of_the_set_that_is_cut_off_is_kept_for_a_person(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)
    text = set_response(request)[:-40]

    batch.receive(text)

    assert codes_of(batch, ids) == ["outcome_unknown"] * 4
    assert [batch.response(request_id) for request_id in ids] == [text, None, None, None]


# --- Lost sets


def test_a_lost_set_is_recovered_as_a_whole(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)

    check = batch.take_over()

    assert requests_in(check) == []
    assert states_of(batch, ids) == ["sent"] * 4
    batch.receive(set_response(request))
    assert states_of(batch, ids) == ["response_received"] * 4


@pytest.mark.parametrize("missing", [0, 1, 2, 3])
def test_a_set_that_was_sent_is_never_sent_again_without_one_of_its_requests(batch: Connector, missing: int) -> None:
    """A table that was restored alone can lack a request. QuickBooks would store the set under another content."""
    ids, _ = send_set(batch, size=4)
    batch.receive("", BUSY)
    batch.close()
    batch.clock.advance(minutes=10)
    batch.authenticate()
    lost = batch.record(ids[missing])
    batch.store.commit(RemoveRequest(lost, lost.updated_at))

    again = batch.send(hcp())

    assert requests_in(again) == []
    assert ("newMessageSetID" in again) == (missing > 0), "it asks for the stored responses"


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_pause_returns_all_requests_of_a_claimed_set(batch: Connector, size: int) -> None:
    ids = [batch.write() for _ in range(size)]
    batch.authenticate()
    now = batch.clock()
    session = replace(batch.session, limits=replace(batch.session.limits, paused=True))
    first, *others = map(batch.record, ids)
    claimed = (first, *(record.claimed(session.id, now) for record in others))

    items = tuple(sending.DispatchItem(RequestInFlight(record), record) for record in claimed)
    decision = sending.before_sending(sending.Dispatch(session, now, items), page_is_allowed=True)

    assert isinstance(decision, Decision)
    assert decision.reply.result == ""
    returned = [change.after for change in decision.changes if isinstance(change, ChangeRequest)]
    assert [(record.id, record.state) for record in returned] == [(request_id, State.WAITING) for request_id in ids]


@pytest.mark.parametrize("end", [Connector.close, lambda qbwc: qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)])
def test_nothing_is_believed_while_quickbooks_may_be_executing_the_set(
    batch: Connector, end: Callable[[Connector], object]
) -> None:
    ids, request = send_set(batch, size=4)
    end(batch)

    batch.receive(nothing_stored(batch.begin()))

    assert states_of(batch, ids) == ["retryable"] * 4
    batch.close()
    batch.clock.advance(seconds=MAX_EXECUTION_SECONDS)
    batch.begin()
    batch.receive(set_response(request))
    assert states_of(batch, ids) == ["response_received"] * 4


@pytest.mark.parametrize(
    "end", [Connector.close_and_wait, lambda qbwc: qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)]
)
def test_never_executed_is_not_believed_however_the_session_of_the_set_ended(
    batch: Connector, end: Callable[[Connector], object]
) -> None:
    """QuickBooks or the machine may have failed within the set, and the call that reports it may be lost."""
    ids, _ = send_set(batch, size=4)
    end(batch)

    batch.receive(nothing_stored(batch.begin()))

    assert codes_of(batch, ids) == ["outcome_unknown"] * 4
    assert batch.send() == ""


def test_never_executed_is_not_believed_if_a_request_of_the_set_has_a_response(batch: Connector) -> None:
    ids, _ = send_set(batch, size=4)
    batch.close_and_wait()
    batch.change(ids[1], state=State.RESPONSE_RECEIVED)

    batch.receive(nothing_stored(batch.begin()))

    assert codes_of(batch, ids) == ["outcome_unknown", None, "outcome_unknown", "outcome_unknown"]


def test_never_executed_is_not_believed_if_quickbooks_died_within_the_set(batch: Connector) -> None:
    ids, _ = send_set(batch, size=4)
    batch.receive("", RPC_FAILED)
    batch.close()
    batch.clock.advance(seconds=MAX_EXECUTION_SECONDS)

    batch.receive(nothing_stored(batch.begin()))

    assert codes_of(batch, ids) == ["outcome_unknown"] * 4


def test_a_partial_stored_response_ends_the_other_writes_as_unknown(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)
    batch.receive("", RPC_FAILED)
    batch.close()

    batch.begin()
    batch.receive(set_response(request, only=ids[:3]))

    assert codes_of(batch, ids) == [None, None, None, "outcome_unknown"]


def test_a_set_that_quickbooks_could_not_begin_is_sent_again_whole_with_the_same_id_and_text(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)
    batch.receive("", BUSY)
    batch.close()
    batch.clock.advance(minutes=10)

    again = batch.begin()

    assert labels_in(again) == ids
    forgets = re.compile(' oldMessageSetID="[^"]*"')
    assert forgets.sub("", again) == forgets.sub("", request)
    message_set = re.findall('newMessageSetID="([^"]*)"', again)[0]
    assert message_set not in {request_id.replace("-", "")[:20] for request_id in ids}


@pytest.mark.parametrize("bad", range(4))
def test_a_set_that_was_sent_is_not_sent_again_if_one_of_its_requests_can_no_longer_be_written(
    batch: Connector, bad: int
) -> None:
    ids, _ = send_set(batch, size=4)
    batch.receive("", BUSY)
    batch.close()
    batch.store.bodies[ids[bad]] = replace(batch.store.bodies[ids[bad]], request_xml="<QBXML><not closed")
    batch.clock.advance(minutes=10)

    assert batch.begin() == ""

    assert codes_of(batch, ids) == ["qbxml_parse_error"] * 4


def test_the_size_falls_to_one_after_an_hresult(batch: Connector) -> None:
    for _ in range(9):
        read(batch)
    request = batch.begin()
    batch.receive(set_response(request))
    assert len(requests_in(batch.send())) == 2

    batch.receive("", RPC_FAILED)

    assert len(requests_in(batch.send())) == 1


@pytest.mark.parametrize("kind", [Connector.write, read])
def test_the_size_falls_to_one_after_a_missing_response(batch: Connector, kind: Callable[[Connector], str]) -> None:
    _, request = send_set(batch, kind, 4)
    for _ in range(4):
        kind(batch)

    batch.receive(set_response(request, only=labels_in(request)[:3]))

    assert len(labels_in(batch.send())) == 1
    assert (batch.session.read_set_size, batch.session.write_set_size) == (1, 1)


def test_the_size_falls_after_a_page_that_is_too_large(batch: Connector) -> None:
    for _ in range(3):
        read(batch)
    pages = batch.iterate(100, paging=Paging(page_size=100))
    for _ in range(4):
        read(batch)
    request = batch.begin()
    batch.receive(set_response(request))
    batch.receive(set_response(batch.send()))
    batch.receive_oversized(response_to(batch.send(), content="{padding}"))
    request = batch.send()
    assert "<MaxReturned>50</MaxReturned>" in request
    batch.receive(response_to(request))

    assert len(labels_in(batch.send())) == 2
    assert batch.record(pages).state is State.RESPONSE_RECEIVED


def test_the_size_grows_after_the_answer_to_a_request_that_looks_for_its_object(batch: Connector) -> None:
    batch.queue("CustomerAddRq", "<CustomerAdd><Name>Ada</Name></CustomerAdd>", lookup=ObjectLookup(IfExists.RETURN))
    for _ in range(3):
        batch.write()
    ada = "<CustomerRet><ListID>80-1</ListID><FullName>Ada</FullName></CustomerRet>"
    batch.receive(response_to(batch.begin(), content=ada))

    assert len(labels_in(batch.send())) == 2


@pytest.mark.parametrize("change", ["discard", "delete"])
@pytest.mark.parametrize("end", [Connector.close, lambda qbwc: qbwc.receive("", BUSY)])
def test_requests_of_a_set_refuse_discard_and_delete_while_it_may_be_executed(
    batch: Connector, change: str, end: Callable[[Connector], object]
) -> None:
    ids, _ = send_set(batch, size=4)
    end(batch)
    service = RequestService(batch.store, batch.clock)

    for request_id in ids:
        with pytest.raises(MayBeExecuted):
            getattr(service, change)(APP_ID, request_id, actor=AN_ACTOR)


# --- Sets that QuickBooks cannot parse


def test_a_set_that_cannot_be_parsed_is_divided_after_a_status_check(batch: Connector) -> None:
    ids, _ = send_set(batch, size=4)

    batch.receive("", PARSE_ERROR, "It cannot be parsed.")
    check = batch.send()
    assert requests_in(check) == []
    batch.receive(nothing_stored(check))

    for request_id in ids:
        request = batch.send()
        assert labels_in(request) == [request_id]
        assert f'newMessageSetID="{request_id.replace("-", "")[:20]}"' in request
        batch.receive(set_response(request))
    assert states_of(batch, ids) == ["response_received"] * 4


def test_a_set_whose_parse_error_was_a_repetition_is_not_divided(batch: Connector) -> None:
    ids, request = send_set(batch, size=4)

    batch.receive("", PARSE_ERROR, "It cannot be parsed.")
    batch.send()
    batch.receive(set_response(request))

    assert states_of(batch, ids) == ["response_received"] * 4


def test_a_set_is_not_divided_if_its_session_ends_before_the_status_check(batch: Connector) -> None:
    ids, _ = send_set(batch, size=4)
    batch.receive("", PARSE_ERROR, "It cannot be parsed.")

    batch.receive(nothing_stored(batch.take_over()))

    assert states_of(batch, ids) == ["retryable"] * 4


def test_a_set_is_not_divided_if_quickbooks_reports_another_failure(batch: Connector) -> None:
    """The parse error was a repetition of an earlier one, and QuickBooks has died within the set."""
    ids, _ = send_set(batch, size=4)
    batch.receive("", PARSE_ERROR, "It cannot be parsed.")
    batch.receive("", RPC_FAILED)
    batch.close()
    batch.clock.advance(seconds=MAX_EXECUTION_SECONDS)

    batch.receive(nothing_stored(batch.begin()))

    assert codes_of(batch, ids) == ["outcome_unknown"] * 4


def test_reads_that_cannot_be_parsed_together_are_sent_alone(batch: Connector) -> None:
    ids, _ = send_set(batch, read, 4)

    batch.receive("", PARSE_ERROR, "It cannot be parsed.")

    for request_id in ids:
        request = batch.send()
        assert labels_in(request) == [request_id]
        batch.receive(response_to(request))


def labels_in_set(ids: Sequence[str]) -> list[str]:
    """Return the labels of reads that are sent together."""
    return [f"set-{request_id}" for request_id in ids]


ENDS: dict[str, Callable[[Connector], object]] = {
    "another login": lambda qbwc: qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE),
    "closed": Connector.close,
    "connectionError": lambda qbwc: qbwc.call("connectionError", qbwc.ticket, BUSY, "It is busy."),
    "lost session": lambda qbwc: qbwc.store.lose_sessions(),
}


def groups_sent(qbwc: Connector, request: str) -> list[list[str]]:
    """Answer this request and those that follow. Return the labels that were sent together."""
    groups = []
    while request:
        groups.append(labels_in(request))
        qbwc.receive(set_response(request))
        request = qbwc.send()
    return groups


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_lost_set_counts_for_none_of_its_reads_and_each_is_sent_alone_before_anything_behind_it(
    batch: Connector, end: Callable[[Connector], object]
) -> None:
    ids, _ = send_set(batch, read, 4)
    behind = [read(batch) for _ in range(3)]
    end(batch)

    request = batch.begin()

    waiting = [batch.record(request_id) for request_id in ids[1:]]
    assert [(record.attempts, record.state.value) for record in waiting] == [(Attempts(), "retryable")] * 3
    assert groups_sent(batch, request) == [[request_id] for request_id in ids] + [labels_in_set(behind[:2]), behind[2:]]


@pytest.mark.parametrize("hresult", [RPC_FAILED, BUSY, PARSE_ERROR, "0x80004005", "0x80010105"])
def test_an_hresult_of_a_set_counts_for_none_of_its_reads_and_each_is_sent_alone_in_the_same_session(
    batch: Connector, hresult: str
) -> None:
    ids, _ = send_set(batch, read, 4)
    behind = [read(batch) for _ in range(3)]

    assert batch.receive("", hresult) < 100

    assert [batch.record(request_id).attempts for request_id in ids] == [Attempts()] * 4
    groups = groups_sent(batch, batch.send())
    assert groups == [[request_id] for request_id in ids] + [labels_in_set(behind[:2]), behind[2:]]
    assert [batch.record(request_id).attempts.sessions for request_id in ids] == [1] * 4


def test_a_session_ends_if_quickbooks_fails_for_a_set_and_then_for_one_of_its_reads(batch: Connector) -> None:
    ids, _ = send_set(batch, read, 4)
    batch.receive("", RPC_FAILED)
    batch.send()

    assert batch.receive("", RPC_FAILED) == -1

    assert states_of(batch, ids) == ["retryable"] * 4
    assert [batch.record(request_id).attempts.sessions for request_id in ids] == [0] * 4


def test_a_read_at_fault_is_sent_alone_in_three_sessions_after_its_set(batch: Connector) -> None:
    (bad, other), _ = send_set(batch, read, 2)

    for _ in range(MAX_SESSIONS):
        request = batch.take_over()
        while labels_in(request) != [bad]:
            batch.receive(set_response(request))
            request = batch.send()
    batch.close()

    assert codes_of(batch, [bad, other]) == ["response_too_large", None]
    assert batch.record(bad).attempts.sessions == 3


# --- What a connection remembers


def test_the_next_session_begins_with_the_size_that_suited_the_last_answers(batch: Connector) -> None:
    batch.receive(set_response(send_set(batch, read, 4)[1]))
    batch.close()
    for kind in (Connector.write, read):
        for _ in range(6):
            kind(batch)

    assert sizes(batch) == [1, 2, 3, 5, 1], "writes begin with one, and reads with what suited"


def test_the_size_follows_what_the_last_answers_took_also_in_the_next_session(batch: Connector) -> None:
    request = send_set(batch, read, 4)[1]
    batch.clock.advance(seconds=12)
    batch.receive(set_response(request))
    batch.close()
    for _ in range(4):
        read(batch)

    assert sizes(batch)[0] == 3


@pytest.mark.parametrize("is_lost", [True, False])
def test_the_next_session_begins_with_one_read_after_a_loss_or_an_hresult(batch: Connector, *, is_lost: bool) -> None:
    send_set(batch, read, 4)
    if not is_lost:
        batch.receive("", RPC_FAILED)
        for _ in range(4):
            batch.receive(set_response(batch.send()))
    batch.close()
    for _ in range(3):
        read(batch)

    answered = sizes(batch)

    assert answered == ([1, 1, 1, 1, 2, 1] if is_lost else [1, 2])


def test_reads_are_sent_together_without_a_setting_and_writes_are_not(qbwc: Connector) -> None:
    for kind in (read, Connector.write):
        for _ in range(45):
            kind(qbwc)

    assert sizes(qbwc) == [1, 2, 4, 8, 16, 14, *[1] * 45]


def test_a_connection_can_send_each_read_alone(qbwc: Connector) -> None:
    qbwc.store.connections[qbwc.connection.id] = replace(qbwc.connection, read_batch_size=1, read_set_size=20)
    for _ in range(5):
        read(qbwc)

    assert sizes(qbwc) == [1] * 5


@pytest.mark.parametrize(("objects", "expected"), [(20, 20), (21, 19), (100, 4), (400, 1)])
def test_the_reads_of_a_set_ask_for_a_limited_number_of_objects(qbwc: Connector, objects: int, expected: int) -> None:
    qbwc.store.connections[qbwc.connection.id] = replace(qbwc.connection, read_set_size=20)
    for _ in range(20):
        qbwc.queue(READ[0], f"<MaxReturned>{objects}</MaxReturned>")

    assert sizes(qbwc)[0] == expected


def test_reads_with_a_response_that_is_too_large_together_are_sent_alone(batch: Connector) -> None:
    ids, request = send_set(batch, read, 4)

    batch.receive_oversized(set_response(request, content="{padding}"))

    assert labels_in(batch.send()) == [ids[0]]
