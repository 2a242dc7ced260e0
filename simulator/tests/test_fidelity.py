"""The sources of rules and messages: nothing without a row, nothing claimed without a source, and assumptions warn."""

from __future__ import annotations

import ast
import random
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import defusedxml.ElementTree
import pytest

import simulator
from simulator.basics.sources import CAPTURED, Basis
from simulator.basics.statuses import OTHER_TEXTS, STATUSES
from simulator.company.dispatch import HANDLERS
from simulator.corpus.replay import shipped_pairs
from simulator.fidelity.rules import RULES as KNOWN
from simulator.fidelity.rules import TEXTS
from simulator.inspection import serving
from simulator.rules.table import RULES
from simulator.schema import schema
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.random_requests import random_request
from simulator.tests.support import a_company, ask
from simulator.tests.test_inspection import Client

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(simulator.__file__ or "").parent
SUBJECTS = {subject for rule in KNOWN.values() for subject in rule.subjects}
WITHOUT_RULES = {
    "requests": {"__init__", "context", "coverage", "events", "preferences", "add", "mod", "delete"}
    | {"derived", "company", "special", "data_extensions"},
    "rules": {"__init__", "table", "sales", "charges", "journal", "payments", "banking", "rates"},
    "reports": {"__init__"},
}
"""Modules of infrastructure, and those whose classes or functions have rows of their own."""


def subject_of(rule: object) -> str:
    """Return how a row names a class or a function: `rules.sales:InvoiceRules`."""
    function = rule.func if isinstance(rule, partial) else rule
    return f"{function.__module__.removeprefix('simulator.')}:{function.__name__}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("subject", sorted({subject_of(type(rules)) for rules in RULES.values()}))
def test_the_rules_of_every_kind_have_a_row(subject: str) -> None:
    assert subject in SUBJECTS or subject == "rules.common:TransactionRules"


@pytest.mark.parametrize(
    "subject", sorted({subject_of(handler) for handler in HANDLERS.values()} - {"reports:respond"})
)
def test_the_handler_of_every_request_has_a_row(subject: str) -> None:
    assert subject in SUBJECTS


@pytest.mark.parametrize("folder", WITHOUT_RULES)
def test_every_other_module_with_rules_has_a_row(folder: str) -> None:
    modules = {path.stem for path in (ROOT / folder).glob("*.py")} - WITHOUT_RULES[folder]

    assert {module for module in modules if f"{folder}.{module}" not in SUBJECTS} == set()


def test_every_subject_exists() -> None:
    for subject in SUBJECTS:
        module, _, name = subject.partition(":")
        path = ROOT / module.replace(".", "/")
        file = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
        if not file.exists() and not name:
            file, name = path.parent / "__init__.py", path.name
        tree = ast.parse(file.read_text(encoding="utf-8"))
        defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        assert not name or name in defined, subject


def test_what_a_rule_notes_has_a_row_and_the_other_way_round() -> None:
    noted = {
        name
        for path in (ROOT / "rules").glob("*.py")
        for name in re.findall(r'\.assume\("(\w+)"\)', path.read_text(encoding="utf-8"))
    }

    assert noted == {name for name, row in KNOWN.items() if row.is_noted}


def test_every_rule_has_a_source() -> None:
    pairs = {pair.name for pair in shipped_pairs()}
    for name, rule in KNOWN.items():
        assert rule.about.endswith("."), name
        assert rule.sources, name
        assert rule.is_assumed or not (rule.kinds or rule.covers), name
        for source in rule.sources:
            assert source.text or not source.is_known, name
            if source.basis is Basis.CAPTURE and source != CAPTURED:
                assert source.text in pairs, name


def test_what_a_row_covers_is_in_the_schema() -> None:
    models = list(_everything())
    names = {model.name for model in models}
    values = {f"{model.name}={value}" for model in models for value in model.values}

    for rule in KNOWN.values():
        for place in rule.covers:
            entry = place.rpartition("/")[2]
            ending = entry.removeprefix("*")
            assert entry in names | values | schema().requests.keys() or any(name.endswith(ending) for name in names)


def _everything() -> Iterator[Any]:
    seen = set()
    pending = [*schema().requests.values(), *schema().responses.values()]
    while pending:
        model = pending.pop()
        yield model
        if hasattr(model.type, "elements") and id(model.type) not in seen:
            seen.add(id(model.type))
            pending += model.type.elements.values()


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the code and the text of every literal message of a status in a module, with "…" in place of values."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "RequestError" and len(node.args) == 2:
            code, text = node.args
            if isinstance(code, ast.Constant) and isinstance(text, ast.Constant | ast.JoinedStr):
                yield code.value, _text(text)  # type: ignore[misc]


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "…"


FRAMES = {code: re.split(r"\{\w+\}", status.text.removesuffix("."))[0] for code, status in STATUSES.items()}
"""The beginning of QuickBooks' text of each status, up to the first value."""

ALL_MESSAGES = [
    (f"{path.parent.name}/{path.name}", code, text)
    for folder in ("books", "company", "reports", "requests", "rules", "schema")
    for path in sorted((ROOT / folder).glob("*.py"))
    for code, text in messages(path)
]


def test_the_messages_of_the_source_are_found() -> None:
    assert len(ALL_MESSAGES) > 40


@pytest.mark.parametrize(("where", "code", "text"), ALL_MESSAGES)
def test_every_message_begins_as_its_status_does_or_is_marked_as_our_own(where: str, code: int, text: str) -> None:
    assert (
        text.startswith((FRAMES[code], "…")) or not STATUSES[code].source.is_known or text in OTHER_TEXTS.get(code, ())
    ), where


ADD = "<CustomerAddRq><CustomerAdd><Name>B</Name>{}</CustomerAdd></CustomerAddRq>"


def strict(keeper: Bookkeeper) -> Bookkeeper:
    keeper.company.strict = True
    return keeper


@pytest.mark.parametrize("name", [name for name, row in KNOWN.items() if row.kinds or row.covers])
def test_a_request_that_uses_what_is_simplified_is_noted_and_no_other_is(name: str) -> None:
    company = a_company(customers=10)
    company.strict = True
    chance = random.Random(3)
    rule = KNOWN[name]
    tags = {entry.rpartition("/")[2].partition("=")[0] for entry in rule.covers}
    parents = {f"{entry.rpartition('/')[0]}{verb}Rq" for entry in rule.covers for verb in ("Add", "Mod")}
    requests = {f"{kind}{verb}Rq" for kind in rule.kinds for verb in ("Add", "Mod", "Query")}
    removals = {"ListDelRq", "ListMergeRq", "TxnDelRq", "TxnVoidRq"}

    for model in schema().requests.values():
        text = random_request(model, company.books, chance)
        company.simplifications.clear()
        ask(company, text, version="16.0")
        request = defusedxml.ElementTree.fromstring(text)
        used = bool({node.tag for node in request.iter()} & tags) or request.tag in requests
        amounts = [node.tag for node in request.iter() if node.tag.endswith("InHomeCurrency")]
        used = used or bool(name == "multi_currency" and amounts)
        used = used and (request.tag in parents or "/" not in "".join(rule.covers))
        if not used:
            assert name not in company.simplifications or request.tag in removals, text
        elif not any("=" in entry for entry in rule.covers):
            assert company.simplifications[name] == 1, text


def test_a_company_that_is_not_strict_notes_nothing() -> None:
    keeper = Bookkeeper()
    keeper.ask("ItemSitesQueryRq")

    assert not keeper.company.simplifications


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("<CustomerQueryRq/>", set()),
        ("<CustomerQueryRq><FullName>nobody</FullName></CustomerQueryRq>", set()),
        ("<CustomerAddRq><CustomerAdd><Name>Ada</Name></CustomerAdd></CustomerAddRq>", set()),
        ("<CustomerAddRq><CustomerAdd><Name>A:B</Name></CustomerAdd></CustomerAddRq>", {TEXTS}),
        (ADD.format("<TermsRef><FullName>x</FullName></TermsRef>"), set()),
        ("<CurrencyQueryRq/>", {"multi_currency", TEXTS}),
        ("<ItemSitesQueryRq/>", {"stock_by_site"}),
        ("<TxnDisplayAddRq><TxnDisplayAddType>Bill</TxnDisplayAddType></TxnDisplayAddRq>", {"user_interface", TEXTS}),
    ],
)
def test_a_strict_company_notes_simplifications_and_messages_of_our_own(request_text: str, expected: set[str]) -> None:
    keeper = strict(Bookkeeper())

    ask(keeper.company, request_text)

    assert set(keeper.company.simplifications) == expected


def test_the_inspection_api_and_events_have_the_simplifications() -> None:
    keeper = strict(Bookkeeper())
    events: list[Any] = []
    keeper.company.on_request = events.append
    with serving(keeper.company) as url:
        client = Client(keeper.company, url)
        keeper.ask("ItemSitesQueryRq")
        keeper.ask("ItemSitesQueryRq")
        noted = client.get("/simplifications")
        client.post("/reset")

        assert noted == {
            "strict": True,
            "data": [
                {
                    "name": "stock_by_site",
                    "about": KNOWN["stock_by_site"].about,
                    "basis": "assumed",
                    "requests": 2,
                }
            ],
        }
        assert client.get("/simplifications")["data"] == []
    assert [event.simplified for event in events] == [("stock_by_site",)] * 2
