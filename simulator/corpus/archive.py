"""Replays an archive of `qbxml-queue check`: genuine requests and responses of one run, in their order.

The company of the archive is unknown, so only what does not depend on its data is compared: statuses, names of
attributes, elements that the schema does not have, the order of elements, the form of values, and the numbers and
booleans that every object of a kind has. The requests are sent to one generated company with the same edition and
preferences. Ids, names and numbers of a response stand for those of the simulator's response in later requests.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias
from xml.etree.ElementTree import tostring

from simulator.basics.errors import HresultError
from simulator.basics.xml_trees import read_tree
from simulator.company import Company
from simulator.corpus.facts import facts_of
from simulator.corpus.pair import Pair, pair_of
from simulator.corpus.replay import NOW, answers
from simulator.fidelity.strict import rules_of
from simulator.requests.facts import OFFERED_VERSIONS, Product
from simulator.rules.preferences import OFF, ON, PREFERENCES
from simulator.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from xml.etree.ElementTree import Element

MAX_PAIRS = 300
MAX_BYTES = 50_000_000
DATE = "2026-01-15"
"""The date that stands for every date in an archive. A request with it cannot be sent again."""

CUSTOMERS, PAGES = 30, 3
"""Customers of the company, and the pages in which an iterator returns them, as a check asks for them."""

_NAMES = {"ListID", "TxnID", "EditSequence", "FullName"}
_FOUND_OR_NOT = {"0", "1"}
"""The statuses of a query that depend on the data."""
_WITH_VALUES = ("boolean", "decimal", "whole number", "id", "date and time")
"""The beginnings and parts of the names of forms whose values every object of a kind has."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between QuickBooks and the simulator, and the rules of FIDELITY.md that the request rests on."""

    pair: str
    text: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """The number of pairs that were compared, the names of those that cannot be sent again, and the differences."""

    compared: int
    left_out: tuple[str, ...]
    differences: tuple[Difference, ...]

    def lines(self) -> Iterator[str]:
        """Yield the result as text."""
        yield f"{self.compared} pairs were compared."
        if self.left_out:
            yield f"Their dates were replaced, so these were not: {', '.join(self.left_out)}."
        for difference in self.differences:
            yield f"{difference.pair}: {difference.text} (FIDELITY.md: {', '.join(difference.rules) or 'no rule'})"
        yield f"{len(self.differences)} differences."


def read_archive(path: Path) -> list[Pair]:
    """Return the pairs of an archive in the order of the run. Raises `ValueError` that says what is wrong with it."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".xml")]
            if not members or len(members) > MAX_PAIRS or sum(member.file_size for member in members) > MAX_BYTES:
                raise ValueError(f"{path} is not an archive of qbxml-queue check: it has {len(members)} pairs.")
            members.sort(key=lambda member: member.filename)
            return [pair_of(member.filename, archive.read(member)) for member in members]
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is not a ZIP file: {error}") from error


def replayed_archive(pairs: Sequence[Pair]) -> Replay:
    """Send the requests of an archive to one company, in their order, and compare the responses."""
    company = _company_for(pairs)
    session = company.begin_session("corpus")
    meanings: dict[str, str] = {}
    left_out: list[str] = []
    differences: list[Difference] = []
    for pair in pairs:
        if f">{DATE}" in pair.request:
            left_out.append(pair.name)
            continue
        request = _with_meanings(pair.request, meanings)
        try:
            own: Sequence[Element] = answers(session.process_request, request, pair.version)
        except HresultError as error:
            own = ()
            differences.append(Difference(pair.name, f"the simulator answers {error}", ("schema",)))
        rules = rules_of(read_tree(f"<All>{request}</All>")[0], company.books)
        for genuine, answer in zip(pair.response, own, strict=False):
            differences += [Difference(pair.name, text, rules) for text in dict.fromkeys(_compared(genuine, answer))]
            _learn(genuine, answer, meanings)
    return Replay(len(pairs) - len(left_out), tuple(left_out), tuple(differences))


def _company_for(pairs: Sequence[Pair]) -> Company:
    """Make a company with the edition of the archive and its preferences."""
    newest = max((pair.version for pair in pairs if pair.version in OFFERED_VERSIONS), key=float)
    country = next((pair.country for pair in pairs if pair.country in {"US", "CA", "UK", "AU"}), "US")
    highest = OFFERED_VERSIONS[-1] if float(newest) >= 13 else newest  # noqa: PLR2004 - the default version
    company = Company.generated(
        customers=CUSTOMERS, now=lambda: NOW, product=Product(country=country, highest_version=highest)
    )
    for pair in pairs:
        for shown in pair.response.iter("PreferencesRet"):
            if shown.find("SalesTaxPreferences") is None:
                company.set_preference("sales_tax", OFF)
            for name, preference in PREFERENCES.items():
                texts = {shown.findtext(path) for path in preference.flags}
                if texts & {"true", "false"} and preference.default in {ON, OFF}:
                    company.set_preference(name, ON if "true" in texts else OFF)
    return company


def _with_meanings(request: str, meanings: dict[str, str]) -> str:
    """Return a request with the simulator's values in place of those of the archive."""
    root = read_tree(f"<All>{request}</All>")
    for element in root.iter():
        limit = element.find("MaxReturned") if "iterator" in element.attrib else None
        if limit is not None:
            limit.text = str(CUSTOMERS // PAGES)
        text = (element.text or "").strip()
        element.text = meanings.get(text, element.text) if not len(element) else None
        for name, value in element.attrib.items():
            element.set(name, meanings.get(value, value))
    return "".join(tostring(child, encoding="unicode") for child in root)


def _learn(genuine: Element, own: Element, meanings: dict[str, str]) -> None:
    """Let the ids and names of each object stand for those of the simulator's object with the most equal values."""
    if "iteratorID" in genuine.attrib and "iteratorID" in own.attrib:
        meanings[genuine.attrib["iteratorID"]] = own.attrib["iteratorID"]
    for record in genuine:
        values = {(element.tag, element.text) for element in record}
        candidates = [other for other in own if other.tag == record.tag]
        for other in sorted(candidates, key=lambda one: -sum((each.tag, each.text) in values for each in one))[:1]:
            for element in record:
                value = other.findtext(element.tag)
                if element.tag in _NAMES and element.text and value:
                    meanings.setdefault(element.text.strip(), value)


def _compared(genuine: Element, own: Element) -> Iterator[str]:
    """Yield how two responses differ, apart from what the data of a company decide."""
    statuses = {genuine.get("statusCode"), own.get("statusCode")}
    if genuine.tag != own.tag:
        yield f"{genuine.tag} in place of {own.tag}"
        return
    if len(statuses) > 1 and not statuses <= _FOUND_OR_NOT:
        yield f"status {genuine.get('statusCode')}, and {own.get('statusCode')} in the simulator"
    if len(genuine) and len(own):
        for name in sorted(set(genuine.attrib) ^ set(own.attrib)):
            yield f"the attribute {name} is only in {'QuickBooks' if name in genuine.attrib else 'the simulator'}"
    yield from _unknown(genuine, genuine.tag)
    objects = _objects(genuine), _objects(own)
    for tag in objects[0].keys() & objects[1].keys():
        yield from _compared_objects(objects[0][tag], objects[1][tag])


Leaves: TypeAlias = "list[dict[str, str]]"


def _objects(response: Element) -> dict[str, Leaves]:
    """Return the objects of a response by name: the form of each value by its path, in order."""
    found: dict[str, Leaves] = {}
    for record in facts_of(response).records:
        if not record[0][0].startswith(("column", "row", "ReportTitle")):
            found.setdefault(record[0][0], []).append(dict(record))
    return found


def _compared_objects(genuine: Leaves, own: Leaves) -> Iterator[str]:
    for here, there, side in ((genuine, own, "QuickBooks"), (own, genuine, "the simulator")):
        for path in set.intersection(*(set(one) for one in here)):
            form = here[0][path]
            if (
                path.count("/") == 1
                and any(part in form for part in _WITH_VALUES)
                and not any(path in one for one in there)
            ):
                yield f"{path} is only in {side}"
    for path in dict.fromkeys(path for one in genuine for path in one):
        forms = {one[path] for one in genuine if path in one}
        others = {one[path] for one in own if path in one}
        if forms and others and not forms & others:
            yield f"{path} has {', '.join(sorted(forms))}, and {', '.join(sorted(others))} in the simulator"
    yield from _contradictions(genuine, own)


def _contradictions(genuine: Leaves, own: Leaves) -> Iterator[str]:
    """Yield neighbours that every object of the simulator has in the other order."""
    for one in genuine:
        paths = list(one)
        for first, second in pairwise(paths):
            both = [list(other) for other in own if first in other and second in other]
            if both and all(places.index(second) < places.index(first) for places in both):
                yield f"{first} is before {second}"


def _unknown(element: Element, path: str) -> Iterator[str]:
    model = schema().responses.get(element.tag)
    names = _names_of(model.type) if model is not None else set()
    for child in element.iter():
        if child is not element and names and child.tag not in names:
            yield f"{path} has {child.tag}, which the schema of the simulator lacks"


def _names_of(kind: object) -> set[str]:
    elements = getattr(kind, "elements", {})
    return set(elements).union(*(_names_of(element.type) for element in elements.values()))
