"""The rules of each kind of record.

A rule class serves one or several kinds: `@rules_for("Invoice")`. Kinds without one have `ListRules` or `Rules`. An Add
or Mod calls `complete` and `check`. Then the books store the record and call `effects`, and an Add calls `after_add`.
A response calls `derived`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from simulator.books.ledger import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.books.kinds import Kind
    from simulator.books.ledger import Effects
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books


class Rules:
    """The base of all rules, for kinds without a rule class."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Add the values that the request does not set: defaults, numbers, amounts. Raises `RequestError`."""

    def check(self, books: Books, draft: Draft) -> None:
        """Check a complete draft. Raises `RequestError` if QuickBooks would refuse it."""

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - for the kinds that have effects
        """Return the effects on accounts, other transactions and stock, without changing anything."""
        return NOTHING

    def after_add(self, books: Books, record: Record, draft: Draft) -> None:
        """Add the further records that an Add creates, such as the transaction of an opening balance."""

    def derived(self, books: Books, record: Record) -> Fields:  # noqa: ARG002 - for the kinds that have such fields
        """Return the fields that are computed when the record is shown: balances, quantities, links."""
        return {}

    def check_delete(self, books: Books, record: Record) -> None:
        """Check that the record can be deleted. Raises `RequestError`."""


_rules: dict[str, Rules] = {}
_R = TypeVar("_R", bound=type[Rules])


def rules_for(*kinds: str) -> Callable[[_R], _R]:
    """Register a class of rules for these kinds."""

    def register(rules: _R) -> _R:
        _rules.update({kind: rules() for kind in kinds})
        return rules

    return register


def of(kind: Kind) -> Rules:
    """Return the rules of a kind."""
    return _rules.get(kind.name) or _rules["list" if kind.is_list else "transaction"]
