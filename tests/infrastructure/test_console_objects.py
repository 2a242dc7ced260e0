"""The console offers the objects that a subscription may have, with what each of them has."""

from __future__ import annotations

import json
import re

from domain.subscriptions.objects import INCLUDES, books_objects
from local.programs import ROOT

TABLE = (ROOT / "src" / "console" / "lib" / "subscriptions.js").read_text(encoding="utf-8")


def test_the_console_offers_the_objects_of_the_schema() -> None:
    offered = {name: json.loads(facts) for name, facts in re.findall(r"^  (\w+): (\[.*\]),$", TABLE, re.MULTILINE)}

    assert offered == {
        known.name: [known.kind.value, *known.includes, *([] if known.deleted_since else ["no_deletions"])]
        for known in books_objects()
    }


def test_the_console_has_words_for_everything_that_can_be_included() -> None:
    words = TABLE.partition("export const INCLUDES = {")[2].partition("};")[0]

    assert re.findall(r"^  (\w+):", words, re.MULTILINE) == list(INCLUDES)
