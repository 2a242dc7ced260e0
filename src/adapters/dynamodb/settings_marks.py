"""Marks of connections in their rows of counts, so that most creates need not check the connection itself.

A create requires that a connection, which its process read up to a minute ago, still exists and has the same default
webhook URL and rule of approval (`RequireConnection`). A check of the connection in the transaction costs two write
units for each KB. The row of the day's counts is in that transaction anyway, and its mark tells the same.

A create checks the connection and sets the mark of the row in one transaction. Later creates of this process and day
require only that the row has this mark. A transaction that deletes a connection, or changes one of these settings, sets
the new mark in the rows of the days on which a request can be queued at this moment. So while requests are queued
on a day, its row never has the mark of settings that the connection no longer has.

Where a row cannot tell, the connection is checked: the row is missing, has another mark, or is an overflow row.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from adapters.dynamodb.counts import MARK, OVERFLOW_ROWS, count_updates
from adapters.dynamodb.operations import Operation
from domain.storage.changes import RequireConnection
from domain.storage.counts import count_changes, marked_days
from domain.storage.statistics import statistic_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adapters.dynamodb.client import DynamoDB
    from domain.records.connection import Connection
    from domain.storage.changes import Change

MAX_KNOWN = 10_000
"""The connections whose mark a process remembers."""

DELETED = "deleted"
"""The mark of a deleted connection, which nothing requires."""


def mark(app_id: str, webhook_url: str | None, approval: str | None = None) -> str:
    """Return 48 bits of the SHA-256 of what a create requires, as 8 characters, because a row has no room for a URL."""
    text = json.dumps([app_id, webhook_url, *([approval] if approval else ())])
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:6]).decode()


def _mark_of(connection: Connection) -> str:
    return DELETED if connection.deleted_at else mark(connection.app_id, connection.webhook_url, connection.approval)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A connection that a commit requires, whose counts it changes on one day, and the mark that is required."""

    change: RequireConnection
    day: str

    @property
    def mark(self) -> str:
        """The mark that the row of the day has, if the requirement is met."""
        return mark(self.change.app_id, self.change.webhook_url, self.change.approval)

    @property
    def row(self) -> tuple[str, str]:
        """The row of the day."""
        return self.change.connection_id, self.day


class KnownMarks:
    """The marks that this process has found or set, by connection."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str]] = {}

    def has(self, requirement: Requirement) -> bool:
        """Whether the row had the required mark when this process last used it."""
        return self._known.get(requirement.change.connection_id) == (requirement.day, requirement.mark)

    def add(self, requirement: Requirement) -> None:
        """Remember that the row has the required mark."""
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[requirement.change.connection_id] = requirement.day, requirement.mark

    def forget(self, requirement: Requirement) -> None:
        """Forget the mark of a connection, so that the connection itself is checked the next time."""
        self._known.pop(requirement.change.connection_id, None)


class Rows:
    """The operations of a commit on rows of counts, and the check of the connection that it requires.

    `check` returns the operations that check a connection itself.
    """

    def __init__(
        self, dynamodb: DynamoDB, changes: Sequence[Change], check: Callable[[RequireConnection], list[Operation]]
    ) -> None:
        self._dynamodb = dynamodb
        self._changes = changes
        self._check = check
        self._counts, self._statistics = count_changes(changes), statistic_changes(changes)
        self.sets_mark = False
        """Whether the last operations set the required mark."""

    @cached_property
    def requirement(self) -> Requirement | None:
        """The required connection, if a row of counts can tell about it."""
        days = {(key.connection_id, key.day) for key in self._counts} | set(self._statistics)
        for change in self._required:
            own = [day for connection_id, day in days if connection_id == change.connection_id]
            return Requirement(change, own[0]) if len(own) == 1 else None
        return None

    @property
    def _required(self) -> list[RequireConnection]:
        return [change for change in self._changes if isinstance(change, RequireConnection)]

    def by_mark(self, cancellations: int) -> list[Operation]:
        """Return the operations that require the mark of the row. After a conflict, they check the connection."""
        required = self.requirement
        if cancellations or required is None:
            return self.by_check(cancellations)
        return [
            self._on_condition(operation, required)
            if operation.entry["Update"]["Key"]["connection_id"] == {"S": required.change.connection_id}
            else operation
            for operation in self._updates(None, {})
        ]

    def by_check(self, cancellations: int) -> list[Operation]:
        """Return the operations that check the required connection and set the mark of the row."""
        row = int(self._dynamodb.random() * OVERFLOW_ROWS) if cancellations else None
        self.sets_mark = row is None and self.requirement is not None
        marks = {self.requirement.row: self.requirement.mark} if self.requirement and row is None else {}
        checks = [operation for change in self._required for operation in self._check(change)]
        return [*checks, *self._updates(row, marks)]

    def _updates(self, row: int | None, marks: Mapping[tuple[str, str], str]) -> list[Operation]:
        changed = {day: _mark_of(connection) for day, connection in marked_days(self._changes).items()}
        if not (self._counts or self._statistics or changed):
            return []  # most functions have no access to the counts
        table = self._dynamodb.tables.counts
        updates = count_updates(table, self._counts, row, self._statistics, {**marks, **changed})
        return list(map(Operation, updates))

    @staticmethod
    def _on_condition(operation: Operation, required: Requirement) -> Operation:
        update = operation.entry["Update"]
        values = update["ExpressionAttributeValues"] | {f":{MARK}": {"S": required.mark}}
        condition = {"ConditionExpression": f"{MARK} = :{MARK}", "ExpressionAttributeValues": values}
        return Operation({"Update": update | condition}, required.change)
