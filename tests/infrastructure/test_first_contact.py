"""docs/first-contact.md has the question, or a reason why there is none, for each assumption of the documentation."""

from __future__ import annotations

import re

from local.programs import ROOT

PAGE = (ROOT / "docs" / "first-contact.md").read_text(encoding="utf-8")
FIDELITY = (ROOT / "simulator" / "FIDELITY.md").read_text(encoding="utf-8")
QUESTIONS = (ROOT / "clients/python/src/qbxml_queue/check/questions.py").read_text(encoding="utf-8")
REFERENCE = ROOT / "docs" / "reference"

ROWS = re.findall(r"(?m)^\| (.+?) \| (.+) \|$", PAGE.partition("## What rests on your answers")[2])


def test_each_assumed_statement_of_the_reference_has_a_row() -> None:
    """The row quotes words before the mark. The legend of a page, which explains the mark, is not a statement."""
    quoted = [match.groups() for row, _ in ROWS if (match := re.fullmatch(r'([a-z-]+): "(.+)"', row))]
    used = set()
    for path in sorted(REFERENCE.glob("*.md")):
        text = " ".join(re.sub(r"[*`]", "", path.read_text(encoding="utf-8")).split())
        for mark in re.finditer(r"\(assumed(?!\) means)", text):
            before = text[max(0, mark.start() - 150) : mark.start()]
            found = [words for page, words in quoted if page == path.stem and words in before]
            assert found, f"docs/first-contact.md has no row for {path.name}: …{before[-80:]} (assumed)"
            used |= set(found)
    assert {words for _, words in quoted} == used, "a row quotes a statement that is not assumed any more"


def test_each_assumed_rule_and_status_of_the_simulator_has_a_row() -> None:
    assumed = re.findall(r"(?m)^\| \**`(\w+)`\** \| .* \| [^|]*\bassumed\b[^|]*\|$", FIDELITY)
    statuses = re.findall(r"(?m)^\| (\d+) \| .* \| [^|]*\bassumed\b[^|]*\|$", FIDELITY)
    named = [name for row, _ in ROWS for name in re.findall(r"`(\w+)`", row)]
    codes = [code for row, _ in ROWS if row.startswith("statuses") for code in re.findall(r"\d+", row)]

    assert sorted(named) == sorted(assumed), "add the rule to a row, or take it out"
    assert sorted(codes) == sorted(statuses), "add the status to the last row, or take it out"


def test_each_row_names_questions_that_exist_or_says_why_not() -> None:
    names = set(re.findall(r'Question\(\s*"([a-z-]+)"', QUESTIONS))
    assert len(names) > 15

    for row, reason in ROWS:
        if row.startswith(("statement", "assumed rule", "---")):
            continue
        asked = re.findall(r"`([a-z-]+)`", reason)
        assert reason.startswith("Why not: ") or (asked and set(asked) <= names), row
