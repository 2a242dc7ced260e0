"""The archive that an owner attaches to an issue: what a run has found, without a text of the books.

It is a ZIP file with a pair for each request and response, in the form of the simulator's corpus, and `summary.json`
with verdicts, answers and times. `make corpus PAIRS=FILE` replays it.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qbxml_queue.check.anonymiser import Anonymiser, pair_of
from qbxml_queue.check.documents import elements_of, literals, parse
from qbxml_queue.check.run import facts_of
from qbxml_queue.check.verdicts import answer
from qbxml_queue.check.writes import ALL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random
    from xml.etree.ElementTree import Element

    from qbxml_queue.check.journal import Journal
    from qbxml_queue.check.report import Report

FORMAT = 1
DEFAULT_VERSION = "13.0"
_MOMENT = (2026, 1, 15, 12, 0, 0)
_REPLACED = re.compile(r"(Total )?(Text \d+)(:Text \d+)*|[\d.{}A-Fa-f%+:T-]*").fullmatch
_NOT_OF_A_PRODUCT = re.compile(r"[^A-Za-z0-9 .,:&()/-]")


@dataclass(frozen=True, slots=True)
class Archive:
    """The files of an archive, by name."""

    files: dict[str, str]

    @classmethod
    def of(cls, journal: Journal, report: Report, chance: Random) -> Archive:
        """Make the archive of a run. `chance` chooses the digits that replace others."""
        files = {"summary.json": json.dumps(_summary(report), indent=1) + "\n"}
        return cls({**files, **dict(_pairs(journal, report, chance))})

    @property
    def values(self) -> list[str]:
        """The distinct values in the pairs that are neither a replaced text nor a number, for a person to look at."""
        found: set[str] = set()
        for name, content in self.files.items():
            for element in parse(content).iter() if name.endswith(".xml") else ():
                found |= {(element.text or "").strip(), *element.attrib.values()}
        return sorted(text for text in found if not _REPLACED(text))

    def write(self, path: Path) -> None:
        """Write the ZIP file. Its members have no time of this machine."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.files.items():
                archive.writestr(zipfile.ZipInfo(name, _MOMENT), content, zipfile.ZIP_DEFLATED)


def _summary(report: Report) -> dict[str, object]:
    return {
        "format": FORMAT,
        "run": report.run,
        "installation": {name: clean(value) for name, value in report.installation.items()},
        "steps": [
            {
                "name": step.step.name,
                "verdict": step.verdict.value,
                "came": answer(step.outcome),
                "differences": [{"source": one.source, "text": one.text} for one in step.findings],
                "seconds": [round(seconds, 3) for seconds in step.outcome.times],
            }
            for step in report.steps
        ],
        "answers": {question.name: text for question, text in report.answers},
    }


def _pairs(journal: Journal, report: Report, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each pair, in the order in which the requests were sent."""
    own = {text for step in ALL for text in literals(step.request)}
    anonymiser = Anonymiser(chance, own)
    attributes = {
        "product": clean(report.installation["QuickBooks"]),
        "country": clean(report.installation["country"]),
        "request": "recorded",
        "source": f"qbxml-queue check {report.run}",
    }
    versions = facts_of(journal).get("versions", DEFAULT_VERSION).split()
    default = min(DEFAULT_VERSION, versions[-1], key=float)
    number = 0
    for step in ALL:
        outcome = journal.outcomes.get(step.name)
        for record in outcome.records if outcome is not None else ():
            requests, responses = _parsed(record["request_xml"]), _parsed(record["response_xml"])
            if requests and responses:
                number += 1
                text = pair_of(anonymiser, requests, responses, {**attributes, "version": step.version or default})
                yield f"pairs/{number:03}-{step.name}.xml", text


def _parsed(document: str | None) -> list[Element]:
    try:
        return elements_of(document)
    except ValueError:
        return []


def clean(text: str) -> str:
    """Return the name of a product, a country or a version, without what could be part of a path or a mark-up."""
    return _NOT_OF_A_PRODUCT.sub("", text)[:80]
