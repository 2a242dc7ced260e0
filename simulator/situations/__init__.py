"""Situations of bookkeeping: each file brings a company into one, and explains each of its steps.

    <Situation about="Goods arrive in two parts.">
      <Step about="An order of 10.">requests in qbXML 16.0</Step>
      <Step about="A change is refused." status="3171">requests</Step>
      <Preference about="The year is closed." name="closing_date" value="2025-12-31" />
    </Situation>

Each request must get the status of its step, 0 by default. One with a requestID can be named in those after it:
`{order.TxnID}` is the TxnID of the record in its response.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import tostring

from simulator.basics.errors import HresultError
from simulator.basics.xml_trees import XML_ERRORS, read_tree

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from simulator.company import Company

SHIPPED = Path(__file__).parent
"""The folder of the situations that are found by their names."""
_PLACE = re.compile(r"\{(\w+)\.([\w/]+)\}")


def set_up(company: Company, situation: str | Path) -> list[str]:
    """Bring a company into a situation, a file or the name of one of `names()`. Returns what each step is about.

    The company needs the lists of `Company.empty()`. The requests are not in `company.executed`, and strict mode does
    not look at them. Raises `ValueError` for a file that is not a situation, and with
    the step and the status if QuickBooks answers a request with another one than the file says.
    """
    root = _read(situation)
    with company.unobserved():
        _execute(company, root, situation)
    return [root.get("about", ""), *(step.get("about", "") for step in root)]


def _execute(company: Company, root: Element, situation: str | Path) -> None:
    records: dict[str, Element] = {}
    for number, step in enumerate(root, 1):
        if step.tag == "Preference":
            company.set_preference(step.get("name", ""), step.get("value", ""))
            continue
        for request in step:
            response = _response(company, _filled(request, records), number)
            if response.get("statusCode") != step.get("status", "0"):
                problem = f"{response.tag} got {response.get('statusCode')}: {response.get('statusMessage')}"
                raise ValueError(f"Step {number} of {situation} failed. {problem}")
            if len(response):
                records[response.get("requestID", "")] = response[0]


def names() -> list[str]:
    """Return the names of the situations of the simulator."""
    return sorted(file.stem for file in SHIPPED.glob("*.xml"))


def _read(situation: str | Path) -> Element:
    file = Path(situation)
    if not file.exists() and str(situation) in names():
        file = SHIPPED / f"{situation}.xml"
    if not file.exists():
        known = ", ".join(names())
        raise ValueError(f"{situation} is neither a file nor the name of a situation. The situations are: {known}")
    try:
        root = read_tree(file.read_bytes())
    except XML_ERRORS as error:
        raise ValueError(f"{situation} is not an XML document: {error}") from error
    wrong = next((step.tag for step in root if step.tag not in {"Step", "Preference"}), "")
    if root.tag != "Situation" or wrong:
        raise ValueError(f"{situation}: a Situation holds Step and Preference, not {wrong or root.tag}.")
    return root


def _filled(request: Element, records: dict[str, Element]) -> str:
    """Return a request, with the values of earlier records in their places."""

    def value(match: re.Match[str]) -> str:
        found = records[match[1]].findtext(match[2]) if match[1] in records else None
        return match[0] if found is None else found

    return _PLACE.sub(value, tostring(request, encoding="unicode"))


def _response(company: Company, request: str, number: int) -> Element:
    body = f'<QBXML><QBXMLMsgsRq onError="continueOnError">{request}</QBXMLMsgsRq></QBXML>'
    text = f'<?xml version="1.0"?><?qbxml version="16.0"?>{body}'
    try:
        answer = company.process_request(text.encode("ascii", "xmlcharrefreplace").decode())
    except HresultError as error:
        raise ValueError(f"Step {number} cannot be executed. {error}") from error
    return read_tree(answer)[0][0]
