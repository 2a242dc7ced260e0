"""Compare this project's check with a validating XML parser on the XSD files.

    python -m tools.qbxml_schema.agreement --xsd FOLDER [--count 10000] [--seed 1]

Requests are made from the XSD files, valid and mutated ones; each is judged by lxml's XMLSchema and
by the check. Prints how often the verdicts agree, and every request about which they do not.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import Random

from lxml import etree

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from domain.errors import InvalidRequest
from domain.qbxml import parse_request_xml
from domain.qbxml.checking import schema_problems
from tools.qbxml_schema.generate import mutated, valid
from tools.qbxml_schema.xsd import Schema

_MAIN = "qbxmlops130.xsd"


def main() -> int:
    """Return 0 when all verdicts agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True, help=f"folder with {_MAIN} and what it includes")
    parser.add_argument("--count", type=int, default=10_000, help="how many valid and how many mutated requests")
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
    return int(any(theirs != ours for _, theirs, ours in verdicts))


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
