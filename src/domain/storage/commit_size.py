"""The size of a commit: the largest number of entries that its transaction can have.

DynamoDB accepts 100 entries in a transaction. A change needs a fixed number of them, and every day of a connection
whose counts change needs one more. Records that were queued and changed on many days therefore make a commit large.
A use case that changes a variable number of records bounds them by `fitting`, or by a rule of its own that
`tests/contract/test_commit_sizes.py` checks.
"""

from __future__ import annotations

from collections import Counter
from traceback import walk_stack
from typing import TYPE_CHECKING, TypeVar

from domain.records.connection import Connection
from domain.records.request import State
from domain.storage.changes import AddRequest, ChangeRequest, CountBeginning, ForgetRequest, Put, RemoveRequest
from domain.storage.counts import count_changes, marked_days
from domain.storage.statistics import statistic_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.request import QueuedRequest
    from domain.storage.changes import Change

AnyChange = TypeVar("AnyChange", bound="Change")

MAX_ENTRIES = 100
"""DynamoDB: `TransactWriteItems` takes at most 100 entries."""

MAX_DELETED_CHUNKS = 30
"""The chunks of a body that a commit deletes. The sweep deletes the rest."""

MIN_REQUEST_BYTES_OF_A_CHUNK = 60_000
"""A request has at most one chunk for this many bytes. A smaller one has none."""


class CommitTooLarge(RuntimeError):
    """A commit has more than MAX_ENTRIES entries. This is an error in the program."""


def check_size(changes: Sequence[Change], entries: int) -> None:
    """Raise CommitTooLarge, which names the use case, if the commit of `changes` has too many entries."""
    if entries > MAX_ENTRIES:
        kinds = ", ".join(f"{number} {kind}" for kind, number in Counter(map(_kind, changes)).items())
        limit = f"A commit has {entries} entries, but DynamoDB takes at most {MAX_ENTRIES}."
        raise CommitTooLarge(f"{limit} Use case: {_use_case() or 'unknown'}. Changes: {kinds}.")


def max_entries(changes: Sequence[Change]) -> int:
    """Return the largest number of entries in the transaction that makes `changes`."""
    days = {(key.connection_id, key.day) for key in count_changes(changes)}
    days |= {*statistic_changes(changes), *marked_days(changes)}
    return sum(map(_entries, changes)) + len(days)


def fitting(changes: Sequence[AnyChange], most: int) -> Sequence[AnyChange]:
    """Return the first `most` changes, or as many of them as one commit can make."""
    number = min(most, len(changes))
    while number > 1 and max_entries(changes[:number]) > MAX_ENTRIES:
        number -= 1
    return changes[:number]


def _use_case() -> str:
    """Return the functions of the domain that led to this call, the use case first."""
    frames = [frame for frame, _ in walk_stack(None) if str(frame.f_globals.get("__name__")).startswith("domain.")]
    names = [frame.f_code.co_qualname for frame in frames if frame.f_globals["__name__"] != __name__]
    return " > ".join(reversed(names))


def _entries(change: Change) -> int:
    """Return how many entries a change needs at most, besides those for counts."""
    entries = 1
    match change:
        case AddRequest(record=record, request_xml=request_xml):
            chunks = len(request_xml.encode()) // MIN_REQUEST_BYTES_OF_A_CHUNK
            entries = 2 + chunks + _entries_of_queue(None, record)
        case ChangeRequest(before=before, after=after):
            entries = 1 + _changes_body(change) + _entries_of_queue(before, after)
        case RemoveRequest(before=before):
            entries = 2 + MAX_DELETED_CHUNKS + 1 + _entries_of_queue(before, None)
        case ForgetRequest():
            entries = 2 + MAX_DELETED_CHUNKS + 1
        case Put(after=Connection(deleted_at=str())):
            entries = 2
        case CountBeginning():
            entries = 0
    return entries


def _changes_body(change: ChangeRequest) -> bool:
    """Whether the commit may change the body. After a request was sent, a response may be stored in it."""
    has_values = change.response_xml or change.search_text is not None or change.references
    return bool(has_values) or change.before.state is State.SENT


def _entries_of_queue(before: QueuedRequest | None, after: QueuedRequest | None) -> int:
    """Return how many places in the queue are taken or given up."""
    old = before.place_in_queue if before and before.is_in_queue else None
    new = after.place_in_queue if after and after.is_in_queue else None
    return (new is not None) + (old is not None and old != new)


def _kind(change: Change) -> str:
    match change:
        case ChangeRequest(before=before, after=after):
            return f"ChangeRequest({before.state} to {after.state})"
        case Put(after=after):
            return f"Put({type(after).__name__})"
        case _:
            return type(change).__name__
