"""The structure of a response as facts that can be counted: statuses, attributes, elements in their order, formats.

Values are data of a company and not compared. A fact is one of

* the status code and severity of a response, and the names of its other attributes
* an element of a record, by its path (`InvoiceRet/BillAddress/Addr1`), in its order
* the format of its value, unless it is text: `2 decimals`, `date`, `date and time with offset`, `id`, `boolean`
* a column of a report: its title, type of data and kind, and the format of its cells
* a row of a report: its kind, and its label if that is one of QuickBooks' own words, such as `Total Fixed Assets`

Records of the same structure are counted once. Rows with QuickBooks' labels are compared in their order. Of the rows
with names, each kind has to occur: how many there are, and which of their cells are empty, depends on the company.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from simulator.schema import Aggregate, schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from simulator.schema import Element as Model

_STATUS = {"requestID", "statusCode", "statusSeverity", "statusMessage"}
_FORMATS = (
    ("boolean", re.compile("true|false")),
    ("id", re.compile(r"[0-9A-F]+-\d+")),
    ("date and time with offset", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("whole number", re.compile(r"-?\d+")),
    ("1 decimal", re.compile(r"-?\d+\.\d")),
    ("2 or more decimals", re.compile(r"-?\d+\.\d\d+")),
)
_DATE = re.compile(r"[A-Z][a-z]{2} \d{1,2}, \d\d")
LABELS = frozenset(
    {
        "ASSETS",
        "Current Assets",
        "Checking/Savings",
        "Accounts Receivable",
        "Other Current Assets",
        "Fixed Assets",
        "Other Assets",
        "TOTAL ASSETS",
        "LIABILITIES & EQUITY",
        "Liabilities",
        "Current Liabilities",
        "Accounts Payable",
        "Credit Cards",
        "Other Current Liabilities",
        "Long Term Liabilities",
        "Equity",
        "Net Income",
        "TOTAL LIABILITIES & EQUITY",
        "Ordinary Income/Expense",
        "Income",
        "Cost of Goods Sold",
        "COGS",
        "Gross Profit",
        "Expense",
        "Net Ordinary Income",
        "Other Income/Expense",
        "Other Income",
        "Other Expense",
        "Net Other Income",
        "TOTAL",
        "Inventory",
        "Inventory Assembly",
        "Assembly",
        "Service",
        "Parts",
        "Other Charges",
        "Discounts",
        "Current",
        "1 - 30",
        "31 - 60",
        "61 - 90",
        "> 90",
    }
)
"""The labels of rows that are words of QuickBooks, not names of a company. `Total` can stand before each."""
_TEXTS = {"STRTYPE", "ENUMTYPE", "GUIDTYPE", ""}

Leaf: TypeAlias = tuple[str, str]
"""The path of an element and the format of its value. The format is '' for text and for an element with children."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one response: its head, and the elements of each record or part of a report."""

    name: str
    head: tuple[str, ...]
    records: tuple[tuple[Leaf, ...], ...]


@dataclass(slots=True)
class Score:
    """How many facts agree, how many there are, and the differences as text."""

    agreed: int = 0
    total: int = 0
    differences: list[str] = field(default_factory=list)

    def count(self, agrees: bool, difference: str) -> None:
        """Count one fact."""
        self.total += 1
        self.agreed += agrees
        if not agrees:
            self.differences.append(difference)


def facts_of(response: Element) -> Facts:
    """Return the facts of an Rs element."""
    status = f"status {response.get('statusCode')} {response.get('statusSeverity', '')}".strip()
    attributes = (f"attribute {name}" for name in sorted(set(response.attrib) - _STATUS))
    model = schema().responses.get(response.tag)
    content = model.type if model is not None else None
    records = []
    if response.tag in {"ListDelRs", "TxnDelRs"} and len(response):
        records.append(tuple(_leaves(response, model, "")))
    else:
        for record in response:
            record_model = content.elements.get(record.tag) if isinstance(content, Aggregate) else None
            records += _report(record) if record.tag == "ReportRet" else [tuple(_leaves(record, record_model, ""))]
    return Facts(response.tag, (status, *attributes), tuple(record for record in dict.fromkeys(records) if record))


def compared(genuine: Facts, own: Facts) -> Score:
    """Compare two responses. Each genuine record is compared with the most similar one of the simulator."""
    score = Score()
    for fact in dict.fromkeys((*genuine.head, *own.head)):
        side = "missing" if fact in genuine.head else "additional"
        score.count(fact in genuine.head and fact in own.head, f"{genuine.name}: {side} {fact}")
    for record in genuine.records:
        candidates = [candidate for candidate in own.records if candidate[:1] and candidate[0][0] == record[0][0]]
        scores = [_compared(record, candidate) for candidate in candidates] or [_compared(record, ())]
        best = max(scores, key=lambda one: (one.agreed / max(one.total, 1), one.agreed))
        score.agreed += best.agreed
        score.total += best.total
        score.differences += best.differences
    return score


def _compared(genuine: Sequence[Leaf], own: Sequence[Leaf]) -> Score:
    score = Score()
    common = _common([path for path, _ in genuine], [path for path, _ in own])
    matched = [number for number, _ in common], {number for _, number in common}
    for number, (path, _) in enumerate(genuine):
        score.count(number in matched[0], f"missing {path}")
    for number, (path, _) in enumerate(own):
        if number not in matched[1]:
            score.count(False, f"additional {path}")
    for number, own_number in common:
        path, form = genuine[number]
        if form and own[own_number][1]:
            score.count(form == own[own_number][1], f"{path} has {own[own_number][1]}, not {form}")
    return score


def _common(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of the longest sequence that both contain."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for left in range(len(one) - 1, -1, -1):
        for right in range(len(other) - 1, -1, -1):
            if one[left] == other[right]:
                lengths[left][right] = lengths[left + 1][right + 1] + 1
            else:
                lengths[left][right] = max(lengths[left + 1][right], lengths[left][right + 1])
    places, left, right = [], 0, 0
    while left < len(one) and right < len(other):
        if one[left] == other[right]:
            places.append((left, right))
            left, right = left + 1, right + 1
        elif lengths[left + 1][right] >= lengths[left][right + 1]:
            left += 1
        else:
            right += 1
    return places


def _leaves(element: Element, model: Model | None, above: str) -> Iterator[Leaf]:
    path = f"{above}/{element.tag}" if above else element.tag
    kind = model.type if model is not None else None
    yield path, "" if len(element) else _format(element.text or "", getattr(kind, "base", ""))
    children = [
        tuple(_leaves(child, kind.elements.get(child.tag) if isinstance(kind, Aggregate) else None, path))
        for child in element
    ]
    for leaves, _ in groupby(children):
        yield from leaves


def _format(text: str, base: str) -> str:
    if base in _TEXTS:
        return ""
    if base == "QUANTYPE":
        return "number" if _FORMATS[-1][1].fullmatch(f"{text}.00") or _FORMATS[-1][1].fullmatch(f"{text}0") else "text"
    return next((name for name, pattern in _FORMATS if pattern.fullmatch(text)), "another format")


def _report(report: Element) -> Iterator[tuple[Leaf, ...]]:
    """Yield the head of a report, its rows with QuickBooks' labels, and each kind of its other rows."""
    formats: dict[str, str] = {}
    for cell in report.iter("ColData"):
        formats.setdefault(cell.get("colID", ""), cell.get("value", ""))
    head: list[Leaf] = []
    for child in report:
        if child.tag == "ColDesc":
            title = child.find("ColTitle")
            text = title.get("value", "") if title is not None else ""
            kind = child.get("dataType", "")
            facts = (_DATE.sub("DATE", text), kind, child.findtext("ColType", ""))
            example = formats.get(child.get("colID", ""), "")
            head.append((f"column {' · '.join(facts)}", _format(example, kind) if example else ""))
        elif child.tag != "ReportData":
            head.append((child.tag, ""))
    yield tuple(head)
    rows = [_row(row) for row in report.find("ReportData") or ()]
    yield tuple(leaf for leaf, has_name in rows if not has_name)
    yield from ((leaf,) for leaf, has_name in dict.fromkeys(rows) if has_name)


def _row(row: Element) -> tuple[Leaf, bool]:
    """Return the fact of a row, and whether its label is a name."""
    label = row.get("value") or next((cell.get("value", "") for cell in row.iter("ColData")), "")
    data = row.find("RowData")
    has_name = data is not None or label.removeprefix("Total ") not in LABELS
    if has_name:
        label = "Total NAME" if label.startswith("Total ") else "NAME"
    parts = (row.tag, data.get("rowType", "") if data is not None else "", label)
    return (f"row {' · '.join(filter(None, parts))}", ""), has_name
