"""The writes of a check happen in a copy only, after a person has said yes, once, and are cleaned up."""

from __future__ import annotations

import argparse
import io
from typing import TYPE_CHECKING

import pytest
from qbxml_queue import QbxmlQueueError
from qbxml_queue.check.command import check, is_a_copy
from qbxml_queue.check.journal import Journal
from qbxml_queue.check.plan import MAX_MESSAGE_SETS, READS, cost_of
from qbxml_queue.check.questions import QUESTIONS
from qbxml_queue.check.report import Report
from qbxml_queue.check.service import Service
from qbxml_queue.check.verdicts import Verdict
from qbxml_queue.check.writes import CLEANUP, WRITES
from simulated import NOW, SimulatedService

from simulator import Company

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

OPTIONS = argparse.Namespace(web_connector=None, archive=False, writes=True)


class Clock:
    """A clock that goes on by three seconds whenever it is read."""

    def __init__(self) -> None:
        self.now = NOW.timestamp()

    def __call__(self) -> float:
        self.now += 3
        return self.now


def company(name: str = "Test Traders") -> Company:
    return Company.generated(customers=10, now=Clock(), name=name)


def run(service: SimulatedService, folder: Path, monkeypatch: pytest.MonkeyPatch, said: str = "yes\n\n") -> Report:
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    with service.client() as client:
        check(Service(client), folder, OPTIONS)
    return Report.of(Journal(folder))


def written(service: SimulatedService) -> list[str]:
    """Return the labels of the requests of the steps that write."""
    names = {step.name for step in (*WRITES, *CLEANUP)}
    return [name for record in service.records.values() if (name := record["label"].split()[-1]) in names]


@pytest.mark.parametrize("position", ["default", "on", "off"])
def test_the_writes_are_as_expected_and_leave_the_books_as_they_were(
    position: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever QuickBooks does beside the writes (`BEHAVIOURS`), no step may fail because of it."""
    books = company()
    if position != "default":
        for name in books.behaviours:
            books.set_behaviour(name, position)
    service = SimulatedService(books)

    report = run(service, tmp_path, monkeypatch)

    assert {(step.step.name, one.text) for step in report.steps for one in step.findings} == set()
    assert report.left == []
    assert report.message_sets <= MAX_MESSAGE_SETS
    assert len(written(service)) == len(WRITES) + len(CLEANUP)
    asked = service.session.process_request(
        '<?xml version="1.0"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq>'
        "<NameFilter><MatchCriterion>StartsWith</MatchCriterion><Name>qbxml-queue</Name></NameFilter></CustomerQueryRq>"
        "<InvoiceQueryRq><RefNumberFilter><MatchCriterion>StartsWith</MatchCriterion><RefNumber>QC</RefNumber>"
        "</RefNumberFilter></InvoiceQueryRq></QBXMLMsgsRq></QBXML>"
    )
    assert asked.count('statusCode="1"') == 2
    answers = {question.name: text for question, text in report.answers}
    assert len(answers) == len(QUESTIONS)
    assert [name for name, text in answers.items() if text.startswith("Not ")] == []
    assert answers["dead-set"].endswith("The invoice exists once.")


@pytest.mark.parametrize("said", ["no\n", ""])
def test_nothing_is_written_unless_a_person_says_yes(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SimulatedService(company())

    with pytest.raises(QbxmlQueueError, match="nobody said yes"):
        run(service, tmp_path, monkeypatch, said)

    assert written(service) == []


def test_nothing_is_written_in_a_file_that_is_not_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = SimulatedService(company("Contest Traders"))

    with pytest.raises(QbxmlQueueError, match="Open a copy"):
        run(service, tmp_path, monkeypatch)

    assert written(service) == []


@pytest.mark.parametrize(
    ("name", "paths", "is_sample", "expected"),
    [
        ("Acme", ["C:\\books\\acme copy.qbw"], "false", True),
        ("Acme", ["C:\\Test\\acme.qbw"], "false", True),
        ("Acme (Sample)", ["C:\\acme.qbw"], "false", True),
        ("Acme", ["C:\\acme.qbw"], "true", True),
        ("Acme", ["C:\\acme.qbw"], "false", False),
        ("Copyright Ltd", ["C:\\contest.qbw"], "false", False),
        ("Acme", ["C:\\acme.qbw", "C:\\copy\\acme.qbw"], "false", False),
    ],
)
def test_a_copy_has_a_word_of_its_own_in_its_name_or_only_path(
    name: str, paths: list[str], is_sample: str, expected: bool
) -> None:
    assert is_a_copy({"company": name, "is_sample": is_sample}, {"company_file_paths": paths}) is expected


def test_a_write_that_was_executed_twice_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(response: ET.Element) -> None:
        if (
            response.tag == "InvoiceQueryRs"
            and len(response) == 1
            and response[0].findtext("RefNumber", "")[:2] == "QC"
        ):
            response.append(response[0])

    report = run(SimulatedService(company(), changes=twice), tmp_path, monkeypatch)

    wrong = {step.step.name: step.findings for step in report.steps if step.verdict is Verdict.WRONG}
    assert [one.text for one in wrong.pop("lost-found")] == ["The write was executed 2 times in place of once."]
    assert wrong == {}


def test_what_could_not_be_deleted_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(response: ET.Element) -> None:
        if response.tag == "ListDelRs" and response.findtext("ListDelType") == "ItemService":
            response[:] = []
            response.attrib |= {"statusCode": "3170", "statusSeverity": "Error"}

    report = run(SimulatedService(company(), changes=keep), tmp_path, monkeypatch)

    assert report.left == ["the item"]


def test_without_a_person_the_response_is_not_lost_and_the_rest_is_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SimulatedService(company())

    report = run(service, tmp_path, monkeypatch, "yes\n")

    skipped = {step.step.name for step in report.steps if step.verdict is Verdict.NOT_ASKED}
    assert {"lost-invoice", "lost-found", "lost-delete"} <= skipped
    assert "customer-delete" not in skipped
    assert report.left == []


class Stop(Exception):
    """Ends the program, as Ctrl-C does."""


def test_writes_that_were_stopped_continue_and_none_is_queued_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SimulatedService(company())
    created = service._create  # noqa: SLF001
    count = 0

    def create(request: object) -> object:
        nonlocal count
        count += 1
        answer = created(request)  # type: ignore[arg-type]
        if any(record["label"].endswith(f" {stop}") for record in service.records.values()) and stop not in stopped:
            stopped.append(stop)
            raise Stop
        return answer

    service._create = create  # type: ignore[method-assign, assignment]  # noqa: SLF001
    stopped: list[str] = []
    for stop in ("customer-add", "invoice-add", "payment-delete", "lost-invoice", "customer-delete"):  # noqa: B007 - create reads it
        with pytest.raises(Stop):
            run(service, tmp_path, monkeypatch)
        service.keys.clear()

    report = run(service, tmp_path, monkeypatch, "")

    assert {(step.step.name, one.text) for step in report.steps for one in step.findings} == set()
    assert len(written(service)) == len(set(written(service))) == len(WRITES) + len(CLEANUP)


def test_reads_and_writes_together_fit_into_the_message_sets_without_the_kinds() -> None:
    kinds = [step for step in READS if step.is_together]

    assert cost_of((*READS, *WRITES, *CLEANUP)) - cost_of(kinds) + 10 <= MAX_MESSAGE_SETS
