"""Rewrites genuine requests and responses: structure, forms and statuses stay, the data of the company does not.

What stays is a closed list: the names of elements and attributes, booleans, enumerations of one word, zeros, signs, the
statuses, and the words of QuickBooks in `words`. Everything else is replaced. The same text gets the same replacement
in all documents, so references still fit: `Text 7`, or `Text 7:Text 8` for a full name. Other digits than 0 are
replaced by chance, and each date and time by one date. Records that have the structure of the record before them are
left out.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from qbxml_queue.check.words import LABELS, MESSAGE, TITLES
from qbxml_queue.schema.returned import SINCE, TYPES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from random import Random

_KEPT_ATTRIBUTES = frozenset(
    {
        *("statusCode", "statusSeverity", "iterator", "metaData", "rowNumber", "colID", "dataType", "titleRow"),
        *("rowType", "messageSetStatusCode", "onError"),
    }
)
_COUNTS = frozenset({"retCount", "iteratorRemainingCount"})
_WORD = re.compile(r"[A-Za-z0-9]{0,40}").fullmatch
_ID = re.compile(r"[0-9A-F]+-\d+", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?=T|$)", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)
_NUMBER = re.compile(r"-?[\d.]+%?|-?PT(\d+H)?(\d+M)?(\d+S)?", re.ASCII)
_DIGIT = re.compile(r"[1-9]")
_QUOTED = re.compile(r'"[^"]*"')
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+")
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TITLE_DATE = re.compile(rf"{_MONTH} (\d\d?, )?\d\d", re.ASCII)
_LISTS = frozenset({"ListDelRs", "TxnDelRs", "ReportRet"})


class Anonymiser:
    """Replaces values, and remembers what it replaced. `chance` chooses digits.

    `own` are values of requests that are not of the company, such as `2000-01-01` in a filter: they stay in requests.
    """

    def __init__(self, chance: Random, own: Collection[str] = ()) -> None:
        self._chance = chance
        self._own = frozenset(own)
        self._replaced: dict[str, str] = {}
        self._texts = 0
        self._ids = 0

    def rewrite(self, element: Element, *, is_request: bool) -> None:
        """Replace the values in a request or response."""
        own = self._own if is_request else frozenset()
        for part in element.iter():
            for name, text in part.attrib.items():
                part.set(name, text if text in own else self._attribute(part, name, text))
            text = (part.text or "").strip()
            part.text = None if len(part) or not text else text if text in own else self._content(part.tag, text)
            part.tail = None
        if not is_request and element.tag not in _LISTS:
            _leave_out_repeated(element)

    def _content(self, tag: str, text: str) -> str:
        kind = TYPES.get(tag)
        if (kind == "BOOLTYPE" and text in {"true", "false"}) or (kind == "ENUMTYPE" and _WORD(text)):
            return text
        if tag in {"ReportTitle", "ReportSubtitle", "ColType"}:
            return self._title(text)
        return self._value(text)

    def _attribute(self, element: Element, name: str, text: str) -> str:
        if name in _KEPT_ATTRIBUTES and _WORD(text):
            return text
        if name == "statusMessage":
            return self._message(text)
        if name in _COUNTS and _WORD(text):
            return self._value(text) if not text.isdecimal() else self._digits(text)
        is_label = name == "value" and element.tag != "RowData"
        return self._title(text) if is_label else self._value(text)

    def _title(self, text: str) -> str:
        """Return a title or label. One of QuickBooks' own stays, and a date of a column becomes another one."""
        if text in TITLES or text.removeprefix("Total ") in LABELS or text == "TOTAL":
            return text
        if date := _TITLE_DATE.fullmatch(text):
            return "Jan 15, 26" if date[1] else "Jan 26"
        start = "Total " if text.startswith("Total ") else ""
        return start + self._value(text.removeprefix("Total "))

    def _message(self, text: str) -> str:
        """Return the message of a status. Words that are not QuickBooks' are replaced, and so are values in quotes."""
        parts = []
        place = 0
        for quoted in _QUOTED.finditer(text):
            parts += [self._words(text[place : quoted.start()]), f'"{self._value(quoted[0][1:-1])}"']
            place = quoted.end()
        return "".join([*parts, self._words(text[place:])])

    def _words(self, text: str) -> str:
        def word(match: re.Match[str]) -> str:
            found = match[0]
            is_known = found.lower().partition("'")[0] in MESSAGE or found in SINCE
            return found if is_known else self._value(found)

        return _WORDS.sub(word, text)

    def _value(self, text: str) -> str:
        if text not in self._replaced:
            self._replaced[text] = self._new_value(text)
        return self._replaced[text]

    def _new_value(self, text: str) -> str:
        if not text or text in {"true", "false"}:
            return text
        if _DAY.match(text) and len(text) <= len("2026-01-15T12:00:00-05:00"):
            is_time = _TIME.match(text)
            offset = "-05:00" if is_time and len(text) > len("2026-01-15T12:00:00") else ""
            return f"2026-01-15T12:00:00{offset}" if is_time else "2026-01-15"
        if _ID.fullmatch(text):
            self._ids += 1
            return f"{self._ids:X}-1700000000"
        if _NUMBER.fullmatch(text):
            return self._digits(text)
        if ":" in text:
            return ":".join(self._value(part) for part in text.split(":"))
        self._texts += 1
        return f"Text {self._texts}"

    def _digits(self, text: str) -> str:
        return _DIGIT.sub(lambda _: str(self._chance.randint(1, 9)), text)


def pair_of(
    anonymiser: Anonymiser, requests: Iterable[Element], responses: Iterable[Element], attributes: dict[str, str]
) -> str:
    """Return the file of a pair of the simulator's corpus. The requests and responses are rewritten."""
    root = Element("Pair", attributes)
    for name, elements in (("Request", requests), ("Response", responses)):
        holder = SubElement(root, name)
        for element in elements:
            anonymiser.rewrite(element, is_request=name == "Request")
            holder.append(element)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _leave_out_repeated(response: Element) -> None:
    """Leave out each record with the structure of the record before it."""
    before: object = None
    for record in list(response):
        structure = _structure(record)
        if structure == before and record.tag not in _LISTS:
            response.remove(record)
        before = structure


def _structure(element: Element) -> tuple[str, object]:
    """Return the names and enumerations in an element in their order. Neighbours of one structure count once."""
    if TYPES.get(element.tag) == "ENUMTYPE":
        return element.tag, element.text
    return element.tag, tuple(structure for structure, _ in groupby(map(_structure, element)))
