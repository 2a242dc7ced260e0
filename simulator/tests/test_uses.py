"""The users of list objects are the same whenever somebody asks for them."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from simulator.books.kinds import KINDS
from simulator.books.records import Record
from simulator.books.uses import Uses, references

TARGETS = [f"8000000{number}-1" for number in range(5)]


def a_record(record_id: str, chance: random.Random) -> Record:
    """Return an invoice with references in its header and in its lines."""
    lines = [{"ItemRef": {"ListID": chance.choice(TARGETS)}} for _ in range(chance.randint(0, 3))]
    fields = {"CustomerRef": {"ListID": chance.choice(TARGETS)}, "InvoiceLineRet": lines}
    return Record(KINDS["Invoice"], record_id, fields, 1, 1, 1)


@pytest.mark.parametrize("seed", range(40))
def test_uses_are_those_of_the_records_in_the_order_of_their_changes(seed: int) -> None:
    chance = random.Random(seed)
    uses, records = Uses(), dict[str, Record]()
    for _ in range(60):
        record_id = f"{chance.randint(1, 8):X}-1"
        match chance.choice(["put", "put", "put", "remove", "ask", "copy"]):
            case "put":
                if record_id in records:
                    uses.remove(records.pop(record_id))
                records[record_id] = a_record(record_id, chance)
                uses.add(records[record_id])
            case "remove" if record_id in records:
                uses.remove(records.pop(record_id))
            case "ask":
                target = chance.choice(TARGETS)
                assert list(uses.of(target)) == [one.id for one in records.values() if target in references(one.fields)]
            case "copy":
                original, uses = uses, uses.copy(lambda record: records[record.id])
                original.add(a_record("other", chance))
    for target in TARGETS:
        assert list(uses.of(target)) == [one.id for one in records.values() if target in references(one.fields)]


def test_several_threads_may_ask_first() -> None:
    chance, uses = random.Random(1), Uses()
    for number in range(3_000):
        uses.add(a_record(f"{number:X}-1", chance))

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            counts = list(threads.map(lambda target: (target, len(list(uses.of(target)))), TARGETS * 20))
    finally:
        sys.setswitchinterval(usual)

    assert len(set(counts)) == len(TARGETS)
