"""What a Mod has so that it changes only what its caller names, and what somebody else has changed meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qbxml_queue.errors import Change
from qbxml_queue.schema.kinds import PARTS
from qbxml_queue.values import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qbxml_queue.kinds import Kind

NEW_LINE = "-1"
"""The TxnLineID of a line that a Mod adds."""

_JOURNAL = ("JournalDebitLine", "JournalCreditLine")
_INNER = {
    "ItemGroupLineMod": "ItemLineMod",
    **{f"{name}LineGroupMod": f"{name}LineMod" for name in ("CreditMemo", "Estimate", "Invoice", "PurchaseOrder")},
    **{f"{name}LineGroupMod": f"{name}LineMod" for name in ("SalesOrder", "SalesReceipt")},
}
"""The lines in the group of each type."""
_CLEARED = {"ClearExpenseLines": ("ExpenseLineMod",), "ClearItemLines": ("ItemLineMod", "ItemGroupLineMod")}
"""What a Mod has in place of lines that all go."""

Object = Mapping[str, Any]


def merged(kind: Kind, fields: Object, removed: Sequence[str], current: Object) -> dict[str, Any]:
    """Return the fields of a Mod of an object. Raises ValueError for a line that the object does not have.

    QuickBooks deletes the lines that a Mod with lines does not list, so it lists those that stay. The parts of an
    address that are not named are those that were read.
    """
    fields = {name: _whole(name, value, current) for name, value in fields.items()}
    if not removed and not any(family in fields for family in kind.changed_lines):
        return fields
    _check_lines(kind, fields, removed, current)
    listed = {family: list(_lines(family, fields.get(family, ()), removed, current)) for family in kind.changed_lines}
    cleared = {
        flag: True
        for flag, families in _CLEARED.items()
        if any(_lines_of(family, current) for family in families if family in listed)
        and not any(listed.get(family) for family in families)
    }
    if not cleared and not any(listed.values()):
        message = f"A {kind.name} must keep a line: QuickBooks keeps all lines if its Mod lists none."
        raise ValueError(message)
    return fields | {family: lines for family, lines in listed.items() if lines} | cleared


def _whole(name: str, value: Any, current: Object) -> Any:
    """Return an address with the parts that its caller did not name."""
    if name not in PARTS or not isinstance(value, Mapping):
        return value
    read = current.get(name, {})
    return {**{part: read[part] for part in PARTS[name] if part in read}, **value}


def _lines(family: str, named: Sequence[Object], removed: Sequence[str], current: Object) -> Iterator[dict[str, Any]]:
    """Yield the lines of a Mod: those of the object in their order, as they are or changed, then new ones."""
    changed = {line["TxnLineID"]: line for line in named}
    for line in _lines_of(family, current):
        if line["TxnLineID"] not in removed:
            yield _line(family, changed.get(line["TxnLineID"], {}), removed, line)
    yield from (dict(line) for line in named if line["TxnLineID"] == NEW_LINE)


def _line(family: str, named: Object, removed: Sequence[str], current: Object) -> dict[str, Any]:
    """Return a line that stays. A group lists its lines if one of them changes or goes."""
    line = {"TxnLineID": current["TxnLineID"], **named}
    inner = _INNER.get(family)
    if inner and (inner in named or any(one["TxnLineID"] in removed for one in _lines_of(inner, current))):
        line[inner] = list(_lines(inner, named.get(inner, ()), removed, current))
    return line


def _lines_of(family: str, current: Object) -> list[Object]:
    """Return the lines of an object, or of a group, that a family of lines in a Mod changes."""
    names = _JOURNAL if family == "JournalLineMod" else (f"{family.removesuffix('Mod')}Ret",)
    return [line for name in names for line in current.get(name, ())]


def line_ids(kind: Kind, current: Object) -> set[str]:
    """Return the ids of all lines of an object."""
    return set(_all_lines(kind.changed_lines, current))


def _all_lines(families: Sequence[str], current: Object) -> dict[str, Object]:
    """Return all lines of an object by their ids, those in groups too."""
    found: dict[str, Object] = {}
    for family in families:
        for line in _lines_of(family, current):
            found[line["TxnLineID"]] = line
            if family in _INNER:
                found |= _all_lines([_INNER[family]], line)
    return found


def _named_lines(families: Sequence[str], fields: Object) -> Iterator[tuple[str, Object]]:
    """Yield the lines that a caller changes, each with its family."""
    for family in families:
        for line in fields.get(family, ()):
            if line["TxnLineID"] != NEW_LINE:
                yield family, line
                yield from _named_lines([_INNER[family]] if family in _INNER else [], line)


def _check_lines(kind: Kind, fields: Object, removed: Sequence[str], current: Object) -> None:
    """Raise ValueError for a line that would be lost: one in another place, one named twice, or one that is missing."""
    whole = f"{kind.name} {current[kind.key]}"
    named = [line["TxnLineID"] for _, line in _named_lines(kind.changed_lines, fields)]
    if twice := next((one for one, number in Counter([*named, *set(removed)]).items() if number > 1), None):
        raise ValueError(f"The line {twice!r} of {whole} is named twice.")
    known = _all_lines(kind.changed_lines, current)
    if missing := next((one for one in removed if one not in known), None):
        raise ValueError(f"{whole} has no line {missing!r}. Its lines: {', '.join(known)}.")
    _check_places(kind.changed_lines, fields, current, whole)


def _check_places(families: Sequence[str], fields: Object, container: Object, whole: str) -> None:
    for family in families:
        lines = {line["TxnLineID"]: line for line in _lines_of(family, container)}
        for line in fields.get(family, ()):
            line_id = line["TxnLineID"]
            if line_id == NEW_LINE:
                continue
            if line_id not in lines:
                raise ValueError(f"{whole} has no line {line_id!r} in {family}. Its lines there: {', '.join(lines)}.")
            if family in _INNER:
                _check_places([_INNER[family]], line, lines[line_id], whole)


def changed_meanwhile(
    kind: Kind, fields: Object, removed: Sequence[str], before: Object, now: Object
) -> list[Change] | None:
    """Return the fields in which both changed the same object, or None if QuickBooks does not return one of them."""
    from qbxml_queue.schema.returned import RETURNED  # noqa: PLC0415 - a large module that few programs need

    tree = RETURNED[f"{kind.name}ModRs"][f"{kind.name}Ret"]
    plain = {name: value for name, value in fields.items() if name not in kind.changed_lines}
    if any(_returned_name(name, tree) is None for name in plain):
        return None
    found = list(_changes("", plain, tree, before, now))
    lines, lines_now = (_all_lines(kind.changed_lines, one) for one in (before, now))
    for family, line in _named_lines(kind.changed_lines, fields):
        line_id = line["TxnLineID"]
        trees = {**tree, **next((t for t in tree.values() if f"{family.removesuffix('Mod')}Ret" in t), {})}
        inner = trees.get(f"{family.removesuffix('Mod')}Ret") or tree.get(_JOURNAL[0], {})
        named = {name: value for name, value in line.items() if name not in {"TxnLineID", _INNER.get(family)}}
        if any(_returned_name(name, inner) is None for name in named):
            return None
        if line_id not in lines_now:
            found.append(Change(f"line {line_id}", lines[line_id], None, line))
        else:
            found += _changes(f"line {line_id}/", named, inner, lines[line_id], lines_now[line_id])
    found += [
        Change(f"line {line_id}", lines[line_id], lines_now[line_id], None)
        for line_id in removed
        if line_id in lines_now and lines_now[line_id] != lines[line_id]
    ]
    return found


def _changes(path: str, wanted: Object, tree: Object, before: Object, now: Object) -> Iterator[Change]:
    """Yield the fields that a caller changes and that somebody else has changed to another value."""
    for name, value in wanted.items():
        returned = _returned_name(name, tree)
        assert returned is not None  # noqa: S101 - its callers have looked
        if name in PARTS and isinstance(value, Mapping):
            yield from _changes(f"{name}/", value, tree[returned], before.get(returned, {}), now.get(returned, {}))
            continue
        old, new = before.get(returned), now.get(returned)
        if old != new and to_json(value) != to_json(new):
            yield Change(f"{path}{name}", old, new, value)


def _returned_name(name: str, tree: Object) -> str | None:
    """Return the name that a field of a Mod has in the object: `SalesOrPurchaseMod` is `SalesOrPurchase`."""
    stem = name.removesuffix("Mod")
    return next((one for one in (name, f"{stem}Ret", stem) if one in tree), None)
