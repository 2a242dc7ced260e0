"""Every decision states its status, its reason, what was rejected and the consequences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "decisions"
DECISIONS = sorted(FOLDER.glob("[0-9]*.md"))
STATUS = re.compile(r"\*\*Status\.\*\* (Accepted|Replaced by \[\d{4}\]\(.+\)) on \d{4}-\d{2}-\d{2}\.")


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


def test_the_overview_names_exactly_the_numbers_without_a_page() -> None:
    """Reserved numbers may have a page or not. The sentence about them may be left out."""
    text = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
    sentence = re.search(r"No page has the numbers ([^.]+)\.", text)
    assert sentence
    without_page = {int(number) for number in re.findall(r"\d{4}", sentence[1])}
    reserved = {
        number
        for first, last in re.findall(r"Reserved at present: (\d{4}) to (\d{4})\.", text)
        for number in range(int(first), int(last) + 1)
    }
    numbers = {int(page.name[:4]) for page in DECISIONS}

    assert set(range(1, max(numbers))) - numbers - reserved == without_page
