# ruff: noqa: T201 - it talks to a person at a terminal
"""Run every command of every Markdown file in a clone of the checkout, as a reader would paste it.

    make test-documents PYTHON=python3.13
    make test-documents ARGS="README.md docs/guides/*"

Each page begins in a new terminal in the folder of the clone, with an empty home, without AWS. The commands have to
succeed, and to print what the page shows. tests/documents/table.py names those that cannot be run, with the reason and
what is checked instead. Exits with 1 if a command does something else. It needs packages from an index.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from local.programs import end_with_sigterm
from tests.documents.follow import Follower
from tests.documents.pages import ROOT, groups_of, pages
from tests.documents.place import bare_place
from tests.documents.table import READERS, TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Follow the pages that the command line names, or all; return the exit status."""
    introduction, _, explanation = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tests.documents",
        description=introduction,
        epilog=explanation,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--python", default=sys.executable, help="the Python of the reader, by name or path")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="pages, with * for any text; without it, all")
    options = parser.parse_args(arguments)
    python = shutil.which(options.python)
    if python is None:
        parser.error(f"{options.python} is not installed")
    end_with_sigterm()
    print(f"Following the documents with {python} …", flush=True)

    reports = []
    with bare_place(Path(python).resolve()) as place:
        for page in pages():
            if options.pages and not any(fnmatch(page, pattern) for pattern in options.pages):
                continue
            groups = groups_of(page, (ROOT / page).read_text(encoding="utf-8"))
            if not groups:
                continue
            reader = next((reader for reader in READERS if fnmatch(page, reader.page)), None)
            begin = time.monotonic()
            report = Follower(place, reader, TABLE).follow(groups)
            reports.append(report)
            print(f"{page}: {report.ran} commands in {time.monotonic() - begin:.1f} s", flush=True)
            for line in report.slow:
                print(f"    {line}")
            for problem in report.problems:
                print(problem, flush=True)
        own = {name for reader in READERS for name in reader.leaves}
        leftovers = [name for name in place.leftovers() if name not in own]
    for line in sorted({line for report in reports for line in report.left_out}):
        print(f"Left out: {line}")
    if leftovers:
        print(f"The commands left files that git does not ignore: {', '.join(leftovers)}")
    failed = sum(len(report.problems) for report in reports) + bool(leftovers)
    ran = sum(report.ran for report in reports)
    print(f"{ran - failed} passed, {failed} failed, {sum(len(report.left_out) for report in reports)} skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
