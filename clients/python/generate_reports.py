"""Makes the types and the table of the reports: `books.reports.profit_and_loss(…)`, for each report of QuickBooks.

`generate.py` writes what this module returns. The reports are the types that the requests for reports have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generate_resources import particles, snake_case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Report:
    """A report: its name in QBXML, such as `ProfitAndLossStandard`, and the request that it is a type of."""

    name: str
    request: str

    @property
    def method(self) -> str:
        """Return the name of its method: `profit_and_loss`. What is standard needs no word, and POs are one word."""
        digits = self.name[: len(self.name) - len(self.name.lstrip("0123456789"))]
        words = self.name.removeprefix(digits).removesuffix("Standard").replace("POs", "Pos")
        return snake_case(words) + (f"_{digits}" if digits else "")


def reports(requests: Mapping[str, Any]) -> list[Report]:
    """Return all reports."""
    found = [
        Report(name, request.removesuffix("QueryRq"))
        for request, facts in requests.items()
        if request.endswith("ReportQueryRq")
        for name in facts["types"][next(particles(facts["content"]))[2]]
        if name
    ]
    return sorted(found, key=lambda report: report.method)


def table_module(found: Sequence[Report]) -> str:
    """Return the module with what the client knows of each report at run time."""
    lines = [
        '"""The reports of QuickBooks."""',
        "",
        "REPORTS: dict[str, tuple[str, str]] = {",
        *(f'    "{one.method}": ("{one.request}", "{one.name}"),' for one in found),
        "}",
        '"""The request of each report, and its name in it."""',
        "",
    ]
    return "\n".join(lines)


def types_module(found: Sequence[Report]) -> str:
    """Return the module with the types of the reports, for the synchronous and the asyncio client."""
    lines = [
        '"""The types of the reports. Only type checkers and editors read them."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Protocol, Unpack",
        "",
        "from qbxml_queue.options import ReadOptions",
        "from qbxml_queue.reports import Table",
        "from qbxml_queue.schema import requests as q",
    ]
    for request in dict.fromkeys(one.request for one in found):
        lines += ["", f"class {request}Options(q.{request}Filters, ReadOptions, total=False):"]
        lines.append(f'    """The filters of {request}Query, and how it is queued."""')
    for title, definition in (("Reports", "def"), ("ReportsAsync", "async def")):
        lines += ["", f"class {title}(Protocol):", '    """The reports of QuickBooks."""']
        for one in found:
            lines.append(f"    {definition} {one.method}(self, **filters: Unpack[{one.request}Options]) -> Table:")
            lines.append(f'        """Return the report {one.name} as a table."""')
    return "\n".join(lines) + "\n"
