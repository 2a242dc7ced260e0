"""The commit of changes: their operations and their counts in one transaction, after what can be written before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb.response_chunks import StoredChunks
from adapters.dynamodb.settings_marks import KnownMarks, Rows
from adapters.dynamodb.transactions import Transaction, new_commit_id
from domain.errors import Conflict
from domain.records.app import ApiKey, App
from domain.records.audit import AuditEntry
from domain.records.connection import Connection
from domain.records.person import Invitation, Membership, Person, PersonIdentity, SignIn
from domain.records.session import Session
from domain.records.subscription import BooksCopy, ChangePage, ObjectCopy, RememberedPart, Subscription
from domain.storage.changes import (
    AddRequest,
    AppendEvents,
    BeginLog,
    Change,
    ChangeRequest,
    ClaimIdempotencyKey,
    CountBeginning,
    ForgetRequest,
    Put,
    RemoveApp,
    RemoveCopy,
    RemovePersonal,
    RemoveRequest,
    RequireConnection,
    RequireMember,
)
from domain.storage.commit_size import check_size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adapters.dynamodb.apps import Apps
    from adapters.dynamodb.audit_log import AuditLog
    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.connections import Connections
    from adapters.dynamodb.events import Events
    from adapters.dynamodb.idempotency_keys import IdempotencyKeys
    from adapters.dynamodb.operations import Operation
    from adapters.dynamodb.people import People
    from adapters.dynamodb.request_changes import RequestChanges
    from adapters.dynamodb.responses import Responses, StoredResponse
    from adapters.dynamodb.sessions import Sessions
    from adapters.dynamodb.subscriptions import Subscriptions
    from adapters.dynamodb.transactions import Transactions
    from adapters.dynamodb.usages import Usages

    OperationsOf = Mapping[type, Callable[[Any], list[Operation]]]


class Commits:
    """Commits changes. Each type of change has the method that converts it into operations."""

    def __init__(
        self,
        dynamodb: DynamoDB,
        transactions: Transactions,
        responses: Responses,
        *,
        requests: RequestChanges,
        connections: Connections,
        sessions: Sessions,
        apps: Apps,
        usages: Usages,
        idempotency_keys: IdempotencyKeys,
        events: Events,
        audit_log: AuditLog,
        people: People,
        subscriptions: Subscriptions,
    ) -> None:
        self._dynamodb = dynamodb
        self._transactions = transactions
        self._responses = responses
        self._requests = requests
        self._check = connections.require
        self._known_marks = KnownMarks()
        self._usages = usages
        entities: OperationsOf = {
            Connection: connections.put,
            Session: sessions.put,
            App: apps.put_app,
            ApiKey: apps.put_api_key,
            AuditEntry: audit_log.put,
            **dict.fromkeys((Subscription, ObjectCopy, BooksCopy), subscriptions.put),
            RememberedPart: subscriptions.put_part,
            ChangePage: subscriptions.put_page,
            **dict.fromkeys((Person, PersonIdentity, Membership, SignIn, Invitation), people.put),
        }
        self._operations_of: OperationsOf = {
            Put: lambda change: entities[type(change.after)](change),
            AddRequest: requests.add,
            ForgetRequest: requests.forget,
            RequireConnection: lambda _: [],  # with the counts of the commit
            ClaimIdempotencyKey: idempotency_keys.claim,
            CountBeginning: lambda _: [],  # done before the transaction
            AppendEvents: events.append,
            BeginLog: events.begin,
            RemoveApp: apps.remove,
            RemovePersonal: people.remove,
            RequireMember: people.require,
            RemoveCopy: subscriptions.remove,
        }

    def commit(self, *changes: Change) -> None:
        """Count sessions that begin and store responses, then do all other changes or none in one transaction."""
        for change in changes:
            if isinstance(change, CountBeginning):
                self._usages.count_beginning(change)
        with_response = [change for change in changes if isinstance(change, ChangeRequest) and change.response_xml]
        responses = self._responses.store(with_response)
        stored_chunks: dict[str, StoredChunks] = {}
        while True:
            operations = [op for change in changes for op in self._operations(change, responses, stored_chunks)]
            try:
                self._write(changes, operations)
            except Conflict as conflict:
                if isinstance(conflict.change, RemoveRequest) and isinstance(conflict.current, StoredChunks):
                    stored_chunks[conflict.change.before.id] = conflict.current
                    continue
                self._responses.discard(responses)
                raise
            return

    def _operations(
        self, change: Change, responses: Mapping[str, StoredResponse], stored_chunks: Mapping[str, StoredChunks]
    ) -> list[Operation]:
        """Return the operations of a change.

        `responses` tells where the responses of this commit are, by request. `stored_chunks` are the chunks that the
        body of a request to remove lists, if they are not those of its record.
        """
        if isinstance(change, ChangeRequest):
            return self._requests.change(change, responses.get(change.after.id))
        if isinstance(change, RemoveRequest):
            return self._requests.remove(change, stored_chunks.get(change.before.id))
        return self._operations_of[type(change)](change)

    def _write(self, changes: Sequence[Change], operations: Sequence[Operation]) -> None:
        """Do all operations of the changes or none, and add to the counts, after a conflict in an overflow row.

        Raises CommitTooLarge.
        """
        rows = Rows(self._dynamodb, changes, self._check)
        check_size(changes, len(operations) + len(rows.by_check(0)))
        required = rows.requirement
        if required and self._known_marks.has(required):
            try:
                return self._transactions.write(Transaction(new_commit_id(), operations, rows.by_mark))
            except Conflict as conflict:
                if conflict.change is not required.change:
                    raise
                self._known_marks.forget(required)
        self._transactions.write(Transaction(new_commit_id(), operations, rows.by_check))
        if required and rows.sets_mark:
            self._known_marks.add(required)
        return None
