"""After a restore of the service, a program that had read the feed up to a week before has the right copy again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.records.subscription import CopyPhase, CopyState, ObjectCopy, RunMessage
from domain.storage.changes import Put
from local.rewinding import rewound, rewound_copy
from tests.support.books import Books
from tests.support.copies import Copying, Reader, events_of
from tests.unit.subscriptions.test_runs import copied, read

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

KINDS = ("Customer", "Invoice")
HOUR = 3600
READ_WITHIN = 7 * 24
"""The hours for which the feed keeps an event. Every program has read what is older."""


def an_hour(data: DataObject, copying: Copying) -> None:
    """Let a person edit the books, and make a run, whose session may end anywhere."""
    books = copying.books
    records = list(books.records.values())
    match data.draw(st.sampled_from(["add", "change", "delete", "rest"])):
        case "add":
            books.add(data.draw(st.sampled_from(KINDS)), f"N{len(records)}")
        case "change" if records:
            books.change(data.draw(st.sampled_from(records)), memo=str(len(copying.pages)))
        case "delete" if records:
            books.delete(data.draw(st.sampled_from(records)))
    copying.tick(HOUR * data.draw(st.sampled_from([1, 30, 100])))
    if data.draw(st.integers(0, 3)) == 0:
        copying.step()
        copying.end_session()
    else:
        copying.run()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_a_program_has_not_read_before_a_restore_is_emitted_again(data: DataObject) -> None:
    copying = Copying(Books())
    copying.subscribe(*KINDS)
    moments: list[tuple[CopyState, int]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        if data.draw(st.integers(0, 5)) == 0:
            resynced = replace(copying.subscriptions[0], began_at=copying.now.isoformat(), start="all")
            copying.subscriptions[0] = resynced
        an_hour(data, copying)
        moments.append((copying.state, len(copying.pages)))
    old = [page for page in copying.pages if hours(copying, page.at) > READ_WITHIN]
    reader = Reader()
    for event in events_of(copying.pages[: data.draw(st.integers(len(old), len(copying.pages)))]):
        reader.read(event)
    restored, _ = data.draw(st.sampled_from(moments))

    copying.state, changes = rewound_copy(restored, copying.now)
    copying.asked, lost = RunMessage(), len(copying.pages)
    assert rewound_copy(copying.state, copying.now) == (copying.state, []), "a second time changes nothing"
    before = {one.name: one.revision for one in restored.objects}
    for change in changes:
        if isinstance(change, Put) and isinstance(change.after, ObjectCopy):
            assert change.after.revision == before[change.after.name] + 1
    copying.tick(25 * HOUR)
    copying.run()
    for event in events_of(copying.pages[lost:]):
        reader.read(event)

    assert read(reader) == copied(copying.books, KINDS)


def hours(copying: Copying, at: str) -> float:
    """Return how many hours ago a page was stored."""
    return (copying.now - datetime.fromisoformat(at)).total_seconds() / HOUR


def test_a_required_resync_is_made_because_its_event_may_be_lost() -> None:
    copying = Copying(Books())
    copying.subscribe("Customer")
    copying.run()
    (one,) = copying.state.objects
    required = replace(one, phase=CopyPhase.RESYNC_REQUIRED, problem="A backup was restored.")

    assert rewound(required, copying.now).phase is CopyPhase.SNAPSHOT
    unsupported = replace(one, phase=CopyPhase.UNSUPPORTED)
    assert rewound(unsupported, copying.now) == unsupported
