"""Compare the schema check with lxml's XMLSchema on the XSD files.

    python -m tools.qbxml_schema.agreement --xsd FOLDER [--count 10000] [--queries 20000] [--seed 1]

Generates valid and mutated requests from the XSD files, prints how often the verdicts agree, and prints every request
for which they differ. Also builds convenience queries from valid and invalid parameters. Every request that they build
must be valid.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from lxml import etree

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from domain.errors import InvalidRequest
from domain.qbxml import stored_request
from domain.qbxml.request.document import DEFAULT_VERSION
from domain.qbxml.request.fast_schema_check import is_valid
from domain.qbxml.request.schema_check import all_problems
from domain.queries import QUERIES, values
from tools.qbxml_schema.generate import mutate, valid
from tools.qbxml_schema.xsd import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.queries import Parameter

_MAIN = "qbxmlops130.xsd"

_INVALID_SHARE = 0.02
_INVALID_VALUES = (
    "",
    " ",
    "0",
    "-1",
    "yes",
    "All",
    "2026-02-30",
    "31.01.2026",
    "日",
    "x" * 60,
    "\x01",
    "1e3",
    "ListID",
)
_TEXTS = ("a", "A & B <c>", "é", "x" * 31, "two  words")
_VALUES: Sequence[tuple[values.ValueKind, Sequence[str]]] = (
    (values.COUNT, ("1", "100", "500")),
    (values.BOOLEAN, ("true", "false", "1", "0")),
    (values.MOMENT, ("2026-01-31", "2026-01-31T13:30:00Z", "2026-01-31T13:30:00.5-08:00", "2026-01-31T13:30:00")),
    (values.DAY, ("2026-01-31", "2024-02-29")),
    (values.LIST_ID, ("80000001-1324068882", "8-1")),
    (values.LABEL, ("a label", "x" * 50)),
)


def main() -> int:
    """Return 0 if all verdicts agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True, help=f"folder with {_MAIN} and the files it includes")
    parser.add_argument("--count", type=int, default=10_000, help="number of valid and of mutated requests")
    parser.add_argument("--queries", type=int, default=20_000, help="number of convenience queries")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    random = Random(arguments.seed)  # noqa: S311 - reproducible, not secret
    judge = etree.XMLSchema(etree.parse(arguments.xsd / _MAIN))
    requests = list(Schema(sorted(arguments.xsd.glob("*.xsd"))).members("QBXMLMsgsRq"))
    verdicts: Counter[tuple[str, bool, bool]] = Counter()
    for number in range(2 * arguments.count):
        particle = requests[number // 2 % len(requests)]
        node = valid(particle, random)
        kind = "mutated" if number % 2 else "valid"
        changes = mutate(node, particle, random) if number % 2 else "none"
        text = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{node.write()}</QBXMLMsgsRq></QBXML>'
        theirs, ours = bool(judge.validate(etree.fromstring(text))), _accepts(text)
        verdicts[kind, theirs, ours] += 1
        if theirs != ours:
            _say(f"XSD {theirs}, check {ours}, changes {changes}: {text[:2000]}\n  {judge.error_log.last_error}")
    for (kind, theirs, ours), count in sorted(verdicts.items()):
        _say(f"{kind}: XSD {'accepts' if theirs else 'rejects'}, check {'accepts' if ours else 'rejects'}: {count}")
    results = Counter(_query_verdict(judge, random) for _ in range(arguments.queries))
    for verdict, count in sorted(results.items()):
        _say(f"query parameters: {verdict}: {count}")
    return int(results["XSD rejects"] > 0 or any(theirs != ours for _, theirs, ours in verdicts))


def _query_verdict(judge: etree.XMLSchema, random: Random) -> str:
    """Return the verdict on the request for random parameters."""
    query = random.choice(list(QUERIES.values()))
    share = random.choice((0.1, 0.3, 0.6, 1))
    parameters = {
        parameter.name: [_value(parameter, random)] for parameter in query.parameters if random.random() < share
    }
    try:
        request = query.build(parameters).request
    except InvalidRequest:
        return "rejected with 400"
    if judge.validate(etree.fromstring(request.to_xml())):
        return "XSD accepts"
    _say(f"XSD rejects the {query.name} query for {parameters}: {request.to_xml()}\n  {judge.error_log.last_error}")
    return "XSD rejects"


def _value(parameter: Parameter, random: Random) -> str:
    """Return a value for a parameter, usually a valid one."""
    if random.random() < _INVALID_SHARE:
        return random.choice(_INVALID_VALUES)
    if choices := parameter.schema.get("items", parameter.schema).get("enum"):
        return ",".join(random.choices(choices, k=random.randint(1, 3) if parameter.is_list else 1))
    return random.choice(next((texts for kind, texts in _VALUES if kind is parameter.kind), _TEXTS))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _accepts(text: str) -> bool:
    """Return the verdict of the schema check alone."""
    try:
        request = stored_request(text, DEFAULT_VERSION)
    except InvalidRequest:
        return False
    return is_valid(request.element, request.version) or not all_problems(request)


if __name__ == "__main__":
    sys.exit(main())
