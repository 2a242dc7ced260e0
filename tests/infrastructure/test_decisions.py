"""Every decision states its status, its reason, what was rejected and the consequences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"
DECISIONS = sorted(FOLDER.glob("[0-9]*.md"))
STATUS = re.compile(r"\*\*Status\.\*\* (Accepted|Replaced by \[\d{4}\]\(.+\)) on \d{4}-\d{2}-\d{2}\.")
NEVER_MADE = {24}


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_its_number_a_status_and_every_part(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert text.startswith(f"# {page.name[:4]}. ")
    assert STATUS.fullmatch(text.split("\n\n")[1])
    parts = [part for part in ("Decision", "Why", "Rejected", "Consequences") if f"\n**{part}" not in text]
    assert not parts, f"{page.name} lacks {parts}"


def test_every_number_is_used_once() -> None:
    numbers = [int(page.name[:4]) for page in DECISIONS]

    assert len(numbers) == len(set(numbers))


def test_the_overview_names_the_numbers_that_were_never_used() -> None:
    numbers = {int(page.name[:4]) for page in DECISIONS}
    unused = set(range(1, max(numbers))) - numbers

    assert all(f"{number:04}" in (FOLDER / "README.md").read_text(encoding="utf-8") for number in NEVER_MADE)
    assert not NEVER_MADE - unused
