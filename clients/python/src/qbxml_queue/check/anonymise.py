"""The command `qbxml-queue anonymise`: a pair for the simulator's corpus, made of two recorded documents."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from qbxml_queue.check.anonymiser import Anonymiser, pair_of
from qbxml_queue.check.documents import elements_of

if TYPE_CHECKING:
    from collections.abc import Sequence

FACTS = ("product", "country", "version", "source")


def main(arguments: Sequence[str]) -> int:
    """Print the pair. Returns 0, and 2 for a file that cannot be read."""
    parser = argparse.ArgumentParser(
        prog="qbxml-queue anonymise", description="Print a request and its response without the data of the company."
    )
    parser.add_argument("request", type=Path, help="the QBXML document that was sent")
    parser.add_argument("response", type=Path, help="the QBXML document that QuickBooks returned")
    for name in FACTS:
        parser.add_argument(f"--{name}", required=True, help=f"the {name} of the pair")
    options = parser.parse_args(arguments)
    try:
        request, response = (elements_of(path.read_text("utf-8")) for path in (options.request, options.response))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"qbxml-queue anonymise: {error}\n")
        return 2
    attributes = {name: str(getattr(options, name)) for name in FACTS} | {"request": "recorded"}
    sys.stdout.write(pair_of(Anonymiser(SystemRandom()), request, response, attributes))
    return 0
