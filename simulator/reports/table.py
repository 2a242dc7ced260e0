"""Tables of reports: columns, rows of four kinds, and their form in a response (ReportRet)."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books import Fields

Cell: TypeAlias = Decimal | str | None

_ROWS = "DataRow|TextRow|SubtotalRow|TotalRow"
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
    """A report. Cells are numbers, text, or None for an empty one. The first column is the label of the row."""

    title: str
    subtitle: str
    columns: list[Column]
    basis: str = "Accrual"
    rows: list[list[object]] = field(default_factory=list)

    def text(self, label: str) -> None:
        """Add a row with a heading."""
        self.rows.append(["TextRow", {"@rowNumber": str(len(self.rows) + 1), "@value": label}])

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
        row: Fields = {"@rowNumber": str(len(self.rows) + 1)}
        if row_type:
            row["RowData"] = {"@rowType": row_type, "@value": value}
        row["ColData"] = [
            {"@colID": str(number), "@value": text}
            for number, (cell, column) in enumerate(zip(cells, self.columns, strict=True), 1)
            if (text := _text(cell, column))
        ]
        self.rows.append([name, row])

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
            "ReportData": {_ROWS: self.rows},
        }


def _text(cell: Cell, column: Column) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return money(cell) if column.data_type == "AMTTYPE" else number_text(cell, _DECIMALS.get(column.data_type, 0))
