"""The sizes of commits: what each use case commits, as the domain estimates it and as DynamoDB gets it."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore
from domain.storage.commit_size import max_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.storage.changes import Change

SOURCE = Path(__file__).parents[2] / "src"


class MeasuredStore:
    """Passes calls on to a store, and notes the largest commit of each function that commits.

    `estimated` has the entries that the domain expects at most, `sent` those that DynamoDB got: none on a store in
    memory.
    """

    def __init__(self, store: Any) -> None:
        self.store = store
        self.estimated: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self._entries = 0
        if isinstance(store, DynamoDBStore):
            events = store.client.meta.events
            events.register("provide-client-params.dynamodb.TransactWriteItems", self._count)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def _count(self, params: dict[str, Any], **_: Any) -> None:
        self._entries = max(self._entries, len(params["TransactItems"]))

    def commit(self, *changes: Change) -> None:
        """Commit, and note how large the transaction is."""
        frame = inspect.currentframe()
        assert frame
        assert frame.f_back
        site = f"{frame.f_back.f_globals['__name__']}.{frame.f_back.f_code.co_qualname}"
        self._entries = 0
        self.store.commit(*changes)
        expected = max_entries(changes)
        assert self._entries <= expected, f"{site}: {self._entries} entries, but at most {expected} were expected"
        self.estimated[site] = max(self.estimated[site], expected)
        self.sent[site] = max(self.sent[site], self._entries)


def commit_sites() -> set[str]:
    """Return the functions of the domain that commit, found in its syntax trees."""
    return {
        f"{'.'.join(path.relative_to(SOURCE).with_suffix('').parts)}.{name}"
        for path in sorted((SOURCE / "domain").rglob("*.py"))
        for name in _committing(ast.parse(path.read_text()), "")
    }


def _committing(node: ast.AST, prefix: str) -> Iterator[str]:
    """Yield the qualified names of the functions below a node that commit themselves."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name):
                if any(map(_is_commit, _own_nodes(child))):
                    yield prefix + name
                yield from _committing(child, f"{prefix}{name}.<locals>.")
            case ast.ClassDef(name=name):
                yield from _committing(child, f"{prefix}{name}.")
            case _:
                yield from _committing(child, prefix)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions within it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _own_nodes(child)


def _is_commit(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="commit", value=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name.endswith("store")
    return False
