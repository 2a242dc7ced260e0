"""Send random valid requests of every type to the simulated QuickBooks and check its responses against Intuit's XSD.

    python -m tools.qbxml_schema.simulated --xsd FOLDER [--count 50] [--seed 1] [--only InvoiceAddRq …]

Most references, ids and dates are replaced by those of records in the company, so that many requests succeed. Prints
each request that ends with an exception or with a response that the XSD refuses, then the number of each status. With
-v it prints them for each type. Returns 1 if there was such a request or a response with "not supported" (1030).
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from lxml import etree

from simulator.company import Company
from simulator.tests.plausible import make_plausible
from tools.qbxml_schema.generate import valid
from tools.qbxml_schema.xsd import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAIN = "qbxmlops130.xsd"
_PROLOGUE = '<?xml version="1.0"?><?qbxml version="13.0"?>'
_UNSUPPORTED = "1030"


def main(command_line: Sequence[str] | None = None) -> int:
    """Return 0 if every response is valid and no handler failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True, help=f"folder with {_MAIN} and what it includes")
    parser.add_argument("--count", type=int, default=50, help="requests of each type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=(), help="names of requests")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the statuses of each type")
    arguments = parser.parse_args(command_line)

    random = Random(arguments.seed)  # noqa: S311 - reproducible, not secret
    judge = etree.XMLSchema(etree.parse(arguments.xsd / _MAIN))
    # All types use one company, so a Mod finds the records that earlier Adds created.
    company = Company.generated(customers=20, sales_orders=20)
    failures = 0
    total: Counter[str] = Counter()
    for particle in Schema(sorted(arguments.xsd.glob("*.xsd"))).members("QBXMLMsgsRq"):
        if arguments.only and particle.name not in arguments.only:
            continue
        statuses: Counter[str] = Counter()
        for _ in range(arguments.count):
            request = etree.fromstring(valid(particle, random).write())
            make_plausible(request, company.books, random)
            body = etree.tostring(request, encoding="ascii").decode()
            document = f'{_PROLOGUE}<QBXML><QBXMLMsgsRq onError="stopOnError">{body}</QBXMLMsgsRq></QBXML>'
            status, problem = _status(company, judge, document)
            statuses[status] += 1
            if problem:
                failures += 1
                _say(f"{particle.name}: {problem}\n  {body[:3000]}")
        if arguments.verbose:
            _say(f"{particle.name}: {', '.join(f'{code} {count}' for code, count in statuses.most_common())}")
        total += statuses
    _say(f"{sum(total.values())} requests, {failures} failures: {dict(total.most_common())}")
    return int(failures > 0 or total[_UNSUPPORTED] > 0)


def _status(company: Company, judge: etree.XMLSchema, request: str) -> tuple[str, str]:
    """Return the status of a request and the problem of its response, or '' if there is none."""
    try:
        text = company.process_request(request)
    except Exception as error:  # noqa: BLE001 - any exception is a failure of the simulator
        return type(error).__name__, "".join(traceback.format_exception_only(error)).strip() + _place(error)
    root = etree.fromstring(text.encode())
    status = str(root[0][0].get("statusCode"))
    if judge.validate(root):
        return status, ""
    return status, f"{judge.error_log.last_error}\n{text[:2000]}"


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f" at {frame.filename}:{frame.lineno}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
