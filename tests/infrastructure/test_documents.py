"""The commands of the documents can be read, and the table of `make test-documents` fits the pages."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from tests.documents.follow import started_twice
from tests.documents.pages import Command, groups_of, pages
from tests.documents.table import READERS, TABLE, CheckedBy, Reader, row_of

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in pages()}


@cache
def documented() -> list[Command]:
    """Return all commands. Bash reads each of them, so this takes a second."""
    return [command for page, text in TEXTS.items() for group in groups_of(page, text) for command in group.commands]


def test_pages_with_commands_are_found_in_every_folder() -> None:
    found = {command.page for command in documented()}

    assert len(documented()) > 90
    assert found > {
        *("README.md", "docs/operations.md", "docs/guides/first-sync.md", "simulator/README.md", "examples/README.md"),
        *("clients/python/README.md", "clients/typescript/README.md", "src/console/vendor/README.md"),
    }


def test_every_row_is_about_a_command_that_no_row_before_it_is_about() -> None:
    used = {id(row_of(TABLE, command)) for command in documented()}

    assert [row for row in TABLE if id(row) not in used] == []


def test_every_reader_has_a_page_with_commands_and_the_texts_that_it_replaces() -> None:
    for reader in READERS:
        text = "\n".join(command.text for command in documented() if command.page == reader.page)
        assert text, reader.page
        assert [old for old, _ in reader.replace if old not in text] == [], reader.page


def test_a_command_that_is_not_run_is_checked_by_a_test_that_exists() -> None:
    assert [row.test for row in TABLE if isinstance(row, CheckedBy) and not (ROOT / row.test).is_file()] == []


def test_every_row_has_a_reason_and_no_row_is_about_any_command() -> None:
    unlikely = Command("any/page.md", 1, "an-unlikely-command --with an-option")

    assert [row for row in TABLE if not row.reason] == []
    assert row_of(TABLE, unlikely) is None


def test_every_make_target_in_a_page_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"(?m)^([a-z0-9-]+):", makefile))
    spans = [(page, span) for page, text in TEXTS.items() for span in re.findall(r"`(make [^`]+)`", text)]
    named = [(page, name) for page, span in spans for name in re.findall(r"^make ([a-z][a-z0-9-]*)", span)]
    named += [
        (command.page, name)
        for command in documented()
        for name in re.findall(r"(?:^|&& |; )make ([a-z][a-z0-9-]*)", command.text)
    ]

    assert len(named) > 150
    assert [(page, name) for page, name in named if name not in targets] == []


def test_every_variable_that_a_page_gives_to_make_is_one_that_it_knows() -> None:
    known = set(re.findall(r"`([A-Z][A-Z0-9_]+)(?:=[^`]*)?`", TEXTS["docs/commands.md"]))
    spans = [(page, span) for page, text in TEXTS.items() for span in re.findall(r"`(make [^`]+)`", text)]
    spans += [(command.page, command.text) for command in documented() if command.text.startswith("make ")]
    given = [
        (page, name)
        for page, span in spans
        for name in re.findall(r"(?<!\S)([A-Z][A-Z0-9_]+)=", re.sub(r'"[^"]*"', "", span))
    ]

    assert len(given) > 50
    assert [(page, name) for page, name in given if name not in known] == []


def test_no_page_starts_a_program_again_without_saying_that_the_former_one_has_to_be_stopped() -> None:
    found = []
    for page, text in TEXTS.items():
        reader = next((reader for reader in READERS if fnmatch(page, reader.page)), Reader("*", ""))
        if groups := groups_of(page, text):
            found += [f"{command}: # Stop {kind} …" for command, kind in started_twice(groups, TABLE, reader)]

    assert found == []
