"""What every implementation of the ports does."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

import pytest

from domain.apps.record import ApiKey, App, Scope
from domain.connections.sync_window import SyncWindow
from domain.errors import Conflict, NotFound
from domain.requests.record import (
    FIRST_IN_LINE,
    IN_TURN,
    Paging,
    QueuedRequest,
    Recovery,
    RequestError,
    State,
    StoredRequest,
    Tombstone,
    Webhook,
    WebhookAttempt,
    WebhookState,
    day_of,
    timestamp,
)
from domain.storage.changes import (
    AddConnection,
    AddRequest,
    AddSession,
    ChangeConnection,
    ChangeRequest,
    ChangeSession,
    ClaimIdempotencyKey,
    IdempotencyClaim,
    PutApiKey,
    PutApp,
    RemoveConnection,
    RemoveRequest,
    RequireConnection,
)
from domain.storage.counts import INSERTED, UPDATED
from domain.storage.ports import Delivery, IndexDays, RequestDetail
from domain.web_connector.session.record import InFlight, LastResponse, Limits, OpenCompanyFile
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    RESPONSE_XML,
    a_connection,
    a_record,
    a_session,
)

if TYPE_CHECKING:
    from adapters.dynamodb import DynamoDBStore
    from tests.support.fake_store import FakeStore

    AnyStore: TypeAlias = FakeStore | DynamoDBStore

LATER = NOON + timedelta(minutes=1)


def add(store: AnyStore, record: QueuedRequest, request_xml: str = REQUEST_XML, search_text: str = "") -> None:
    """Store a new record."""
    store.commit(AddRequest(record, request_xml, search_text))


class TestRequests:
    """Records and their bodies."""

    @pytest.fixture
    def store(self, store: AnyStore) -> AnyStore:
        """Return each implementation with the records' connection."""
        store.commit(AddConnection(a_connection()))
        return store

    def test_a_record_is_read_back_whole(self, store: AnyStore) -> None:
        record = a_record(
            state=State.ERROR,
            webhook=Webhook(
                state=WebhookState.FAILED,
                url="https://example.com/hook",
                attempts=(WebhookAttempt("2026-03-14T12:00:01.000000Z", "nö"),),
                error="gave up",
                round=2,
                tries=8,
            ),
            error=RequestError("quickbooks_error", "Not found", {"status_code": 3120, "hint": "…"}),
            paging=Paging(page=3, first_page_id="b0000000-0000-4000-8000-000000000001", page_size=25),
            recovery=Recovery(
                response_lost=True, active=True, sessions=1, company_file_mark="90A44FB5-33D9-4815-AC85-BC87A7E7D1EB"
            ),
            sessions=2,
            last_session_id="ab" * 32,
            revision=7,
        )

        add(store, record)

        assert store.request(record.id) == record
        assert store.stored_request(record.id) == StoredRequest(record, REQUEST_XML, None)
        assert store.request_xml(record.id) == REQUEST_XML

    def test_what_does_not_exist_is_none(self, store: AnyStore) -> None:
        assert store.request("b0000000-0000-4000-8000-000000000001") is None
        assert store.stored_request("b0000000-0000-4000-8000-000000000001") is None
        with pytest.raises(NotFound):
            store.request_xml("b0000000-0000-4000-8000-000000000001")

    def test_an_id_is_used_once(self, store: AnyStore) -> None:
        record = a_record()
        add(store, record)

        with pytest.raises(Conflict) as conflict:
            add(store, replace(record, request_label="other"))

        assert conflict.value.current == record
        assert store.request(record.id) == record

    def test_a_response_is_kept_beside_the_request(self, store: AnyStore) -> None:
        record = a_record(state=State.SENT)
        add(store, record)

        store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, LATER), response_xml=RESPONSE_XML))

        stored = store.stored_request(record.id)
        assert isinstance(stored, StoredRequest)
        assert (stored.request_xml, stored.response_xml) == (REQUEST_XML, RESPONSE_XML)
        assert stored.record.state == State.RESPONSE_RECEIVED
        assert stored.record.response_size == len(RESPONSE_XML.encode())
        assert stored.record.revision == 2

    @pytest.mark.parametrize("alphabet", ["ab", None], ids=["compressible", "incompressible"])
    def test_a_response_of_5_mb_is_read_back_whole(self, store: AnyStore, alphabet: str | None) -> None:
        chance = random.Random(5)
        response = (
            "".join(chance.choices(alphabet, k=5_000_000)) if alphabet else chance.randbytes(2_500_000).hex() + "é"
        )
        record = a_record(state=State.SENT)
        add(store, record)

        store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, LATER), response_xml=response))

        stored = store.stored_request(record.id)
        assert isinstance(stored, StoredRequest)
        assert stored.response_xml == response
        assert stored.record.response_size == len(response.encode())

    def test_a_request_of_1_mb_that_does_not_compress_is_read_back_whole(self, store: AnyStore) -> None:
        request = random.Random(6).randbytes(500_000).hex()
        record = a_record()

        add(store, record, request)

        assert store.request_xml(record.id) == request
        stored = store.stored_request(record.id)
        assert isinstance(stored, StoredRequest)
        assert stored.request_xml == request

    def test_a_change_from_an_old_revision_does_not_hold(self, store: AnyStore) -> None:
        record = a_record()
        add(store, record)
        discarded = record.moved(State.DISCARDED, LATER)
        store.commit(ChangeRequest(record, discarded))

        with pytest.raises(Conflict) as conflict:
            store.commit(ChangeRequest(record, record.moved(State.TICKETED, LATER)))

        assert conflict.value.current == discarded
        assert store.request(record.id) == discarded

    def test_a_commit_is_done_whole_or_not_at_all(self, store: AnyStore) -> None:
        first, second, third = a_record(), a_record(), a_record()
        add(store, first)
        add(store, second)
        store.commit(ChangeRequest(second, second.moved(State.DISCARDED, LATER)))
        stale = ChangeRequest(second, second.moved(State.TICKETED, LATER))

        with pytest.raises(Conflict) as conflict:
            store.commit(
                AddRequest(third, REQUEST_XML, ""),
                ChangeRequest(first, first.moved(State.TICKETED, LATER)),
                stale,
                AddSession(a_session()),
            )

        assert conflict.value.change == stale
        assert store.request(first.id) == first
        assert store.request(third.id) is None
        assert store.session(a_session().id) is None
        assert recount(store, [first.id, second.id]) == counted(store)

    def test_a_deleted_record_leaves_a_tombstone_and_no_bodies(self, store: AnyStore) -> None:
        record = a_record(state=State.SENT)
        add(store, record)
        store.commit(ChangeRequest(record, record.moved(State.ERROR, LATER), response_xml=RESPONSE_XML))
        ended = store.request(record.id)
        assert isinstance(ended, QueuedRequest)

        store.commit(RemoveRequest(ended, timestamp(LATER)))

        tombstone = Tombstone(record.id, CONNECTION_ID, APP_ID, timestamp(LATER))
        assert store.request(record.id) == tombstone
        assert store.stored_request(record.id) == tombstone
        assert store.stored_requests([record.id], largest_response=10) == {}
        with pytest.raises(NotFound):
            store.request_xml(record.id)
        assert counted(store) == {}

    def test_many_records_are_read_at_once(self, store: AnyStore) -> None:
        records = [a_record() for _ in range(60)]
        for record in records:
            add(store, record)
        missing = "b0000000-0000-4000-8000-000000000001"

        found = store.stored_requests([*(record.id for record in records), missing], largest_response=100)

        assert {one: stored.record for one, stored in found.items()} == {record.id: record for record in records}

    def test_a_list_leaves_large_responses_out(self, store: AnyStore) -> None:
        small, large = a_record(state=State.SENT), a_record(state=State.SENT)
        for record, response in ((small, "<a/>"), (large, "<a>" + "x" * 300_000 + "</a>")):
            add(store, record)
            store.commit(ChangeRequest(record, record.moved(State.ERROR, LATER), response_xml=response))

        found = store.stored_requests([small.id, large.id], largest_response=256 * 1024)

        assert found[small.id].response_xml == "<a/>"
        assert found[large.id].response_xml is None
        assert found[large.id].record.response_size == 300_007


class TestQueue:
    """The front of a connection's queue."""

    def test_first_in_first_out_with_open_iterations_ahead(self, store: AnyStore) -> None:
        second = a_record(inserted_at=timestamp(LATER))
        first = a_record(state=State.RETRYABLE)
        page = a_record(inserted_at=timestamp(LATER), queue_priority=FIRST_IN_LINE)
        for record in (second, first, page, a_record(connection_id="c0000000-0000-4000-8000-000000000009")):
            add(store, record)

        assert list(store.queue_front(CONNECTION_ID, 10)) == [page, first, second]
        assert list(store.queue_front(CONNECTION_ID, 1)) == [page]

    @pytest.mark.parametrize("state", [State.TICKETED, State.DISCARDED])
    def test_what_does_not_wait_is_not_in_it(self, store: AnyStore, state: State) -> None:
        record = a_record()
        add(store, record)

        store.commit(ChangeRequest(record, record.moved(state, LATER)))

        assert list(store.queue_front(CONNECTION_ID, 10)) == []

    def test_what_was_deleted_is_not_in_it(self, store: AnyStore) -> None:
        record = a_record()
        add(store, record)

        store.commit(RemoveRequest(record, timestamp(LATER)))

        assert list(store.queue_front(CONNECTION_ID, 10)) == []

    def test_what_comes_back_with_another_priority_is_in_it_once(self, store: AnyStore) -> None:
        first, second = a_record(), a_record(inserted_at=timestamp(LATER))
        for record in (first, second):
            add(store, record)
        ticketed = second.moved(State.TICKETED, LATER)
        store.commit(ChangeRequest(second, ticketed))

        ahead = ticketed.moved(State.WAITING, LATER, queue_priority=FIRST_IN_LINE)
        store.commit(ChangeRequest(ticketed, ahead))
        later = replace(ahead, queue_priority=IN_TURN, revision=ahead.revision + 1)
        assert list(store.queue_front(CONNECTION_ID, 10)) == [ahead, first]
        store.commit(ChangeRequest(ahead, later))

        assert list(store.queue_front(CONNECTION_ID, 10)) == [first, later]

    def test_what_is_given_back_is_in_it_again(self, store: AnyStore) -> None:
        record = a_record()
        add(store, record)
        ticketed = record.moved(State.TICKETED, LATER)
        store.commit(ChangeRequest(record, ticketed))

        store.commit(ChangeRequest(ticketed, ticketed.moved(State.WAITING, LATER)))

        assert [found.id for found in store.queue_front(CONNECTION_ID, 10)] == [record.id]

    def test_where_a_record_stands_is_counted_up_to_a_bound(self, store: AnyStore) -> None:
        connection = a_connection()
        store.commit(AddConnection(connection))
        first, second = a_record(), a_record(inserted_at=timestamp(LATER))
        ahead = a_record(inserted_at=timestamp(LATER), queue_priority=FIRST_IN_LINE)
        elsewhere = a_record(connection_id="c0000000-0000-4000-8000-000000000009", queue_priority=FIRST_IN_LINE)
        gone = a_record().moved(State.DISCARDED, NOON)
        for record in (second, first, ahead, elsewhere, gone):
            add(store, record)

        shown = [store.request_detail(record.id, None, 10) for record in (ahead, first, second, gone)]

        texts = [StoredRequest(record, REQUEST_XML) for record in (ahead, first, second, gone)]
        assert shown == [RequestDetail(stored, connection, n) for stored, n in zip(texts, (0, 1, 2, 0), strict=True)]
        assert store.request_detail(second.id, CONNECTION_ID, 1) == RequestDetail(texts[2], connection, 1)

    def test_a_record_goes_with_its_connection(self, store: AnyStore) -> None:
        store.commit(AddConnection(a_connection()))
        waits, ended, deleted = a_record(), a_record(state=State.DISCARDED), a_record(state=State.ERROR)
        for record in (waits, ended, deleted):
            add(store, record)
        store.commit(RemoveRequest(deleted, timestamp(LATER)))
        other = "c0000000-0000-4000-8000-000000000099"
        assert store.stored_request(waits.id, other) is None
        for named in (None, CONNECTION_ID):
            assert [type(store.stored_request(one.id, named)) for one in (waits, ended, deleted)] == [
                StoredRequest,
                StoredRequest,
                Tombstone,
            ]

        store.commit(RemoveConnection(a_connection(), timestamp(LATER)))

        for named in (None, CONNECTION_ID):
            assert [store.stored_request(one.id, named) for one in (waits, ended, deleted)] == [None] * 3
            assert [store.request_detail(one.id, named, 9) for one in (waits, ended, deleted)] == [None] * 3


class TestConnections:
    """Connections, and what belongs to them."""

    def test_a_connection_is_read_back_whole(self, store: AnyStore) -> None:
        connection = a_connection(
            name="Müller & Söhne",
            company_file="C:\\books.qbw",
            webhook_url="https://example.com/hook",
            password_hash="scrypt$…",
            session_id="ab" * 32,
            message_set_to_forget="b00000000000400080000000",
            last_connected_at=timestamp(NOON),
            qbxml_version="16.0",
            quickbooks_product_name="QuickBooks Enterprise",
            country="US",
            company_file_seen="C:\\books.qbw",
            file_id_seen="90A44FB5-33D9-4815-AC85-BC87A7E7D1EB",
            file_pinned=False,
            last_error={"code": "x", "message": "y", "at": timestamp(NOON)},
            sync_window=SyncWindow("22:00", "06:00", "America/New_York"),
            linger_seconds=60,
            paused_at=timestamp(NOON),
            last_worked_at=timestamp(LATER),
        )

        store.commit(AddConnection(connection))

        assert store.connection(connection.id) == connection

    def test_a_change_from_an_old_revision_does_not_hold(self, store: AnyStore) -> None:
        connection = a_connection()
        store.commit(AddConnection(connection))
        renamed = connection.changed(timestamp(LATER), name="first")
        store.commit(ChangeConnection(connection, renamed))

        with pytest.raises(Conflict) as conflict:
            store.commit(ChangeConnection(connection, connection.changed(timestamp(LATER), name="second")))

        assert conflict.value.current == renamed

    def test_an_app_sees_its_own_by_pages(self, store: AnyStore) -> None:
        mine = [
            a_connection(id=f"c0000000-0000-4000-8000-0000000000{n:02}", inserted_at=timestamp(NOON + timedelta(n)))
            for n in range(5)
        ]
        for connection in (*mine, a_connection(app_id=OTHER_APP_ID, id="c0000000-0000-4000-8000-000000000099")):
            store.commit(AddConnection(connection))
        deleted = mine[0].changed(timestamp(LATER), deleted_at=timestamp(LATER))
        store.commit(ChangeConnection(mine[0], deleted))

        found, total = store.connections_of(APP_ID, 1, 2)

        assert (list(found), total) == (mine[2:4], 4)
        assert store.connections_of("a0000000-0000-4000-8000-000000000077", 0, 10) == ([], 0)

    @pytest.mark.parametrize(
        ("required", "holds"),
        [
            (RequireConnection(CONNECTION_ID, APP_ID, None), True),
            (RequireConnection(CONNECTION_ID, APP_ID, "https://example.com/hook"), False),
            (RequireConnection(CONNECTION_ID, OTHER_APP_ID, None), False),
            (RequireConnection("c0000000-0000-4000-8000-000000000099", APP_ID, None), False),
        ],
    )
    def test_a_commit_can_require_a_connection(
        self, store: AnyStore, required: RequireConnection, *, holds: bool
    ) -> None:
        connection = a_connection()
        store.commit(AddConnection(connection))
        record = a_record()

        if holds:
            store.commit(required, AddRequest(record, REQUEST_XML, ""))
        else:
            with pytest.raises(Conflict) as conflict:
                store.commit(required, AddRequest(record, REQUEST_XML, ""))
            mine = required.app_id == APP_ID and required.connection_id == CONNECTION_ID
            assert conflict.value.current == (connection if mine else None)

        assert (store.request(record.id) is not None) == holds

    def test_a_deleted_connection_is_required_in_vain(self, store: AnyStore) -> None:
        store.commit(AddConnection(a_connection(deleted_at=timestamp(NOON))))

        with pytest.raises(Conflict) as conflict:
            store.commit(RequireConnection(CONNECTION_ID, APP_ID, None), AddRequest(a_record(), REQUEST_XML, ""))

        assert conflict.value.current is None


class TestSessions:
    """Web Connector sessions."""

    def test_a_session_is_read_back_whole(self, store: AnyStore) -> None:
        session = a_session(
            in_flight=InFlight(
                a_record(state=State.SENT, webhook=Webhook.to("https://example.com/é")), "text", "cannot parse"
            ),
            last_response=LastResponse(
                "CustomerQueryRq", "1", "{eb05f701-e727-472f-8ade-6753c4f67a46}", 0, progress=50, number=3
            ),
            connection=a_connection(name="Shop"),
            company_file=OpenCompanyFile("90A44FB5-33D9-4815-AC85-BC87A7E7D1EB", is_fallback=True),
            exception_reported=True,
            message_set_to_forget="b00000000000400080000000",
            last_error="why",
            connection_error={"code": "quickbooks_connection_error", "message": "Une boîte", "at": timestamp(NOON)},
            limits=Limits(paused=True, work_until=timestamp(LATER), linger_seconds=60),
        )

        store.commit(AddSession(session))

        assert store.session(session.id) == session
        assert store.session("ff" * 32) is None

    def test_a_change_from_an_old_revision_does_not_hold(self, store: AnyStore) -> None:
        session = a_session()
        store.commit(AddSession(session))
        changed = session.called(LATER, last_error="first")
        store.commit(ChangeSession(session, changed))

        with pytest.raises(Conflict) as conflict:
            store.commit(ChangeSession(session, session.called(LATER, last_error="second")))

        assert conflict.value.current == changed

    def test_the_sweeper_finds_open_sessions_that_are_silent(self, store: AnyStore) -> None:
        silent = a_session(id="01" * 32, last_call_at=timestamp(NOON))
        silent_longer = a_session(id="02" * 32, last_call_at=timestamp(NOON - timedelta(hours=1)))
        lively = a_session(id="03" * 32, last_call_at=timestamp(LATER))
        ended = a_session(id="04" * 32, last_call_at=timestamp(NOON), ended=True)
        for session in (silent, silent_longer, lively, ended):
            store.commit(AddSession(session))

        assert list(store.silent_sessions(timestamp(LATER), 10)) == [silent_longer, silent]
        assert list(store.silent_sessions(timestamp(LATER), 1)) == [silent_longer]


class TestIdempotencyKeys:
    """Idempotency keys."""

    def claim(self, **fields: object) -> ClaimIdempotencyKey:
        """Return a claim made at 1000 that expires at 2000."""
        claim = ClaimIdempotencyKey(APP_ID, "key", "hash", "record", now=1000, expires_at=2000)
        return replace(claim, **fields)  # type: ignore[arg-type]

    def test_a_key_is_claimed_once(self, store: AnyStore) -> None:
        store.commit(self.claim())

        with pytest.raises(Conflict) as conflict:
            store.commit(self.claim(now=1999, record_id="other"))

        assert conflict.value.current == IdempotencyClaim("hash", "record", 2000)

    @pytest.mark.parametrize("fields", [{"now": 2000}, {"app_id": OTHER_APP_ID}, {"key": "other"}])
    def test_expired_and_other_keys_are_free(self, store: AnyStore, fields: dict[str, object]) -> None:
        store.commit(self.claim())

        store.commit(self.claim(**fields))


class TestApps:
    """Apps, keys and what a webhook attempt reads."""

    def test_apps_and_keys_are_read_back_whole(self, store: AnyStore) -> None:
        app = App(APP_ID, "Shop", timestamp(NOON), ("whsec_b", "whsec_a"))
        key = ApiKey("ab" * 32, APP_ID, Scope.READ_ONLY, "sk_abcd", timestamp(NOON))
        store.commit(PutApp(None, app), PutApiKey(None, key))
        revoked = replace(key, revoked_at=timestamp(LATER), revision=2)

        store.commit(PutApiKey(key, revoked))

        assert store.app(APP_ID) == app
        assert store.app(key.hash) is None
        assert store.api_key(key.hash) == revoked
        assert store.api_key(APP_ID) is None
        assert list(store.api_keys_of(APP_ID)) == [revoked]

    def test_two_changes_of_an_app_do_not_both_hold(self, store: AnyStore) -> None:
        app = App(APP_ID, "Shop", timestamp(NOON))
        store.commit(PutApp(None, app))
        store.commit(PutApp(app, replace(app, webhook_secrets=("whsec_a",), revision=2)))

        for late in (PutApp(app, replace(app, name="late", revision=2)), PutApp(None, app)):
            with pytest.raises(Conflict):
                store.commit(late)

    def test_a_delivery_has_record_bodies_and_secrets(self, store: AnyStore) -> None:
        store.commit(PutApp(None, App(APP_ID, "Shop", timestamp(NOON), ("whsec_a",))))
        record = a_record(state=State.SENT)
        add(store, record)
        response = "<a>" + "é" * 200_000 + "</a>"
        store.commit(ChangeRequest(record, record.moved(State.ERROR, LATER), response_xml=response))
        ended = store.request(record.id)
        assert isinstance(ended, QueuedRequest)

        for parts in (0, ended.response_parts):
            whole = store.delivery(record.id, APP_ID, response_parts=parts, largest_response=2**20)
            assert whole == Delivery(StoredRequest(ended, REQUEST_XML, response), ("whsec_a",))
        small = store.delivery(record.id, APP_ID, response_parts=0, largest_response=1000)
        assert small == Delivery(StoredRequest(ended, REQUEST_XML, None), ("whsec_a",))

    def test_a_delivery_of_a_deleted_record_is_its_tombstone(self, store: AnyStore) -> None:
        record = a_record(state=State.ERROR)
        add(store, record)
        store.commit(RemoveRequest(record, timestamp(LATER)))

        found = store.delivery(record.id, APP_ID, response_parts=0, largest_response=1000)

        assert isinstance(found, Tombstone)
        missing = "b0000000-0000-4000-8000-000000000001"
        assert store.delivery(missing, APP_ID, response_parts=0, largest_response=10) is None


def counted(store: AnyStore) -> dict[tuple[str, str, State, WebhookState], int]:
    """Return the store's counts, flat."""
    return {
        (sort, day.day, state, webhook_state): number
        for day in store.day_counts(CONNECTION_ID)
        for sort in (INSERTED, UPDATED)
        for (state, webhook_state), number in day.of(sort).items()
    }


def recount(store: AnyStore, ids: list[str]) -> dict[tuple[str, str, State, WebhookState], int]:
    """Return the counts as the records themselves have them."""
    counts: Counter[tuple[str, str, State, WebhookState]] = Counter()
    for request_id in ids:
        record = store.request(request_id)
        if isinstance(record, QueuedRequest):
            counts[INSERTED, record.inserted_at[:10], record.state, record.webhook_state] += 1
            counts[UPDATED, record.updated_at[:10], record.state, record.webhook_state] += 1
    return dict(counts)


def test_counts_equal_a_recount_after_any_changes(store: AnyStore) -> None:
    """Random creations, transitions and deletions over three days leave the counts exact."""
    chance = random.Random(20260314)
    ids: list[str] = []
    for step in range(60):
        now = NOON + timedelta(hours=step)
        alive = [found for found in map(store.request, ids) if isinstance(found, QueuedRequest)]
        if not alive or chance.random() < 0.4:
            record = a_record(
                inserted_at=timestamp(now),
                updated_at=timestamp(now),
                webhook=Webhook(chance.choice([WebhookState.NOT_APPLICABLE, WebhookState.PENDING])),
            )
            add(store, record)
            ids.append(record.id)
            continue
        record = chance.choice(alive)
        match record.state:
            case State.WAITING:
                store.commit(ChangeRequest(record, record.moved(State.TICKETED, now)))
            case State.TICKETED:
                store.commit(ChangeRequest(record, record.moved(State.SENT, now)))
            case State.SENT:
                store.commit(
                    ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, now), response_xml=RESPONSE_XML)
                )
            case _ if record.webhook_state == WebhookState.PENDING:
                store.commit(ChangeRequest(record, record.with_webhook(now, state=WebhookState.SUCCEEDED)))
            case _:
                store.commit(RemoveRequest(record, timestamp(now)))

    assert counted(store) == recount(store, ids)
    assert len(counted(store)) > 3


class TestListing:
    """The reads that lists are made from."""

    @pytest.mark.parametrize("sort", [INSERTED, UPDATED])
    @pytest.mark.parametrize("descending", [True, False])
    @pytest.mark.parametrize(
        ("state", "webhook_state", "use"),
        [
            (None, None, "connection"),
            (State.WAITING, None, "state"),
            (None, WebhookState.PENDING, "webhook_state"),
            (State.WAITING, WebhookState.PENDING, "state"),
            (State.WAITING, WebhookState.PENDING, "webhook_state"),
        ],
    )
    def test_index_entries_are_those_of_the_days_in_order(
        self,
        store: AnyStore,
        sort: str,
        state: State | None,
        webhook_state: WebhookState | None,
        use: str,
        *,
        descending: bool,
    ) -> None:
        chance = random.Random(7)
        records = []
        for _ in range(40):
            inserted = NOON + timedelta(days=chance.randrange(4))
            record = a_record(
                inserted_at=timestamp(inserted),
                updated_at=timestamp(inserted + timedelta(days=chance.randrange(3))),
                state=chance.choice([State.WAITING, State.ERROR]),
                webhook=Webhook(chance.choice([WebhookState.PENDING, WebhookState.FAILED])),
            )
            records.append(record)
            add(store, record)
        expected = [
            record
            for record in records
            if "2026-03-15" <= getattr(record, sort)[:10] <= "2026-03-16"
            and state in (None, record.state)
            and webhook_state in (None, record.webhook_state)
        ]
        expected.sort(key=lambda record: (getattr(record, sort), record.id), reverse=descending)

        found = store.index_entries(
            IndexDays(CONNECTION_ID, sort, use, "2026-03-15", "2026-03-16", state, webhook_state),
            descending=descending,
            skip=2,
            limit=5,
        )

        assert [entry.id for entry in found] == [record.id for record in expected[2:7]]

    @pytest.mark.parametrize("descending", [True, False])
    def test_a_page_in_the_middle_of_a_very_full_day(self, store: AnyStore, *, descending: bool) -> None:
        records = [a_record(inserted_at=timestamp(NOON + timedelta(seconds=n // 3))) for n in range(1_620)]
        for start in range(0, len(records), 30):
            store.commit(*(AddRequest(record, REQUEST_XML, "") for record in records[start : start + 30]))
        ordered = sorted(records, key=lambda record: (record.inserted_at, record.id), reverse=descending)

        for skip in (1_600, 1_618, 1_620, 1_700):
            found = store.index_entries(
                IndexDays(CONNECTION_ID, INSERTED, "connection", "2026-03-14", "2026-03-14"),
                descending=descending,
                skip=skip,
                limit=10,
            )
            assert [entry.id for entry in found] == [record.id for record in ordered[skip : skip + 10]]

    def test_a_search_finds_the_texts_that_hold_its_needle(self, store: AnyStore) -> None:
        records = [a_record(inserted_at=timestamp(NOON + timedelta(days=number))) for number in range(12)]
        for number, record in enumerate(records):
            add(store, record, search_text=f"text {number}")
        cuts = [day_of(record.inserted_at) for record in records[2::3]]

        for parts in ([], cuts, ["2026-03-15T06"]):
            everything = store.search_hits(CONNECTION_ID, "text", parts)
            assert sorted(everything) == [(record.inserted_at, record.id) for record in records]
            assert len(store.search_hits(CONNECTION_ID, "text 1", parts)) == 3
            assert not store.search_hits(CONNECTION_ID, "text 12", parts)

    def test_a_response_replaces_the_search_text(self, store: AnyStore) -> None:
        record = a_record()
        add(store, record, search_text="before")

        store.commit(ChangeRequest(record, record.moved(State.DISCARDED, LATER), search_text="after"))

        assert not store.search_hits(CONNECTION_ID, "before", [])
        assert list(store.search_hits(CONNECTION_ID, "after", [])) == [(record.inserted_at, record.id)]

    def test_every_entry_of_an_index_can_be_read_in_parts(self, store: AnyStore) -> None:
        records = [a_record(inserted_at=timestamp(NOON + timedelta(hours=number))) for number in range(30)]
        for record in records:
            add(store, record)

        for cuts in ([], ["2026-03-15"], ["2026-03-14T20", "2026-03-15", "2026-03-15T05"]):
            found = store.all_index_entries(
                IndexDays(CONNECTION_ID, INSERTED, "state", "2026-03-14", "2026-03-15", State.WAITING), cuts
            )
            assert sorted(entry.id for entry in found) == sorted(record.id for record in records)
