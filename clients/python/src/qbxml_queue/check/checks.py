"""What is compared beyond status and shape, for the steps that name it. Each check yields what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from qbxml_queue.check.findings import Finding
from qbxml_queue.check.outcomes import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qbxml_queue.check.outcomes import Outcome

    Check: TypeAlias = Callable[[Outcome, Mapping[str, str]], Iterator[Finding]]

DEFAULT_VERSION = (13, 0)
"""The version of QBXML of a request that names none."""


def version_number(text: str) -> tuple[int, ...]:
    """Return a version that can be compared."""
    return tuple(whole(part) for part in text.split("."))


def versions(outcome: Outcome, _: Mapping[str, str]) -> Iterator[Finding]:
    """Compare the versions of QBXML with those that the service needs."""
    highest = claimed_versions(outcome)[-1:]
    if not highest:
        yield Finding.wrong("contract", "HostRet names no version of QBXML.")
    elif version_number(highest[0]) < DEFAULT_VERSION:
        yield Finding.handled("contract", f"The highest version of QBXML is {highest[0]}, below the default 13.0.")


def claimed_versions(outcome: Outcome) -> list[str]:
    """Return the versions of QBXML that QuickBooks names, lowest first, without those of old editions."""
    numbers = [text for text in outcome.values("HostRet/SupportedQBXMLVersion") if text.replace(".", "").isdecimal()]
    return sorted(numbers, key=version_number)


def pages(outcome: Outcome, facts: Mapping[str, str]) -> Iterator[Finding]:
    """Compare the pages of the iterator: they become fewer, and return each customer once."""
    ids = outcome.values("CustomerRet/ListID")
    if not ids:
        return
    remaining = [whole(text) for text in outcome.values("@iteratorRemainingCount")]
    if remaining != sorted(set(remaining), reverse=True) or remaining[-1:] != [0]:
        yield Finding.wrong("contract", "iteratorRemainingCount does not fall to 0.")
    if len(set(ids)) != len(ids):
        yield Finding.wrong("contract", "The pages return an object twice.")
    if len(ids) != whole(facts["customers"]):
        yield Finding.handled("simulator", "The pages return another number of objects than retCount.")
    if len(set(outcome.values("@iteratorID"))) > 1:
        yield Finding.handled("simulator", "iteratorID changes from page to page.")


def names(outcome: Outcome, _: Mapping[str, str]) -> Iterator[Finding]:
    """Compare the names with the filter: `Contains` does not distinguish a and A."""
    if any("a" not in name.lower() for name in outcome.values("CustomerRet/FullName")):
        yield Finding.handled("simulator", "A name lacks the text of the filter.")


def accents(outcome: Outcome, _: Mapping[str, str]) -> Iterator[Finding]:
    """Check that the letter of the filter arrived, and came back."""
    if any("é" not in name.lower() for name in outcome.values("CustomerRet/FullName")):
        yield Finding.handled("simulator", "A name lacks the letter é of the filter.")


def dates(outcome: Outcome, _: Mapping[str, str]) -> Iterator[Finding]:
    """Compare the dates with the filter."""
    if any(not "2000-01-01" <= day <= "2037-12-31" for day in outcome.values("InvoiceRet/TxnDate")):
        yield Finding.wrong("contract", "A date is outside of the filter.")


def one_object(outcome: Outcome, _: Mapping[str, str]) -> Iterator[Finding]:
    """Check that the object that exists came with the status 500."""
    if sum(1 for _ in outcome.objects) != 1:
        yield Finding.handled("simulator", "The object that exists was not returned.")


def executed_once(outcome: Outcome, _: Mapping[str, str]) -> Iterator[Finding]:
    """Check that a write whose response was lost was executed exactly once."""
    number = sum(1 for _ in outcome.objects)
    if number != 1:
        yield Finding.wrong("contract", f"The write was executed {number} times in place of once.")


CHECKS: Mapping[str, Check] = {
    "versions": versions,
    "pages": pages,
    "names": names,
    "accents": accents,
    "dates": dates,
    "one_object": one_object,
    "executed_once": executed_once,
}
"""The checks by name."""
