"""The search text of a record, in which `search_phrase` is looked up (docs/reference/service-contract.md, Search)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml
from domain.whole_values import HAS_MARKS, MatchedAs, is_marked, marked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from domain.records.audit import Actor
    from domain.records.request import QueuedRequest

MAX_TEXT_BYTES = 8 * 1024
"""Maximum length of a search text, in characters. A search reads the texts of all records of a connection."""


_AS_LETTERS = str.maketrans("0123456789abcdef", "ABCDEFGHIJKLMNOP")


def author_mark(author_id: str) -> str:
    """Return the mark in search texts of requests that this API key (`key_…`) or person (a UUID) has queued.

    It has capital letters, so no folded phrase is a part of it. It begins and ends with another letter, so no mark is a
    part of another one.
    """
    digits = author_id.rpartition("_")[2].replace("-", "")
    return f"X{digits.translate(_AS_LETTERS)}X"


def searchable_text(
    record: QueuedRequest, request: qbxml.Request, response_xml: str | None = None, *, queued_by: Actor | None = None
) -> str:
    """Return the folded search text: id, subject, error, label, the request's values and the response's main values.

    The mark of who queued it is the first line.
    """
    label = [marked(MatchedAs.LABEL, record.label)] if record.label else []
    own = "".join(f"{line}\n" for line in (f"{HAS_MARKS}{record.id}", *error_lines(record), *label)).casefold()
    mark = f"{author_mark(queued_by.id)}\n" if queued_by and queued_by.id else ""
    values = qbxml.search_text(request, response_xml).casefold()
    subject = (record.subject or "").casefold()
    # Most parts of a subject are values too. Only the others take space, such as the sum of the lines.
    searched = values[: max(MAX_TEXT_BYTES - len(f"{mark}{subject}\n{own}"), 0)]
    derived = "".join(f"{part}\n" for part in subject.split(qbxml.BETWEEN_PARTS) if part not in searched)
    return _cut(f"{mark}{derived}{own}{values}")


def error_lines(record: QueuedRequest) -> Sequence[str]:
    """Return the lines about the error of a record: its code, its cause if this is a status code, and its message."""
    if record.error is None:
        return []
    texts = dict.fromkeys(filter(None, (record.error.code, record.cause, record.error.message)))
    return [marked(MatchedAs.ERROR, text) for text in texts]


def _cut(text: str) -> str:
    """Return the beginning of a text. It does not end in the middle of a whole value, which would be another value."""
    kept, rest = text[:MAX_TEXT_BYTES], text[MAX_TEXT_BYTES:]
    before, newline, last = kept.rpartition("\n")
    is_whole = not rest or rest.startswith("\n")
    return kept if is_whole or not is_marked(last) else f"{before}{newline}"


def with_lines(text: str, lines: Iterable[str]) -> str:
    """Return a search text with more lines. They come after its first line, which may be the mark of its author."""
    first, *rest = text.split("\n")
    return _cut("\n".join(dict.fromkeys([first, *(line.casefold() for line in lines), *rest])))


def normalized_phrase(phrase: str) -> str:
    """Return a phrase in the form of search texts: folded, with one space for each run of white space."""
    return " ".join(phrase.split()).casefold()


_CHANGE = "change"
"""The word of the console for `Mod` at the end of the name of a request."""


def has_all(text: str, phrases: Iterable[str]) -> bool:
    """Whether a search text contains all of these normalized phrases, or what they mean in the console.

    `invoice change` is also `invoice mod`, and `change` is also `modrq`.
    """
    return all(phrase in text or (phrase.endswith(_CHANGE) and _names_mod(phrase, text)) for phrase in phrases)


def _names_mod(phrase: str, text: str) -> bool:
    """Whether a search text contains a phrase that ends with `change`, with `mod` in place of this word."""
    before = phrase.removesuffix(_CHANGE)
    return f"{before}mod" in text if before.endswith(" ") else not before and "modrq" in text
