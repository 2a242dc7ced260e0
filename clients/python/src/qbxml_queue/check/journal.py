"""The journal of a run: a file to which each thing that happened is appended, so that a run can be continued.

It has the responses of QuickBooks, so only its owner may read it. It has no API key.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from qbxml_queue.check.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

NAME = "journal.jsonl"


class Journal:
    """The head of a run, the requests that were queued for each step, and the outcomes of the steps that have ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.head: dict[str, Any] = {}
        self.queued: dict[str, list[str]] = {}
        self.outcomes: dict[str, Outcome] = {}
        for line in _lines(folder / NAME):
            self._read(line)

    @property
    def is_new(self) -> bool:
        """Whether nothing has happened yet."""
        return not self.head

    def begin(self, head: Mapping[str, Any]) -> None:
        """Store what is known of a run before its first step."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._append({"head": dict(head)})

    def note(self, step: str, requests: Sequence[str]) -> None:
        """Store the ids of the requests that were queued for a step."""
        self._append({"step": step, "queued": list(requests)})

    def end(self, step: str, outcome: Outcome) -> None:
        """Store the outcome of a step."""
        self._append({"step": step, "outcome": outcome.to_json()})

    def forget(self, step: str) -> None:
        """Ask a step again that was skipped."""
        self._append({"step": step, "again": True})

    def _append(self, line: Mapping[str, Any]) -> None:
        descriptor = os.open(self.folder / NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._read(line)

    def _read(self, line: Mapping[str, Any]) -> None:
        if "head" in line:
            self.head = {**self.head, **line["head"]}
        elif "queued" in line:
            self.queued[line["step"]] = line["queued"]
        elif "again" in line:
            self.outcomes.pop(line["step"], None)
        else:
            self.outcomes[line["step"]] = Outcome.from_json(line["outcome"])


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file. A last line that was not written completely is removed."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    complete, newline, rest = content.rpartition(b"\n")
    if rest:
        os.truncate(path, len(complete) + len(newline))
    return [json.loads(line) for line in complete.splitlines()]
