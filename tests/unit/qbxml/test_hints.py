"""Hints for status codes and HRESULTs."""

from __future__ import annotations

import pytest

from domain.qbxml.hresults import describe
from domain.qbxml.status_hints import hint_for_status


def test_a_known_status_has_a_hint() -> None:
    assert "EditSequence" in (hint_for_status(3200) or "")


def test_an_unknown_status_has_none() -> None:
    assert hint_for_status(4711) is None


@pytest.mark.parametrize("written", ["0x80040400", "0X80040400", " 80040400 "])
def test_a_parse_error_was_not_executed_however_it_is_written(written: str) -> None:
    facts = describe(written)

    assert (facts.code, facts.executed) == ("0x80040400", "no")


def test_a_code_is_found_in_either_case() -> None:
    assert describe("0x8004040a") == describe("0x8004040A")
    assert describe("0x8004040a").code == "0x8004040A"


@pytest.mark.parametrize("code", ["0x80010105", "0x800706BA", "0x800706BE", "0x80040402"])
def test_when_quickbooks_fails_at_work_the_outcome_is_unknown(code: str) -> None:
    assert describe(code).executed == "unknown"


def test_of_an_unknown_code_the_outcome_is_unknown() -> None:
    facts = describe("0x12345678")

    assert (facts.executed, facts.hint) == ("unknown", None)
    assert "0x12345678" in facts.message


def test_no_code_is_described_too() -> None:
    assert describe("").message == "QuickBooks reported an error."
