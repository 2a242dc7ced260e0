"""Status codes and HRESULTs have a stable name, a meaning and a hint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from domain.qbxml.codes import hresults, statuses
from domain.qbxml.codes.hresults import describe_hresult
from domain.qbxml.codes.statuses import describe_status
from domain.web_connector.outcomes.error_reasons import MEANINGS, Reason
from tests.support.cases import for_each

if TYPE_CHECKING:
    from domain.qbxml.codes.hresults import Hresult
    from domain.qbxml.codes.statuses import Status


def test_a_known_status_has_a_hint() -> None:
    assert "EditSequence" in (describe_status(3200).hint or "")


def test_an_unknown_status_has_no_hint() -> None:
    assert describe_status(4711).hint is None


@pytest.mark.parametrize("hresult", ["0x80040400", "0X80040400", " 80040400 "])
def test_a_parse_error_is_recognized_in_any_notation_and_was_not_executed(hresult: str) -> None:
    facts = describe_hresult(hresult)

    assert (facts.code, facts.executed) == ("0x80040400", "no")


def test_an_hresult_is_not_case_sensitive() -> None:
    assert describe_hresult("0x8004040a") == describe_hresult("0x8004040A")
    assert describe_hresult("0x8004040a").code == "0x8004040A"


@pytest.mark.parametrize("code", ["0x80010105", "0x800706BA", "0x800706BE", "0x80040402"])
def test_a_failure_during_processing_may_have_executed_the_request(code: str) -> None:
    assert describe_hresult(code).executed == "unknown"


def test_an_unknown_hresult_may_have_executed_the_request() -> None:
    facts = describe_hresult("0x12345678")

    assert (facts.executed, facts.hint) == ("unknown", None)
    assert "0x12345678" in facts.message


def test_an_empty_hresult_is_described_too() -> None:
    assert describe_hresult("").message == "QuickBooks reported an error."


# --- the tables

LISTED_HRESULTS = (
    *(0x80040400, 0x80040401, 0x80040402, 0x80040403, 0x80040406, 0x80040408, 0x8004040A, 0x8004040D),
    *range(0x80040410, 0x80040419),
    *range(0x8004041A, 0x8004042D),
    *(0x80040308, 0x80040154, 0x80010105, 0x800706BA, 0x800706BE),
)
"""The HRESULTs that QuickBooks' request processor is known to report."""

LISTED_STATUSES = (
    *(0, 1, 500, 501, 510, 530, 531, 540, 550, 560, 570, 600, 1000, 1010, 1030, 1060),
    *(2000, 2010, 2020, 2030, 2040, 3000, 3010, 3020, 3030, 3031, 3035, 3070, 3100, 3120, 3130, 3140, 3160, 3170),
    *(3175, 3176, 3180, 3190, 3200, 3210, 3231, 3250, 3260, 3261, 3263, 9001, 9002, 9004, 9005),
)
"""Status codes that are documented or were seen in the field."""

EVERYTHING_REPORTED: tuple[Hresult | Status, ...] = (
    *hresults.HRESULTS.values(),
    *statuses.STATUSES.values(),
)


@for_each("code", LISTED_HRESULTS)
def test_every_known_hresult_has_reason_message_and_hint(code: int) -> None:
    facts = describe_hresult(f"0x{code:08x}")

    assert facts.reason != hresults.UNKNOWN
    assert facts.message
    assert facts.hint


@for_each("code", [*LISTED_STATUSES, 9100, 9199])
def test_every_known_status_has_reason_message_and_hint(code: int) -> None:
    facts = describe_status(code)

    assert facts.reason != statuses.UNKNOWN
    assert facts.message
    assert facts.hint


def test_codes_that_share_a_reason_share_a_hint() -> None:
    """Codes with the same reason have the same remedy."""
    hints: dict[str, set[str | None]] = {}
    for facts in EVERYTHING_REPORTED:
        hints.setdefault(facts.reason, set()).add(facts.hint)
    for reason, (_, hint) in MEANINGS.items():
        hints.setdefault(reason.value, set()).add(hint)

    assert {reason: remedies for reason, remedies in hints.items() if len(remedies) > 1} == {}


def test_every_reason_of_the_service_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Reason)


def test_reasons_are_in_snake_case() -> None:
    reasons = [facts.reason for facts in EVERYTHING_REPORTED]

    assert [reason for reason in (*reasons, *Reason) if not re.fullmatch(r"[a-z]+(_[a-z]+)*", reason)] == []


@pytest.mark.parametrize("code", [1010, 3170, 3175, 3176, 3180])
def test_statuses_that_resolve_themselves_are_retryable(code: int) -> None:
    assert describe_status(code).retryable


def test_an_unknown_code_has_a_reason_that_says_so() -> None:
    assert describe_hresult("0x12345678").reason == "unknown_hresult"
    assert describe_status(4711).reason == "unknown_status"


@pytest.mark.parametrize("code", [3170, 3180])
@pytest.mark.parametrize(
    ("message", "reason", "retryable"),
    [
        ("There was an error when saving X. This list has been modified by another user.", "changed_meanwhile", True),
        ("There was an error when saving X. QuickBooks failed to acquire the lock.", "changed_meanwhile", True),
        ("There was an error when saving X. The record is LOCKED.", "changed_meanwhile", True),
        ('The data extension named "Block" is already defined.', "save_refused", False),
        (None, "changed_meanwhile", True),
    ],
)
def test_a_refusal_to_save_is_retryable_only_for_a_lock_or_another_user(
    code: int, message: str | None, reason: str, *, retryable: bool
) -> None:
    facts = describe_status(code, message)

    assert (facts.reason, facts.retryable) == (reason, retryable)


def test_the_message_does_not_change_the_meaning_of_other_codes() -> None:
    assert describe_status(3175, "As QuickBooks says.").retryable
    assert not describe_status(3200, "This list has been modified by another user.").retryable


@pytest.mark.parametrize("code", ["0x80040403", "0x80040406", "0x8004040A"])
def test_another_company_file_may_help_when_the_file_could_not_be_opened(code: str) -> None:
    assert describe_hresult(code).other_file_may_help


@pytest.mark.parametrize("code", ["0x80040414", "0x80040418", "0x8004041A", "0x80040408", "0x12345678"])
def test_another_company_file_does_not_help_with_other_hresults(code: str) -> None:
    assert not describe_hresult(code).other_file_may_help
