"""The units of a sign-in and of the day of a person, as docs/costs.md has them."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING

from adapters.dynamodb import DynamoDBStore
from domain.people.members import Members
from domain.people.provider import IdentityClaims
from domain.people.sign_ins import SignIns
from domain.people.tokens import SessionToken
from domain.records.app import App
from domain.records.permissions import Role
from domain.storage.changes import Put
from domain.timestamps import timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.programs import ROOT
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.support.builders import APP_ID, NOON, FixedClock, counting_bytes
from tests.support.counted_units import CountedUnits

if TYPE_CHECKING:
    from collections.abc import Iterator

HOURS = 8
TOKEN_MINUTES = 8
"""How often the console gets a new token."""


def units_of_a_day() -> Iterator[tuple[str, float, float]]:
    """Yield the steps of the day of a person with one tab, each with its read and write units."""
    client = dynamodb_client()
    store = DynamoDBStore(client, make_tables(client, ""))
    clock = FixedClock()
    new_id = lambda: str(uuid.uuid4())  # noqa: E731 - one line
    sign_ins = SignIns(store, clock, new_id, counting_bytes)
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
    Members(store, clock, new_id).invite(APP_ID, "maria@example.com", Role.EDITOR)
    claims = IdentityClaims("https://id.example.com", "maria", "maria@example.com", email_verified=True, name="Maria")
    units = CountedUnits(client, {table["TableName"]: table for table in Template.load().table_definitions()})

    def step() -> tuple[float, float]:
        used, units.reads, units.writes = (units.reads, units.writes), 0.0, 0.0
        return used

    sign_ins.sign_in(claims)
    yield "the first sign-in of a person, with an invitation", *step()
    cookie = sign_ins.sign_in(claims)
    yield "another sign-in", *step()
    reads = writes = 0.0
    for minute in range(HOURS * 60):
        if minute % TOKEN_MINUTES == 0:
            text = sign_ins.open(cookie).token or ""
        token = SessionToken.of(text)
        assert token
        assert sign_ins.signed_in(token)
        clock.now += timedelta(minutes=1)
    reads, writes = step()
    yield "a day of eight hours in one tab", reads, writes


def test_the_page_has_the_units_of_a_sign_in_and_of_a_day() -> None:
    page = (ROOT / "docs/costs.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]*sign-in[^|]*|a day of[^|]*) \| ([\d,.]+) \| ([\d,.]+) \|", page, re.MULTILINE)
    on_page = {name: (float(reads.replace(",", "")), float(writes)) for name, reads, writes in rows}

    with emulated_dynamodb():
        assert on_page == {name: (reads, writes) for name, reads, writes in units_of_a_day()}
