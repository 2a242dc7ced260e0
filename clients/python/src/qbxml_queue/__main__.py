"""The command `qbxml-queue`, also `python -m qbxml_queue`."""

from __future__ import annotations

import sys

from qbxml_queue.check.anonymise import main as anonymise
from qbxml_queue.check.command import main as check

USAGE = "usage: qbxml-queue {check,anonymise} [--help]\n"


def main() -> int:
    """Run a command and return its exit code."""
    match sys.argv[1:]:
        case ["check", *arguments]:
            return check(arguments)
        case ["anonymise", *arguments]:
            return anonymise(arguments)
        case ["--help" | "-h"]:
            sys.stdout.write(USAGE)
            return 0
        case _:
            sys.stderr.write(USAGE)
            return 2


if __name__ == "__main__":
    sys.exit(main())
