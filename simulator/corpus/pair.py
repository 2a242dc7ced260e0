"""A genuine pair: a request, the response of a QuickBooks to it, and what is known about both.

A pair is an XML file:

    <Pair product="QuickBooks Pro 2014" country="US" version="13.0" request="recorded" source="https://…">
      <Known>Why the simulator does not agree. Only pairs that do not agree have it.</Known>
      <Setup>requests in qbXML 16.0 that bring the company into the state of the genuine one</Setup>
      <Request>requests</Request>
      <Response>their responses (CustomerQueryRs)</Response>
    </Pair>

`version` is the qbXML version of the request. `request` is `recorded`, or `reconstructed` from the response. The
company is empty but for standard lists. With `company="small"` it also has the records of `small_company.xml`.
`preferences="sales_tax=off"` sets preferences. There can be several `Setup`, each sent as one message set. In requests
`{2.id}` and `{2.sequence}` stand for the id and the EditSequence of the second record that the set-up returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

from simulator.basics.xml_trees import XML_ERRORS, read_tree

if TYPE_CHECKING:
    from pathlib import Path

_ATTRIBUTES = {"product", "country", "version", "request", "source", "company", "preferences"}
_REQUIRED = {"product", "country", "version", "request", "source"}
_ORIGINS = {"recorded", "reconstructed"}
_COMPANIES = {"empty", "small"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair. `setup` and `request` are texts of requests, `response` is the element that holds the Rs elements."""

    name: str
    product: str
    country: str
    version: str
    origin: str
    source: str
    company: str
    preferences: dict[str, str]
    known: str
    setup: tuple[str, ...]
    request: str
    response: Element

    @property
    def request_types(self) -> list[str]:
        """The names of the responses without their ending: `CustomerQuery`."""
        return list(dict.fromkeys(response.tag.removesuffix("Rs") for response in self.response))


def read_pair(path: Path) -> Pair:
    """Read a file. Raises `ValueError` that says what is wrong with it."""
    return pair_of(str(path), path.read_bytes())


def pair_of(path: str, content: bytes) -> Pair:
    """Return the pair in a document. `path` names it. Raises `ValueError` that says what is wrong with it."""
    try:
        root = read_tree(content)
    except XML_ERRORS as error:
        raise ValueError(f"{path} is not an XML document: {error}") from error
    wrong = _wrong_attribute(root)
    if wrong:
        raise ValueError(f"{path}: {wrong}")
    origin, company = root.attrib["request"], root.get("company", "empty")
    if origin not in _ORIGINS or company not in _COMPANIES:
        raise ValueError(f"{path}: request is recorded or reconstructed, and company is empty or small.")
    request, response = root.find("Request"), root.find("Response")
    if request is None or response is None or not len(request) or not len(response):
        raise ValueError(f"{path} needs a Request and a Response with elements in them.")
    preferences = (text.partition("=") for text in root.get("preferences", "").split())
    return Pair(
        PurePath(path).stem,
        root.attrib["product"],
        root.attrib["country"],
        root.attrib["version"],
        origin,
        root.attrib["source"],
        company,
        {name: value for name, _, value in preferences},
        (root.findtext("Known") or "").strip(),
        tuple(_content(step) for step in root.findall("Setup")),
        _content(request),
        response,
    )


def _wrong_attribute(root: Element) -> str:
    """Return what is wrong with the attributes of a pair, '' for nothing."""
    if root.tag != "Pair":
        return f"the document is a {root.tag}, not a Pair."
    missing, unknown = sorted(_REQUIRED - set(root.attrib)), sorted(set(root.attrib) - _ATTRIBUTES)
    if missing:
        return f"the Pair has no {missing[0]}. It needs {', '.join(sorted(_REQUIRED))}."
    return f"{unknown[0]} is not an attribute of a Pair." if unknown else ""


def _content(element: Element) -> str:
    return "".join(tostring(child, encoding="unicode") for child in element).strip()
