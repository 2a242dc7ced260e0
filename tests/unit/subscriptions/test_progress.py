"""What people and programs see of the reading: the numbers of records and changes, times, and how old the copy is."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.records.subscription import CopyPhase, ObjectCopy, PageKind
from domain.subscriptions.progress import Progress
from domain.timestamps import timestamp
from handlers.views.subscriptions import subscription_view
from tests.support.books import Books
from tests.support.builders import a_connection
from tests.support.copies import Copying

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from domain.records.subscription import ChangePage

KINDS = ("Customer", "Invoice", "Account")
NIGHT = timedelta(hours=30)


def copying(size: int = 3, **fields: Any) -> Copying:
    """Return the runs of a connection with one subscription, before the first of them."""
    books = Books()
    for number in range(size):
        for kind in KINDS:
            books.add(kind, f"N{number:03}")
    runs = Copying(books)
    one = runs.subscribe(*KINDS)
    runs.subscriptions[0] = replace(one, **fields)
    return runs


def progress_of(runs: Copying, connection: Connection | None = None) -> Progress:
    """Return the progress that the API reports."""
    state = replace(runs.state, subscriptions=tuple(runs.subscriptions))
    return Progress(state, connection or a_connection(file_id_seen=runs.file_id), runs.now)


def view_of(runs: Copying, number: int = 0, **connection: Any) -> dict[str, Any]:
    """Return the JSON of a subscription."""
    known = a_connection(file_id_seen=runs.file_id, **connection)
    return dict(subscription_view(progress_of(runs, known), runs.subscriptions[number]))


def objects_of(runs: Copying, number: int = 0) -> dict[str, Any]:
    """Return the JSON of its objects."""
    return {one["object"]: one for one in view_of(runs, number)["objects"]}


def found_in_a_day(pages: list[ChangePage], now: datetime) -> dict[str, int]:
    """Return how many changes were emitted outside of snapshots, in this hour and the 23 before, by object."""
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=23)
    numbers, reads_all = dict.fromkeys(KINDS, 0), set()
    for page in pages:
        if page.kind is PageKind.SNAPSHOT_STARTED:
            reads_all.add(page.object)
        elif page.kind is PageKind.SNAPSHOT_COMPLETED:
            reads_all.discard(page.object)
        elif page.kind in {PageKind.CHANGED, PageKind.DELETED} and page.object not in reads_all:
            numbers[page.object] += page.number * (datetime.fromisoformat(page.at) >= first)
    return numbers


def records_of(pages: list[ChangePage]) -> dict[str, int]:
    """Return the number of records in the last complete snapshot of each object."""
    ends = [page for page in pages if page.kind is PageKind.SNAPSHOT_COMPLETED]
    return {page.object: json.loads(page.changes)[0]["records"] for page in ends}


@given(st.data())
def test_the_numbers_of_an_object_are_those_of_its_events(data: st.DataObject) -> None:
    runs = copying(data.draw(st.integers(0, 4)))
    for _ in range(data.draw(st.integers(1, 8))):
        runs.tick(data.draw(st.sampled_from([0, 900, 3_600, 20_000, 90_000, 700_000])))
        for record in list(runs.books.records.values()):
            if data.draw(st.sampled_from([False, False, True])):
                runs.books.change(record, memo=str(runs.now))
            elif not data.draw(st.integers(0, 9)):
                runs.books.delete(record)
        deaths = data.draw(st.sampled_from([(), (2,), (1, 3)]))
        steps = iter(range(1, 1_000))
        runs.run(lambda: next(steps) in deaths)  # noqa: B023 - called in this round only

        assert {name: one["changes"] for name, one in objects_of(runs).items()} == found_in_a_day(runs.pages, runs.now)
        numbers = {name: one["records"] for name, one in objects_of(runs).items()}
        assert {name: number for name, number in numbers.items() if number is not None} == records_of(runs.pages)


@given(st.data())
def test_the_copy_has_everything_that_changed_before_its_time(data: st.DataObject) -> None:
    """The books rest during a pass, because what changes while it lasts may be found by the next one."""
    runs = copying()
    changes: list[tuple[str, str, str, int]] = []
    for _ in range(data.draw(st.integers(1, 8))):
        runs.tick(data.draw(st.sampled_from([1, 900, 90_000])))
        if not any(one.reading for one in runs.state.objects):
            for record in runs.books.records.values():
                if data.draw(st.booleans()):
                    runs.books.change(record, memo=str(runs.now))
                    changes.append((timestamp(runs.now), record.kind, record.id, record.edit_sequence))
        for _ in range(data.draw(st.integers(0, 4))):
            runs.step()
        if data.draw(st.booleans()):
            runs.end_session()

        at = progress_of(runs).all_copied_at
        emitted = {
            (page.object, change["id"], int(change["edit_sequence"]))
            for page in runs.pages
            if page.kind is PageKind.CHANGED
            for change in json.loads(page.changes)
        }
        for moment, kind, id_, edit in changes:
            newest = edit == runs.books.records[id_].edit_sequence
            assert not (at and newest and moment < at) or (kind, id_, edit) in emitted


def test_before_the_first_run_nothing_is_known_and_it_is_due() -> None:
    runs = copying()

    view = view_of(runs)

    assert (view["copied_at"], view["last_run_at"], view["next_run_at"]) == (None, None, timestamp(runs.now))
    assert {(one["state"], one["read_at"], one["records"], one["changes"]) for one in view["objects"]} == {
        (None, None, None, 0)
    }


def test_after_a_run_the_copy_is_as_old_as_its_oldest_object_and_the_next_run_is_told() -> None:
    runs = copying()
    runs.run()

    view = view_of(runs)

    reads = [one["read_at"] for one in view["objects"]]
    assert view["copied_at"] == min(reads) < max(reads)
    assert view["last_run_at"] == timestamp(runs.now)
    assert view["next_run_at"] == min(one["next_read_at"] for one in view["objects"])
    assert view["next_run_at"] == timestamp(datetime.fromisoformat(min(reads)) + timedelta(minutes=15))


def test_after_a_failed_run_nothing_is_read_before_the_connection_is_due() -> None:
    runs = copying()
    later = timestamp(runs.now + timedelta(minutes=5))

    assert view_of(runs, run_due_at=later)["next_run_at"] == later


def test_while_a_snapshot_takes_several_messages_its_records_so_far_are_told() -> None:
    runs = copying(size=500)
    for _ in range(3):
        runs.step()

    reading = [one["records_so_far"] for one in objects_of(runs).values() if one["records_so_far"] is not None]

    assert reading
    assert 0 < max(reading) < 500
    runs.run()
    assert {one["records_so_far"] for one in objects_of(runs).values()} == {None}
    assert {one["records"] for one in objects_of(runs).values()} == {500}


def test_a_resync_is_seen_at_once_and_the_copy_has_no_time_until_it_ends() -> None:
    runs = copying()
    runs.run()
    runs.tick(60)
    runs.subscriptions[0] = replace(runs.subscriptions[0], start="all", began_at=timestamp(runs.now))

    assert {one["state"] for one in objects_of(runs).values()} == {CopyPhase.SNAPSHOT}
    assert view_of(runs)["copied_at"] is None
    runs.run()
    assert view_of(runs)["copied_at"] is not None


def test_a_paused_subscription_keeps_the_time_of_its_copy_and_is_not_read() -> None:
    runs = copying()
    runs.run()
    before = view_of(runs)["copied_at"]
    runs.subscriptions[0] = replace(runs.subscriptions[0], paused_at=timestamp(runs.now))

    view = view_of(runs)

    assert (view["copied_at"], view["next_run_at"]) == (before, None)
    assert progress_of(runs).all_copied_at == before
    assert {one["next_read_at"] for one in view["objects"]} == {None}


def test_a_copy_counts_the_objects_of_paused_subscriptions_only_if_all_are_paused() -> None:
    runs = copying()
    runs.run()
    runs.subscriptions[0] = replace(runs.subscriptions[0], paused_at=timestamp(runs.now))
    runs.subscribe("Vendor")

    assert progress_of(runs).all_copied_at is None
    runs.tick(3_600)
    runs.run()
    assert progress_of(runs).all_copied_at == objects_of(runs, 1)["Vendor"]["read_at"]


@pytest.mark.parametrize(
    ("phase", "counts"), [(CopyPhase.UNSUPPORTED, False), (CopyPhase.RESYNC_REQUIRED, None), (CopyPhase.CHANGES, True)]
)
def test_an_object_without_changes_makes_the_copy_old_unless_quickbooks_cannot_read_it(
    phase: CopyPhase, *, counts: bool | None
) -> None:
    runs = copying()
    runs.run()
    old = "2026-01-01T00:00:00.000000Z"
    assert runs.state.copy is not None
    runs.state = replace(
        runs.state,
        copy=replace(runs.state.copy, read={**runs.state.copy.read, "Account": old}),
        objects=tuple(
            replace(one, phase=phase, problem="It is so.") if one.name == "Account" else one
            for one in runs.state.objects
        ),
    )
    runs.subscriptions[0] = replace(runs.subscriptions[0], paused_at=timestamp(runs.now))

    at = progress_of(runs).all_copied_at

    assert at == (None if counts is None else old if counts else min(objects_of(runs)[k]["read_at"] for k in KINDS[:2]))


def test_changes_of_the_day_before_are_forgotten() -> None:
    runs = copying()
    runs.run()
    runs.books.change(next(iter(runs.books.records.values())), memo="new")
    runs.tick(3_600)
    runs.run()
    assert sum(one["changes"] for one in objects_of(runs).values()) == 1
    runs.tick(NIGHT.total_seconds())

    assert sum(one["changes"] for one in objects_of(runs).values()) == 0


def test_a_change_counts_in_its_hour_and_the_23_hours_after_it() -> None:
    begin = datetime(2026, 3, 14, 12, tzinfo=UTC)
    one = ObjectCopy("c", "Bill", CopyPhase.CHANGES, timestamp(begin)).changed(3, begin + timedelta(minutes=59))

    numbers = [one.changes_of_a_day(begin + timedelta(hours=hours)) for hours in (0, 1, 23, 24)]

    assert numbers == [3, 3, 3, 0]
