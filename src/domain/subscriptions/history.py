"""The changes of records of a connection that the feed still has, newest first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.records.ownership import owned_connection
from domain.records.subscription import RECORD_KINDS
from domain.subscriptions.objects import checked_object
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from domain.records.subscription import ChangePage
    from domain.storage.ports import HistoryStore

MAX_PAGES = 100
MAX_BYTES = 10_000_000
"""A call looks at no more pages of changes, and reads no more of them. A page has up to 300 KB."""

MAX_ANSWER_BYTES = 3_000_000
"""The changes of an answer are not larger, beside its last one. Lambda returns at most 6 MB, as a JSON string."""


NAMES = ("RefNumber", "Name", "FullName")
"""The elements with the number and the names of a record."""


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A change or deletion of a record, in its page. `content` has what its event has of the record."""

    page: ChangePage
    sequence: int
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class History:
    """Changes, newest first. `before` is the sequence before which there may be more, or None.

    Every change that was found at `read_from` or later was looked at, unless it is newer than the call asked for.
    """

    changes: Sequence[RecordChange]
    before: int | None
    read_from: str


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which changes are meant: of all objects or one, of all records or one, before a sequence.

    `value` is the id, the number or the name of a record, without regard to case. A deletion has only the id.
    """

    object: str | None = None
    record_id: str | None = None
    before: int | None = None
    value: str | None = None

    def matches(self, content: Mapping[str, Any]) -> bool:
        """Whether a change is of a record that is meant."""
        if self.record_id not in {None, content["id"]}:
            return False
        return self.value is None or self.value.strip().casefold() in _names(content)


def _names(content: Mapping[str, Any]) -> set[str]:
    """Return the id, the number and the names of a record, folded."""
    record = content.get("record") or {}
    return {str(name).casefold() for name in (content["id"], *map(record.get, NAMES)) if name is not None}


def history(
    store: HistoryStore, app_id: str, connection_id: str, wanted: HistoryFilter, limit: int, *, since: datetime
) -> History:
    """Return up to `limit` changes of a connection. Events from before `since` are not kept.

    Raises NotFound if the app has no such connection, and InvalidRequest if there is no such object.
    """
    if wanted.object is not None:
        checked_object(wanted.object, "object")
    owned_connection(store.connection(connection_id), app_id)
    found: list[RecordChange] = []
    read, answered = 0, 0
    for number, page in enumerate(store.change_pages_before(connection_id, wanted.before), 1):
        if page.at <= timestamp(since):
            break
        for change in _meant(page, wanted):
            found.append(change)
            answered += len(json.dumps(change.content))
            if len(found) == limit or answered > MAX_ANSWER_BYTES:
                return History(found, change.sequence, page.at)
        read += len(page.changes)
        if number == MAX_PAGES or read > MAX_BYTES:
            return History(found, page.sequence, page.at)
    return History(found, None, timestamp(since))


def _meant(page: ChangePage, wanted: HistoryFilter) -> Iterator[RecordChange]:
    """Yield the changes of a page that are meant, newest first."""
    if page.kind not in RECORD_KINDS or wanted.object not in {None, page.object}:
        return
    if wanted.record_id is not None and json.dumps(wanted.record_id) not in page.changes:
        return
    for sequence, content in reversed(list(enumerate(json.loads(page.changes), page.sequence))):
        is_before = wanted.before is None or sequence < wanted.before
        if is_before and wanted.matches(content):
            yield RecordChange(page, sequence, content)
