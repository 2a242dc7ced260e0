"""Let subscriptions emit again what a restore has removed from the feed. `local/rebuild.py` uses it.

The logs of events are deleted, and a program may not have read the events of the last seven days. So everything that
was emitted since is emitted again:

| the stored object | after the restore |
|---|---|
| its changes are read | they are read again from eight days before on, or from its watermark if that is earlier |
| a snapshot began in the last eight days | a snapshot begins |
| a resync was required | a snapshot begins, because the event that requires it may be lost |
| QuickBooks cannot read it | the same |
| it has open transactions | these are emitted again, and those that were paid in the last eight days |
| its derived fields are read | all of them are emitted again |
| it is a list whose entries are counted | they are counted again after the next snapshot |

The eighth day is for a clock of the books that differs from ours. What is repeated has a higher sequence, because a
sequence is at least the present in milliseconds. A program that had read it leads to the same copy.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from domain import qbxml
from domain.records.subscription import CopyPhase, ObjectCopy, next_number
from domain.storage.changes import Put
from domain.subscriptions.objects import known_object
from domain.subscriptions.open_transactions import UNKNOWN
from domain.subscriptions.run import RunState
from domain.timestamps import books_time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.subscription import CopyState, RememberedPart
    from domain.storage.changes import Change

AGAIN = timedelta(days=8)
"""How long before the restore the changes are read again: as long as the feed keeps them, and a day."""


def rewound(one: ObjectCopy, now: datetime) -> ObjectCopy:
    """Return an object as it is read after a restore. To do it again changes nothing."""
    since = now - AGAIN
    one = replace(one, opened=None if one.opened is None else 0, derived_of="")
    if one.phase is CopyPhase.UNSUPPORTED:
        return one
    if one.phase is not CopyPhase.CHANGES or one.generation >= next_number(0, since):
        return replace(one, phase=CopyPhase.SNAPSHOT, watermark=None, reading=None, problem=None, count=None)
    watermark, moment = one.watermark, books_time(one.watermark)
    if moment and moment > since:
        watermark = since.isoformat(timespec="seconds")
    return replace(one, watermark=watermark, tokens=(), reading=None, count=None)


def rewound_parts(parts: Iterable[RememberedPart]) -> list[Put[RememberedPart]]:
    """Return the changes with which it is not known any more what the feed has said of transactions.

    They are stored before those of `rewound_copy`, because one commit may not take them all.
    """
    changes: list[Put[RememberedPart]] = []
    for part in parts:
        unknown = dict.fromkeys(part.entries, UNKNOWN)
        if known_object(part.name).has_paid_filter and part.entries != unknown:
            changes.append(Put(part, replace(part, entries=unknown, revision=part.revision + 1)))
    return changes


def rewound_copy(state: CopyState, now: datetime) -> tuple[CopyState, list[Change]]:
    """Return what is stored of a connection's copy after a restore, and the changes that store it."""
    objects = {one.name: rewound(one, now) for one in state.objects}
    changes: list[Change] = []
    for one in state.objects:
        if objects[one.name] != one:
            objects[one.name] = replace(objects[one.name], revision=one.revision + 1)
            changes.append(Put(one, objects[one.name]))
    copy = state.copy
    if copy and copy.failures:
        # The event that says so may be lost, so it is emitted again after as many failures.
        copy = replace(copy, failures=0, revision=copy.revision + 1)
        changes.append(Put(state.copy, copy))
    return replace(state, copy=copy, objects=tuple(objects.values())), changes


def next_run(state: CopyState, connection: Connection, now: datetime) -> str | None:
    """Return when the next run of a connection is due, or None if it has no subscription."""
    version = qbxml.default_version(connection.qbxml_version)
    return RunState(state, connection.id, connection.app_id, version=version, now=now).run_due_at
