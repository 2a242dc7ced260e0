"""`qbxml-queue check` finds what a company does differently, and nothing else. It can be stopped and continued."""

from __future__ import annotations

import argparse
import random
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from qbxml_queue.check.command import check, main
from qbxml_queue.check.documents import parse
from qbxml_queue.check.journal import Journal
from qbxml_queue.check.plan import MAX_MESSAGE_SETS, READS
from qbxml_queue.check.questions import QUESTIONS
from qbxml_queue.check.report import Report
from qbxml_queue.check.service import Service
from qbxml_queue.check.shapes import differences
from qbxml_queue.check.verdicts import Verdict
from service import CONNECTION
from simulated import NOW, SimulatedService

from simulator import Company
from simulator.requests.facts import Product

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def company(**options: Any) -> Company:
    return Company.generated(customers=30, now=NOW.timestamp, **options)


def run(service: SimulatedService, folder: Path, **options: Any) -> Report:
    values = {"web_connector": None, "archive": False, "writes": False, **options}
    with service.client() as client:
        check(Service(client), folder, argparse.Namespace(**values))
    return Report.of(Journal(folder))


def findings(report: Report) -> set[tuple[str, str]]:
    """Return the name of each step that differs, with each difference."""
    return {(step.step.name, finding.text) for step in report.steps for finding in step.findings}


def test_the_simulated_company_answers_every_step_as_expected(tmp_path: Path) -> None:
    report = run(SimulatedService(company()), tmp_path)

    assert findings(report) == set()
    assert [step.step.name for step in report.steps if step.verdict is Verdict.NOT_ASKED] == ["version-17.0"]
    assert report.message_sets <= MAX_MESSAGE_SETS


@pytest.mark.parametrize("country", ["CA", "UK", "AU"])
def test_an_edition_differs_in_nothing(country: str, tmp_path: Path) -> None:
    report = run(SimulatedService(company(product=Product(country=country))), tmp_path)

    assert findings(report) == set()


@pytest.mark.parametrize("preference", ["sales_tax", "classes", "inventory", "estimates", "price_levels"])
def test_a_preference_that_is_off_is_not_a_difference(preference: str, tmp_path: Path) -> None:
    books = company()
    books.set_preference(preference, "off")

    assert findings(run(SimulatedService(books), tmp_path)) == set()


def test_an_empty_company_differs_in_nothing(tmp_path: Path) -> None:
    report = run(SimulatedService(Company.empty(now=NOW.timestamp)), tmp_path)

    assert findings(report) == set()


@pytest.mark.parametrize("version", ["10.0", "12.0"])
def test_an_older_version_is_the_only_difference(version: str, tmp_path: Path) -> None:
    report = run(SimulatedService(company(product=Product(highest_version=version))), tmp_path)

    assert findings(report) == {("host", f"The highest version of QBXML is {version}, below the default 13.0.")}


def edited(tag: str, edit: Callable[[ET.Element], None]) -> Callable[[ET.Element], None]:
    """Return a change of each object with this name, wherever it is returned with all of its elements."""

    def change(response: ET.Element) -> None:
        for element in response.findall(tag):
            if element.find("TimeCreated") is not None:
                edit(element)

    return change


def swap_times(element: ET.Element) -> None:
    element[1], element[2] = element[2], element[1]


def lose_sequence(element: ET.Element) -> None:
    element.remove(element.find("EditSequence"))  # type: ignore[arg-type]


def add_colour(element: ET.Element) -> None:
    ET.SubElement(element, "Colour").text = "red"


def shorten_balance(element: ET.Element) -> None:
    for balance in element.findall("Balance"):
        balance.text = "1.5"


@pytest.mark.parametrize(
    ("edit", "text", "verdict"),
    [
        (swap_times, "VendorRet has TimeCreated after TimeModified, against the schema.", Verdict.HANDLED),
        (lose_sequence, "VendorRet lacks EditSequence.", Verdict.WRONG),
        (add_colour, "VendorRet has Colour, which the schema lacks.", Verdict.HANDLED),
        (shorten_balance, "VendorRet/Balance does not have the form of AMTTYPE.", Verdict.HANDLED),
    ],
)
def test_another_shape_is_found_where_it_is_and_nowhere_else(
    edit: Callable[[ET.Element], None], text: str, verdict: Verdict, tmp_path: Path
) -> None:
    report = run(SimulatedService(company(), changes=edited("VendorRet", edit)), tmp_path)

    assert findings(report) == {("kind-Vendor", text)}
    assert {step.verdict for step in report.steps if step.step.name == "kind-Vendor"} == {verdict}


def test_another_status_is_found(tmp_path: Path) -> None:
    def lock(response: ET.Element) -> None:
        if response.tag == "EmployeeQueryRs":
            response[:] = []
            response.attrib |= {"statusCode": "3175", "statusSeverity": "Error"}

    report = run(SimulatedService(company(), changes=lock), tmp_path)

    assert findings(report) == {("kind-Employee", "Status 3175 (Error) in place of 0 or 1.")}


def test_a_slow_file_is_found(tmp_path: Path) -> None:
    service = SimulatedService(company(), seconds=lambda name: 12.0 if name == "AgingReportQueryRq" else 9.0)

    assert findings(run(service, tmp_path)) == {("aging", "QuickBooks took 10 seconds or longer.")}


def test_an_iterator_that_does_not_fall_is_wrong(tmp_path: Path) -> None:
    remaining = iter([20, 21, 0])

    def change(response: ET.Element) -> None:
        if "iteratorRemainingCount" in response.attrib:
            response.set("iteratorRemainingCount", str(next(remaining)))

    report = run(SimulatedService(company(), changes=change), tmp_path)

    assert findings(report) == {("iterator", "iteratorRemainingCount does not fall to 0.")}


def test_every_exchange_of_two_elements_of_an_object_is_found(tmp_path: Path) -> None:
    """Exchange two neighbours that are not lines, in objects that chance selects."""
    run(SimulatedService(company()), tmp_path)
    outcomes = Journal(tmp_path).outcomes
    chance = random.Random(1)
    tried = 0
    for step in READS:
        outcome = outcomes[step.name]
        response = outcome.responses[0] if outcome.responses else None
        if response is None or not len(response) or "Report" in response.tag:
            continue
        parents = [element for element in chance.choice(list(response)).iter() if len(element) > 1]
        for parent in parents:
            place = chance.randrange(len(parent) - 1)
            one, other = parent[place], parent[place + 1]
            names = [child.tag for child in parent]
            if one.tag.endswith("LineRet") or other.tag.endswith("LineRet") or names.count(one.tag) > 1:
                continue
            if names.count(other.tag) > 1:
                continue
            parent[place], parent[place + 1] = other, one
            tried += 1
            assert len(list(differences(step, [response]))) == 1, (step.name, one.tag, other.tag)
            parent[place], parent[place + 1] = one, other
    assert tried > 100


class Stop(Exception):
    """Ends the program, as Ctrl-C does."""


def test_a_run_that_is_stopped_at_any_call_continues_and_queues_nothing_twice(tmp_path: Path) -> None:
    whole = SimulatedService(company())
    run(whole, tmp_path / "whole")
    for last in (3, 5, 20, 80):
        calls = 0

        def stop(_: str, last: int = last) -> None:
            nonlocal calls
            calls += 1
            if calls == last:
                raise Stop

        service = SimulatedService(company(), stops=stop)
        folder = tmp_path / str(last)
        with pytest.raises(Stop):
            run(service, folder)
        report = run(service, folder)

        assert findings(report) == set()
        assert [record["label"].split()[-1] for record in service.records.values()] == [
            record["label"].split()[-1] for record in whole.records.values()
        ]


def test_a_response_to_a_call_that_is_lost_is_not_queued_again(tmp_path: Path) -> None:
    """The program ends between the call that queues and its journal, and continues after the key was forgotten."""
    service = SimulatedService(company())
    created = service._create  # noqa: SLF001
    lost = iter([True])

    def create(request: Any) -> Any:
        answer = created(request)
        if next(lost, False):
            raise Stop
        return answer

    service._create = create  # type: ignore[method-assign]  # noqa: SLF001
    with pytest.raises(Stop):
        run(service, tmp_path)
    service.keys.clear()

    report = run(service, tmp_path)

    assert findings(report) == set()
    assert sum(record["label"].endswith(" host") for record in service.records.values()) == 1


def test_a_connection_without_sets_gets_at_most_80_and_says_what_was_not_asked(tmp_path: Path) -> None:
    report = run(SimulatedService(company(), batch_size=1), tmp_path)

    assert findings(report) == set()
    assert report.message_sets <= MAX_MESSAGE_SETS
    skipped = [step for step in report.steps if step.verdict is Verdict.NOT_ASKED]
    assert {step.outcome.skipped for step in skipped} == {
        "The run has no message set left.",
        "QuickBooks does not claim QBXML 17.0.",
    }
    asked = {step.step.name for step in report.steps} - {step.step.name for step in skipped}
    assert {"kind-Customer", "kind-Invoice", "iterator", "unknown-reference"} <= asked


def test_every_question_about_reads_has_an_answer(tmp_path: Path) -> None:
    report = run(SimulatedService(company()), tmp_path)

    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS)
    assert [text for question, text in report.answers if text.startswith("Not") and not question.needs_writes] == []


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "BASE_URL is not set"),
        ({"BASE_URL": "http://127.0.0.1:1"}, "API_KEY is not set"),
        ({"BASE_URL": "http://127.0.0.1:1", "API_KEY": "sk_1"}, "the service cannot be reached"),
    ],
)
def test_a_check_that_cannot_begin_says_why(
    variables: dict[str, str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("BASE_URL", "API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("qbxml_queue.protocol.FIRST_DELAY_SECONDS", 0)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert main(["--connection", CONNECTION, "--folder", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_the_plan_names_each_step_once_and_labels_fit() -> None:
    names = [step.name for step in READS]

    assert len(set(names)) == len(names)
    assert max(len(f"check 12345678 {name}") for name in names) <= 50


def test_no_place_of_a_request_is_sent_unfilled(tmp_path: Path) -> None:
    service = SimulatedService(company())
    run(service, tmp_path)

    sent = [record["request_xml"] for record in service.records.values()]
    assert [text for text in sent if re.search(r"\{[a-z_]+\}", text)] == []
    ended = next(text for text in sent if 'iterator="Stop"' in text)
    assert Journal(tmp_path).outcomes["iterator"].first("@iteratorID") in ended


def test_a_response_with_a_document_type_is_refused() -> None:
    with pytest.raises(ValueError, match="DTD"):
        parse('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    assert parse("<a>&#31;&#233;&#x1F;</a>").text == "?é?"


def test_a_journal_that_was_not_written_to_its_end_continues(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin({"run": "12345678"})
    with (tmp_path / "journal.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": "ho')

    Journal(tmp_path).note("host", ["a"])

    again = Journal(tmp_path)
    assert (again.head, again.queued) == ({"run": "12345678"}, {"host": ["a"]})
    assert (tmp_path / "journal.jsonl").stat().st_mode & 0o077 == 0
