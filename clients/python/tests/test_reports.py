"""Each report of QuickBooks is a table with its rows in their order and with typed cells."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import generate
import httpx
import pytest
from books import Books, Clock
from fields import facts_of, random_content
from qbxml_queue import Client, StillQueued
from qbxml_queue.reports import table
from qbxml_queue.schema.report_names import REPORTS
from qbxml_queue.values import to_json
from service import API_KEY, BASE_URL, CONNECTION

from domain import qbxml
from simulator import Company
from simulator.reports.table import Column
from simulator.reports.table import Table as SimulatedTable

if TYPE_CHECKING:
    from collections.abc import Iterator

SEEDS = 4
TABLES = 40
NAMES = [name for name in json.loads((generate.FACTS / "index.json").read_bytes()) if name.endswith("ReportQueryRq")]
VALUES: dict[str, Any] = {
    "AMTTYPE": lambda chance: Decimal(chance.randint(-99999, 99999)) / 100,
    "QUANTYPE": lambda chance: Decimal(chance.randint(0, 99)),
    "STRTYPE": lambda chance: chance.choice(["Bread & Butter", "   Rent", "a:b", "Ö", "12.50"]),
    "DATETYPE": lambda chance: (date(2026, 1, 1) + timedelta(days=chance.randint(0, 300))).isoformat(),
    "INTTYPE": lambda chance: str(chance.randint(0, 99)),
    "BOOLTYPE": lambda chance: chance.choice(["true", "false"]),
}
READ: dict[str, Any] = {
    "DATETYPE": date.fromisoformat,
    "INTTYPE": int,
    "BOOLTYPE": lambda text: text == "true",
}


@pytest.fixture(scope="module")
def closed() -> Iterator[Any]:
    """Yield a client and the books behind it, which are closed: requests are read and wait."""
    books = Books(Company.empty(now=Clock()), is_closed=True)
    transport = httpx.MockTransport(books)
    with Client(BASE_URL, API_KEY, CONNECTION, transport=transport, sleep=lambda _: None, clock=lambda: 0.0) as client:
        yield client, books


def test_each_report_of_the_schema_has_a_method() -> None:
    for request in NAMES:
        facts = facts_of(request)
        names = [name for name in facts["types"][facts["content"]["sequence"][0][2]] if name]
        assert sorted(names) == sorted(name for kind, name in REPORTS.values() if f"{kind}QueryRq" == request)
    assert len(REPORTS) == 93
    assert all(name.isidentifier() for name in REPORTS)


@pytest.mark.parametrize("name", REPORTS)
def test_the_service_reads_the_filters_of_each_report(closed: Any, name: str) -> None:
    client, books = closed
    kind, report = REPORTS[name]
    for seed in range(SEEDS):
        content = random_content(f"{kind}QueryRq", random.Random(seed), 0.4)
        content[f"{kind}Type"] = report
        expected = to_json({f"{kind}QueryRq": content})
        given = {one: value for one, value in content.items() if one not in {f"{kind}Type", "ReportPeriod"}}

        with pytest.raises(StillQueued):
            getattr(client.reports, name)(**given, **content.get("ReportPeriod", {}), timeout=0)

        read = books.waiting[-1][1]
        assert ET.tostring(read.element) == ET.tostring(qbxml.parse_request_json(expected, "16.0").element)


@pytest.mark.parametrize("seed", range(TABLES))
def test_a_table_has_the_cells_that_quickbooks_wrote(seed: int) -> None:
    chance = random.Random(seed)
    kinds = [chance.choice(list(VALUES)) for _ in range(chance.randint(0, 5))]
    columns = [Column("", "Label"), *(Column(chance.choice(["A", "A", "B", ""]), "Amount", kind) for kind in kinds)]
    written = SimulatedTable("T", "S", columns)
    rows: list[tuple[str, list[Any], tuple[str | None, str | None]]] = []
    for number in range(chance.randint(0, 30)):
        kind = chance.choice(["data", "text", "subtotal", "total"])
        label = f"{' ' * chance.randint(0, 3)}Row {number}"
        cells = [label, *(VALUES[one](chance) if chance.random() < 0.8 else None for one in kinds)]
        about = ("account", f"x:{number}") if kind in {"data", "subtotal"} and chance.random() < 0.5 else (None, None)
        match kind:
            case "text":
                written.text(label)
                cells = [label, *(None for _ in kinds)]
            case "total":
                written.total(cells)
            case _:
                getattr(written, kind)(cells, *(text or "" for text in about))
        rows.append((kind, cells, about))

    read = table(report_of(written))

    typed = [
        [
            value if value is None else READ.get(kind, lambda text: text)(value)
            for kind, value in zip(["", *kinds], row, strict=True)
        ]
        for _, row, _ in rows
    ]
    assert [(row.type, list(row.values)) for row in read] == [
        (kind, cells) for (kind, _, _), cells in zip(rows, typed, strict=True)
    ]
    assert [(row.object_type, row.object) for row in read] == [about for *_, about in rows]
    names = [column.name for column in read.columns]
    assert len(set(names)) == len(columns)
    assert [column.title for column in read.columns] == [column.title for column in columns]
    assert [column.data_type for column in read.columns] == ["STRTYPE", *kinds]
    data = [cells for (kind, _, _), cells in zip(rows, typed, strict=True) if kind == "data"]
    assert read.as_dicts() == [dict(zip(names, cells, strict=True)) for cells in data]
    totals = [cells for (kind, _, _), cells in zip(rows, typed, strict=True) if kind == "total"]
    assert (read.total and list(read.total.values)) == (totals[-1] if totals else None)


def report_of(written: SimulatedTable) -> dict[str, Any]:
    """Return a table of the simulator as the service reads it in a response."""
    fields = written.fields()
    report = ET.Element("ReportRet")
    for name in ("ReportTitle", "ReportSubtitle", "ReportBasis", "NumRows"):
        ET.SubElement(report, name).text = fields[name]
    for described in fields["ColDesc"]:
        column = ET.SubElement(report, "ColDesc", colID=described["@colID"], dataType=described["@dataType"])
        for title in described["ColTitle"]:
            ET.SubElement(column, "ColTitle", {name[1:]: value for name, value in title.items()})
        ET.SubElement(column, "ColType").text = described["ColType"]
    report.append(ET.fromstring(f"<ReportData>{''.join(written.rows)}</ReportData>"))  # noqa: S314 - our simulator
    response = f"<GeneralSummaryReportQueryRs>{ET.tostring(report, encoding='unicode')}</GeneralSummaryReportQueryRs>"
    [tree] = qbxml.response_to_json(f"<QBXML><QBXMLMsgsRs>{response}</QBXMLMsgsRs></QBXML>")
    found: dict[str, Any] = tree["QBXMLMsgsRs"]["GeneralSummaryReportQueryRs"]["ReportRet"]
    return found


def test_a_title_of_several_rows_is_one_text() -> None:
    titles = [{"@titleRow": "1", "@value": "Jones"}, {"@titleRow": "2", "@value": "% of Income"}]
    column = {"@colID": "1", "@dataType": "PERCENTTYPE", "ColTitle": titles, "ColType": "Percent"}
    row = {"@rowNumber": 1, "ColData": [{"@colID": "1", "@value": "12.5"}]}

    report = table({"ColDesc": [column], "ReportData": {"DataRow": [row]}})

    assert report.as_dicts() == [{"Jones % of Income": Decimal("12.5")}]


def test_the_reports_of_a_company_add_up(shop: Any) -> None:
    aging = shop.reports.ar_aging_summary()
    owed = shop.reports.customer_balance_summary(ReportDateMacro="All")
    result = shop.reports.profit_and_loss(FromReportDate=date(2020, 1, 1), ToReportDate="2027-12-31")

    assert aging.title == "A/R Aging Summary"
    assert aging.total["TOTAL"] == sum(row["TOTAL"] for row in aging if row.type == "data")
    assert {row.object_type for row in aging if row.type == "data"} == {"customer"}
    assert len(owed) > 1
    assert result.total.label == "Net Income"
    assert isinstance(result.total.values[-1], Decimal)


def test_a_report_that_waits_is_resumed_by_the_same_call(shop: Any, books: Books) -> None:
    books.is_closed = True
    for _ in range(2):
        with pytest.raises(StillQueued):
            shop.reports.trial_balance(timeout=5)
    books.open()

    assert shop.reports.trial_balance().title == "Trial Balance"
    assert len(books.records) == 1


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda client: client.reports.profit_and_los, AttributeError, "Did you mean 'profit_and_loss'"),
        (lambda client: client.reports.journal(FromReportDate="2026-01-01", ReportPeriod={}), TypeError, "given too"),
        (lambda client: client.reports.journal(time_out=3), TypeError, "Did you mean 'timeout'"),
    ],
)
def test_what_a_report_does_not_have_is_named(client: Any, use: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        use(client)


def test_dir_names_the_reports(client: Any) -> None:
    assert sorted(REPORTS) == dir(getattr(client, "_client", client).reports)
