"""The statuses that a request can be answered with."""

from __future__ import annotations

import pytest

from domain.qbxml.codes.answers import possible_answers
from domain.qbxml.codes.statuses import STATUSES
from domain.qbxml.schema.facts import request_names
from tests.support.cases import for_each

ALWAYS = {0, 1000, 1010, 1030, 1060, 3231, 3260, 3261}


def codes(name: str) -> set[int]:
    return {status.code for status in possible_answers(name)}


@for_each("name", sorted(request_names()))
def test_every_request_has_answers_with_a_meaning_and_a_hint(name: str) -> None:
    answers = possible_answers(name)

    assert {status.code for status in answers} >= ALWAYS
    assert [status.code for status in answers] == sorted({status.code for status in answers})
    assert all(status.message and status.hint for status in answers)
    assert (1 in codes(name)) is name.endswith("QueryRq")
    assert (3263 in codes(name)) is not (name.endswith("QueryRq") or "Display" in name)


@pytest.mark.parametrize(
    ("name", "expected", "excluded"),
    [
        ("InvoiceAddRq", {570, 3040, 3140, 3161}, {1, 500, 3100, 3160, 3200}),
        ("InvoiceModRq", {3120, 3190, 3200}, {1, 3100, 3160}),
        ("CustomerAddRq", {3100, 3130, 3262}, {1, 3161, 3200}),
        ("CustomerQueryRq", {1, 500, 3000, 3031}, {3100, 3200, 3263}),
        ("EmployeeQueryRq", {3262}, {3100}),
        ("TxnVoidRq", {3120, 3161, 3185}, {3100, 3160, 3200}),
        ("ListDelRq", {3120, 3160}, {3161, 3200}),
        ("ListMergeRq", {3170, 3200}, {3160}),
        ("HostQueryRq", {1}, {500, 3000, 3140, 3262}),
        ("TimeTrackingAddRq", {3035}, {3100}),
    ],
)
def test_the_answers_follow_from_the_kind_and_the_elements_of_a_request(
    name: str, expected: set[int], excluded: set[int]
) -> None:
    assert codes(name) >= expected
    assert not codes(name) & excluded


def test_most_known_statuses_are_the_answer_to_some_request() -> None:
    """Except those of message sets, the former online edition, and causes that no element shows."""
    used = {code for name in request_names() for code in codes(name)}

    unused = set(STATUSES) - used
    assert all(code in {540, 600} or 2000 <= code < 3000 or code > 9000 or 3000 < code < 3300 for code in unused)
    assert len(used) >= 45


def test_an_unknown_request_has_no_answers() -> None:
    for name in ("InvoiceAddRs", "NothingQueryRq", ""):
        with pytest.raises(KeyError):
            possible_answers(name)
