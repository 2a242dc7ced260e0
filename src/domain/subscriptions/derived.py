"""Derived fields of lists: balances and quantities, which QuickBooks changes without `TimeModified`.

They are read for all entries, and those that differ from what the feed has said are emitted. They are never a part of a
record, so they cannot take the place of a newer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.subscriptions.remembered import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from domain.subscriptions.objects import BooksObject
    from domain.subscriptions.remembered import Remembered

MAX_PAGE = 1_000
"""How many entries a page has at most."""

MAX_DERIVED = 20_000
"""Of how many entries of a list the derived fields are kept up to date."""

TOO_MANY = f"The list has more than {MAX_DERIVED:,} entries. The derived fields of the others are not read."


def changed_fields(
    known: BooksObject,
    rows: Collection[Mapping[str, Any]],
    names: Sequence[str],
    remembered: Remembered,
    *,
    as_of: str,
) -> tuple[list[dict[str, Any]], bool]:
    """Return the contents of the events of entries whose fields have changed, and remember them.

    The second value is whether all entries could be remembered. The others are left out.
    """
    contents: list[dict[str, Any]] = []
    is_whole = True
    for row in rows:
        id_, text = row[known.id_field], digest(row, names)
        said = remembered.get(id_)
        if said is None and len(remembered) >= MAX_DERIVED:
            is_whole = False
        elif said != text:
            remembered.put(id_, text)
            fields = {name: row[name] for name in names if name in row}
            contents.append({"id": id_, "as_of": as_of, "derived": fields})
    return contents, is_whole
