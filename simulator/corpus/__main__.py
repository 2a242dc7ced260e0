"""`python -m simulator.corpus`: replay genuine pairs and print the score, or make a pair from recorded documents."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from simulator.basics.xml_trees import XML_ERRORS, read_tree
from simulator.corpus.anonymiser import Anonymiser
from simulator.corpus.pair import read_pair
from simulator.corpus.replay import replayed, report, shipped_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return 0; 1 if a pair does not agree without a known reason; 2 for files it cannot read."""
    parser = argparse.ArgumentParser(prog="python -m simulator.corpus", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    replay = commands.add_parser("replay", help="replay pairs and print the score of each request type (default)")
    replay.add_argument("files", nargs="*", type=Path, metavar="FILE", help="pairs (default: those of the package)")
    replay.add_argument("-v", "--verbose", action="store_true", help="print what does not agree")
    make = commands.add_parser("anonymise", help="print a pair without the data of the company")
    make.add_argument("request", type=Path, help="the QBXML document that was sent")
    make.add_argument("response", type=Path, help="the QBXML document that QuickBooks returned")
    for name in ("product", "country", "version", "source"):
        make.add_argument(f"--{name}", required=True, help=f"the {name} of the pair")
    options = parser.parse_args(arguments or ["replay"])
    try:
        if options.command == "anonymise":
            facts = {name: str(getattr(options, name)) for name in ("product", "country", "version", "source")}
            request, response = (read_tree(path.read_bytes())[0] for path in (options.request, options.response))
            pair = Anonymiser(SystemRandom()).pair(request, response, {**facts, "request": "recorded"})
            sys.stdout.write(pair)
            return 0
        pairs = [read_pair(path) for path in options.files] if options.files else shipped_pairs()
    except (*XML_ERRORS, OSError, IndexError) as error:
        sys.stderr.write(f"simulator.corpus: {error}\n")
        return 2
    results = [replayed(pair) for pair in pairs]
    for line in report(results, verbose=options.verbose):
        sys.stdout.write(f"{line}\n")
    return int(any(not result.agrees and not result.pair.known for result in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
