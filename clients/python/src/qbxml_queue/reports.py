"""Reports as tables: `books.reports.profit_and_loss(…)`, for each report of QuickBooks.

`qbxml_queue.schema.reports` has their types.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from qbxml_queue.arguments import read_once, separated
from qbxml_queue.options import ReadOptions
from qbxml_queue.results import result_of
from qbxml_queue.schema.report_names import REPORTS
from qbxml_queue.values import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from qbxml_queue.protocol import Protocol, Steps

Cell: TypeAlias = Decimal | int | bool | date | datetime | timedelta | str | None
"""A value of a report. A text that does not have the form of its column's type stays a text."""

RowType: TypeAlias = Literal["data", "text", "subtotal", "total"]

_ROWS: dict[str, RowType] = {"DataRow": "data", "TextRow": "text", "SubtotalRow": "subtotal", "TotalRow": "total"}
_PERIOD = ("FromReportDate", "ToReportDate")
_TYPES = {
    **dict.fromkeys(("AMTTYPE", "PRICETYPE", "QUANTYPE", "PERCENTTYPE", "FLOATTYPE"), "Decimal"),
    "INTTYPE": "int",
    "BOOLTYPE": "bool",
    "DATETYPE": "date",
    "DATETIMETYPE": "datetime",
    "TIMEINTERVALTYPE": "timedelta",
}
"""The type in Python of each type of a column. Any other one is a text."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column. Titles can repeat, so `name` is the title with a number, or the type of a column without a title."""

    name: str
    title: str
    type: str
    """What it has, such as `Amount`, `Label` or `DueDate`."""
    data_type: str
    """The type of its values in QBXML, such as `AMTTYPE`."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row. A row of the type `text` is a heading, which only its first cell has."""

    type: RowType
    cells: dict[str, Cell]
    """The value in each column, by the column's name. None is an empty cell."""
    object_type: str | None
    """The type of the object that the row is about, such as `account`, `customer` or `item`."""
    object: str | None
    """The full name of that object."""

    def __getitem__(self, column: str) -> Cell:
        return self.cells[column]

    @property
    def values(self) -> tuple[Cell, ...]:
        """The values in the order of the columns."""
        return tuple(self.cells.values())

    @property
    def label(self) -> str:
        """The text in the first column, as QuickBooks prints it."""
        return str(next(iter(self.cells.values()), None) or "")


@dataclass(frozen=True, slots=True)
class Table:
    """A report. Iterating yields its rows, in their order."""

    title: str
    subtitle: str
    """The period, such as `September 2026`."""
    basis: str | None
    """`Accrual`, `Cash` or `None`, if the report has it."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def total(self) -> Row | None:
        """The row with the total of the report, or None if it has none."""
        return next((row for row in reversed(self.rows) if row.type == "total"), None)

    def as_dicts(self, *types: RowType) -> list[dict[str, Cell]]:
        """Return the rows of some types, `data` by default, each with its values by the names of the columns."""
        return [dict(row.cells) for row in self.rows if row.type in (types or ("data",))]


class Reports:
    """A method for each report. `run` makes the calls of an operation."""

    def __init__(self, protocol: Protocol, run: Callable[[Steps[Any]], Any]) -> None:
        self._protocol = protocol
        self._run = run
        self._reads: dict[str, str] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in REPORTS:
            likely = get_close_matches(name, REPORTS, 1)
            message = f"QuickBooks has no report {name!r}." + (f" Did you mean {likely[0]!r}?" if likely else "")
            raise AttributeError(message)
        return partial(self._make, name)

    def __dir__(self) -> Iterable[str]:
        return REPORTS

    def _make(self, name: str, /, **given: Any) -> Any:
        return self._run(self._table(name, given))

    def _table(self, name: str, given: dict[str, Any]) -> Steps[Table]:
        """Return a report. Raises StillQueued."""
        filters, options = separated(name, ReadOptions, given)
        request = report_request(name, filters)
        record = yield from read_once(self._protocol, self._reads, request, options)
        return table(result_of(record)["ReportRet"])


def report_request(name: str, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for a report. The dates of its period are arguments of their own."""
    kind, report = REPORTS[name]
    period = {one: filters[one] for one in _PERIOD if one in filters}
    others = {one: value for one, value in filters.items() if one not in _PERIOD}
    if period and "ReportPeriod" in others:
        raise TypeError("ReportPeriod has FromReportDate and ToReportDate, which are given too.")
    return {f"{kind}QueryRq": {f"{kind}Type": report, **({"ReportPeriod": period} if period else {}), **others}}


def table(report: Mapping[str, Any]) -> Table:
    """Return a report, as a response has it, as a table."""
    columns = {one["@colID"]: column for one, column in _columns(report.get("ColDesc", ()))}
    found = [
        (row["@rowNumber"], _row(kind, row, columns))
        for kind, rows in report.get("ReportData", {}).items()
        for row in rows
    ]
    return Table(
        title=report.get("ReportTitle", ""),
        subtitle=report.get("ReportSubtitle", ""),
        basis=report.get("ReportBasis"),
        columns=tuple(columns.values()),
        rows=tuple(row for _, row in sorted(found, key=lambda numbered: numbered[0])),
    )


def _columns(described: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Column]]:
    """Yield the columns, each with its description. A title of several rows is one text."""
    names: set[str] = set()
    for one in described:
        title = " ".join(line["@value"] for line in one.get("ColTitle", ()) if line.get("@value"))
        name = base = title or one.get("ColType", "")
        number = 2
        while name in names:
            name = f"{base} ({number})"
            number += 1
        names.add(name)
        yield one, Column(name, title, one.get("ColType", ""), one.get("@dataType", ""))


def _row(kind: str, row: Mapping[str, Any], columns: Mapping[str, Column]) -> Row:
    about = row.get("RowData", {})
    given = {cell["@colID"]: cell for cell in row.get("ColData", ())}
    cells = {column.name: _cell(column, given[key]) if key in given else None for key, column in columns.items()}
    if "@value" in row and columns:
        cells[next(iter(columns.values())).name] = row["@value"]
    return Row(_ROWS[kind], cells, about.get("@rowType"), about.get("@value"))


def _cell(column: Column, cell: Mapping[str, Any]) -> Any:
    kind = _TYPES.get(cell.get("@dataType", column.data_type))
    text = cell.get("@value")
    return text if text is None or kind is None else read_text(kind, text)
