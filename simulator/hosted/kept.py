"""The company of one test connection, as it is kept between two calls of the function.

One object holds everything: the books with their stored message sets, the requests that were executed, the progress of
the faults, and the credentials with which the Web Connector logs in.
"""

from __future__ import annotations

import gzip
import json
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simulator.company import Company, Execution
from simulator.hosted.objects import NEW
from simulator.runs.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.faults.plan import FaultPlan
    from simulator.hosted.objects import Objects

FORMAT = 1
COMPANIES = ("wholesale", "empty")
"""The companies that fit: `large` takes 25 seconds to read."""

MAX_COMPANY_BYTES = 3_000_000
"""The largest compressed company that runs sessions. The company `wholesale` begins with 0.4 MB."""

MAX_SECONDS_A_DAY = 600
"""How long the sessions of one connection may run in a day (UTC)."""

MAX_EXECUTED = 10_000
"""How many executed requests are kept, the newest ones."""

MAX_DAYS = 3650
"""How many days later than today a company may be."""

DAY_SECONDS = 86_400
_COMPRESSION = 1


class NoCompany(Exception):
    """The connection has no company: it was deleted, or its bucket was."""


@dataclass
class Kept:
    """A company, and what is kept with it. `size` is that of the object, in bytes.

    `source` is the word for the company, `qwc` and `password` are those of the Web Connector, `days` is how many days
    later it is in the company, `used_on` and `used_seconds` are the last day with sessions and their length.
    """

    objects: Objects
    name: str
    source: str
    qwc: str
    password: str
    version: str = NEW
    company: Company = field(default_factory=Company.empty)
    days: int = 0
    script: Any = None
    progress: dict[str, list[int]] | None = None
    used_on: str = ""
    used_seconds: float = 0.0
    size: int = 0
    now: Callable[[], float] = time.time
    _saved: int = 0
    _saved_marks: str = ""

    @classmethod
    def made(cls, objects: Objects, name: str, source: str, qwc: str, password: str) -> None:
        """Keep a new company. It is built when it is first read, because the caller waits. Does not replace one."""
        members = {"format": FORMAT, "source": source, "qwc": qwc, "password": password, "company": None}
        objects.put(name, _packed(members), NEW)

    @classmethod
    def read(cls, objects: Objects, name: str, now: Callable[[], float] = time.time) -> Kept:
        """Return a kept company. Raises `NoCompany`."""
        found = objects.get(name)
        if found is None:
            raise NoCompany(name)
        content, version = found
        members = json.loads(gzip.decompress(content))
        plain = {key: members[key] for key in _PLAIN if key in members}
        kept = cls(objects, name, version=version, size=len(content), now=now, **plain)
        if members["company"] is None:
            kept.build()
        else:
            kept.company = Company.of_document(members["company"], name, now=kept.machine_time)
            kept.company.executed = [Execution(**execution) for execution in members["executed"]]
        kept._is_saved()
        return kept

    def machine_time(self) -> float:
        """Return the time on the machine of the company, in Unix seconds."""
        return self.now() + self.days * DAY_SECONDS

    def build(self) -> None:
        """Begin with the company as it was made. The marks of applications stay: they identify the company file."""
        marks = self.company.private_fields
        make = Company.empty if self.source == "empty" else Company.generated
        self.company = make(now=self.machine_time, private_fields=marks)

    def save(self) -> None:
        """Keep the company as it is now. Raises `ChangedMeanwhile`."""
        self.company.executed = self.company.executed[-MAX_EXECUTED:]
        members = {key: getattr(self, key) for key in _PLAIN} | {
            "format": FORMAT,
            "company": self.company.document(),
            "executed": [asdict(execution) for execution in self.company.executed],
        }
        content = _packed(members)
        self.version = self.objects.put(self.name, content, self.version)
        self.size = len(content)
        self._is_saved()

    @property
    def has_unsaved_writes(self) -> bool:
        """Whether a write was executed, or an application has left its mark, since the company was saved."""
        return self._marks() != self._saved_marks or any(
            execution.is_write for execution in self.company.executed[self._saved :]
        )

    @property
    def faults(self) -> Script:
        """The script of faults, which is empty if there is none."""
        return Script.of(self.script or {})

    def count_seconds(self, seconds: float) -> None:
        """Count the length of a session."""
        self.used_seconds = self.seconds_today + seconds
        self.used_on = self._today()

    @property
    def seconds_today(self) -> float:
        """How long the sessions of today have run."""
        return self.used_seconds if self.used_on == self._today() else 0.0

    @property
    def may_run(self) -> bool:
        """Whether the limits allow another session."""
        return self.size <= MAX_COMPANY_BYTES and self.seconds_today < MAX_SECONDS_A_DAY

    def keep_progress(self, plan: FaultPlan) -> None:
        """Remember how far the faults are."""
        self.progress = plan.progress() if plan.faults else None

    def resume(self, plan: FaultPlan) -> None:
        """Continue the faults where they were."""
        if self.progress is not None:
            plan.resume(self.progress)

    def _today(self) -> str:
        return datetime.fromtimestamp(self.now(), UTC).date().isoformat()

    def _marks(self) -> str:
        return json.dumps(self.company.private_fields)

    def _is_saved(self) -> None:
        self._saved, self._saved_marks = len(self.company.executed), self._marks()


_PLAIN = ("source", "qwc", "password", "days", "script", "progress", "used_on", "used_seconds")
"""The members of a kept company that are stored as they are."""


def _packed(members: dict[str, Any]) -> bytes:
    text = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), _COMPRESSION, mtime=0)
