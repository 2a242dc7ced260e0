"""Subscriptions against the simulated company, which a person edits: another reading of QuickBooks than ours."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain import qbxml
from domain.records.subscription import CopyPhase, PageKind, Subscription
from domain.storage.changes import Put
from domain.subscriptions.answers import answers_by_label
from domain.subscriptions.objects import books_objects
from domain.timestamps import timestamp
from simulator import Person
from simulator.books.behaviours import BEHAVIOURS
from simulator.person import EDITS
from tests.support.builders import APP_ID, CONNECTION_ID
from tests.support.web_connector.service import Service
from tests.unit.web_connector.test_subscription_runs import pages, reader_of

if TYPE_CHECKING:
    from collections.abc import Sequence

OBJECTS = tuple(known.name for known in books_objects() if known.deleted_since)[:60]
SAFE = [name for name in EDITS if "backup" not in name]


class Copied:
    """A simulated company with a subscription, and a person."""

    def __init__(self, seed: int, edits: Sequence[str] = SAFE, objects: tuple[str, ...] = OBJECTS) -> None:
        self.service = Service()
        self.qbwc = self.service.qbwc
        now = timestamp(self.qbwc.clock.now)
        before = self.qbwc.connection
        self.qbwc.store.commit(Put(before, replace(before, run_due_at=now).changed(now)))
        self.qbwc.store.commit(Put(None, Subscription("s", CONNECTION_ID, APP_ID, now, now, objects, 15, "all", now)))
        self.simulator = self.qbwc.simulator(self.service.company, transport=self.service)
        self.person, self.chance = Person(self.service.company, seed, edits), random.Random(seed)

    def run(self, seconds: int = 1_000) -> None:
        """Make the next run, after some time."""
        self.qbwc.clock.advance(seconds=seconds)
        self.simulator.run_once()

    def edit(self, number: int) -> None:
        """Let the person edit the books for a while."""
        for _ in range(number):
            self.qbwc.clock.advance(seconds=self.chance.randint(1, 5))
            self.person.edit()

    def fresh(self) -> dict[tuple[str, str], Any]:
        """Return what queries for everything return now, without derived fields and what belongs to other records."""
        found: dict[tuple[str, str], Any] = {}
        version = qbxml.default_version(self.qbwc.connection.qbxml_version)
        for one in self.qbwc.store.copy_state(CONNECTION_ID).objects:
            known = next(known for known in books_objects() if known.name == one.name)
            if one.phase is CopyPhase.UNSUPPORTED:
                continue
            everything = "<ActiveStatus>All</ActiveStatus>" if known.has_active_status else ""
            query = f'<{known.request} requestID="1">{everything}</{known.request}>'
            text = (
                f'<?xml version="1.0"?><?qbxml version="{version}"?><QBXML><QBXMLMsgsRq onError="stopOnError">'
                f"{query}</QBXMLMsgsRq></QBXML>"
            )
            answer = answers_by_label(self.service.company.process_request(text))["1"]
            for change in answer.records(known):
                found[known.name, change.id] = own(change.content["record"])
        return found

    def differences(self) -> dict[tuple[str, str], Any]:
        """Return the records that differ between a reader of the events and the books, each as both have it.

        What a record shows of another one does not count, nor a reference to an entry that was merged, if QuickBooks
        does not touch what referred to it.
        """
        copy = {key: own(row["record"]) for key, row in reader_of(self.qbwc).rows.items()}
        fresh = self.fresh()
        touches = self.service.company.behaviours["merge_touches_referrers"] == "on"
        entries = None if touches else {id_ for _, id_ in fresh}
        return {
            key: (copy.get(key), fresh.get(key))
            for key in copy.keys() | fresh.keys()
            if not agree(copy.get(key), fresh.get(key), entries)
        }

    @property
    def needs_resync(self) -> bool:
        """Whether the service asks for a resync."""
        objects = self.qbwc.store.copy_state(CONNECTION_ID).objects
        return any(one.phase is CopyPhase.RESYNC_REQUIRED for one in objects)

    def resync(self) -> None:
        """Resync, as a program does that is told to, and make the next run."""
        now = timestamp(self.qbwc.clock.now)
        (before,) = self.qbwc.store.copy_state(CONNECTION_ID).subscriptions
        connection = self.qbwc.connection
        self.qbwc.store.commit(
            Put(before, replace(before, start="all", began_at=now).changed(now)),
            Put(connection, replace(connection, run_due_at=now).changed(now)),
        )
        self.run()


OF_ANOTHER = {"AppliedToTxnRet": ("TxnDate", "RefNumber")}
"""What a record shows of the transactions that it pays."""


def own(value: Any) -> Any:
    """Return JSON without what it shows of other records.

    These are names in references, name and level of the parent, and dates and numbers of transactions that are paid.
    """
    if isinstance(value, list):
        return [own(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, member in value.items():
        if name.endswith("Ref") and "ListID" in member:
            found[name] = {"ListID": member["ListID"]}
        elif name == "FullName":
            found[name] = member.rpartition(":")[2]
        elif name == "Sublevel":
            continue
        elif name in OF_ANOTHER:
            paid = [{key: one[key] for key in one.keys() - {*OF_ANOTHER[name]}} for one in member]
            found[name] = own(paid)
        else:
            found[name] = own(member)
    return found


def agree(one: Any, other: Any, entries: set[str] | None) -> bool:
    """Whether two records are equal. With `entries`, a reference to anything else may be to the target of a merge."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() == other.keys() == {"ListID"} and entries is not None and one["ListID"] not in entries:
            return True
        return one.keys() == other.keys() and all(agree(one[key], other[key], entries) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(agree(*pair, entries) for pair in zip(one, other, strict=True))
    return bool(one == other)


@pytest.mark.parametrize("seed", range(4))
def test_the_copy_of_a_company_that_a_person_edits_equals_fresh_queries(seed: int) -> None:
    copied = Copied(seed)
    copied.run()
    for _ in range(4):
        copied.edit(40)

        copied.run()

        assert copied.differences() == {}
    assert PageKind.RESYNC_REQUIRED not in {page.kind for page in pages(copied.qbwc)}


EDITED = ("Bill", "BillPaymentCheck", "CreditMemo", "Customer", "Invoice", "ItemService", "ReceivePayment", "Vendor")
"""What the person edits, but for transfers, whose deletions QuickBooks does not report."""


def positions_of(seed: int) -> dict[str, str]:
    """Return a position of every switch. The first seeds change one of them each, and the others any number."""
    names = list(BEHAVIOURS)
    chance = random.Random(seed)
    changed = {names[seed]} if seed < len(names) else {name for name in names if chance.random() < 0.5}
    other = {"on": "off", "off": "on"}
    return {name: other[one.default] if name in changed else one.default for name, one in BEHAVIOURS.items()}


@pytest.mark.parametrize("seed", range(len(BEHAVIOURS) + 10))
def test_the_copy_equals_fresh_queries_in_every_position_of_what_is_only_assumed(seed: int) -> None:
    """Hours later, when no query for changes returns a record any more that QuickBooks has changed without notice."""
    copied = Copied(seed, objects=EDITED)
    for name, value in positions_of(seed).items():
        copied.service.company.set_behaviour(name, value)
    copied.run()
    for _ in range(4):
        copied.edit(30)

        copied.run(seconds=10_000)

        assert copied.differences() == {}


@pytest.mark.parametrize("seed", range(10))
def test_after_a_restored_backup_the_copy_equals_fresh_queries_as_soon_as_what_is_reported_is_resynced(
    seed: int,
) -> None:
    copied = Copied(seed, tuple(EDITS), EDITED)
    for name, value in positions_of(seed).items():
        copied.service.company.set_behaviour(name, value)
    copied.run()
    for _ in range(6):
        copied.edit(20)

        copied.run(seconds=10_000)
        if copied.needs_resync:
            copied.resync()

        assert copied.differences() == {}


PAYING = (
    *("sell", "buy", "credit", "pay", "part_pay", "delete_payment", "void", "delete_debt", "change_debt"),
    "change_quantity",
)
PAID = ("Bill", "BillPaymentCheck", "CreditMemo", "Customer", "Invoice", "ReceivePayment", "Vendor")
SWITCHES = ("payment_touches_paid", "deletion_touches_paid")


@pytest.mark.parametrize("positions", [*itertools.product(("off", "on"), repeat=2)], ids="-".join)
def test_the_copy_says_what_is_paid_whatever_a_payment_touches(positions: tuple[str, str]) -> None:
    """Hours later, when no query for changes returns an invoice any more that its payment did not touch."""
    copied = Copied(positions.count("on"), PAYING, PAID)
    for name, value in zip(SWITCHES, positions, strict=True):
        copied.service.company.set_behaviour(name, value)
    copied.run()
    for _ in range(4):
        copied.edit(25)

        copied.run(seconds=10_000)

        assert copied.differences() == {}
    rows = reader_of(copied.qbwc).rows
    assert {row["record"]["IsPaid"] for (name, _), row in rows.items() if name == "Invoice"} == {True, False}
