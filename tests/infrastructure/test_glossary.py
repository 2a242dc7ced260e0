"""One name has one meaning: of classes, of events and of actions in the audit log (docs/glossary.md)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from domain.records.audit import Action
from domain.records.event_types import EVENT_TYPES

ROOT = Path(__file__).resolve().parents[2]
CELLS = re.findall(r"(?m)^\| ([^|]+?) \| [^|]+ \|$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
TERMS = Counter(term.strip() for cell in CELLS[1:] for term in cell.split(","))

CASES = {"Ended"}
"""Cases of closed types: the former session has ended, or the request. They are always read with their type."""


def classes(folder: str) -> list[str]:
    """Return the names of the classes and of the types below a folder of `src`."""
    paths = (ROOT / "src" / folder).rglob("*.py")
    nodes = [node for path in paths for node in ast.parse(path.read_text(encoding="utf-8")).body]
    names = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    types = [node for node in nodes if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"]
    return [name for name in (*names, *(ast.unparse(node.target) for node in types)) if not name.startswith("_")]


def test_no_two_classes_and_no_two_terms_have_the_same_name() -> None:
    twice = [
        name
        for names in (Counter(classes(".")), TERMS)
        for name, number in names.items()
        if number > 1 and name not in CASES
    ]

    assert twice == [], "one name has one meaning: name one of them by what is special about it"


def test_every_record_with_a_name_of_one_word_is_a_term() -> None:
    words = [name.lower() for name in classes("domain/records") if not re.search("[A-Z]", name[1:])]

    assert "connection" in words
    assert sorted(set(words) - set(TERMS)) == [], "add the term to docs/glossary.md"


def test_an_event_of_a_connection_has_no_name_of_an_action() -> None:
    """An action is what a person does, and an event what happens. One name for both would have two meanings."""
    actions = {action.value.removeprefix("connection_") for action in Action}
    events = {event.removeprefix("connection.") for event in EVENT_TYPES}

    assert "calling_again" in events
    assert sorted(events & actions) == []
