"""Books for tests: objects of one type, what happens to them, and the answers to the queries that settle a write."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from domain.qbxml.xml.parser import parse_tree
from domain.settling.books_clock import Sample
from domain.settling.judgement import BooksAnswer
from domain.settling.queries import QueryRole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

    from domain.settling.queries import SettlingQuery


@dataclass(frozen=True)
class Clock:
    """The clock of the machine: `ahead` of ours, and `changed` by some hours at a moment.

    Its times have the offset `zone`. With `ignores_zones`, QuickBooks reads the times in queries as its own.
    """

    ahead: timedelta
    changes_at: datetime
    change: timedelta
    zone: timedelta
    ignores_zones: bool

    def at(self, moment: datetime) -> datetime:
        """Return what the clock shows, in whole seconds."""
        shown = moment + self.ahead + (self.change if moment >= self.changes_at else timedelta(0))
        return shown.astimezone(timezone(self.zone)).replace(microsecond=0)

    def read(self, text: str) -> datetime:
        """Return a time in a query as QuickBooks understands it."""
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=timezone(self.zone)) if self.ignores_zones else moment


@dataclass(frozen=True)
class Made:
    """An object: its fields as QBXML, and when it was created, changed last and deleted, by our clock."""

    fields: str
    created: datetime
    changed: datetime
    deleted: datetime | None = None


@dataclass
class Books:
    """The objects of one type, as they are after everything has happened."""

    clock: Clock
    objects: list[Made] = field(default_factory=list)

    def answer(self, query: SettlingQuery, at: datetime) -> BooksAnswer:
        """Return the answer to a query that QuickBooks executes at a moment."""
        element = query.request.element
        if QueryRole.DELETED in query.roles:
            rows = self._deleted(element, at)
        else:
            rows = [self._row(one) for one in self.objects if self._is_there(one, at) and self._is_asked(one, element)]
        return BooksAnswer(rows, at + timedelta(seconds=1), query.max_rows is None or len(rows) < query.max_rows)

    def answers(self, queries: Sequence[SettlingQuery], times: Sequence[datetime]) -> Mapping[QueryRole, BooksAnswer]:
        """Return the answers to the queries by their roles, each asked at its time."""
        found: dict[QueryRole, BooksAnswer] = {}
        for query, at in zip(queries, times, strict=False):
            found |= dict.fromkeys(query.roles, self.answer(query, at))
        return found

    def sample(self, sent_at: datetime) -> Sample:
        """Return what a write of ours shows that QuickBooks executed half a second after it was sent."""
        executed = sent_at + timedelta(seconds=0.5)
        return Sample(sent_at, sent_at + timedelta(seconds=1), self.clock.at(executed))

    @staticmethod
    def _is_there(one: Made, at: datetime) -> bool:
        return one.created <= at and (one.deleted is None or one.deleted > at)

    def _is_asked(self, one: Made, element: Element) -> bool:
        since = element.findtext(".//FromModifiedDate")
        if since is not None:
            return self.clock.at(one.changed) >= self.clock.read(since)
        wanted = element.findtext("RefNumber") or element.findtext("FullName") or ""
        return f">{wanted}<" in one.fields.split("<CustomerRef>")[-1]

    def _deleted(self, element: Element, at: datetime) -> list[Element]:
        since = self.clock.read(element.findtext(".//FromDeletedDate") or "")
        return [
            parse_tree(f"<Deleted><TimeDeleted>{self.clock.at(one.deleted).isoformat()}</TimeDeleted></Deleted>")
            for one in self.objects
            if one.deleted and one.deleted <= at and self.clock.at(one.deleted) >= since
        ]

    def _row(self, one: Made) -> Element:
        created, changed = self.clock.at(one.created).isoformat(), self.clock.at(one.changed).isoformat()
        times = f"<TimeCreated>{created}</TimeCreated><TimeModified>{changed}</TimeModified>"
        return parse_tree(f"<Ret>{times}{one.fields}</Ret>")


def renamed(one: Made, at: datetime, fields: str) -> Made:
    """Return an object after somebody changed it."""
    return replace(one, fields=fields, changed=at)
