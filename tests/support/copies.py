"""A reader of changes, as a program would write it, and a driver of runs without a Web Connector."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain.records.subscription import (
    ChangePage,
    CopyState,
    DerivedEvery,
    ObjectCopy,
    PageKind,
    RememberedPart,
    RunMessage,
    Subscription,
)
from domain.subscriptions.asking import remembered_names
from domain.subscriptions.run import RunState
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.support.books import Books

Key = tuple[str, str]


@dataclass
class Reader:
    """A copy of the books."""

    rows: dict[Key, dict[str, Any]] = field(default_factory=dict)
    seen: dict[Key, int] = field(default_factory=dict)
    """The highest sequence of each record, also of those that were deleted since the last snapshot."""
    derived: dict[Key, dict[str, Any]] = field(default_factory=dict)
    """The last event of the derived fields of each entry. They are beside the record, and never change it."""

    def read(self, event: dict[str, Any]) -> None:
        """Apply one event."""
        name, kind = event["object"], event["type"]
        if kind == "subscription.snapshot_completed":
            for key in [key for key, row in self.rows.items() if key[0] == name]:
                if self.rows[key]["generation"] < event["generation"]:
                    del self.rows[key]
        if not kind.startswith("record."):
            return
        key = (name, event["id"])
        if kind == "record.derived":
            if event["sequence"] > self.derived.get(key, {"sequence": 0})["sequence"]:
                self.derived[key] = event
            return
        if event["sequence"] <= self.seen.get(key, 0):
            return
        self.seen[key] = event["sequence"]
        self.rows.pop(key, None)
        if kind == "record.changed":
            self.rows[key] = event


TYPES = {
    PageKind.CHANGED: "record.changed",
    PageKind.DELETED: "record.deleted",
    PageKind.DERIVED: "record.derived",
    **{kind: f"subscription.{kind.name.lower()}" for kind in list(PageKind)[3:]},
}


def events_of(pages: Iterable[ChangePage]) -> list[dict[str, Any]]:
    """Return the events of pages."""
    return [
        change
        | {
            "type": TYPES[page.kind],
            "object": page.object,
            "generation": page.generation,
            "sequence": page.sequence + n,
        }
        for page in pages
        for n, change in enumerate(json.loads(page.changes))
    ]


@dataclass
class Copying:
    """The runs of one connection. Its clock and that of the books may differ."""

    books: Books
    subscriptions: list[Subscription] = field(default_factory=list)
    file_id: str | None = "{F}"
    now: datetime = datetime(2026, 3, 14, 12, tzinfo=UTC)
    state: CopyState = field(default_factory=CopyState)
    pages: list[ChangePage] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    asked: RunMessage = field(default_factory=RunMessage)

    def tick(self, seconds: float) -> None:
        """Let time pass on both machines."""
        self.now += timedelta(seconds=seconds)
        self.books.tick(seconds)

    def subscribe(
        self, *objects: str, start: str = "all", minutes: int = 15, derived: DerivedEvery | None = None
    ) -> Subscription:
        """Add a subscription."""
        moment = timestamp(self.now)
        id_ = f"s{len(self.subscriptions)}"
        one = Subscription(id_, "c", "a", moment, moment, objects, minutes, start, moment, derived=derived)
        self.subscriptions.append(one)
        return one

    def run_state(self) -> RunState:
        """Return the state that the next call finds. An answer finds what is remembered of the objects asked for."""
        wanted = remembered_names(self.asked) if self.asked.is_sent else ()
        parts = tuple(part for part in self.state.remembered if part.name in wanted)
        stored = replace(self.state, subscriptions=tuple(self.subscriptions), remembered=parts)
        return RunState(stored, "c", "a", version="13.0", now=self.now, file_id=self.file_id)

    def commit(self, run: RunState) -> None:
        """Store what a call has changed. Each change requires the state that was read."""
        objects = {one.name: one for one in self.state.objects}
        parts = {part.place: part for part in self.state.remembered}
        for change in run.changes():
            if isinstance(change.after, ChangePage):
                assert change.before is None
                self.pages.append(change.after)
            elif isinstance(change.after, RememberedPart):
                assert parts.get(change.after.place) == change.before
                parts[change.after.place] = change.after
            elif isinstance(change.after, ObjectCopy):
                assert objects.get(change.after.name) == change.before
                objects[change.after.name] = change.after
            else:
                assert self.state.copy == change.before
                self.state = replace(self.state, copy=change.after)
        self.state = replace(self.state, objects=tuple(objects.values()), remembered=tuple(parts.values()))

    def step(self, dies: Callable[[], bool] = lambda: False, between: Callable[[], None] = lambda: None) -> bool:
        """Send one message and receive its answer. Return whether there was something to ask."""
        run = self.run_state()
        message = run.next_message(self.asked)
        if message is None:
            run.ended()
            self.commit(run)
            return False
        self.asked = run.sent(message)
        text = self.run_state().text(self.asked)
        assert text == run.text(self.asked), "a repeated call sends the same message"
        self.messages.append(text)
        between()
        answer = self.books.answer(text)
        self.tick(1)
        between()
        if dies():
            self.end_session()
            return True
        run = self.run_state()
        self.asked = run.answered(self.asked, answer)
        self.commit(run)
        if dies():
            self.end_session()
        return True

    def end_session(self) -> None:
        """End the session of the Web Connector. Its iterators end with it."""
        self.asked = RunMessage()
        self.books.end_session()

    def run(self, dies: Callable[[], bool] = lambda: False, between: Callable[[], None] = lambda: None) -> int:
        """Make a run to its end. Return the number of its messages."""
        for number in range(3_000):
            if not self.step(dies, between):
                self.end_session()
                return number
        raise AssertionError("The run does not end.")
