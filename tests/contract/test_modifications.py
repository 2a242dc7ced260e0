"""The Mod of a request with `if_exists`: it is stored with its ID, and is never read with the ID of another one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.records.approval import Approval
from domain.records.lookup import FieldChange, IfExists, LookupStep, ObjectLookup
from domain.records.request import Claim, State, StoredRequest
from domain.records.session import InFlight
from domain.storage.changes import ChangeRequest, Put
from domain.storage.ports import RequestDetail
from local.emulated_dynamodb import emulated_dynamodb
from tests.contract.stores import LATER, add, stored_request
from tests.contract.test_torn_values import Bench
from tests.support.builders import a_connection, a_record, a_session
from tests.support.unreliable_dynamodb import TORN

if TYPE_CHECKING:
    from domain.records.request import ListedRequest, QueuedRequest
    from tests.contract.stores import AnyStore

FIRST, SECOND = "a" * 20, "b" * 20


def mod(mod_id: str) -> str:
    """Return a Mod with this ID."""
    return f'<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerModRq requestID="mod-{mod_id}"/></QBXMLMsgsRq></QBXML>'


def changes(mod_id: str) -> tuple[FieldChange, ...]:
    """Return what the Mod with this ID changes."""
    return FieldChange("Phone", None, mod_id), FieldChange("BillAddress/City", "Köln", "")


def added(store: AnyStore) -> QueuedRequest:
    """Store a request that has asked for its object, and return it."""
    store.commit(Put(None, a_connection()))
    claim = Claim(a_session().id)
    record = a_record(state=State.SENT, lookup=ObjectLookup(IfExists.UPDATE), claim=claim)
    add(store, record)
    return record


def next_step(store: AnyStore, before: QueuedRequest, mod_id: str | None) -> QueuedRequest:
    """Store the next step of a request: a Mod, or its addition. Return the request as it waits for the answer."""
    lookup = before.lookup or ObjectLookup(IfExists.UPDATE)
    lookup = lookup.modifying(mod_id) if mod_id else lookup.at(LookupStep.ADD)
    after = replace(before, state=State.SENT, lookup=lookup).changed(LATER)
    change = ChangeRequest(before, after)
    store.commit(replace(change, modification_xml=mod(mod_id), field_changes=changes(mod_id)) if mod_id else change)
    return after


def texts(store: AnyStore, record: QueuedRequest) -> set[str | None]:
    """Return the Mod as each read returns it: to send it, and to show it."""
    stored = stored_request(store, record.id)
    assert isinstance(stored, StoredRequest)
    mod_id = record.lookup and record.lookup.modification_id
    assert stored.field_changes == (changes(mod_id) if mod_id else ())
    return {stored.modification_xml, store.with_request_xml([record])[0].modification_xml}


def test_each_mod_replaces_the_one_before_it_and_an_addition_has_none(store: AnyStore) -> None:
    looked = added(store)
    assert texts(store, looked) == {None}
    first = next_step(store, looked, FIRST)
    assert texts(store, first) == {mod(FIRST)}
    second = next_step(store, first, SECOND)
    assert texts(store, second) == {mod(SECOND)}
    assert texts(store, next_step(store, second, None)) == {None}


def test_a_list_does_not_look_for_a_mod_that_is_missing() -> None:
    with emulated_dynamodb():
        bench = Bench()
        first = next_step(bench.store, added(bench.store), FIRST)
        without = replace(first, lookup=first.lookup and first.lookup.modifying(SECOND)).changed(LATER)
        bench.store.commit(ChangeRequest(first, without))

        assert [record.id for record in bench.store.request_batch([without.id]).records] == [without.id]
        assert bench.pauses == []


def awaiting_approval(first: QueuedRequest) -> QueuedRequest:
    """Return a record whose first Mod waits for approval."""
    lookup = ObjectLookup(IfExists.UPDATE).modifying(FIRST)
    waiting = replace(first, state=State.RETRYABLE, claim=Claim(), approval=Approval("key"), lookup=lookup)
    return waiting.changed(LATER)


def test_a_torn_read_of_a_mod_that_waits_for_approval_is_repeated() -> None:
    """Otherwise its revision would be shown, and could be approved, as that of an addition."""
    with emulated_dynamodb():
        bench = Bench()
        first = added(bench.store)
        waiting = awaiting_approval(first)
        assert waiting.awaits_approval
        bench.store.commit(ChangeRequest(first, waiting, modification_xml=mod(FIRST), field_changes=changes(FIRST)))
        bench.tear()

        detail = bench.store.request_detail(first.id)

        assert TORN in bench.client.happened
        assert isinstance(detail, RequestDetail)
        assert detail.stored.modification_xml == mod(FIRST)


def test_a_list_has_the_mod_only_while_it_waits_for_approval(store: AnyStore) -> None:
    first = added(store)
    waiting = awaiting_approval(first)
    store.commit(ChangeRequest(first, waiting, modification_xml=mod(FIRST), field_changes=changes(FIRST)))

    listed = in_list(store, waiting)
    assert (listed.modification_xml, listed.field_changes) == (mod(FIRST), changes(FIRST))
    assert not listed.lacks_modification
    too_large = in_list(store, waiting, max_total_bytes=len(listed.request_xml or "") + 10)
    assert (too_large.modification_xml, too_large.field_changes, too_large.lacks_modification) == (None, (), True)
    approved = waiting.approved("key_approver", LATER)
    store.commit(ChangeRequest(waiting, approved))
    assert in_list(store, approved).modification_xml is None
    assert not in_list(store, approved).lacks_modification


def in_list(store: AnyStore, record: QueuedRequest, max_total_bytes: int = 1_000_000) -> ListedRequest:
    """Return a record as a list reads it."""
    batch = store.request_batch([record.id])
    (listed,) = batch.with_bodies(list(batch.records), max_response_bytes=1_000, max_total_bytes=max_total_bytes)
    return listed


def test_a_torn_read_of_a_mod_that_waits_is_repeated_for_a_list() -> None:
    with emulated_dynamodb():
        bench = Bench()
        first = added(bench.store)
        waiting = awaiting_approval(first)
        bench.store.commit(ChangeRequest(first, waiting, modification_xml=mod(FIRST), field_changes=changes(FIRST)))
        bench.tear()

        listed = in_list(bench.store, waiting)

        assert TORN in bench.client.happened
        assert (listed.record.awaits_approval, listed.modification_xml) == (True, mod(FIRST))


def test_a_torn_read_of_a_mod_is_repeated() -> None:
    with emulated_dynamodb():
        bench = Bench()
        first = next_step(bench.store, added(bench.store), FIRST)
        second = next_step(bench.store, first, SECOND)
        bench.tear()

        (request,), _ = bench.store.requests_in_flight(a_session(in_flight=InFlight((second.id,))))

        assert TORN in bench.client.happened
        assert (request.record.message_set_id, request.modification_xml) == (SECOND, mod(SECOND))
