"""Runs the steps of a plan one after the other, in calls that a run can repeat.

The requests go behind those of others, because the queue is first in, first out, and the next ones are queued only when
the former ones have ended. A request has a label that names its run and step. A run that continues looks for the label
before it queues a request, so no request is queued twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

from qbxml_queue.check.checks import claimed_versions, version_number
from qbxml_queue.check.documents import filled, places
from qbxml_queue.check.outcomes import Outcome, whole
from qbxml_queue.check.plan import MAX_MESSAGE_SETS, TOGETHER
from qbxml_queue.check.service import has_ended
from qbxml_queue.check.writes import ALL
from qbxml_queue.errors import ApiError
from qbxml_queue.schema.returned import NOT_IN, SINCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qbxml_queue.check.journal import Journal
    from qbxml_queue.check.plan import Step
    from qbxml_queue.check.service import Service

VERSIONS = ("13.0", "14.0", "15.0", "16.0", "17.0")
"""The versions of QBXML of which the first that QuickBooks does not claim is asked."""

PAGES = 3
"""In how many pages the iterator returns the customers."""

INDEX_SECONDS = 0.5
"""How long the list of the pages of a query may take to show a new page."""

SOON_SECONDS = 0.2
"""How often to look whether a request has been sent."""

REFUSALS = {400, 413}
"""The statuses with which the service refuses a request. Others say nothing about the request."""

UNUSABLE = "The run has no message set left."


class Watcher(Protocol):
    """Who is told how a run gets on."""

    def began(self, step: Step) -> None:
        """Show that the request of a step is queued."""

    def waits(self, reason: str) -> None:
        """Show why a request waits, in the words of the service."""

    def prepare(self, prompt: str) -> bool:
        """Ask a person to be ready to act, and return whether one is there."""
        ...

    def act(self) -> None:
        """Tell the person to act now."""

    def ended(self, step: Step, outcome: Outcome) -> None:
        """Show the outcome of a step."""


@dataclass
class Run:
    """A run of a plan. `batch_size` is how many reads of the connection travel together.

    A run that `is_continued` looks for labels first.
    """

    service: Service
    journal: Journal
    watcher: Watcher
    batch_size: int
    is_continued: bool
    _reserved: int = 0

    def run(self, plan: Sequence[Step], reserved: int = 0) -> None:
        """Ask the steps of a plan that have not ended, and keep `reserved` message sets for later ones."""
        self._reserved = reserved
        todo = [step for step in plan if step.name not in self.journal.outcomes]
        while todo:
            reason = self._reason_to_skip(todo[0])
            if reason:
                self._end(todo.pop(0), Outcome(skipped=reason))
                continue
            group = self._group(todo)
            self._ask(group)
            todo = todo[len(group) :]

    @property
    def spent(self) -> int:
        """How many message sets the run has sent. Requests that were sent at the same time were in one."""
        return len({time for outcome in self.journal.outcomes.values() for time in outcome.sets})

    def facts(self) -> dict[str, str]:
        """Return the values of the places in requests, and what else was learned."""
        return facts_of(self.journal)

    def _group(self, todo: Sequence[Step]) -> list[Step]:
        """Return the steps that are asked next: one, or several that can travel together."""
        group = [todo[0]]
        room = self._room() if self.batch_size > 1 else min(TOGETHER, self._room())
        for step in todo[1:]:
            if not (todo[0].is_together and step.is_together) or len(group) >= room or self._reason_to_skip(step):
                break
            group.append(step)
        return group

    def _room(self) -> int:
        return MAX_MESSAGE_SETS - self._reserved - self.spent

    def _reason_to_skip(self, step: Step) -> str:  # noqa: PLR0911 - one return for each reason
        facts = self.facts()
        if step.name in self.journal.queued:
            return ""
        for place in (*places(step.request), *places(step.version)):
            if place not in facts:
                return f"The company has no {place.replace('_', ' ')}, or an earlier step did not return it."
        versions, version = facts.get("versions", "").split(), filled(step.version, facts)
        if version and versions and version not in versions and not step.refused:
            return f"QuickBooks does not claim QBXML {version}."
        since = SINCE.get(step.request_name, "")
        if since and versions and version_number(since) > version_number(versions[-1]):
            return f"The request exists since QBXML {since}."
        if facts.get("country") in NOT_IN.get(step.request_name, ()):
            return f"The edition of the country {facts['country']} does not have the request."
        before = self.journal.outcomes.get(step.after)
        if step.after and (before is None or before.skipped):
            return f"The step {step.after} was not asked."
        return UNUSABLE if step.pages > self._room() else ""

    def _ask(self, group: Sequence[Step]) -> None:
        """Queue the requests of steps, wait until they have ended, and store the outcomes.

        A set grows from one request to 20 while a session sends what is queued, so a whole group is queued first.
        """
        first = group[0]
        is_known = first.name in self.journal.queued
        if first.prompt and not is_known and not self.watcher.prepare(first.prompt):
            self._end(first, Outcome(skipped="Nobody was there to act."))
            return
        if first.pause and not is_known:
            self.service.pause(first.pause)
        queued: dict[Step, str] = {}
        for start in range(0, len(group), TOGETHER):
            queued |= self._queued(group[start : start + TOGETHER])
        sets: dict[str, None] = {}
        if first.prompt and not is_known:
            while not (sent_at := self.service.record(queued[first])["sent_at"]):
                self.service.pause(SOON_SECONDS)
            sets[sent_at] = None
            self.watcher.act()
        for step, request_id in queued.items():
            self._end(step, self._result(request_id, sets))

    def _queued(self, group: Sequence[Step]) -> dict[Step, str]:
        """Return the ids of the requests of steps, which are queued unless an interrupted run has queued them.

        If the service refuses one of them, each is queued alone, and the refused one has ended.
        """
        known = {step: request_id for step in group if (request_id := self._known(step))}
        if len(known) == len(group):
            return known
        if len(group) > 1 and known:
            return self._alone(group)
        for step in group:
            self.watcher.began(step)
        facts = self.facts()
        key = f"{self._label(group[0])} {len(group)}".replace(" ", "-")
        bodies = [self._body(step, facts) for step in group]
        try:
            records = self.service.queue(bodies, key, is_validated=group[0].is_validated)
        except ApiError as error:
            if error.status not in REFUSALS:
                raise
            if len(group) > 1:
                return self._alone(group)
            self._end(group[0], Outcome(refused=(error.status, error.code)))
            return {}
        for step, record in zip(group, records, strict=True):
            self.journal.note(step.name, [record["id"]])
        return {step: record["id"] for step, record in zip(group, records, strict=True)}

    def _alone(self, group: Sequence[Step]) -> dict[Step, str]:
        return {step: request_id for one in group for step, request_id in self._queued([one]).items()}

    def _known(self, step: Step) -> str | None:
        if step.name not in self.journal.queued and self.is_continued:
            ids = self.service.labelled(self._label(step))
            if ids:
                self.journal.note(step.name, ids)
        return next(iter(self.journal.queued.get(step.name, ())), None)

    def _label(self, step: Step) -> str:
        return f"check {self.journal.head['run']} {step.name}"

    def _body(self, step: Step, facts: Mapping[str, str]) -> dict[str, Any]:
        version = filled(step.version, facts)
        declaration = f'<?qbxml version="{version}"?>' if version else ""
        message_set = f'<QBXMLMsgsRq onError="stopOnError">{filled(step.request, facts)}</QBXMLMsgsRq>'
        document = f'<?xml version="1.0" encoding="utf-8"?>{declaration}<QBXML>{message_set}</QBXML>'
        return {"request_xml": document, "label": self._label(step), "webhook_url": None}

    def _result(self, request_id: str, seen: Mapping[str, None]) -> Outcome:
        """Wait until a request has ended, and return it with its pages. It was `seen` to be sent at these times."""
        sets = dict(seen)
        page_id = request_id
        while True:
            page = self.service.wait(page_id)
            if page["sent_at"]:
                sets[page["sent_at"]] = None
            if not has_ended(page):
                if self.spent + len(sets) >= MAX_MESSAGE_SETS:
                    self.service.discard(page_id)
                self.watcher.waits((page["waiting_reason"] or {}).get("message", ""))
                continue
            records = [page] if page.get("last_page") is not False else self.service.pages(request_id)
            if records[-1]["id"] == page_id and page.get("last_page") is not False:
                sets |= {record["sent_at"]: None for record in records if record["sent_at"]}
                return Outcome.of(self.service.pages(request_id) if page_id != request_id else records, list(sets))
            page_id = records[-1]["id"]
            self.service.pause(INDEX_SECONDS)

    def _end(self, step: Step, outcome: Outcome) -> None:
        self.journal.end(step.name, outcome)
        self.watcher.ended(step, outcome)


def facts_of(journal: Journal) -> dict[str, str]:
    """Return what the steps of a run have learned, and what follows from it."""
    facts: dict[str, str] = dict(_learned(journal))
    facts |= {"tag": f"qbxml-queue check {journal.head['run'][:4]}", "number": f"QC{journal.head['run']}"}
    host = journal.outcomes.get("host")
    if host is not None and (versions := claimed_versions(host)):
        facts["versions"] = " ".join(versions)
        later = [version for version in VERSIONS if version_number(version) > version_number(versions[-1])]
        facts |= {"next_version": later[0]} if later else {}
    if "customers" in facts:
        facts["customers_in_a_page"] = str(max(1, ceil(whole(facts["customers"]) / PAGES)))
    if "old_time" in facts:
        facts["old_local_time"] = facts["old_time"][: len("2026-01-15T12:00:00")]
    return facts


def _learned(journal: Journal) -> Iterator[tuple[str, str]]:
    for step in ALL:
        outcome = journal.outcomes.get(step.name)
        for name, path in step.learns if outcome is not None else ():
            if outcome is not None and (value := outcome.first(path)) is not None:
                yield name, value
