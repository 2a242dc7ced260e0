"""What an assistant can look up: the fields of each request, and the documents."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

MAX_SEARCH_CHARACTERS = 500
MAX_SECTIONS = 5
MAX_SECTION_CHARACTERS = 3_000

_CLASS = re.compile(r"^(?=class |\w+ = TypedDict)", re.MULTILINE)
_NAME = re.compile(r"(?:class )?(\w+)")
_USED = re.compile(r"\bq\.(\w+)|\((_\w+)\)")
_WORD = re.compile(r"\w+")


class UnknownRequest(ValueError):
    """No request has this name. The message lists the nearest names."""


def request_names() -> list[str]:
    """Return the names of all requests, such as `InvoiceAddRq`."""
    return sorted(name for name in _types() if name.endswith("Rq"))


def describe(request_name: str) -> dict[str, Any]:
    """Return the fields of a request as Python types, with the limits of each, and an example if there is one."""
    if request_name not in request_names():
        nearest = difflib.get_close_matches(request_name, request_names(), n=5, cutoff=0.4)
        raise UnknownRequest(
            f"{request_name[:80]!r} is not a request of QBXML. Near names: {', '.join(nearest) or 'none'}."
        )
    written: dict[str, str] = {}
    pending = [request_name]
    for name in pending:
        if name in written or name not in _types():
            continue
        written[name] = _types()[name].strip()
        pending += [used for pair in _USED.findall(written[name]) for used in pair if used]
    described: dict[str, Any] = {"name": request_name, "fields": "\n\n".join(written.values())}
    sample = _data("samples.json").get(request_name)
    if sample is not None:
        described["example"] = {request_name: sample}
    return described


def search(words: str) -> list[dict[str, str]]:
    """Return the sections of the documents that have the words, the best first.

    A word counts the more, the fewer sections have it, and three times if it is in the heading.
    """
    wanted = _words(words[:MAX_SEARCH_CHARACTERS])
    sections = _data("documents.json")
    found = [(_words(section["text"]) & wanted, _words(section["heading"]) & wanted) for section in sections]
    counts = Counter(word for text, heading in found for word in text | heading)
    scores = [sum(1 / counts[word] for word in (*text, *heading, *heading)) for text, heading in found]
    best = sorted((place for place, score in enumerate(scores) if score), key=lambda place: -scores[place])
    chosen = (sections[place] for place in best[:MAX_SECTIONS])
    return [{**section, "text": _excerpt(section["text"], wanted)} for section in chosen]


def document(page: str) -> str:
    """Return a page as Markdown."""
    sections = [section for section in _data("documents.json") if section["page"] == page]
    return "\n\n".join(f"# {section['heading']}\n\n{section['text']}" for section in sections)


def _excerpt(text: str, wanted: set[str]) -> str:
    """Return the text, or if it is long, its lines that have most of the words."""
    if len(text) <= MAX_SECTION_CHARACTERS:
        return text
    lines = text.split("\n")
    best = sorted(range(len(lines)), key=lambda place: -len(wanted & _words(lines[place])))
    kept, size = set[int](), 0
    for place in best:
        size += len(lines[place]) + 1
        if size > MAX_SECTION_CHARACTERS:
            break
        kept.add(place)
    return "\n".join(lines[place] for place in sorted(kept))


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


@cache
def _types() -> dict[str, str]:
    """Return the source of each type of a request, by its name."""
    source = (files("qbxml_queue.schema") / "requests.py").read_text(encoding="utf-8")
    return {match[1]: block for block in _CLASS.split(source)[1:] if (match := _NAME.match(block))}


@cache
def _data(name: str) -> Any:
    return json.loads((files("qbxml_queue.schema") / name).read_bytes())
