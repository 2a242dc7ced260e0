"""Queue, read, discard, delete, redeliver."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from domain import qbxml
from domain.errors import (
    Conflict,
    Gone,
    IdempotencyKeyReused,
    InFlight,
    InvalidState,
    NotFound,
    TooManyRequests,
    UnsupportedByVersion,
)
from domain.requests.record import QueuedRequest, State, Tombstone, Webhook, WebhookState, timestamp
from domain.requests.service import Idempotency, RequestService
from domain.storage.changes import AddConnection, AddRequest, Change, ChangeConnection, ChangeRequest
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    OTHER_APP_ID,
    REQUEST_XML,
    FixedClock,
    SequentialIds,
    a_connection,
    a_record,
)
from tests.support.fake_store import FakeStore

REQUEST = qbxml.parse_request_xml(REQUEST_XML)
UNLABELLED = qbxml.parse_request_xml(
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq/></QBXMLMsgsRq></QBXML>'
)
HOOK = "https://example.com/hook"
MISSING = "b0000000-0000-4000-8000-00000000dead"


class CountingStore(FakeStore):
    """A store that counts commits and, while `rivals` lasts, is changed by somebody else before one."""

    def __init__(self) -> None:
        super().__init__()
        self.commits = 0
        self.rivals = 0

    def commit(self, *changes: Change) -> None:
        """Count, and let a rival change the record first."""
        self.commits += 1
        if self.rivals and not isinstance(changes[0], AddRequest | AddConnection):
            self.rivals -= 1
            raise Conflict(changes[0], None)
        super().commit(*changes)


@dataclass
class Bench:
    """The use cases over a store with one connection."""

    store: CountingStore = field(default_factory=CountingStore)
    clock: FixedClock = field(default_factory=FixedClock)

    def __post_init__(self) -> None:
        self.store.commit(AddConnection(a_connection()))
        self.queueing = RequestService(self.store, self.clock, SequentialIds())
        self.store.commits = 0

    def has(self, record: QueuedRequest) -> QueuedRequest:
        """Store a record."""
        self.store.commit(AddRequest(record, REQUEST_XML, ""))
        return record


@pytest.fixture
def bench() -> Bench:
    """Return the use cases."""
    return Bench()


class TestQueue:
    """RequestService a request."""

    def test_it_waits_with_its_label_and_its_text(self, bench: Bench) -> None:
        queued = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, HOOK)

        record = queued.stored.record
        assert (record.state, record.webhook_state) == (State.WAITING, WebhookState.PENDING)
        assert (record.request_name, record.request_label, record.qbxml_version) == ("CustomerQueryRq", "1", "13.0")
        assert record.inserted_at == record.updated_at == timestamp(bench.clock())
        assert bench.store.stored_request(record.id) == queued.stored
        assert not queued.repeated

    def test_it_is_one_commit(self, bench: Bench) -> None:
        bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, HOOK, Idempotency("key", "hash"))

        assert bench.store.commits == 1

    def test_a_request_without_a_label_gets_its_id(self, bench: Bench) -> None:
        stored = bench.queueing.queue(APP_ID, CONNECTION_ID, UNLABELLED, None).stored

        assert stored.record.request_label == stored.record.id
        assert f'requestID="{stored.record.id}"' in stored.request_xml
        assert stored.record.webhook_state == WebhookState.NOT_APPLICABLE

    def test_it_can_be_searched(self, bench: Bench) -> None:
        stored = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None).stored

        for needle in ("customerqueryrq", stored.record.id):
            assert bench.store.search_hits(CONNECTION_ID, needle, []) == [(stored.record.inserted_at, stored.record.id)]

    def test_the_connections_default_webhook_is_taken_and_remembered(self, bench: Bench) -> None:
        before = a_connection()
        bench.store.commit(ChangeConnection(before, before.changed(timestamp(bench.clock()), webhook_url=HOOK)))
        bench.store.commits = 0

        first = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None)
        second = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None)

        assert first.stored.record.webhook.url == second.stored.record.webhook.url == HOOK
        assert bench.store.commits == 2
        own = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, "https://example.com/own")
        assert own.stored.record.webhook.url == "https://example.com/own"

    def test_a_default_that_was_changed_since_is_learned_from_the_conflict(self, bench: Bench) -> None:
        bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None)
        before = a_connection()
        bench.store.commit(ChangeConnection(before, before.changed(timestamp(bench.clock()), webhook_url=HOOK)))
        bench.store.commits = 0

        queued = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None)

        assert queued.stored.record.webhook.url == HOOK
        assert bench.store.commits == 2

    def test_a_known_connection_is_anothers_still_and_gone_when_deleted(self, bench: Bench) -> None:
        bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None)
        with pytest.raises(NotFound):
            bench.queueing.queue(OTHER_APP_ID, CONNECTION_ID, REQUEST, None)
        before, now = a_connection(), timestamp(bench.clock())
        bench.store.commit(ChangeConnection(before, before.changed(now, deleted_at=now)))

        with pytest.raises(NotFound):
            bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None)

        assert len(bench.store.records) == 1

    def test_a_version_that_quickbooks_does_not_serve_is_refused_until_it_does(self, bench: Bench) -> None:
        before = a_connection()
        old = before.changed(timestamp(bench.clock()), qbxml_version="12.0")
        bench.store.commit(ChangeConnection(before, old))
        with pytest.raises(UnsupportedByVersion):
            bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None)
        bench.store.commit(ChangeConnection(old, old.changed(timestamp(bench.clock()), qbxml_version="16.0")))

        assert bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None).stored.record.qbxml_version == "13.0"

    @pytest.mark.parametrize(("app_id", "connection_id"), [(OTHER_APP_ID, CONNECTION_ID), (APP_ID, MISSING)])
    def test_anothers_and_missing_connections_are_not_found(
        self, bench: Bench, app_id: str, connection_id: str
    ) -> None:
        with pytest.raises(NotFound):
            bench.queueing.queue(app_id, connection_id, REQUEST, None)

        assert not bench.store.records

    def test_the_same_key_and_body_answer_the_first_record(self, bench: Bench) -> None:
        key = Idempotency.of("key", CONNECTION_ID, {"a": 1, "b": 2})
        first = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None, key)
        bench.clock.advance(hours=23)

        again = Idempotency.of("key", CONNECTION_ID, {"b": 2, "a": 1})
        second = bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None, again)

        assert second.repeated
        assert second.stored == first.stored
        assert len(bench.store.records) == 1

    def test_the_same_key_with_another_body_is_refused(self, bench: Bench) -> None:
        bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None, Idempotency("key", "one"))

        with pytest.raises(IdempotencyKeyReused):
            bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None, Idempotency("key", "two"))

    def test_a_key_is_free_after_a_day_and_for_other_apps(self, bench: Bench) -> None:
        bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None, Idempotency("key", "one"))
        bench.clock.advance(hours=24)

        assert not bench.queueing.queue(APP_ID, CONNECTION_ID, REQUEST, None, Idempotency("key", "two")).repeated


class TestGet:
    """Reading a record."""

    def test_what_is_anothers_or_missing_is_not_found(self, bench: Bench) -> None:
        record = bench.has(a_record())

        assert bench.queueing.get(APP_ID, record.id, CONNECTION_ID).record == record
        for app_id, request_id, connection_id in (
            (OTHER_APP_ID, record.id, None),
            (APP_ID, MISSING, None),
            (APP_ID, record.id, MISSING),
        ):
            with pytest.raises(NotFound):
                bench.queueing.get(app_id, request_id, connection_id)

    def test_a_deleted_one_is_gone_for_its_owner_only(self, bench: Bench) -> None:
        record = bench.has(a_record(state=State.ERROR))
        bench.queueing.delete(APP_ID, record.id)

        with pytest.raises(Gone):
            bench.queueing.get(APP_ID, record.id)
        with pytest.raises(NotFound):
            bench.queueing.get(OTHER_APP_ID, record.id)


class TestDiscard:
    """Taking a request out of the queue."""

    @pytest.mark.parametrize("state", [State.WAITING, State.RETRYABLE])
    def test_a_queued_one_is_discarded(self, bench: Bench, state: State) -> None:
        record = bench.has(a_record(state=state))
        bench.clock.advance(seconds=5)

        stored = bench.queueing.discard(APP_ID, record.id)

        assert stored.record.state == State.DISCARDED
        assert stored.record.updated_at == timestamp(bench.clock())
        assert bench.store.request(record.id) == stored.record

    @pytest.mark.parametrize("state", [State.TICKETED, State.SENT])
    def test_one_in_flight_is_refused(self, bench: Bench, state: State) -> None:
        record = bench.has(a_record(state=state))

        with pytest.raises(InFlight):
            bench.queueing.discard(APP_ID, record.id)

        assert bench.store.request(record.id) == record

    @pytest.mark.parametrize("state", [State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED])
    def test_an_ended_one_is_refused(self, bench: Bench, state: State) -> None:
        record = bench.has(a_record(state=state))

        with pytest.raises(InvalidState):
            bench.queueing.discard(APP_ID, record.id)

    def test_it_is_tried_again_when_somebody_was_first(self, bench: Bench) -> None:
        record = bench.has(a_record())
        bench.store.rivals = 2

        assert bench.queueing.discard(APP_ID, record.id).record.state == State.DISCARDED

    def test_it_gives_up_when_somebody_is_always_first(self, bench: Bench) -> None:
        record = bench.has(a_record())
        bench.store.rivals = 100

        with pytest.raises(TooManyRequests):
            bench.queueing.discard(APP_ID, record.id)
        with pytest.raises(TooManyRequests):
            bench.queueing.delete(APP_ID, record.id, force=True)


class TestDelete:
    """Deleting a record."""

    @pytest.mark.parametrize("state", [State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED])
    def test_an_ended_one_is_deleted_once_and_again(self, bench: Bench, state: State) -> None:
        record = bench.has(a_record(state=state))

        bench.queueing.delete(APP_ID, record.id)
        bench.queueing.delete(APP_ID, record.id)

        assert isinstance(bench.store.request(record.id), Tombstone)
        assert not bench.store.counts

    @pytest.mark.parametrize("state", [State.WAITING, State.RETRYABLE])
    def test_a_queued_one_only_by_force(self, bench: Bench, state: State) -> None:
        record = bench.has(a_record(state=state))

        with pytest.raises(InvalidState):
            bench.queueing.delete(APP_ID, record.id)
        bench.queueing.delete(APP_ID, record.id, force=True)

        assert isinstance(bench.store.request(record.id), Tombstone)

    @pytest.mark.parametrize("force", [True, False])
    @pytest.mark.parametrize("state", [State.TICKETED, State.SENT])
    def test_one_in_flight_never(self, bench: Bench, state: State, *, force: bool) -> None:
        record = bench.has(a_record(state=state))

        with pytest.raises(InFlight):
            bench.queueing.delete(APP_ID, record.id, force=force)

    def test_anothers_and_missing_ones_are_not_found(self, bench: Bench) -> None:
        record = bench.has(a_record(state=State.ERROR))

        for app_id, request_id in ((OTHER_APP_ID, record.id), (APP_ID, MISSING)):
            with pytest.raises(NotFound):
                bench.queueing.delete(app_id, request_id)


class TestRedeliver:
    """Having the webhook sent again."""

    @pytest.mark.parametrize("webhook_state", [WebhookState.SUCCEEDED, WebhookState.FAILED, WebhookState.PENDING])
    def test_it_begins_a_new_round(self, bench: Bench, webhook_state: WebhookState) -> None:
        record = bench.has(
            a_record(
                state=State.ERROR,
                webhook=Webhook(webhook_state, HOOK, tries=8, error="gave up"),
            )
        )

        after = bench.queueing.redeliver(APP_ID, record.id).record

        assert after.webhook_state == WebhookState.PENDING
        assert (after.webhook.round, after.webhook.tries, after.webhook.error) == (1, 0, None)

    def test_nothing_is_delivered_without_a_url_or_before_the_end(self, bench: Bench) -> None:
        without = bench.has(a_record(state=State.ERROR))
        waiting = bench.has(a_record(webhook=Webhook.to(HOOK)))

        for record in (without, waiting):
            with pytest.raises(InvalidState):
                bench.queueing.redeliver(APP_ID, record.id)


def test_a_transition_that_is_not_in_the_table_is_refused() -> None:
    record = replace(a_record(), state=State.ERROR)

    with pytest.raises(InvalidState):
        record.moved(State.SENT, FixedClock()())


def test_a_change_moves_revision_and_moment_on() -> None:
    clock = FixedClock()
    record = a_record()

    after = record.changed(clock.advance(seconds=1), sessions=1)

    assert (after.revision, after.updated_at) == (record.revision + 1, timestamp(clock()))


def test_commits_that_leave_a_state_name_the_record_they_saw(bench: Bench) -> None:
    """Two who discard and claim the same record cannot both win."""
    record = bench.has(a_record())
    bench.queueing.discard(APP_ID, record.id)

    with pytest.raises(Conflict):
        bench.store.commit(ChangeRequest(record, record.moved(State.TICKETED, bench.clock())))
