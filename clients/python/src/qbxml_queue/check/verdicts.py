"""Verdicts: what differs from the expectation of a step, and whether the service handles it.

A difference has a source: `contract` (docs/reference/service-contract.md), `simulator` (its answer to the same request)
or `schema` (Intuit's, in the client's types).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from qbxml_queue.check import checks
from qbxml_queue.check.findings import Finding
from qbxml_queue.check.shapes import differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qbxml_queue.check.outcomes import Outcome
    from qbxml_queue.check.plan import Step

SLOW_SECONDS = 10
"""From this time on, the service sends requests alone instead of in sets (service contract, "Message sets")."""

_QUICKBOOKS_ERROR = "quickbooks_error"


class Verdict(Enum):
    """How an answer compares with what was expected."""

    AS_EXPECTED = "as expected"
    HANDLED = "differs but handled"
    WRONG = "wrong"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Judged:
    """A step, its outcome, and the differences."""

    step: Step
    outcome: Outcome
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict: the gravest of its findings."""
        if self.outcome.skipped:
            return Verdict.NOT_ASKED
        if any(finding.is_wrong for finding in self.findings):
            return Verdict.WRONG
        return Verdict.HANDLED if self.findings else Verdict.AS_EXPECTED


def judged(step: Step, outcome: Outcome, facts: Mapping[str, str]) -> Judged:
    """Compare the outcome of a step with its expectation."""
    if outcome.skipped:
        return Judged(step, outcome, ())
    return Judged(step, outcome, tuple(dict.fromkeys(_findings(step, outcome, facts))))


def expectation(step: Step) -> str:
    """Return what is expected of a step, for people."""
    if step.refused:
        return f"The service refuses it as {step.refused}."
    if step.error:
        return f"QuickBooks does not accept it: {step.error}."
    statuses = " or ".join(str(status) for status in step.statuses)
    limit = f", at most {step.limit} objects" if step.limit is not None else ""
    return f"Status {statuses}{limit}."


def answer(outcome: Outcome) -> str:
    """Return the outcome of a step for people, without texts of the books."""
    if outcome.skipped:
        return outcome.skipped
    if outcome.refused:
        return f"The service refused it: {outcome.refused[0]} {outcome.refused[1]}."
    if outcome.status is None:
        return f"No response: {outcome.error or outcome.records[-1]['state']}."
    number = sum(1 for _ in outcome.objects)
    objects = f", {number} object{'s' * (number != 1)}" if number else ""
    return f"Status {outcome.status}{objects}."


def _findings(step: Step, outcome: Outcome, facts: Mapping[str, str]) -> Iterator[Finding]:
    if step.refused or outcome.refused:
        yield from _door(step, outcome)
        return
    yield from _state(step, outcome)
    if outcome.status is not None and not step.error:
        yield from _status(step, outcome)
        yield from differences(step, outcome.responses)
        for name in step.checks:
            yield from checks.CHECKS[name](outcome, facts)
    if outcome.seconds is not None and outcome.seconds >= SLOW_SECONDS:
        yield Finding.handled("simulator", f"QuickBooks took {SLOW_SECONDS} seconds or longer.")


def _door(step: Step, outcome: Outcome) -> Iterator[Finding]:
    """Compare whether the service refused the call. QuickBooks itself can refuse what the service has let pass."""
    if outcome.refused is None:
        text = f"The service should refuse it as {step.refused}, and queued it. "
        if outcome.status is None:
            yield Finding.handled("contract", f"{text}It ended as {outcome.error}.")
        else:
            yield Finding.wrong("contract", f"{text}QuickBooks answered with status {outcome.status}.")
    elif outcome.refused[1] != step.refused:
        expected = f"refuse it as {step.refused}" if step.refused else "accept it"
        yield Finding.wrong("contract", f"The service should {expected}. It answered {outcome.refused[1]}.")


def _state(step: Step, outcome: Outcome) -> Iterator[Finding]:
    """Compare states and error codes with the contract."""
    record = outcome.records[-1]
    came = outcome.error or record["state"]
    if step.error:
        if outcome.error != step.error:
            yield Finding.handled("simulator", f"It should end as {step.error}. It ended as {came}.")
        return
    if outcome.status is None:
        yield Finding.wrong("contract", f"It ended as {came}, without a response of QuickBooks.")
        return
    response = outcome.responses[-1]
    is_error = response.get("statusSeverity") == "Error"
    expected = ("error", _QUICKBOOKS_ERROR) if is_error else ("response_received", "")
    if (record["state"], outcome.error) != expected:
        severity, came = response.get("statusSeverity"), f"{record['state']} {outcome.error}".strip()
        yield Finding.wrong("contract", f"The severity is {severity}, and the request ended as {came}.")


def _status(step: Step, outcome: Outcome) -> Iterator[Finding]:
    response = outcome.responses[-1]
    if outcome.status not in step.statuses:
        statuses = " or ".join(str(status) for status in step.statuses)
        severity = response.get("statusSeverity")
        yield Finding.handled("simulator", f"Status {outcome.status} ({severity}) in place of {statuses}.")
    name = step.request_name.removesuffix("Rq") + "Rs"
    for other in dict.fromkeys(response.tag for response in outcome.responses if response.tag != name):
        yield Finding.wrong("contract", f"The response is {other}, not {name}.")
    number = sum(1 for _ in outcome.objects) if step.pages == 1 else 0
    if step.limit is not None and number > step.limit:
        yield Finding.handled("schema", f"{number} objects in place of at most {step.limit}.")
