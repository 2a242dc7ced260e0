"""Every decision has its number, a status, a reason and what was rejected, and is in the index."""

from __future__ import annotations

import re

from local.programs import ROOT

FOLDER = ROOT / "docs" / "decisions"


def test_a_decision_has_every_part_and_is_in_the_index() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    pages = sorted(FOLDER.glob("[0-9]*.md"))

    assert sorted(re.findall(r"(?m)^\* \[\d{4}\]\((.+?)\)", index)) == [page.name for page in pages]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {page.name[:4]}. ")
        assert re.search(r"(?m)^\*\*Status\.\*\* Accepted on \d{4}-\d{2}-\d{2}\.", text), page.name
        parts = [part for part in ("Decision", "Why", "Rejected", "Consequences") if f"\n**{part}" not in text]
        assert not parts, f"{page.name} lacks {parts}"
