"""Fuzz everything that reads QBXML with corrupted requests, responses and query parameters.

    python -m tools.qbxml_schema.fuzz --xsd FOLDER [--seconds 3600] [--seed 1]

Requests are generated from the XSD files and then corrupted. Responses are corrupted responses of the simulated
QuickBooks. A round fails if an undeclared error is raised, if an accepted request changes when it is stored, sent or
shown as JSON, if a fast reader and its slow counterpart disagree, or if a problem has no message. Prints each failure
with its input, and the number of rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from domain import qbxml
from domain.errors import InvalidRequest
from domain.qbxml.request.from_xml import read_valid_xml_fast, read_xml_fast
from domain.qbxml.request.problems import Source
from domain.qbxml.request.schema_check import all_problems
from domain.qbxml.request.xml_reader import read_xml
from domain.qbxml.xml.parser import XML_ERRORS, defused_tree, parse_tree
from domain.queries import QUERIES
from simulator.company import Company
from tools.qbxml_schema.generate import mutate, valid
from tools.qbxml_schema.xsd import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from xml.etree.ElementTree import Element

    from tools.qbxml_schema.xsd import ElementParticle

_TEXTS = (
    *("<", ">", "&", "&#", "&#x1F;", "&#xD800;", '"', "'", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>", "/", "}"),
    *(
        '<?xml version="1.0" encoding="utf-16"?>',
        "+ADwAIQ-DOCTYPE",
        "&lt;!",
        "&#60;!",
        "<!",
        "<![",
        "xml:lang",
        "\ufeff<!",
    ),
    *('<?qbxml version="13.0"?>', '<!DOCTYPE a [<!ENTITY b "c">]>', "&b;", 'xmlns="a"', "QBXML", "Rq", "NaN", "1e9"),
    *("\x00", "\x7f", "\ud800", "\ufffe", "\ufeff", "é", "Ł", "日", " ", "\n", "-", ".", "9" * 5000),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -0.0, 1e308, float("inf"), float("nan"), 10**500, "", "x" * 3000, [], {}, "Ł", "\ud800"),
    *({"name": "A"}, [{"name": "QBXML"}]),
)
_PARAMETERS = ("2026-01-31", "2026-01-31T10:00:00Z", "7", "true", "All", "ListID,Name", "x")
_QUERIES = (
    "<HostQueryRq/>",
    "<CompanyQueryRq><OwnerID>0</OwnerID></CompanyQueryRq>",
    '<CustomerQueryRq requestID="1" iterator="Start"><MaxReturned>3</MaxReturned></CustomerQueryRq>',
    "<CustomerQueryRq><FullName>nobody</FullName></CustomerQueryRq>",
    "<SalesOrderQueryRq><MaxReturned>2</MaxReturned><IncludeLineItems>true</IncludeLineItems></SalesOrderQueryRq>",
)


class Fuzzer:
    """Corrupts inputs and checks the results."""

    def __init__(self, requests: Sequence[ElementParticle], responses: Sequence[str], random: Random) -> None:
        self._requests = requests
        self._responses = responses
        self._random = random

    def round(self) -> list[str]:
        """Try a request, a response and a query. Return the failures with their input."""
        particle = self._random.choice(self._requests)
        node = valid(particle, self._random)
        if self._often(0.6):
            mutate(node, particle, self._random)
        request = (
            f'<?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">{node.write()}</QBXMLMsgsRq></QBXML>'
        )
        if self._often(0.7):
            request = self._corrupted(request)
        response = self._corrupted(self._random.choice(self._responses))
        failures = []
        for attempt, material in ((self._request, request), (self._response, response), (self._query, "")):
            try:
                attempt(material)
            except Exception:  # noqa: BLE001 - any exception is a failure
                failures.append(f"{traceback.format_exc()}{material!r}")
        return failures

    def _request(self, text: str) -> None:
        _compare_readers(text)
        validate, transliterate = self._often(0.7), self._often(0.5)
        try:
            request = qbxml.parse_request_xml(text, validate=validate, transliterate=transliterate)
            wire = request.to_wire()
            _require(wire.isascii(), "the wire form is ASCII")
            stored = qbxml.stored_request(request.to_xml(), request.version)
            _require(stored.to_wire() == wire, "the stored request is the same")
            _require(qbxml.stored_request(wire, request.version).to_wire() == wire, "the sent request is the same")
            qbxml.search_text(request, self._random.choice(self._responses))
            tree = json.loads(json.dumps(request.to_json()))
            from_json = qbxml.parse_request_json(tree, validate=False)
            _require(not validate or from_json.to_json() == request.to_json(), "the request in JSON is the same")
            qbxml.parse_request_json(self._altered(tree), validate=validate, transliterate=transliterate)
        except InvalidRequest as error:
            json.dumps(error.details)
            for problem in error.problems:
                _require(bool(problem.message) and (problem.line or 1) > 0, "a problem has a message and a location")

    def _response(self, text: str) -> None:
        qbxml.host_facts(text)
        _compare_trees(text)
        try:
            qbxml.parse_response(text)
            json.dumps(qbxml.response_to_json(text))
        except qbxml.UnreadableResponse:
            pass

    def _query(self, _: str) -> None:
        query = self._random.choice(list(QUERIES.values()))
        parameters = [parameter.name for parameter in query.parameters if self._often(0.4)]
        names = [name if self._often(0.95) else self._corrupted(name) for name in parameters]
        with contextlib.suppress(InvalidRequest):
            query.build({name: [self._corrupted(self._random.choice(_PARAMETERS))] for name in names})

    def _often(self, share: float) -> bool:
        return self._random.random() < share

    def _corrupted(self, text: str) -> str:
        """Return the text with pieces inserted, removed or repeated."""
        pieces = list(text)
        for _ in range(self._random.choice((1, 1, 2, 3, 8))):
            place, other = (self._random.randrange(len(pieces) + 1) for _ in range(2))
            match self._random.randrange(4):
                case 0 | 1:
                    pieces[place:place] = self._random.choice(_TEXTS)
                case 2:
                    del pieces[place : place + self._random.choice((1, 1, 3, 20))]
                case _:
                    start = min(place, other)
                    pieces[place:place] = pieces[start : start + 30]
        return "".join(pieces)

    def _altered(self, tree: Any) -> Any:
        """Return a JSON tree with some names and values replaced."""
        if self._often(0.04):
            return self._random.choice(_VALUES)
        if isinstance(tree, dict):
            names = ("name", "text", "children", "attributes", "a/~b", "")
            return {
                name if self._often(0.98) else self._random.choice(names): self._altered(tree[name]) for name in tree
            }
        if isinstance(tree, list):
            return [self._altered(child) for child in tree]
        return tree


def _compare_readers(text: str) -> None:
    """Check that the fast readers agree with the full one, and the fast check with the complete one."""
    _compare_trees(text)
    valid_request = read_valid_xml_fast(text, "13.0")
    for fast in (read_xml_fast(text), valid_request):
        _require(
            fast is None or _written(fast) == _written(read_xml(text, Source("request_xml"))),
            "fast and full reader agree",
        )
    if valid_request is not None:
        root, version = valid_request
        request = qbxml.Request(version or "13.0", "stopOnError", root[0][0])
        _require(not all_problems(request), "fast and complete check agree")


def _written(result: tuple[Element, str | None]) -> tuple[list[Any], str | None]:
    """Return the content of the nodes, without the white space between elements, and the version."""
    root, version = result
    nodes = [
        (node.tag, node.items(), len(node), (node.text or "").strip() if len(node) else node.text)
        for node in root.iter()
    ]
    return nodes, version


def _compare_trees(text: str) -> None:
    """Check that the parsers with and without defusedxml agree."""
    _require(_outcome(parse_tree, text) == _outcome(defused_tree, text), "both parsers agree")


def _outcome(read: Callable[[str], Any], text: str) -> Any:
    """Return the content of the nodes, or the type of the error."""
    try:
        # The parsers write namespaces differently. QBXML has none.
        return [
            (node.tag.lstrip("{"), [(name.lstrip("{"), value) for name, value in node.items()], node.text, node.tail)
            for node in read(text).iter()
        ]
    except XML_ERRORS as error:
        return type(error)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise AssertionError(rule)


def _simulated_responses() -> list[str]:
    company = Company.generated(customers=20)
    company.begin_session("fuzz")
    return [
        company.process_request(
            '<?xml version="1.0"?><?qbxml version="13.0"?>'
            f'<QBXML><QBXMLMsgsRq onError="stopOnError">{query}</QBXMLMsgsRq></QBXML>'
        )
        for query in _QUERIES
    ]


def main() -> int:
    """Return 0 if no round failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True, help="folder with qbxmlops130.xsd and the files it includes")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    requests = list(Schema(sorted(arguments.xsd.glob("*.xsd"))).members("QBXMLMsgsRq"))
    fuzzer = Fuzzer(requests, _simulated_responses(), Random(arguments.seed))  # noqa: S311 - reproducible, not secret
    end = time.monotonic() + arguments.seconds
    rounds = failures = 0
    while time.monotonic() < end:
        for failure in fuzzer.round():
            failures += 1
            sys.stdout.write(f"{failure}\n")
        rounds += 1
    sys.stdout.write(f"{rounds} rounds, {failures} failures\n")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
