"""The archive has no text of the company's books, and keeps what can be compared."""

# ruff: noqa: S314 - the documents are those of the test
from __future__ import annotations

import argparse
import json
import random
import re
import zipfile
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from qbxml_queue import QbxmlQueueError
from qbxml_queue.check.anonymise import main as anonymise
from qbxml_queue.check.anonymiser import Anonymiser
from qbxml_queue.check.archive import Archive
from qbxml_queue.check.command import check
from qbxml_queue.check.journal import Journal
from qbxml_queue.check.outcomes import Outcome
from qbxml_queue.check.page import archive_page_of, page_of
from qbxml_queue.check.report import Report
from qbxml_queue.check.service import Service
from qbxml_queue.check.words import LABELS
from qbxml_queue.schema.returned import TYPES
from simulated import NOW, SimulatedService

from simulator import Company
from simulator.basics.statuses import STATUSES
from simulator.corpus.facts import LABELS as LABELS_OF_THE_CORPUS
from simulator.corpus.facts import compared, facts_of
from simulator.corpus.pair import read_pair

if TYPE_CHECKING:
    from pathlib import Path

KEPT_ATTRIBUTES = {"statusCode", "statusSeverity", "rowNumber", "colID", "dataType", "titleRow", "rowType"}
LETTERS = "bcdfghjklmnpqrstvwxzäéłж"


def options(**values: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"web_connector": None, "archive": False, "writes": False, **values})


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Journal:
    """Return the journal of a run with a simulated company."""
    folder = tmp_path_factory.mktemp("run")
    service = SimulatedService(Company.generated(customers=30, now=NOW.timestamp))
    with service.client() as client:
        check(Service(client), folder, options())
    return Journal(folder)


class Secrets:
    """Texts as books have them: names, numbers, dates, ids and paths, each of which is nowhere else."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.texts: list[str] = []

    def new(self, *, of_words: bool = False) -> str:
        word = "".join(self._chance.choices(LETTERS, k=9))
        number = str(self._chance.randint(10**7, 10**8))
        forms = [
            word,
            f"{word.title()}'s",
            f"{word}: {number}",
            f"C:\\{word}\\{word}.qbw",
            number,
            f"-{number}.55",
            f"1{number[:3]}-0{number[3]}-28",
            f"1{number[:3]}-01-28T10:11:12+05:45",
            f"8{number}-1{number}",
            f"Total {word}",
            f"{{{number}-AB12}}",
            f"{word} Income",
        ]
        text = self._chance.choice(forms[:2] if of_words else forms)
        self.texts += [
            part for part in re.split(r"[\s:'\\.]+|^Total ", text) if len(part) > 4 and part not in {"Total", "Income"}
        ]
        return text


def with_secrets(text: str, secrets: Secrets, chance: random.Random) -> str:
    """Put a secret into each place of a response that can have a text of the books."""
    root = ET.fromstring(text)
    for element in root.iter():
        if element.text and element.text.strip() and TYPES.get(element.tag) not in {"BOOLTYPE", "ENUMTYPE"}:
            element.text = secrets.new()
        for name in element.attrib:
            if name == "statusMessage":
                quoted, plain = secrets.new(), secrets.new(of_words=True)
                element.set(name, f'There is an invalid reference to "{quoted}" in {plain}.')
            elif name not in KEPT_ATTRIBUTES and chance.random() < 0.9:
                element.set(name, secrets.new())
    return ET.tostring(root, encoding="unicode")


@pytest.mark.parametrize("seed", range(3))
def test_no_text_of_the_books_is_in_the_archive_or_on_the_pages(journal: Journal, seed: int) -> None:
    chance = random.Random(seed)
    secrets = Secrets(chance)
    books = Journal(journal.folder)
    for step, outcome in journal.outcomes.items():
        records = [
            {
                **record,
                "response_xml": record["response_xml"] and with_secrets(record["response_xml"], secrets, chance),
                "request_xml": record["request_xml"].replace("Rq></Q", f"Rq><A>{secrets.new()}</A></Q", 1),
            }
            for record in outcome.records
        ]
        if step != "host":
            books.outcomes[step] = Outcome(outcome.skipped, outcome.refused, records, outcome.sets)
    report = Report.of(books)

    archive = Archive.of(books, report, random.Random(seed))
    everything = "\n".join([*archive.files, *archive.files.values(), archive_page_of(archive), page_of(report)])

    assert len(secrets.texts) > 5000
    assert [text for text in dict.fromkeys(secrets.texts) if text in everything] == []
    assert journal.folder.name not in everything


def test_the_same_text_gets_the_same_replacement_in_all_documents(journal: Journal) -> None:
    archive = Archive.of(journal, Report.of(journal), random.Random(1))
    customers = ET.fromstring(next(text for name, text in archive.files.items() if name.endswith("large-list.xml")))
    asked = ET.fromstring(next(text for name, text in archive.files.items() if "known-and-unknown" in name))

    assert asked.findtext("Request//ListID") == customers.findtext("Response//ListID")
    assert asked.findtext("Response//CustomerRet/Name") == customers.findtext("Response//CustomerRet/Name")
    assert re.fullmatch(r"Text \d+", customers.findtext("Response//CustomerRet/Name", ""))
    assert customers.findtext("Request//ActiveStatus") == "All"


def test_the_archive_has_the_installation_the_times_and_the_verdict_of_each_step(journal: Journal) -> None:
    summary = json.loads(Archive.of(journal, Report.of(journal), random.Random(1)).files["summary.json"])

    assert summary["installation"]["QuickBooks"] == "QuickBooks Enterprise Solutions 2023"
    assert {step["verdict"] for step in summary["steps"]} == {"as expected", "not asked"}
    assert {tuple(step["seconds"]) for step in summary["steps"] if step["name"] == "host"} == {(0.1,)}
    assert "accounts-order" in summary["answers"]


def test_labels_of_reports_stay_and_names_in_titles_do_not() -> None:
    report = ET.fromstring(
        '<R><ReportRet><ColDesc colID="1"><ColTitle titleRow="1" value="Acme Job" /></ColDesc>'
        '<ColDesc colID="2"><ColTitle titleRow="1" value="Dec 31, 25" /></ColDesc>'
        '<ReportData><TextRow rowNumber="1" value="Current Assets" /><TextRow rowNumber="2" value="Acme Job" />'
        '<SubtotalRow rowNumber="3"><RowData rowType="account" value="Expense" />'
        '<ColData colID="1" value="Total Expense" /></SubtotalRow></ReportData></ReportRet></R>'
    )

    Anonymiser(random.Random(1)).rewrite(report, is_request=False)

    titles = [title.get("value") for title in report.iter("ColTitle")]
    assert titles == ["Text 1", "Jan 15, 26"]
    assert [row.get("value") for row in report.iter("TextRow")] == ["Current Assets", "Text 1"]
    assert report.find(".//RowData").get("value") == "Text 2"  # type: ignore[union-attr]
    assert report.find(".//ColData").get("value") == "Total Expense"  # type: ignore[union-attr]


def test_the_labels_are_those_of_the_corpus() -> None:
    assert LABELS == LABELS_OF_THE_CORPUS


def test_a_pair_of_two_documents_keeps_its_structure_and_is_one_of_the_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = "<Name>Acme</Name><BillAddress><Addr1>Rue Noire 98765</Addr1></BillAddress><Phone>555-7788</Phone>"
    record = (
        "<ListID>80000ABC-1551700000</ListID><TimeCreated>2019-03-04T05:06:07-08:00</TimeCreated><Name>Acme</Name>"
        "<FullName>Acme:Acme</FullName><IsActive>true</IsActive><Balance>-1234.56</Balance><TotalBalance>0.00</TotalBalance>"
    )
    head = "requestID='acme-7' statusCode='0' statusSeverity='Info' statusMessage='About \"Acme\" OK'"
    request, response, path = tmp_path / "rq.xml", tmp_path / "rs.xml", tmp_path / "pair.xml"
    added = f"<CustomerAddRq requestID='acme-7'><CustomerAdd>{fields}</CustomerAdd></CustomerAddRq>"
    request.write_text(f"<QBXML><QBXMLMsgsRq>{added}</QBXMLMsgsRq></QBXML>", encoding="utf-8")
    answer = f"<CustomerAddRs {head}><CustomerRet>{record}</CustomerRet></CustomerAddRs>"
    response.write_text(f"<QBXML><QBXMLMsgsRs>{answer}</QBXMLMsgsRs></QBXML>", encoding="utf-8")
    known = ["--product", "Pro 2014", "--country", "US", "--version", "13.0", "--source", "here"]

    assert anonymise([str(request), str(response), *known]) == 0
    path.write_text(capsys.readouterr().out, encoding="utf-8")

    pair = read_pair(path)
    secrets = ("Acme", "Noire", "98765", "7788", "1234.56", "2019-03-04", "80000ABC", "acme-7")
    assert [secret for secret in secrets if secret in path.read_text(encoding="utf-8")] == []
    assert compared(facts_of(ET.fromstring(answer)), facts_of(pair.response[0])).differences == []
    customer = pair.response[0][0]
    name = ET.fromstring(pair.request).findtext("CustomerAdd/Name")
    assert (customer.findtext("Name"), customer.findtext("FullName")) == (name, f"{name}:{name}")
    assert (customer.findtext("TotalBalance"), customer.findtext("Balance", "")[0]) == ("0.00", "-")


def test_a_document_that_cannot_be_read_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = ["--product", "P", "--country", "US", "--version", "13.0", "--source", "S"]

    assert anonymise([str(tmp_path / "none"), str(tmp_path / "none"), *known]) == 2
    assert "none" in capsys.readouterr().err


@pytest.mark.parametrize("code", [code for code, status in STATUSES.items() if status.source.is_known])
def test_the_words_of_quickbooks_messages_stay(code: int) -> None:
    text = re.sub(r'"?\{\w+\}"?', '""', STATUSES[code].text)
    response = ET.Element("CustomerQueryRs", statusMessage=text)

    Anonymiser(random.Random(1)).rewrite(response, is_request=False)

    assert re.sub(r"\d", "0", response.get("statusMessage", "")) == re.sub(r"\d", "0", text)


def test_records_of_one_structure_are_kept_once() -> None:
    one, other = "<CustomerRet><Name>{}</Name></CustomerRet>", "<CustomerRet><Name>C</Name><Fax>1</Fax></CustomerRet>"
    response = ET.fromstring(f"<CustomerQueryRs>{one.format('A')}{one.format('B')}{other}</CustomerQueryRs>")

    Anonymiser(random.Random(1)).rewrite(response, is_request=False)

    assert [len(record) for record in response] == [1, 2]


@pytest.mark.parametrize(("said", "is_written"), [("yes\n", True), ("no\n", False), ("", False)])
def test_the_archive_is_written_when_a_person_has_said_yes(
    journal: Journal, said: str, is_written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "journal.jsonl").write_bytes((journal.folder / "journal.jsonl").read_bytes())
    answers = tmp_path / "answers"
    answers.write_text(said, encoding="utf-8")
    service = SimulatedService(Company.empty(now=NOW.timestamp))
    with answers.open(encoding="utf-8") as stdin, service.client() as client:
        monkeypatch.setattr("sys.stdin", stdin)
        if is_written:
            assert check(Service(client), tmp_path, options(archive=True)) == 0
        else:
            with pytest.raises(QbxmlQueueError, match="nobody said yes"):
                check(Service(client), tmp_path, options(archive=True))

    assert (tmp_path / "archive.zip").exists() == is_written
    if is_written:
        with zipfile.ZipFile(tmp_path / "archive.zip") as archive:
            assert "summary.json" in archive.namelist()
            assert archive.testzip() is None
