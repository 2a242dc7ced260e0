"""What came of a step: the records of its requests, or the refusal of the call."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from qbxml_queue.check.documents import elements_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

KEPT = ("id", "state", "error", "request_xml", "response_xml", "inserted_at", "sent_at", "responded_at", "page")


@dataclass
class Outcome:
    """What came of a step.

    `skipped` says why it was not asked. `refused` has the HTTP status and the code if the service did not queue it.
    `records` are its requests, one for each page, and `sets` the times at which one of them was seen to be sent.
    """

    skipped: str = ""
    refused: tuple[int, str] | None = None
    records: list[dict[str, Any]] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, records: list[dict[str, Any]], sets: list[str]) -> Outcome:
        """Return the outcome of requests that have ended, with the fields that are used."""
        return cls(records=[{name: record.get(name) for name in KEPT} for record in records], sets=sets)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Outcome:
        """Return an outcome that `to_json` has written."""
        refused = value.get("refused")
        return cls(**{**value, "refused": tuple(refused) if refused else None})

    @cached_property
    def responses(self) -> list[Element]:
        """The response elements of all records. A response that is not XML is left out."""
        found: list[Element] = []
        for record in self.records:
            try:
                found += elements_of(record["response_xml"])
            except ValueError:
                continue
        return found

    @property
    def objects(self) -> Iterator[Element]:
        """The objects in all responses."""
        return (element for response in self.responses for element in response)

    @property
    def status(self) -> int | None:
        """The status of the last response, or None without one."""
        return whole(self.responses[-1].get("statusCode", "0")) if self.responses else None

    @property
    def error(self) -> str:
        """The code of the error with which the last record ended, or ''."""
        return ((self.records[-1]["error"] or {}).get("code", "") if self.records else "") or ""

    @property
    def times(self) -> list[float]:
        """How many seconds QuickBooks took for each record, from its last sending to its response."""
        return [
            (moment(record["responded_at"]) - moment(record["sent_at"])).total_seconds()
            for record in self.records
            if record["sent_at"] and record["responded_at"]
        ]

    @property
    def seconds(self) -> float | None:
        """How many seconds QuickBooks took for the slowest record."""
        return max(self.times, default=None)

    def first(self, path: str) -> str | None:
        """Return the first value at a path below the responses, such as `CustomerRet/ListID` or `@retCount`."""
        return next(iter(self.values(path)), None)

    def values(self, path: str) -> list[str]:
        """Return the values at a path in all responses."""
        if path.startswith("@"):
            return [response.attrib[path[1:]] for response in self.responses if path[1:] in response.attrib]
        return [element.text or "" for response in self.responses for element in response.findall(path)]


def whole(text: str) -> int:
    """Return a number, or -1 for a text that QuickBooks should not have sent in its place."""
    return int(text) if text.isascii() and text.isdecimal() else -1


def moment(text: str) -> datetime:
    """Return a time of the API or of QuickBooks. Raises ValueError."""
    return datetime.fromisoformat(text)
