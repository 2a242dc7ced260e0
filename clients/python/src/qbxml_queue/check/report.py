"""What a run has found: the verdict of each step, the answers to the questions, and the facts of the installation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qbxml_queue.check.questions import Question, answers
from qbxml_queue.check.run import facts_of
from qbxml_queue.check.verdicts import Judged, Verdict, judged
from qbxml_queue.check.writes import ALL, CLEANUP

if TYPE_CHECKING:
    from qbxml_queue.check.journal import Journal


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a run. It has no text of the books."""

    run: str
    installation: dict[str, str]
    steps: tuple[Judged, ...]
    answers: tuple[tuple[Question, str], ...]
    message_sets: int

    @classmethod
    def of(cls, journal: Journal) -> Report:
        """Return the report of a run, as far as it has come."""
        facts = facts_of(journal)
        ended = tuple(judged(step, journal.outcomes[step.name], facts) for step in ALL if step.name in journal.outcomes)
        times = {time for outcome in journal.outcomes.values() for time in outcome.sets}
        return cls(
            journal.head["run"],
            {
                "QuickBooks": facts.get("product", "unknown"),
                "release": f"{facts.get('major', '?')}.{facts.get('minor', '?')}",
                "country": facts.get("country", "unknown"),
                "QBXML": f"up to {facts['versions'].split()[-1]}" if "versions" in facts else "unknown",
                "Web Connector": journal.head.get("web_connector") or "not given",
                "message sets": str(len(times)),
            },
            ended,
            tuple(answers(journal.outcomes, has_writes=bool(journal.head.get("writes")))),
            len(times),
        )

    @property
    def counts(self) -> Counter[Verdict]:
        """How many steps have each verdict."""
        return Counter(step.verdict for step in self.steps)

    @property
    def left(self) -> list[str]:
        """What the run has added and could not delete, in words."""
        names = {step.name for step in CLEANUP}
        return [
            step.step.about.removeprefix("the deletion of ")
            for step in self.steps
            if step.step.name in names and not step.outcome.skipped and step.verdict is not Verdict.AS_EXPECTED
        ]

    @property
    def summary(self) -> str:
        """The counts in a sentence."""
        counts = self.counts
        return f"{', '.join(f'{counts[verdict]} {verdict.value}' for verdict in Verdict if counts[verdict])}."
