"""The shape of responses, compared with Intuit's schema: elements, their order, and the form of values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from qbxml_queue.check.findings import Finding
from qbxml_queue.schema.returned import IDENTITY, RETURNED, TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from qbxml_queue.check.plan import Step

ATTRIBUTES = frozenset(
    "requestID statusCode statusSeverity statusMessage retCount iteratorRemainingCount iteratorID".split()  # noqa: SIM905 - read as words
)
"""The attributes of a response."""

_NUMBER = r"-?\d*\.?\d+"
FORMS: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(pattern, re.ASCII)
    for kind, pattern in {
        "AMTTYPE": r"-?\d+(\.\d\d)?",
        "PRICETYPE": _NUMBER,
        "QUANTYPE": _NUMBER,
        "FLOATTYPE": _NUMBER,
        "PERCENTTYPE": rf"{_NUMBER}%?",
        "INTTYPE": r"-?\d+",
        "BOOLTYPE": r"true|false",
        "DATETYPE": r"\d{4}-\d\d-\d\d",
        "DATETIMETYPE": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d",
        "TIMEINTERVALTYPE": r"-?PT(\d+H)?(\d+M)?(\d+S)?",
    }.items()
}
"""The form of the values of each type (QBXML rules, "Data types")."""

_INTERLEAVED = re.compile(r"\w*Line(Group)?Ret|DataRow|TextRow|SubtotalRow|TotalRow").fullmatch
"""Elements whose order is that of the form or of the report (QBXML rules, "Responses")."""


def differences(step: Step, responses: Sequence[Element]) -> Iterator[Finding]:
    """Yield how the responses of a step differ from the schema, each difference once."""
    for response in responses:
        for attribute in sorted(set(response.attrib) - ATTRIBUTES):
            yield Finding.handled("schema", f"{response.tag} has the attribute {attribute}, which the schema lacks.")
        tree = RETURNED.get(response.tag)
        if tree is None:
            continue
        for element in response:
            if element.tag in tree:
                yield from _element(element, tree[element.tag], element.tag, "IncludeRetElement" in step.request)
            else:
                yield Finding.handled("schema", f"{response.tag} has {element.tag}, which the schema lacks.")


def _element(element: Element, tree: Mapping[str, Any], path: str, is_partial: bool) -> Iterator[Finding]:
    if not len(element):
        yield from _value(element, path)
        return
    known = [child for child in element if child.tag in tree]
    for child in element:
        if child.tag not in tree:
            yield Finding.handled("schema", f"{path} has {child.tag}, which the schema lacks.")
    if element.tag.endswith("Ret") and not is_partial:
        present = {child.tag for child in known}
        for name in tree:
            if name in IDENTITY and name not in present:
                yield Finding.wrong("schema", f"{path} lacks {name}.")
    yield from _order([child.tag for child in known], list(tree), path)
    for child in known:
        yield from _element(child, tree[child.tag], f"{path}/{child.tag}", is_partial)


def _order(names: Sequence[str], order: Sequence[str], path: str) -> Iterator[Finding]:
    """Yield the elements that come before one that should precede them. Each name counts where it is first."""
    places = {name: place for place, name in enumerate(order)}
    latest = -1
    for name in dict.fromkeys(names):
        if _INTERLEAVED(name):
            continue
        if places[name] < latest:
            yield Finding.handled("schema", f"{path} has {name} after {order[latest]}, against the schema.")
        latest = max(latest, places[name])


def _value(element: Element, path: str) -> Iterator[Finding]:
    kind = TYPES.get(element.tag, "")
    text = (element.text or "").strip()
    if text and kind in FORMS and not FORMS[kind].fullmatch(text):
        yield Finding.handled("schema", f"{path} does not have the form of {kind}.")
