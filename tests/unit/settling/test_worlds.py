"""In generated books, the answers never show a wrong `yes` or `no` about an addition.

People add, edit and delete objects of the same type, equal ones too, before and after the write was sent. Their clock
is hours off, and is changed by up to two hours. QuickBooks executes the write or not, within 20 minutes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from domain import qbxml
from domain.existing.queries import Write
from domain.records.request import WhetherExecuted
from domain.settling.books_clock import MARGIN, books_clock
from domain.settling.judgement import Case, judged
from domain.settling.queries import settling_queries
from tests.support.builders import NOON
from tests.unit.settling.books import Books, Clock, Made, renamed

INVOICE = (
    "<CustomerRef><FullName>Ada</FullName></CustomerRef><RefNumber>{}</RefNumber>"
    "<InvoiceLine{}><ItemRef><FullName>Work</FullName></ItemRef><Amount>{}</Amount></InvoiceLine{}>"
)
CUSTOMER = "<Name>{}</Name><CompanyName>{}</CompanyName>"


def invoice(kind: str, number: str, amount: str) -> str:
    """Return the fields of an invoice, as they are sent (`Add`) or returned (`Ret`)."""
    text = INVOICE.format(number, kind, amount, kind)
    return text if number else text.replace("<RefNumber></RefNumber>", "")


def customer(_: str, name: str, company: str) -> str:
    """Return the fields of a customer."""
    return CUSTOMER.format(name, company)


SHORTER = re.compile("<(Amount|CompanyName)>.*</(Amount|CompanyName)>")
TYPES = {"Invoice": (invoice, "7", "10.00"), "Customer": (customer, "Ada", "Analytical")}


def request(kind: str, fields: str) -> qbxml.Request:
    xml = f"<{kind}AddRq><{kind}Add>{fields}</{kind}Add></{kind}AddRq>"
    return qbxml.stored_request(f'<QBXML><QBXMLMsgsRq onError="stopOnError">{xml}</QBXMLMsgsRq></QBXML>', "13.0")


minutes = st.integers(-26 * 60, 50).filter(bool) | st.sampled_from([-120, -60, -30, -2, 2, 30])
"""When somebody does something: whole minutes before or after the sending, and never within a minute of it. Changes of
the clock move some of them to the time of the sending."""
hours = st.integers(-6, 6).map(lambda number: timedelta(hours=number))
changes = st.sampled_from([0, 0, 0, -120, -60, -59, 60, 61, 119, 120]).map(lambda number: timedelta(minutes=number))
clocks = st.builds(
    lambda ahead, at, change, zone, ignores: Clock(ahead, NOON + timedelta(minutes=at), change, zone, ignores),
    hours,
    minutes,
    changes,
    st.sampled_from([-8, -5, 0, 11]).map(lambda number: timedelta(hours=number)),
    st.booleans(),
)
DEEDS = (
    "adds",
    "adds an equal one",
    "adds a shorter one",
    "edits",
    "deletes",
    "queues an equal one",
    "queues another",
)
deeds = st.lists(st.tuples(st.sampled_from(DEEDS), minutes), max_size=3)
worlds = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(sorted(TYPES)),
        "has_identity": st.booleans(),
        "clock": clocks,
        "deeds": deeds,
        "executed_after": st.none() | st.sampled_from([0.5, 3, 60, 1200]),
        "asked_at": st.sampled_from([(35, 40.5, 60), (60, 60.5, 40.5)]),
        "samples": st.lists(st.sampled_from([-1400, -130, -90, -5, 2, 40]), max_size=4, unique=True),
    }
)


DECEPTIONS = ((-30, -15, -30), (-60, -1, -60), (-119, -60, -119), (30, -3, -2), (20, -4, -2))
"""By how many minutes the clock is changed, when, and when a person enters an equal object, before the sending.

The object seems to be created after it.
"""


def deceptive(world: dict[str, Any], deception: tuple[int, float, int]) -> dict[str, Any]:
    """Return the world with a deception. QuickBooks never executed the write."""
    change, changed, entered = deception
    clock = replace(
        world["clock"], change=timedelta(minutes=change), changes_at=NOON + timedelta(minutes=changed, seconds=15)
    )
    deeds = [*world["deeds"][:1], ("adds an equal one", entered)]
    return world | {"clock": clock, "deeds": deeds, "executed_after": None}


every_world = worlds | st.builds(deceptive, worlds, st.sampled_from(DECEPTIONS))


def add(books: Books, fields: str, at: Any) -> None:
    books.objects.append(Made(fields, at, at))


def run(world: dict[str, Any]) -> tuple[WhetherExecuted, bool, bool]:
    """Return the judgement, whether the write was executed, and whether a person entered an equal object since."""
    fields_of, name, value = TYPES[world["kind"]]
    if not world["has_identity"] and world["kind"] == "Invoice":
        name = ""
    books, others, entered = Books(world["clock"]), [], False
    equal, other = fields_of("Ret", name, value), fields_of("Ret", name, f"{value[:-1]}9")
    happens: list[tuple[float, str]] = [(minute, deed) for deed, minute in world["deeds"]]
    if world["executed_after"] is not None:
        happens.append((world["executed_after"] / 60, "ours"))
    for minute, deed in sorted(happens):
        at = NOON + timedelta(minutes=minute)
        there = [index for index, one in enumerate(books.objects) if one.deleted is None]
        match deed:
            case "ours" | "adds an equal one" | "queues an equal one":
                add(books, equal, at)
                entered = entered or (deed == "adds an equal one" and minute > 0)
            case "adds a shorter one":
                add(books, SHORTER.sub("", equal), at)
            case "adds" | "queues another":
                add(books, other, at)
            case "edits" if there:
                books.objects[there[-1]] = renamed(books.objects[there[-1]], at, other)
            case "deletes" if there:
                one = books.objects[there[-1]]
                books.objects[there[-1]] = Made(one.fields, one.created, one.changed, at)
        if deed.startswith("queues") and at >= NOON - MARGIN:
            sent = fields_of("Add", name, value if deed == "queues an equal one" else f"{value[:-1]}9")
            others.append(request(world["kind"], sent))
    write = request(world["kind"], fields_of("Add", name, value))
    queries = settling_queries(write, NOON)
    answers = books.answers(queries, [NOON + timedelta(minutes=minute) for minute in world["asked_at"]])
    samples = [books.sample(NOON + timedelta(minutes=minute, seconds=30)) for minute in world["samples"]]
    case = Case(Write.of(write), NOON, dict(answers))
    return judged(case, books_clock(samples, NOON), others), world["executed_after"] is not None, entered


@settings(max_examples=500, deadline=None)
@given(world=every_world)
def test_the_books_never_show_a_wrong_yes_or_no(world: dict[str, Any]) -> None:
    executed, was_executed, entered = run(world)
    event(executed)

    if executed is WhetherExecuted.YES:
        assert was_executed or entered
    if executed is WhetherExecuted.NO:
        assert not was_executed
    if not world["samples"]:
        assert executed is WhetherExecuted.UNKNOWN


def a_world(**members: Any) -> dict[str, Any]:
    """Return a world in which nothing happens beside what is given, and our writes show a clock that is an hour off."""
    clock = Clock(timedelta(hours=1), NOON, timedelta(0), timedelta(hours=-5), ignores_zones=False)
    quiet = {"kind": "Invoice", "has_identity": True, "clock": clock, "deeds": [], "executed_after": None}
    quiet["asked_at"] = (35, 40.5, 60)
    return {**quiet, "samples": [-130, 40], **members}


@given(
    kind=st.sampled_from(sorted(TYPES)),
    has_identity=st.booleans(),
    clock=clocks.filter(lambda clock: not clock.change),
    executed=st.booleans(),
    old=st.lists(st.integers(-26 * 60, -5 * 60), max_size=2),
)
def test_quiet_books_show_whether_a_write_was_executed(
    kind: str, clock: Clock, old: list[int], *, has_identity: bool, executed: bool
) -> None:
    deeds = [("adds", minute) for minute in old]
    after = 3 if executed else None
    world = a_world(kind=kind, has_identity=has_identity, clock=clock, deeds=deeds, executed_after=after)

    assert run(world)[0] is (WhetherExecuted.YES if executed else WhetherExecuted.NO)
