"""The index has every decision, and each states its status, its reason and what was rejected."""

from __future__ import annotations

import re

from local.programs import ROOT

FOLDER = ROOT / "docs" / "decisions"


def test_every_decision_is_in_the_index_and_complete() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    pages = sorted(FOLDER.glob("[0-9]*.md"))

    assert sorted(re.findall(r"(?m)^\* \[\d{4}\]\((.+?)\)", index)) == [page.name for page in pages]
    for page in pages:
        parts = re.findall(r"(?m)^\*\*(\w+)", page.read_text(encoding="utf-8"))
        assert {"Status", "Decision", "Why", "Rejected", "Consequences"} <= set(parts), page.name
