"""Subscriptions against the simulated company, which a person edits: another reading of QuickBooks than ours."""

from __future__ import annotations

import random
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from domain.records.subscription import CopyPhase, PageKind, Subscription
from domain.storage.changes import Put
from domain.subscriptions.objects import books_objects
from domain.timestamps import timestamp
from simulator import Person
from simulator.person import EDITS
from tests.support.builders import APP_ID, CONNECTION_ID
from tests.support.web_connector.service import Service
from tests.unit.web_connector.test_subscription_runs import copy_of, pages

OBJECTS = tuple(known.name for known in books_objects() if known.deleted_since)[:60]
SAFE = [name for name in EDITS if "backup" not in name]


class Copied:
    """A simulated company with a subscription to all objects, and a person."""

    def __init__(self, seed: int) -> None:
        self.service = Service()
        self.qbwc = self.service.qbwc
        now = timestamp(self.qbwc.clock.now)
        before = self.qbwc.connection
        self.qbwc.store.commit(Put(before, replace(before, run_due_at=now).changed(now)))
        self.qbwc.store.commit(Put(None, Subscription("s", CONNECTION_ID, APP_ID, now, now, OBJECTS, 15, "all", now)))
        self.simulator = self.qbwc.simulator(self.service.company, transport=self.service)
        self.person, self.chance = Person(self.service.company, seed, SAFE), random.Random(seed)

    def run(self) -> None:
        """Make the next run."""
        self.qbwc.clock.advance(seconds=1_000)
        self.simulator.run_once()

    def edit(self, number: int) -> None:
        """Let the person edit the books for a while."""
        for _ in range(number):
            self.qbwc.clock.advance(seconds=self.chance.randint(1, 5))
            self.person.edit()

    def fresh(self) -> dict[tuple[str, str], int]:
        """Return what queries for everything return now."""
        found: dict[tuple[str, str], int] = {}
        for one in self.qbwc.store.copy_state(CONNECTION_ID).objects:
            known = next(known for known in books_objects() if known.name == one.name)
            if one.phase is CopyPhase.UNSUPPORTED:
                continue
            everything = "<ActiveStatus>All</ActiveStatus>" if known.has_active_status else ""
            query = f"<{known.request}>{everything}</{known.request}>"
            text = (
                '<?xml version="1.0"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">'
                f"{query}</QBXMLMsgsRq></QBXML>"
            )
            for row in ET.fromstring(self.service.company.process_request(text)).iter(known.returned):  # noqa: S314
                sequence = row.findtext("EditSequence")
                found[known.name, str(row.findtext(known.id_field))] = int(sequence or 0)
        return found


@pytest.mark.parametrize("seed", range(4))
def test_the_copy_of_a_company_that_a_person_edits_equals_fresh_queries(seed: int) -> None:
    copied = Copied(seed)
    copied.run()
    for _ in range(4):
        copied.edit(40)

        copied.run()

        assert copy_of(copied.qbwc) == copied.fresh()
    assert PageKind.RESYNC_REQUIRED not in {page.kind for page in pages(copied.qbwc)}
