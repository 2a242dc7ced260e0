"""Rewrites a genuine pair: structure, formats and statuses stay, the data of the company does not.

The same text gets the same replacement in the request and in the response, so references still fit: `Text 7`, or
`Text 7:Text 8` for a full name. Other digits than 0 are replaced by chance, and dates and times by one date. Signs,
enumerations, booleans, statuses and the words of QuickBooks in reports stay. Quoted parts of status messages are
replaced. Records that have the structure of the record before them are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, indent, tostring

from simulator.corpus.facts import LABELS, facts_of
from simulator.schema import Aggregate, schema

if TYPE_CHECKING:
    from random import Random

    from simulator.schema import Element as Model

_KEPT = {"BOOLTYPE", "ENUMTYPE"}
_ID = re.compile(r"[0-9A-F]+-\d+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?=T|$)")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_NUMBER = re.compile(r"-?[\d.]+")
_QUOTED = re.compile(r'"[^"]*"')
_DIGIT = re.compile(r"[1-9]")


class Anonymiser:
    """Replaces the values of one pair. It remembers what it replaced. `chance` chooses digits."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._replaced: dict[str, str] = {}
        self._texts = 0
        self._ids = 0

    def pair(self, request: Element, response: Element, attributes: dict[str, str]) -> str:
        """Return the file of a pair. `request` and `response` are QBXMLMsgsRq and QBXMLMsgsRs."""
        root = Element("Pair", attributes)
        for name, message_set, models in (
            ("Request", request, schema().requests),
            ("Response", response, schema().responses),
        ):
            holder = Element(name)
            for child in message_set:
                self._rewrite(child, models.get(child.tag))
                if name == "Response":
                    _leave_out_repeated(child)
                holder.append(child)
            root.append(holder)
        indent(root)
        return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'

    def _rewrite(self, element: Element, model: Model | None) -> None:
        self._rewrite_attributes(element)
        kind = model.type if model is not None else None
        for child in element:
            self._rewrite(child, kind.elements.get(child.tag) if isinstance(kind, Aggregate) else None)
        text = (element.text or "").strip()
        has_value = not len(element) and text and getattr(kind, "base", "") not in _KEPT
        element.text = self._value(text) if has_value else None if len(element) else text
        element.tail = None

    def _rewrite_attributes(self, element: Element) -> None:
        for name, text in element.attrib.items():
            if name == "statusMessage":
                element.set(name, _QUOTED.sub(lambda quoted: f'"{self._value(quoted[0][1:-1])}"', text))
            elif name in {"requestID", "iteratorID"} and text:
                element.set(name, self._value(text) if name == "requestID" else self._digits(text))
            elif name == "value" and element.tag != "ColTitle" and text.removeprefix("Total ") not in LABELS:
                start = "Total " if text.startswith("Total ") else ""
                element.set(name, start + self._value(text.removeprefix("Total ")))

    def _value(self, text: str) -> str:
        if text not in self._replaced:
            self._replaced[text] = self._new_value(text)
        return self._replaced[text]

    def _new_value(self, text: str) -> str:
        if text in {"", "true", "false"}:
            return text
        if _DAY.match(text):
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


def _leave_out_repeated(response: Element) -> None:
    """Leave out each record with the structure of the record before it."""
    if response.tag in {"ListDelRs", "TxnDelRs"} or response.find("ReportRet") is not None:
        return
    before = None
    for record in list(response):
        alone = Element(response.tag, response.attrib)
        alone.append(record)
        structure = facts_of(alone).records
        if structure == before:
            response.remove(record)
        before = structure
