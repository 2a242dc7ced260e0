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
        """Return what queries for everything return now, without names inside references and derived fields."""
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
                found[known.name, change.id] = without_names(change.content["record"])
        return found

    def copy(self) -> dict[tuple[str, str], Any]:
        """Return the records that a reader of the events has."""
        return {key: without_names(row["record"]) for key, row in reader_of(self.qbwc).rows.items()}


def without_names(value: Any) -> Any:
    """Return JSON without the names inside references."""
    if isinstance(value, list):
        return [without_names(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: {"ListID": member["ListID"]} if name.endswith("Ref") and "ListID" in member else without_names(member)
        for name, member in value.items()
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_copy_of_a_company_that_a_person_edits_equals_fresh_queries(seed: int) -> None:
    copied = Copied(seed)
    copied.run()
    for _ in range(4):
        copied.edit(40)

        copied.run()

        assert copied.copy() == copied.fresh()
    assert PageKind.RESYNC_REQUIRED not in {page.kind for page in pages(copied.qbwc)}


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

        assert copied.copy() == copied.fresh()
    rows = reader_of(copied.qbwc).rows
    assert {row["record"]["IsPaid"] for (name, _), row in rows.items() if name == "Invoice"} == {True, False}
