"""The store: the parts of this package put together. Each part owns a table or a subject."""

from __future__ import annotations

import random as system_random
import time
from typing import TYPE_CHECKING, Any

from adapters.dynamodb.apps import Apps
from adapters.dynamodb.audit_log import AuditLog
from adapters.dynamodb.batch_deletes import BatchDeletes
from adapters.dynamodb.canaries import CanaryItems
from adapters.dynamodb.client import DynamoDB
from adapters.dynamodb.commits import Commits
from adapters.dynamodb.connection_removal import ConnectionRemoval
from adapters.dynamodb.connections import Connections
from adapters.dynamodb.counts import Counts
from adapters.dynamodb.events import Events
from adapters.dynamodb.idempotency_keys import IdempotencyKeys
from adapters.dynamodb.listing import Listing, Skips
from adapters.dynamodb.months import Months
from adapters.dynamodb.packing import MAX_PAGE_ROWS, MAX_STEP_TEXTS, Packing
from adapters.dynamodb.people import People
from adapters.dynamodb.queue import Queue
from adapters.dynamodb.request_changes import RequestChanges
from adapters.dynamodb.requests import Requests
from adapters.dynamodb.response_chunks import ResponseChunks
from adapters.dynamodb.responses import Responses
from adapters.dynamodb.search import SearchTexts
from adapters.dynamodb.search_blocks import MAX_BLOCK_BYTES
from adapters.dynamodb.sessions import Sessions
from adapters.dynamodb.subscriptions import Subscriptions
from adapters.dynamodb.transactions import Transactions
from adapters.dynamodb.usages import Usages
from adapters.dynamodb.value_search import ValueSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.dynamodb.keys import TableNames


class DynamoDBStore:
    """Implements the port `domain.storage.ports.Database` on DynamoDB. Each method is that of one part.

    `client` and `tables` are for programs and tests that go past the port.
    """

    def __init__(  # noqa: PLR0915 - one line for each method of the port
        self,
        client: Any,
        tables: TableNames,
        *,
        retention_days: Callable[[], int] = lambda: 0,
        max_block_bytes: int = MAX_BLOCK_BYTES,
        max_step_texts: int = MAX_STEP_TEXTS,
        max_page_rows: int = MAX_PAGE_ROWS,
        sleep: Callable[[float], None] = time.sleep,
        random: Callable[[], float] = system_random.random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`client` is a botocore DynamoDB client.

        DynamoDB may remove a record `retention_days` after its end; 0 keeps all. The setting is read at each use.
        """
        self.client, self.tables = client, tables

        dynamodb = DynamoDB(client, tables, sleep, random, monotonic)
        transactions = Transactions(dynamodb)
        deletes = BatchDeletes(dynamodb)

        queue = Queue(dynamodb)
        self.queue_front = queue.queue_front
        self.queued_after = queue.queued_after
        self.count_queued = queue.count_queued
        self.oldest_queued = queue.oldest_queued
        self.remove_from_queue = queue.remove_from_queue

        requests = Requests(dynamodb, queue)
        self.request = requests.request
        self.request_detail = requests.request_detail
        self.request_batch = requests.request_batch
        self.records_by_id = requests.records_by_id
        self.ids_in_use = requests.ids_in_use
        self.late_requests = requests.late_requests
        self.with_request_xml = requests.with_request_xml
        self.requests_in_flight = requests.requests_in_flight
        self.delivery = requests.delivery

        connections = Connections(dynamodb)
        self.connection = connections.connection
        self.connection_ids_of = connections.connection_ids_of
        self.connections_of = connections.connections_of
        self.deleted_connections = connections.deleted_connections

        sessions = Sessions(dynamodb)
        self.session, self.ended_sessions = sessions.session, sessions.ended_sessions
        self.silent_sessions, self.live_sessions = sessions.silent_sessions, sessions.live_sessions

        events = Events(dynamodb, deletes)
        self.newest_event_groups = events.newest_event_groups
        self.log_beginning = events.log_beginning
        self.event_groups_from = events.event_groups_from
        self.let_event_group_expire = events.let_event_group_expire

        usages = Usages(dynamodb, deletes)
        self.add_usage = usages.add_usage
        self.set_usage = usages.set_usage
        self.last_use, self.last_uses = usages.last_use, usages.last_uses
        self.set_last_use = usages.set_last_use
        self.take_lease, self.release_lease = usages.take_lease, usages.release_lease

        canaries = CanaryItems(dynamodb)
        self.canaries, self.send_canaries = canaries.canaries, canaries.send_canaries
        self.note_canary = canaries.note_canary

        people = People(dynamodb, deletes)
        self.person, self.people, self.person_of = people.person, people.people, people.person_of
        self.signed_in, self.sign_ins_of = people.signed_in, people.sign_ins_of
        self.membership = people.membership
        self.memberships_of, self.members_of = people.memberships_of, people.members_of
        self.invitations_to = people.invitations_to

        apps = Apps(dynamodb, events, usages, people.remove_members)
        self.app = apps.app
        self.app_ids = apps.app_ids
        self.apps_by_age, self.apps_by_id = apps.apps_by_age, apps.apps_by_id
        self.api_key = apps.api_key
        self.api_keys_of = apps.api_keys_of
        self.remove_app = apps.remove_app

        audit_log = AuditLog(dynamodb)
        self.audit_entries = audit_log.audit_entries

        counts = Counts(dynamodb, transactions)
        self.day_counts = counts.day_counts
        self.recount = counts.recount
        self.add_to_counts = counts.add_to_counts

        months = Months(dynamodb)
        self.month_totals, self.move_statistics = months.month_totals, months.move_statistics

        listing = Listing(dynamodb, Skips())
        self.in_flight_ids = listing.in_flight_ids
        self.unsettled_ids = listing.unsettled_ids
        self.index_entries, self.all_index_entries = listing.index_entries, listing.all_index_entries
        self.count_index_entries = listing.count_index_entries
        self.next_index_entries = listing.next_index_entries

        self.search_matches = SearchTexts(dynamodb).search_matches

        values = ValueSearch(dynamodb)
        self.unpacked_values, self.block_entries = values.unpacked_values, values.block_entries
        self.values_in_block = values.values_in_block

        packing = Packing(dynamodb, max_block_bytes, max_step_texts, max_page_rows)
        self.days_to_pack = packing.days_to_pack
        self.settle_days = packing.settle_days
        self.pack = packing.pack

        chunks = ResponseChunks(dynamodb, deletes)
        self.remove_late_responses = chunks.remove_late_responses

        subscriptions = Subscriptions(dynamodb, deletes)
        self.copy_state, self.subscription = subscriptions.copy_state, subscriptions.subscription
        self.change_pages = subscriptions.change_pages
        self.change_pages_before = subscriptions.change_pages_before

        removal = ConnectionRemoval(dynamodb, deletes, events, sessions, subscriptions)
        self.remove_records = removal.remove_records
        self.remove_connection = removal.remove_connection

        idempotency_keys = IdempotencyKeys(dynamodb)
        self.idempotency_claim = idempotency_keys.idempotency_claim

        self.commit = Commits(
            dynamodb,
            transactions,
            Responses(dynamodb, chunks),
            requests=RequestChanges(dynamodb, queue, retention_days),
            connections=connections,
            sessions=sessions,
            apps=apps,
            usages=usages,
            idempotency_keys=idempotency_keys,
            events=events,
            audit_log=audit_log,
            people=people,
            subscriptions=subscriptions,
        ).commit
