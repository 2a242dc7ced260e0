"""The command `qbxml-queue check`."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import sys
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import httpx

from qbxml_queue.check.archive import Archive
from qbxml_queue.check.journal import Journal
from qbxml_queue.check.page import archive_page_of, page_of
from qbxml_queue.check.plan import FACTS, KINDS, MAX_MESSAGE_SETS, PROBES, READS, cost_of
from qbxml_queue.check.report import Report
from qbxml_queue.check.run import Run
from qbxml_queue.check.service import Service
from qbxml_queue.check.terminal import WIDTH, Terminal
from qbxml_queue.check.verdicts import Verdict
from qbxml_queue.check.writes import ADDED, ALL, CLEANUP, WORDS, WRITES
from qbxml_queue.client import Client
from qbxml_queue.errors import QbxmlQueueError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DOCUMENT = "docs/first-contact.md"
_COPY = re.compile(rf"(?<![A-Za-z])({'|'.join(WORDS)})(?![A-Za-z])", re.IGNORECASE).search
REPORT, CONTENTS, ARCHIVE = "report.html", "archive.html", "archive.zip"


def main(arguments: Sequence[str]) -> int:
    """Run the command. Returns 0; 1 if a verdict is wrong; 2 if the check cannot run; 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        base_url, api_key = _variable("BASE_URL"), _variable("API_KEY")
        connection = options.connection or _variable("CONNECTION_ID")
        with Client(base_url, api_key, connection) as client:
            return check(Service(client), _folder(options, connection), options)
    except httpx.TransportError as error:
        sys.stderr.write(f"qbxml-queue check: the service cannot be reached: {error}. The same command continues.\n")
        return 2
    except (QbxmlQueueError, ValueError) as error:
        sys.stderr.write(f"qbxml-queue check: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. The same command continues.\n")
        return 130


def check(service: Service, folder: Path, options: argparse.Namespace) -> int:
    """Run the steps that have not ended, and write the report."""
    journal = Journal(folder)
    connection = service.connection()
    is_continued = not journal.is_new
    if not is_continued:
        journal.begin({"run": secrets.token_hex(4)})
    if options.web_connector:
        journal.begin({"web_connector": options.web_connector})
    if options.writes:
        journal.begin({"writes": True})
    terminal = Terminal(sys.stdout, sys.stdin, journal, len(ALL if options.writes else READS))
    terminal.say(f"Checking connection {connection['id']} with at most {MAX_MESSAGE_SETS} message sets.")
    terminal.say("Ctrl-C stops, and the same command continues. The reads change nothing in QuickBooks.")
    batch_size = connection.get("read_batch_size", 1)
    if batch_size == 1:
        terminal.say("Its read_batch_size is 1, so each request needs a message set, and some kinds are not asked.")
    terminal.say()
    try:
        run = Run(service, journal, terminal, batch_size, is_continued)
        run.run(FACTS)
        later = cost_of(PROBES) + (cost_of((*WRITES, *CLEANUP)) if options.writes else 0)
        run.run(KINDS, reserved=later if batch_size == 1 else 0)
        run.run(PROBES)
        if options.writes:
            _write(run, connection, terminal)
    finally:
        report = Report.of(journal)
        archive = Archive.of(journal, report, Random(report.run))  # noqa: S311 - it hides no secret: originals are not in it
        (folder / REPORT).write_text(page_of(report), encoding="utf-8")
        (folder / CONTENTS).write_text(archive_page_of(archive), encoding="utf-8")
    terminal.report(report)
    terminal.say(f"The report is {folder / REPORT}. {DOCUMENT} says what to do about each verdict.")
    if options.archive:
        _pack(archive, folder, terminal)
    else:
        terminal.say(f"Read {folder / CONTENTS}. Then --archive makes the file for an issue.")
    return int(report.counts[Verdict.WRONG] > 0)


def _write(run: Run, connection: dict[str, Any], terminal: Terminal) -> None:
    """Ask the steps that write, in a copy of a company file and after a person has said yes, and clean up."""
    if WRITES[0].name not in run.journal.queued:
        if not is_a_copy(run.facts(), connection):
            raise QbxmlQueueError(
                f"Nothing was written: neither the name nor the path of the company file has one of the words "
                f"{', '.join(WORDS)}. Open a copy whose name has one, or leave out the writes."
            )
        if run.spent + cost_of((*WRITES, *CLEANUP)) > MAX_MESSAGE_SETS:
            raise QbxmlQueueError("Nothing was written: too few message sets are left. Begin a new run.")
        if not terminal.asks(f"\nThe writes add {ADDED}. Lines in the audit trail stay."):
            raise QbxmlQueueError("Nothing was written, because nobody said yes.")
    run.run(WRITES, reserved=cost_of(CLEANUP))
    run.run(CLEANUP)


def is_a_copy(facts: Mapping[str, str], connection: Mapping[str, Any]) -> bool:
    """Whether a company file is a copy, by a word in its name or in each path at which it is accepted."""
    paths = connection["company_file_paths"]
    texts = [facts.get("company", ""), " ".join(paths) if len(paths) == 1 else ""]
    return facts.get("is_sample") == "true" or any(_COPY(text) for text in texts)


def _pack(archive: Archive, folder: Path, terminal: Terminal) -> None:
    """Write the archive when a person has said that its contents may leave the machine."""
    terminal.say(f"\n{folder / CONTENTS} shows the {len(archive.files)} files of the archive. These values were kept:")
    terminal.say("  " + "\n  ".join(wrap(" · ".join(archive.values), WIDTH)))
    if not terminal.asks("Have you read them, and is nothing of your company in them?"):
        raise QbxmlQueueError("The archive was not written, because nobody said yes.")
    archive.write(folder / ARCHIVE)
    terminal.say(f"The archive is {folder / ARCHIVE}. Attach it to an issue of the kind First contact with QuickBooks.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="qbxml-queue check",
        description="Test a deployed service, and the QuickBooks behind it. BASE_URL is the address of the service, "
        f"API_KEY a key with full scope. {DOCUMENT} is the guide.",
    )
    parser.add_argument("--connection", help="the id of the connection (default: the variable CONNECTION_ID)")
    parser.add_argument("--folder", type=Path, default=Path("quickbooks-check"), help="where runs are kept")
    parser.add_argument("--web-connector", metavar="VERSION", help="the version of the Web Connector, for the report")
    parser.add_argument("--writes", action="store_true", help="also write, in a copy of a company file, and clean up")
    parser.add_argument("--archive", action="store_true", help="show what the archive has, ask, and write it")
    parser.add_argument("--new", action="store_true", help="keep the former run aside and begin a new one")
    return parser


def _folder(options: argparse.Namespace, connection: str) -> Path:
    folder: Path = options.folder / connection
    if options.new and folder.exists():
        number = 1
        while (aside := folder.with_name(f"{folder.name}-{number}")).exists():
            number += 1
        folder.rename(aside)
    return folder


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise QbxmlQueueError(f"{name} is not set. The check needs BASE_URL, API_KEY and a connection.")
    return value
