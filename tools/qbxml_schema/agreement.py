"""Compare this project's check with a validating XML parser on the XSD files.

    python -m tools.qbxml_schema.agreement --xsd FOLDER [--count 10000] [--queries 20000] [--seed 1]

Requests are made from the XSD files, valid and mutated ones; each is judged by lxml's XMLSchema and
by the check. Prints how often the verdicts agree, and every request about which they do not. Sets of
parameters for the convenience queries, right and wrong ones, make requests that lxml accepts, or are
refused.
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
from domain.qbxml import parse_request_xml
from domain.qbxml.request.checking import schema_problems
from domain.queries import QUERIES, values
from tools.qbxml_schema.generate import mutated, valid
from tools.qbxml_schema.xsd import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.queries import Parameter

_MAIN = "qbxmlops130.xsd"

_SHARE_OF_ODD_VALUES = 0.02
_ODD_VALUES = ("", " ", "0", "-1", "yes", "All", "2026-02-30", "31.01.2026", "日", "x" * 60, "\x01", "1e3", "ListID")
_TEXTS = ("a", "A & B <c>", "é", "x" * 31, "two  words")
_VALUES: dict[Callable[[str], str], Sequence[str]] = {
    values.count: ("1", "100", "500"),
    values.boolean: ("true", "false", "1", "0"),
    values.moment: ("2026-01-31", "2026-01-31T13:30:00Z", "2026-01-31T13:30:00.5-08:00", "2026-01-31T13:30:00"),
    values.day: ("2026-01-31", "2024-02-29"),
    values.list_id: ("80000001-1324068882", "8-1"),
    values.label: ("a label", "x" * 50),
}


def main() -> int:
    """Return 0 when all verdicts agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True, help=f"folder with {_MAIN} and what it includes")
    parser.add_argument("--count", type=int, default=10_000, help="how many valid and how many mutated requests")
    parser.add_argument("--queries", type=int, default=20_000, help="how many sets of query parameters")
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
        done = mutated(node, particle, random) if number % 2 else "none"
        text = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{node.write()}</QBXMLMsgsRq></QBXML>'
        theirs, ours = bool(judge.validate(etree.fromstring(text))), _accepts(text)
        verdicts[kind, theirs, ours] += 1
        if theirs != ours:
            _say(f"XSD {theirs}, check {ours}, changes {done}: {text[:2000]}\n  {judge.error_log.last_error}")
    for (kind, theirs, ours), count in sorted(verdicts.items()):
        _say(f"{kind}: XSD {'accepts' if theirs else 'refuses'}, check {'accepts' if ours else 'refuses'}: {count}")
    made = Counter(_query(judge, random) for _ in range(arguments.queries))
    for verdict, count in sorted(made.items()):
        _say(f"query parameters: {verdict}: {count}")
    return int(made["XSD refuses"] > 0 or any(theirs != ours for _, theirs, ours in verdicts))


def _query(judge: etree.XMLSchema, random: Random) -> str:
    """Return what becomes of a set of parameters."""
    query = random.choice(list(QUERIES.values()))
    share = random.choice((0.1, 0.3, 0.6, 1))
    parameters = {each.name: [_value(each, random)] for each in query.parameters if random.random() < share}
    try:
        request, _ = query.build(parameters)
    except InvalidRequest:
        return "refused by a 400"
    if judge.validate(etree.fromstring(request.to_xml())):
        return "XSD accepts"
    _say(f"XSD refuses what {query.name} makes of {parameters}: {request.to_xml()}\n  {judge.error_log.last_error}")
    return "XSD refuses"


def _value(parameter: Parameter, random: Random) -> str:
    """Return a value for a parameter: most often one of its own kind."""
    if random.random() < _SHARE_OF_ODD_VALUES:
        return random.choice(_ODD_VALUES)
    if choices := parameter.schema.get("items", parameter.schema).get("enum"):
        return ",".join(random.choices(choices, k=random.randint(1, 3) if parameter.is_list else 1))
    return random.choice(_VALUES.get(parameter.read, _TEXTS))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _accepts(text: str) -> bool:
    """Return the check's verdict, without the rules that go beyond the schema."""
    try:
        request = parse_request_xml(text, validate=False)
    except InvalidRequest:
        return False
    return not schema_problems(request, "request_xml")


if __name__ == "__main__":
    sys.exit(main())
