"""Reads and runs the expectations in `expected/*.txt`: what an accountant or a document says that QuickBooks answers.

A scenario is a title, its sources, steps and facts. It starts with the company of `bookkeeping.Bookkeeper`.

    == A payment of a part leaves the rest open
    source: accounting
    add Invoice sale CustomerRef=Ada InvoiceLineAdd(ItemRef=Work Rate=100)
    add ReceivePayment part CustomerRef=Ada TotalAmount=40.00 AppliedToTxnAdd(TxnID=$sale PaymentAmount=40.00)
    > sale BalanceRemaining=60.00 IsPaid=false
    > Customer[Ada] Balance=60.00

The steps are `add KIND LABEL FIELDS`, `mod KIND LABEL FIELDS`, `ask REQUEST LABEL FIELDS`, `find KIND LABEL FULL-NAME`,
`delete LABEL` and `void LABEL`. A field is NAME=VALUE or NAME(FIELDS), `@NAME=VALUE` is an attribute, `$LABEL` is the
id of a record and `$LABEL.PATH` a value of it. A Mod has the present EditSequence unless it names another one.

Each NAME=VALUE in a line that begins with `>` is one fact about a label, or about a list object by its full name. The
record is queried then. A path names elements, `NAME#2` the second of them. `|` separates several values, `-` is none.
`status`, `severity` and `message` are those of the label's last response, `@NAME` another attribute of it, `count` the
number of its records, and `@ret` their element. In a report, `[LABEL]` is a row, `column[TITLE]` a column, and
`columns` the titles of the columns.

A line that begins with `? RULE` has facts that the simulator does not agree with. Strict mode names that rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simulator.schema import schema
from simulator.schema.model import Aggregate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from simulator.tests.bookkeeping import Bookkeeper

FOLDER = Path(__file__).parent / "expected"
_INCLUDES = ("IncludeLineItems", "IncludeLinkedTxns", "IncludeComponentLineItems")
_FIELD = re.compile(r'\s*(@?\w+)(?:=("[^"]*"|[^\s()]*)|(\())')
_FACT = re.compile(r'((?:[\w.#@]|\[[^]]*])+)=("[^"]*"|\S*)')
_TARGET = re.compile(r"(\w+(?:\[[^]]*])?) +(.*)")
_RESPONSE = {"status": "statusCode", "severity": "statusSeverity", "message": "statusMessage"}


class Fact(NamedTuple):
    """An expected value. `rule` is "" where the simulator agrees, else the rule that strict mode names."""

    target: str
    path: str
    value: str
    rule: str

    def __str__(self) -> str:
        return f"{self.target} {self.path}"


@dataclass
class Scenario:
    """A title, its sources, and its lines in order: steps as text, and facts."""

    room: str
    title: str
    source: str = ""
    lines: list[str | list[Fact]] = field(default_factory=list)

    @property
    def facts(self) -> list[Fact]:
        """The facts of all lines."""
        return [fact for line in self.lines if isinstance(line, list) for fact in line]


def scenarios() -> Iterator[Scenario]:
    """Read all scenarios."""
    for path in sorted(FOLDER.glob("*.txt")):
        for text in re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, *lines = text.splitlines()
            scenario = Scenario(path.stem, title)
            for line in filter(None, lines):
                if line.startswith("source: "):
                    scenario.source = line.removeprefix("source: ")
                elif not line.startswith("#"):
                    scenario.lines.append(_facts(line) if line[0] in ">?" else line)
            yield scenario


def _facts(line: str) -> list[Fact]:
    rule, rest = ("", line[1:].strip()) if line[0] == ">" else line[1:].split(maxsplit=1)
    match = _TARGET.fullmatch(rest)
    assert match, line
    target, facts = match.groups()
    assert not _FACT.sub("", facts).strip(), line
    return [Fact(target, path, value.strip('"'), rule) for path, value in _FACT.findall(facts)]


class Run:
    """Plays the steps of one scenario, and finds the value of a fact."""

    def __init__(self, keeper: Bookkeeper) -> None:
        self.keeper = keeper
        self.responses: dict[str, Element] = {}
        self.records: dict[str, Element] = {}

    def step(self, line: str) -> None:
        """Send the request of a step."""
        verb, *words = line.split(maxsplit=3)
        getattr(self, f"_{verb}")(*words)

    def _add(self, kind: str, label: str, text: str = "") -> None:
        self._send(label, f"{kind}AddRq", {f"{kind}Add": self._fields(text)})
        if len(self.responses[label]):
            self.records[label] = self.responses[label][0]

    def _mod(self, kind: str, label: str, text: str) -> None:
        edit_sequence = self._live(label).findtext("EditSequence")
        content = {self._id_name(label): self._id(label), "EditSequence": edit_sequence, **self._fields(text)}
        self._send(label, f"{kind}ModRq", {f"{kind}Mod": content})

    def _ask(self, request: str, label: str, text: str = "") -> None:
        fields = self._fields(text)
        attributes = {name[1:]: fields.pop(name) for name in list(fields) if name.startswith("@")}
        self._send(label, f"{request}Rq", fields, **attributes)

    def _find(self, kind: str, label: str, name: str) -> None:
        self.records[label] = self.keeper.get(name, kind)

    def _delete(self, label: str) -> None:
        action = "TxnDel" if self._id_name(label) == "TxnID" else "ListDel"
        self._act(label, action)

    def _void(self, label: str) -> None:
        self._act(label, "TxnVoid")

    def _act(self, label: str, action: str) -> None:
        kind = self.records[label].tag.removesuffix("Ret")
        self._send(label, f"{action}Rq", {f"{action}Type": kind, self._id_name(label): self._id(label)})

    def _send(self, label: str, request: str, content: dict[str, Any], **attributes: str) -> None:
        content = _in_order(schema().requests[request].content, content)
        self.responses[label] = self.keeper.ask(request, content, **attributes)

    def _fields(self, text: str) -> dict[str, Any]:
        fields, end = self._parse(text, 0)
        assert end == len(text), text[end:]
        return fields

    def _parse(self, text: str, position: int) -> tuple[dict[str, Any], int]:
        """Return the fields from a position to the closing parenthesis or the end, and where they end."""
        fields: dict[str, Any] = {}
        while match := _FIELD.match(text, position):
            name, value, nested = match.groups()
            position = match.end()
            if nested:
                value, position = self._parse(text, position)
                position += 1
            else:
                value = self._value(value.strip('"'))
            if name in fields:
                fields[name] = [*(fields[name] if isinstance(fields[name], list) else [fields[name]]), value]
            else:
                fields[name] = value
        return fields, position

    def _value(self, text: str) -> str:
        if not text.startswith("$"):
            return text
        label, _, path = re.sub(r"^\$(\w+)\.?", r"\1 ", text).partition(" ")
        if path.startswith("@"):
            return self.responses[label].get(path[1:], "")
        return self._text([self._live(label)], path) if path else self._id(label)

    def _id_name(self, label: str) -> str:
        return "TxnID" if self.records[label].find("TxnID") is not None else "ListID"

    def _id(self, label: str) -> str:
        return self.records[label].findtext(self._id_name(label), "")

    def _live(self, label: str) -> Element:
        """Return a record with lines and links, as a query returns it now."""
        request = f"{self.records[label].tag.removesuffix('Ret')}QueryRq"
        includes = {name: True for name in _INCLUDES if name in schema().requests[request].content}
        response = self.keeper.ask(request, {self._id_name(label): self._id(label), **includes})
        return response[0] if len(response) else response

    def value(self, target: str, path: str) -> str:
        """Return the value of a fact as text."""
        name, _, full_name = target.partition("[")
        response = self.responses.get(name)
        if response is not None and (path in _RESPONSE or (path.startswith("@") and path != "@ret")):
            return response.get(_RESPONSE.get(path, path[1:]), "-")
        if full_name:
            records = list(self.keeper.ask(f"{name}QueryRq", {"FullName": full_name[:-1]}))
        elif name in self.records:
            records = [self._live(name)]
        else:
            assert response is not None, target
            records = list(response)
        if path == "count":
            return str(len(records))
        if path == "@ret":
            return "|".join(record.tag for record in records)
        if not records:
            return "-" if response is None or response.get("statusCode") == "0" else response.get("statusMessage", "")
        return _cells(records[0], path) if "[" in path or path == "columns" else self._text(records, path)

    def _text(self, elements: list[Element], path: str) -> str:
        for part in path.split("."):
            name, _, number = part.partition("#")
            elements = [child for element in elements for child in element.iterfind(name)]
            if number:
                elements = elements[int(number) - 1 : int(number)]
        return "|".join(element.text or "" for element in elements) or "-"


def _in_order(content: Aggregate, fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields in the order of the schema."""
    order = list(content.elements)

    def member(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [member(name, one) for one in value]
        kind = content[name].type if name in content else None
        return _in_order(kind, value) if isinstance(kind, Aggregate) and isinstance(value, dict) else value

    names = sorted(fields, key=lambda name: order.index(name) if name in order else -1)
    return {name: member(name, fields[name]) for name in names}


def _cells(report: Element, path: str) -> str:
    """Return a row, a column or the column titles of a report."""
    titles = {
        column.get("colID", ""): " ".join(title.get("value", "") for title in column.iter("ColTitle")).strip()
        for column in report.iter("ColDesc")
    }
    if path == "columns":
        return "|".join(list(titles.values())[1:])
    kind, _, label = path[:-1].partition("[")
    cells = [
        {cell.get("colID", ""): cell.get("value", "") for cell in row.iter("ColData")}
        for row in report.iterfind("ReportData/*")
        if not kind or row.tag == "DataRow"
    ]
    if kind:
        values = [row[column] for row in cells for column in row if titles[column] == label]
    else:
        values = [value for row in cells if row.get("1") == label for column, value in row.items() if column != "1"]
    return "|".join(values) or "-"
