"""The pages of docs/languages are correct: their code is that of programs that other tests compile and run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.examples.guide import ROOT, blocks_of, is_part_of

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted(set(ROOT.glob("docs/languages/*.md")) - {ROOT / "docs" / "languages" / "README.md"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_code_block_is_part_of_the_example_that_the_page_names(page: Path) -> None:
    """test_openapi_generator.py generates a client as the command at the top of the example says."""
    blocks = blocks_of(page)
    examples = {block.example for block in blocks if block.example}
    assert len(examples) == 2, "a page has a program, and the check of a webhook"
    whole = {example: example.read_text(encoding="utf-8") for example in examples}

    for block in blocks:
        if block.language == "sh":
            assert any(_words(block.text) in _words(text) for text in whole.values()), block.text
        else:
            assert block.example, f"no example is linked before: {block.text}"
            assert is_part_of(block.text, whole[block.example]), f"{block.example}: {block.text}"


def _words(text: str) -> str:
    """Return a command on one line, also if it is in a comment."""
    return " ".join(re.sub(r"^\s*(//|#)|\\$", "", text, flags=re.MULTILINE).split())
