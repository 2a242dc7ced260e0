"""Tables of reports: columns, rows of four kinds, and their form in a response (ReportRet)."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from simulator.requests.responses import Markup, quoted
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books import Fields

Cell: TypeAlias = Decimal | str | None

_DECIMALS = {"QUANTYPE": 0, "PERCENTTYPE": 2, "PRICETYPE": 2}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title, its ColType (`Amount`) and the type of its values (`AMTTYPE`)."""

    title: str
    kind: str
    data_type: str = "STRTYPE"


LABEL = Column("", "Label")
AMOUNT = Column("Amount", "Amount", "AMTTYPE")


def amount_column(title: str, kind: str = "Amount") -> Column:
    """Return a column of amounts."""
    return Column(title, kind, "AMTTYPE")


def quantity_column(title: str, kind: str = "Quantity") -> Column:
    """Return a column of quantities."""
    return Column(title, kind, "QUANTYPE")


@dataclass(slots=True)
class Table:
    """A report. Cells are numbers, text, or None for an empty one. The first column is the label of the row.

    Rows are written as XML at once: a general ledger has so many that a form between costs more than the report.
    """

    title: str
    subtitle: str
    columns: list[Column]
    basis: str = "Accrual"
    rows: list[str] = field(default_factory=list)
    """The XML of each row."""
    _cell_starts: list[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Prepare the XML that each cell of a column begins with."""
        self._cell_starts = [f'\n<ColData colID="{number}" value="' for number in range(1, len(self.columns) + 1)]

    def text(self, label: str) -> None:
        """Add a row with a heading."""
        self.rows.append(f'<TextRow rowNumber="{len(self.rows) + 1}" value="{quoted(label)}" />')

    def data(self, cells: list[Cell], row_type: str = "", value: str = "") -> None:
        """Add a row of data. `row_type` and `value` name its object: `account` and the full name."""
        self._add("DataRow", cells, row_type, value)

    def subtotal(self, cells: list[Cell], row_type: str = "", value: str = "") -> None:
        """Add a row with the sum of a section."""
        self._add("SubtotalRow", cells, row_type, value)

    def total(self, cells: list[Cell]) -> None:
        """Add the row with the sum of all."""
        self._add("TotalRow", cells, "", "")

    def _add(self, name: str, cells: list[Cell], row_type: str, value: str) -> None:
        named = f'\n<RowData rowType="{row_type}" value="{quoted(value)}" />' if row_type else ""
        content = named + "".join([
            f'{start}{quoted(text)}" />'
            for cell, column, start in zip(cells, self.columns, self._cell_starts, strict=True)
            if cell is not None and (text := _text(cell, column))
        ])  # fmt: skip
        start = f'<{name} rowNumber="{len(self.rows) + 1}"'
        self.rows.append(f"{start}>{content}\n</{name}>" if content else f"{start} />")

    def fields(self) -> Fields:
        """Return the content of ReportRet."""
        return {
            "ReportTitle": self.title,
            "ReportSubtitle": self.subtitle,
            "ReportBasis": self.basis,
            "NumRows": str(len(self.rows)),
            "NumColumns": str(len(self.columns)),
            "NumColTitleRows": "1",
            "ColDesc": [
                {
                    "@colID": str(number),
                    "@dataType": column.data_type,
                    "ColTitle": [{"@titleRow": "1", **({"@value": column.title} if column.title else {})}],
                    "ColType": column.kind,
                }
                for number, column in enumerate(self.columns, 1)
            ],
            "ReportData": Markup(self.rows),
        }


def _text(cell: Decimal | str, column: Column) -> str:
    if isinstance(cell, str):
        return cell
    return money(cell) if column.data_type == "AMTTYPE" else number_text(cell, _DECIMALS.get(column.data_type, 0))
