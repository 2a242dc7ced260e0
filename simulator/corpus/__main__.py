"""`python -m simulator.corpus`: replay genuine pairs and print the score, or an archive of `qbxml-queue check`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.basics.xml_trees import XML_ERRORS
from simulator.corpus.archive import read_archive, replayed_archive
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
    archive = commands.add_parser("archive", help="replay an archive of qbxml-queue check and name each difference")
    archive.add_argument("file", type=Path, metavar="FILE", help="the archive, a ZIP file")
    options = parser.parse_args(arguments or ["replay"])
    try:
        if options.command == "archive":
            replay_of_archive = replayed_archive(read_archive(options.file))
            for line in replay_of_archive.lines():
                sys.stdout.write(f"{line}\n")
            return int(bool(replay_of_archive.differences))
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
