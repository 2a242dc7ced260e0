"""Apps queue, read, discard, delete and redeliver requests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from domain import qbxml
from domain.apps.quotas import Quotas
from domain.errors import (
    Conflict,
    Gone,
    IdempotencyKeyReused,
    InvalidState,
    MayBeExecuted,
    NotFound,
    RequestTooLarge,
    TooManyRequests,
    UnsupportedByVersion,
)
from domain.queueing.new_request import Idempotency, NewRequest, Queueing, QueueRequest
from domain.queueing.service import RequestService
from domain.records.request import Attempts, QueuedRequest, State, Tombstone
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, Change, ChangeRequest, Put
from domain.storage.ports import RequestDetail
from domain.timestamps import timestamp
from domain.webhooks.addresses import UrlRules
from tests.support.builders import (
    AN_ACTOR,
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
from tests.support.qbxml_samples import element
from tests.support.queueing import command, queueing_without_quotas

if TYPE_CHECKING:
    from domain.records.connection import Connection


REQUEST = qbxml.parse_request_xml(REQUEST_XML)
UNLABELLED = qbxml.parse_request_xml(
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq/></QBXMLMsgsRq></QBXML>'
)
HOOK = "https://example.com/hook"
MISSING = "b0000000-0000-4000-8000-00000000dead"


class CountingStore(FakeStore):
    """A store that counts commits and reads of connections. While `rivals` is above 0, another caller commits first."""

    def __init__(self) -> None:
        super().__init__()
        self.commits = 0
        self.connection_reads = 0
        self.rivals = 0

    def connection(self, connection_id: str) -> Connection | None:
        """Count the read."""
        self.connection_reads += 1
        return super().connection(connection_id)

    def commit(self, *changes: Change) -> None:
        """Count the commit, and conflict while there are rivals."""
        self.commits += 1
        if self.rivals and not isinstance(changes[0], AddRequest):
            self.rivals -= 1
            raise Conflict(changes[0], None)
        super().commit(*changes)


def request_for(connection: Connection, country: str) -> NewRequest:
    """Return a request of a newer version, if the connection has this country."""
    assert connection.country == country
    return NewRequest(qbxml.parse_request_xml(REQUEST_XML, default_version="16.0"))


@dataclass
class Requests:
    """The request service over a store with one connection."""

    store: CountingStore = field(default_factory=CountingStore)
    clock: FixedClock = field(default_factory=FixedClock)

    def __post_init__(self) -> None:
        self.store.commit(Put(None, a_connection()))
        self.service = RequestService(self.store, self.clock)
        self.queueing = queueing_without_quotas(self.store, self.clock, SequentialIds())
        self.store.commits = 0

    def add(self, record: QueuedRequest) -> QueuedRequest:
        """Store a record."""
        self.store.commit(AddRequest(record, REQUEST_XML, ""))
        return record


@pytest.fixture
def requests() -> Requests:
    """Return the service over one connection."""
    return Requests()


class TestQueue:
    """Queueing a request."""

    def test_a_queued_request_waits_with_its_label_and_its_text(self, requests: Requests) -> None:
        result = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, HOOK))

        record = result.stored.record
        assert (record.state, record.webhook_state) == (State.WAITING, WebhookState.PENDING)
        assert (record.request_name, record.request_label, record.qbxml_version) == ("CustomerQueryRq", "1", "13.0")
        assert record.inserted_at == record.updated_at == timestamp(requests.clock())
        detail = requests.store.request_detail(record.id)
        assert isinstance(detail, RequestDetail)
        assert detail.stored == result.stored
        assert not result.repeated

    def test_queueing_is_one_commit(self, requests: Requests) -> None:
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, HOOK, Idempotency("key", "hash")))

        assert requests.store.commits == 1

    def test_the_bytes_of_a_request_count_once_although_its_commit_is_repeated(self, requests: Requests) -> None:
        quotas = Mock(spec=Quotas)
        rules = UrlRules(allow_http=True, allow_loopback=True)
        queueing = Queueing(requests.store, requests.clock, SequentialIds(), quotas=quotas, url_rules=rules)
        commit, rivals = requests.store.commit, [1, 2]

        def contended(*changes: Change) -> None:
            if rivals:
                rivals.pop()
                raise Conflict(changes[0], requests.store.connection(CONNECTION_ID))
            commit(*changes)

        requests.store.commit = contended  # type: ignore[method-assign]

        queued = queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, HOOK))

        ((_, _, size),) = (call.args for call in quotas.check_written.call_args_list)
        assert size == len(queued.stored.request_xml.encode())

    def test_a_request_without_a_label_gets_its_id_as_label(self, requests: Requests) -> None:
        stored_request = requests.queueing.queue(command(APP_ID, CONNECTION_ID, UNLABELLED)).stored

        assert stored_request.record.request_label == stored_request.record.id
        assert f'requestID="{stored_request.record.id}"' in stored_request.request_xml
        assert stored_request.record.webhook_state == WebhookState.NOT_APPLICABLE

    def test_a_queued_request_can_be_searched(self, requests: Requests) -> None:
        stored_request = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST)).stored

        for needle in ("customerqueryrq", stored_request.record.id):
            assert requests.store.search_matches(CONNECTION_ID, (needle,), []) == [
                (stored_request.record.inserted_at, stored_request.record.id)
            ]

    def test_the_default_webhook_url_of_the_connection_is_used_and_cached(self, requests: Requests) -> None:
        before = a_connection()
        requests.store.commit(Put(before, replace(before, webhook_url=HOOK).changed(timestamp(requests.clock()))))
        requests.store.commits = 0

        first = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))
        second = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))

        assert first.stored.record.webhook.url == second.stored.record.webhook.url == HOOK
        assert requests.store.commits == 2
        own = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, "https://example.com/own"))
        assert own.stored.record.webhook.url == "https://example.com/own"

    def test_a_changed_default_webhook_url_is_read_from_the_conflict(self, requests: Requests) -> None:
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))
        before = a_connection()
        requests.store.commit(Put(before, replace(before, webhook_url=HOOK).changed(timestamp(requests.clock()))))
        requests.store.commits = 0

        result = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))

        assert result.stored.record.webhook.url == HOOK
        assert requests.store.commits == 2

    def test_a_cached_connection_is_hidden_from_other_apps_and_not_found_when_deleted(self, requests: Requests) -> None:
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))
        with pytest.raises(NotFound):
            requests.queueing.queue(command(OTHER_APP_ID, CONNECTION_ID, REQUEST))
        before, now = a_connection(), timestamp(requests.clock())
        requests.store.commit(Put(before, replace(before, deleted_at=now).changed(now)))

        with pytest.raises(NotFound):
            requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))

        assert len(requests.store.records) == 1

    def test_a_version_is_refused_until_quickbooks_supports_it(self, requests: Requests) -> None:
        before = a_connection()
        old = replace(before, qbxml_version="12.0").changed(timestamp(requests.clock()))
        requests.store.commit(Put(before, old))
        with pytest.raises(UnsupportedByVersion):
            requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))
        requests.store.commit(Put(old, replace(old, qbxml_version="16.0").changed(timestamp(requests.clock()))))

        assert requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST)).stored.record.qbxml_version == "13.0"

    def test_a_process_sees_the_facts_that_a_session_of_another_process_stored_within_a_minute(
        self, requests: Requests
    ) -> None:
        """A request of a version that QuickBooks does not support must not wait for years in the queue."""
        newer = qbxml.parse_request_xml(REQUEST_XML, default_version="16.0")
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, newer))  # accepted: nothing is known about QuickBooks
        other_process = queueing_without_quotas(requests.store, requests.clock, SequentialIds(last=100))
        before = a_connection()
        facts = replace(before, qbxml_version="13.0", country="CA").changed(timestamp(requests.clock()))
        requests.store.commit(Put(before, facts))

        requests.clock.advance(seconds=61)

        with pytest.raises(UnsupportedByVersion, match=r"13\.0"):
            requests.queueing.queue(QueueRequest(APP_ID, CONNECTION_ID, partial(request_for, country="CA")))
        for queueing in (requests.queueing, other_process):
            with pytest.raises(UnsupportedByVersion):
                queueing.queue(command(APP_ID, CONNECTION_ID, newer))

    def test_within_a_minute_queueing_costs_one_commit_and_no_read(self, requests: Requests) -> None:
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))
        requests.clock.advance(seconds=60)
        requests.store.connection_reads = 0

        requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST))

        assert (requests.store.commits, requests.store.connection_reads) == (2, 0)

    @pytest.mark.parametrize(("app_id", "connection_id"), [(OTHER_APP_ID, CONNECTION_ID), (APP_ID, MISSING)])
    def test_missing_connections_and_those_of_other_apps_are_not_found(
        self, requests: Requests, app_id: str, connection_id: str
    ) -> None:
        with pytest.raises(NotFound):
            requests.queueing.queue(command(app_id, connection_id, REQUEST))

        assert not requests.store.records

    def test_the_same_key_and_body_return_the_first_record(self, requests: Requests) -> None:
        key = Idempotency.of("key", CONNECTION_ID, {"a": 1, "b": 2})
        first = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, idempotency=key))
        requests.clock.advance(hours=23)

        again = Idempotency.of("key", CONNECTION_ID, {"b": 2, "a": 1})
        second = requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, idempotency=again))

        assert second.repeated
        assert second.stored == first.stored
        assert len(requests.store.records) == 1

    def test_the_same_key_with_another_body_is_refused(self, requests: Requests) -> None:
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, idempotency=Idempotency("key", "one")))

        with pytest.raises(IdempotencyKeyReused):
            requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, idempotency=Idempotency("key", "two")))

    def test_a_key_can_be_used_again_after_a_day(self, requests: Requests) -> None:
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, idempotency=Idempotency("key", "one")))
        requests.clock.advance(hours=24)

        assert not requests.queueing.queue(
            command(APP_ID, CONNECTION_ID, REQUEST, idempotency=Idempotency("key", "two"))
        ).repeated


class TestGet:
    """Reading a record."""

    def test_missing_requests_and_those_of_other_apps_are_not_found(self, requests: Requests) -> None:
        record = requests.add(a_record())

        assert requests.service.get(APP_ID, record.id, CONNECTION_ID).record == record
        for app_id, request_id, connection_id in (
            (OTHER_APP_ID, record.id, None),
            (APP_ID, MISSING, None),
            (APP_ID, record.id, MISSING),
        ):
            with pytest.raises(NotFound):
                requests.service.get(app_id, request_id, connection_id)

    def test_a_deleted_request_is_not_found(self, requests: Requests) -> None:
        record = requests.add(a_record(state=State.ERROR))
        requests.service.delete(APP_ID, record.id, actor=AN_ACTOR)

        with pytest.raises(Gone):
            requests.service.get(APP_ID, record.id)
        with pytest.raises(NotFound):
            requests.service.get(OTHER_APP_ID, record.id)


class TestDiscard:
    """Taking a request out of the queue."""

    @pytest.mark.parametrize("state", [State.WAITING, State.RETRYABLE])
    def test_a_queued_request_is_discarded(self, requests: Requests, state: State) -> None:
        record = requests.add(a_record(state=state))
        requests.clock.advance(seconds=5)

        stored_request = requests.service.discard(APP_ID, record.id, actor=AN_ACTOR)

        assert stored_request.record.state == State.DISCARDED
        assert stored_request.record.updated_at == timestamp(requests.clock())
        assert requests.store.request(record.id) == stored_request.record

    @pytest.mark.parametrize("state", [State.TICKETED, State.SENT])
    def test_a_request_in_flight_is_refused(self, requests: Requests, state: State) -> None:
        record = requests.add(a_record(state=state))

        with pytest.raises(MayBeExecuted):
            requests.service.discard(APP_ID, record.id, actor=AN_ACTOR)

        assert requests.store.request(record.id) == record

    @pytest.mark.parametrize("state", [State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED])
    def test_an_ended_request_is_refused(self, requests: Requests, state: State) -> None:
        record = requests.add(a_record(state=state))

        with pytest.raises(InvalidState):
            requests.service.discard(APP_ID, record.id, actor=AN_ACTOR)

    def test_discarding_is_repeated_after_a_conflict(self, requests: Requests) -> None:
        record = requests.add(a_record())
        requests.store.rivals = 2

        assert requests.service.discard(APP_ID, record.id, actor=AN_ACTOR).record.state == State.DISCARDED

    def test_repeated_conflicts_give_too_many_requests(self, requests: Requests) -> None:
        record = requests.add(a_record())
        requests.store.rivals = 100

        with pytest.raises(TooManyRequests):
            requests.service.discard(APP_ID, record.id, actor=AN_ACTOR)
        with pytest.raises(TooManyRequests):
            requests.service.delete(APP_ID, record.id, force=True, actor=AN_ACTOR)


class TestDelete:
    """Deleting a record."""

    @pytest.mark.parametrize("state", [State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED])
    def test_deleting_an_ended_request_twice_is_harmless(self, requests: Requests, state: State) -> None:
        record = requests.add(a_record(state=state))

        requests.service.delete(APP_ID, record.id, actor=AN_ACTOR)
        requests.service.delete(APP_ID, record.id, actor=AN_ACTOR)

        assert isinstance(requests.store.request(record.id), Tombstone)
        assert not requests.store.counts

    @pytest.mark.parametrize("state", [State.WAITING, State.RETRYABLE])
    def test_a_queued_request_is_deleted_only_with_force(self, requests: Requests, state: State) -> None:
        record = requests.add(a_record(state=state))

        with pytest.raises(InvalidState):
            requests.service.delete(APP_ID, record.id, actor=AN_ACTOR)
        requests.service.delete(APP_ID, record.id, force=True, actor=AN_ACTOR)

        assert isinstance(requests.store.request(record.id), Tombstone)

    @pytest.mark.parametrize("force", [True, False])
    @pytest.mark.parametrize("state", [State.TICKETED, State.SENT])
    def test_a_request_in_flight_is_never_deleted(self, requests: Requests, state: State, *, force: bool) -> None:
        record = requests.add(a_record(state=state))

        with pytest.raises(MayBeExecuted):
            requests.service.delete(APP_ID, record.id, force=force, actor=AN_ACTOR)

    def test_requests_to_delete_are_not_found_when_missing_or_foreign(self, requests: Requests) -> None:
        record = requests.add(a_record(state=State.ERROR))

        for app_id, request_id in ((OTHER_APP_ID, record.id), (APP_ID, MISSING)):
            with pytest.raises(NotFound):
                requests.service.delete(app_id, request_id, actor=AN_ACTOR)


class TestRedeliver:
    """Redelivering a webhook."""

    @pytest.mark.parametrize("webhook_state", [WebhookState.SUCCEEDED, WebhookState.FAILED, WebhookState.PENDING])
    def test_redelivery_starts_a_new_round(self, requests: Requests, webhook_state: WebhookState) -> None:
        record = requests.add(
            a_record(
                state=State.ERROR,
                webhook=Webhook(webhook_state, HOOK, attempts_in_round=8, error="gave up"),
            )
        )

        after = requests.service.redeliver(APP_ID, record.id, actor=AN_ACTOR).record

        assert after.webhook_state == WebhookState.PENDING
        assert (after.webhook.round, after.webhook.attempts_in_round, after.webhook.error) == (1, 0, None)

    def test_redelivery_needs_a_url_and_an_ended_request(self, requests: Requests) -> None:
        without = requests.add(a_record(state=State.ERROR))
        waiting = requests.add(a_record(webhook=Webhook.to(HOOK)))

        for record in (without, waiting):
            with pytest.raises(InvalidState):
                requests.service.redeliver(APP_ID, record.id, actor=AN_ACTOR)


def test_a_request_that_can_never_be_sent_is_refused(requests: Requests) -> None:
    """A megabyte of `&` becomes nine megabytes in the reply to the Web Connector."""
    large = replace(REQUEST, element=element("CustomerQueryRq", {}, text="&" * 1_000_000))

    with pytest.raises(RequestTooLarge, match="bytes"):
        requests.queueing.queue(command(APP_ID, CONNECTION_ID, large))

    assert requests.store.commits == 0


def test_a_transition_that_is_not_in_the_table_is_refused() -> None:
    record = replace(a_record(), state=State.ERROR)

    with pytest.raises(InvalidState):
        record.moved(State.SENT, FixedClock()())


def test_a_change_increments_the_revision_and_sets_updated_at() -> None:
    clock = FixedClock()
    record = a_record()

    after = replace(record, attempts=Attempts(1)).changed(clock.advance(seconds=1))

    assert (after.revision, after.updated_at) == (record.revision + 1, timestamp(clock()))


def test_a_claim_of_a_discarded_request_conflicts(requests: Requests) -> None:
    """Of a discard and a claim of the same record, one fails."""
    record = requests.add(a_record())
    requests.service.discard(APP_ID, record.id, actor=AN_ACTOR)

    with pytest.raises(Conflict):
        requests.store.commit(ChangeRequest(record, record.moved(State.TICKETED, requests.clock())))
