"""Strict mode: names what a request depends on that no source tells us about QuickBooks.

The table of rules is an allow-list. Each fact about a request rests on the first rule that names it. A fact warns if
that rule is assumed, and if there is none: a rule that is missing warns, too.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from simulator.basics.sources import Basis
from simulator.basics.statuses import OTHER_TEXTS, STATUSES, severity_of
from simulator.fidelity.facts import facts_of, record_of
from simulator.fidelity.rules import RULES, TEXTS
from simulator.fidelity.situations import facts_after, facts_before
from simulator.requests.coverage import Coverage
from simulator.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Record
    from simulator.requests.responses import Response
    from simulator.schema import Element

MISSING = "No document, capture or accounting identity tells what QuickBooks does."
_REASON = "QuickBooks error message:"
_QUICKBOOKS_REASONS = ("", "Invalid argument.  The specified record does not exist in the list.")
"""Reasons that are QuickBooks' own, and no reason."""
_BRACES = re.compile(r"\{([^{}]*)\}")


def about(name: str) -> str:
    """Return what a warning means. It names a rule of the table, or a fact without a rule."""
    return RULES[name].about if name in RULES else MISSING


def basis(name: str) -> str:
    """Return `assumed` for a rule, and `missing` for a fact without a rule."""
    return str(Basis.ASSUMED) if name in RULES else "missing"


class Watch:
    """Watches one request: made before it is executed, and asked for its warnings afterwards."""

    def __init__(self, request: Node, model: Element, books: Books, edition: str) -> None:
        self._request = request
        self._model = model
        self._books = books
        self._edition = edition
        self._before = tuple(facts_before(request, model, books, edition))
        self._last = books.last_txn_number

    def warnings(self, response: Response) -> tuple[str, ...]:
        """Return the names of assumed rules, and the facts without a rule, that the response depends on."""
        covered = dict.fromkeys(_covered().uses(self._request, self._model))
        names = dict.fromkeys((*(name for _, name in covered), *sorted(self._books.assumptions)))
        if severity_of(response.code) == "Error":
            if not _is_text_of_quickbooks(response):
                names[TEXTS] = None
            return tuple(names)
        tags = {what.partition(" ")[0] for what, _ in covered}
        own = facts_of(self._request, self._model, self._books, tags, self._edition)
        for fact in (*own, *self._before, *self._after()):
            name = warning_of(fact)
            if name and fact not in tags:
                names[name] = None
        return tuple(names)

    def _after(self) -> Iterator[str]:
        for record in self._changed():
            yield from facts_after(self._books, record)

    def _changed(self) -> Iterator[Record]:
        """Yield the transactions that the request added, and the one that it changed."""
        for record in reversed(self._books.transactions.values()):
            if record.number <= self._last:
                break
            yield record
        if self._request.tag.endswith("ModRq") and len(self._request):
            changed = record_of(self._books, self._request[0].findtext("TxnID") or "")
            if changed is not None:
                yield changed


def rules_of(request: Node, books: Books) -> tuple[str, ...]:
    """Return the names of the rules that the facts about a request rest on."""
    model = schema().requests.get(request.tag)
    if model is None:
        return ()
    covered = (name for _, name in _covered().uses(request, model))
    named = (name for fact in facts_of(request, model, books, ()) if (name := rule_of(fact)))
    return tuple(dict.fromkeys((*covered, *named)))


@cache
def warning_of(fact: str) -> str | None:
    """Return the name of the assumed rule that a fact rests on, the fact itself without a rule, else None."""
    name = rule_of(fact)
    return fact if name is None else name if RULES[name].is_assumed else None


def rule_of(fact: str) -> str | None:
    """Return the name of the rule that a fact rests on, None without one."""
    return next((name for name, patterns in _patterns() if any(pattern.fullmatch(fact) for pattern in patterns)), None)


@cache
def _patterns() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    return tuple((name, tuple(map(pattern_of, rule.facts))) for name, rule in RULES.items() if rule.facts)


def pattern_of(text: str) -> re.Pattern[str]:
    """Return the pattern of a fact in the table.

    `{a,b}` is one of several texts and `*` any text. After `: ` come numbers and links. `?` marks those that can be
    left out.
    """
    place, colon, numbers = text.partition(": ")
    start = "(?:.*)".join(re.escape(part) for part in re.split(r"\*", _BRACES.sub(lambda m: f"\0{m[1]}\1", place)))
    start = re.sub("\0(.*?)\1", lambda m: f"(?:{'|'.join(m[1].split(','))})", start)
    names = (f"(?: {name[:-1]})?" if name.endswith("?") else f" {name}" for name in numbers.split())
    return re.compile(f"{start}:{''.join(names)}" if colon else start)


@cache
def _covered() -> Coverage:
    covered = Coverage()
    for name, rule in RULES.items():
        covered.add(name, rule.kinds, rule.covers)
    return covered


def _is_text_of_quickbooks(response: Response) -> bool:
    """Return whether the whole message of a refusal is QuickBooks' own."""
    if response.message in OTHER_TEXTS.get(response.code, ()):
        return True
    text, _, reason = response.message.partition(_REASON)
    pattern = _pattern(response.code)
    return pattern is not None and bool(pattern.fullmatch(text.strip())) and reason.strip() in _QUICKBOOKS_REASONS


@cache
def _pattern(code: int) -> re.Pattern[str] | None:
    """Return a pattern of QuickBooks' text of a status with any values, None if the text is not QuickBooks'."""
    status = STATUSES.get(code)
    if status is None or not status.source.is_known:
        return None
    return re.compile(".*".join(re.escape(part) for part in re.split(r"\{\w+\}", status.text.strip())), re.DOTALL)
