"""What a person sees in the terminal: a line for each step, why a request waits, and the report at the end."""

from __future__ import annotations

import os
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO

from qbxml_queue.check.run import facts_of
from qbxml_queue.check.verdicts import Verdict, answer, judged

if TYPE_CHECKING:
    from qbxml_queue.check.journal import Journal
    from qbxml_queue.check.outcomes import Outcome
    from qbxml_queue.check.plan import Step
    from qbxml_queue.check.report import Report

COLOURS = {Verdict.AS_EXPECTED: "32", Verdict.HANDLED: "33", Verdict.WRONG: "1;31", Verdict.NOT_ASKED: "2"}
WIDTH = 100


class Terminal:
    """Prints how a run gets on. Only a terminal gets colour, and lines that the next one replaces."""

    def __init__(self, stream: TextIO, answers: TextIO, journal: Journal, total: int) -> None:
        self._stream = stream
        self._answers = answers
        self._journal = journal
        self._total = total
        self._is_terminal = stream.isatty()
        self._has_colour = self._is_terminal and not os.environ.get("NO_COLOR")
        self._last_reason = ""

    def asks(self, question: str) -> bool:
        """Ask a question, and return whether the answer is yes."""
        self.say(f"{question} Type yes:")
        return self._answers.readline().strip().lower() == "yes"

    def say(self, text: str = "") -> None:
        """Print a line."""
        self._clear()
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def began(self, step: Step) -> None:
        """Show the step that is asked."""
        self._show(f"… {step.about}")

    def waits(self, reason: str) -> None:
        """Say why a request waits, once for each reason."""
        if reason and reason != self._last_reason:
            self.say(f"  waits: {reason}")
        self._last_reason = reason

    def prepare(self, prompt: str) -> bool:
        """Ask a person to be ready, and return whether somebody pressed Enter."""
        self._indented(prompt)
        return bool(self._answers.readline())

    def act(self) -> None:
        """Tell the person to act."""
        self.say("         NOW: end the Web Connector, start it again, and let it update.")

    def ended(self, step: Step, outcome: Outcome) -> None:
        """Print the line of a step, and what differs."""
        self._last_reason = ""
        result = judged(step, outcome, facts_of(self._journal))
        number = f"{len(self._journal.outcomes):3}/{self._total}  {step.name:28}"
        if result.verdict is Verdict.NOT_ASKED:
            self.say(f"{number} {self._coloured(result.verdict)}: {outcome.skipped}")
            return
        seconds = f"{outcome.seconds:6.1f} s" if outcome.seconds is not None else " " * 8
        self.say(f"{number} {answer(outcome):44.44} {seconds}  {self._coloured(result.verdict)}")
        for finding in result.findings:
            self._indented(finding.text)

    def report(self, report: Report) -> None:
        """Print the answers and the counts."""
        self.say()
        for question, text in report.answers:
            self.say(f"  {question.text}")
            self._indented(text)
        self.say()
        if report.left:
            self.say(f"Left in the company file: {', '.join(report.left)}. Delete it in QuickBooks.")
        self.say(f"{report.summary} {report.message_sets} message sets.")

    def _indented(self, text: str) -> None:
        for line in wrap(text, WIDTH):
            self.say(f"         {line}")

    def _coloured(self, verdict: Verdict) -> str:
        return f"\033[{COLOURS[verdict]}m{verdict.value}\033[0m" if self._has_colour else verdict.value

    def _show(self, text: str) -> None:
        if self._is_terminal:
            self._clear()
            self._stream.write(text[:WIDTH])
            self._stream.flush()

    def _clear(self) -> None:
        if self._is_terminal:
            self._stream.write("\r\033[K")
