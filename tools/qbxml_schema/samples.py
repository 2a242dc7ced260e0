"""Compare recorded responses of QuickBooks with those of the simulator.

    python -m tools.qbxml_schema.samples --samples FOLDER [FOLDER …] [-v]

A recorded response is reproduced when the simulator answers one of the requests in `simulator.tests.samples` with
the same status and the same fields in the same order. Ids, times, values and the number of records can differ. Prints
each file that is not reproduced with the reason, then the counts. Returns 1 if a response that QuickBooks can have
written is not reproduced.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import defusedxml.ElementTree

from simulator.basics.errors import HresultError
from simulator.schema import schema
from simulator.schema.checking import check_element
from simulator.tests.sample_runs import records, run
from simulator.tests.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

Key: TypeAlias = tuple[str, str, frozenset[str]]
"""The name of a response, its status ("0 Info"), and the names of its other attributes."""

_ERROR = 1000
_STATUS = {"requestID", "statusCode", "statusSeverity", "statusMessage"}
_ID = re.compile(r"[0-9A-F]+-\d+")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d")
_NEWEST = (99, 0)
MAX_BLOCK_LINES = 5


@dataclass(slots=True)
class Responses:
    """The shapes of records by response and status, and the attributes of message sets."""

    shapes: defaultdict[Key, set[str]] = field(default_factory=lambda: defaultdict(set))
    message_sets: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, message_set: Element) -> None:
        """Record all responses of a message set."""
        self.message_sets.add(_attributes(message_set))
        for response in message_set:
            self.shapes[_key(response)].update(records(response))


def main(command_line: Sequence[str] | None = None) -> int:
    """Return 0 if all responses are reproduced that QuickBooks can have written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=Path, nargs="+", required=True, help="folders with recorded responses")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the reproduced files too")
    arguments = parser.parse_args(command_line)

    company = Responses()
    for sample in SAMPLES.values():
        company.add(run(sample))
    counts = {"reproduced": 0, "impossible": 0, "missing": 0}
    for path in sorted(path for folder in arguments.samples for path in folder.glob("*.xml")):
        verdict, reason = _judge(path.read_bytes(), company)
        counts[verdict] += 1
        if verdict != "reproduced" or arguments.verbose:
            _say(f"{path.name}: {verdict}{f': {reason}' if reason else ''}")
    _say(
        f"{sum(counts.values())} responses: {counts['reproduced']} reproduced, {counts['impossible']} that QuickBooks"
        f" cannot have written, {counts['missing']} not reproduced"
    )
    return int(counts["missing"] > 0)


def _judge(text: bytes, company: Responses) -> tuple[str, str]:
    try:
        root = defusedxml.ElementTree.fromstring(text)
    except defusedxml.ElementTree.ParseError as error:
        return "impossible", f"not well-formed XML ({error})"
    message_set = root[0]
    if not len(message_set):
        is_known = _attributes(message_set) in company.message_sets
        return ("reproduced", "") if is_known else ("missing", "the message set has other attributes")
    differences = [difference for response in message_set for difference in _differences(response, company)]
    if not differences:
        return "reproduced", ""
    contradictions = [reason for response in message_set for reason in _contradictions(response)]
    if contradictions:
        return "impossible", "; ".join(contradictions)
    return "missing", "; ".join(differences)


def _differences(response: Element, company: Responses) -> Iterator[str]:
    name, status, attributes = _key(response)
    keys = [
        key
        for key in company.shapes
        # Some recorded responses lost their severity.
        if key[0] == name and key[2] == attributes and (key[1] == status or key[1].split()[0] == status)
    ]
    if not keys:
        yield f"no {name} with status {status}" + (f" and {', '.join(sorted(attributes))}" if attributes else "")
        return
    shapes = set().union(*(company.shapes[key] for key in keys))
    yield from (f"no {shape}" for shape in dict.fromkeys(records(response)) if shape not in shapes)


def _contradictions(response: Element) -> Iterator[str]:
    """Yield what QuickBooks cannot have written: unknown elements, malformed ids and times, wrong severities."""
    model = schema().responses.get(response.tag)
    if model is None:
        yield f"qbXML has no {response.tag}"
        return
    if int(response.get("statusCode", "0")) >= _ERROR and response.get("statusSeverity") != "Error":
        severity = response.get("statusSeverity")
        yield f"status {response.get('statusCode')} {f'of severity {severity}' if severity else 'without severity'}"
    for record in response:
        if record.tag not in model.content:
            yield f"{response.tag} has no {record.tag}"
            continue
        try:
            check_element(record, model.content[record.tag], _NEWEST)
        except HresultError as error:
            yield error.detail
        yield from _short_blocks(record)
        for node in record.iter():
            if node.tag in {"ListID", "TxnID", "TxnLineID"} and not _ID.fullmatch(node.text or ""):
                yield f"{node.tag} {node.text} is not an id"
            if node.tag.startswith("Time") and "T" in (node.text or "") and not _TIME.fullmatch(node.text or ""):
                yield f"{node.tag} {node.text} has no time zone"


def _short_blocks(record: Element) -> Iterator[str]:
    """Yield the printed addresses that lack lines of their address. A printed address has at most five lines."""
    for block in record:
        address = record.find(block.tag.removesuffix("Block"))
        if block.tag.endswith("AddressBlock") and address is not None:
            lines = sum(line.tag.startswith("Addr") for line in address) + (address.find("City") is not None)
            if len(block) < min(lines, MAX_BLOCK_LINES):
                yield f"{block.tag} has {len(block)} lines, {address.tag} {lines}"


def _key(response: Element) -> Key:
    status = f"{response.get('statusCode')} {response.get('statusSeverity', '')}".strip()
    return response.tag, status, frozenset(response.attrib) - _STATUS


def _attributes(message_set: Element) -> tuple[str, ...]:
    return tuple(f"{name} {value}" for name, value in sorted(message_set.attrib.items()))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
