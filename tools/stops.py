"""Counts what somebody reads to follow a call of the Web Connector: stops, rooms and returns.

    python -m tools.stops [REPOSITORY]

A stop is a function of FOLDERS that the call reaches, directly or through others. A room is a file with a stop. Returns
are the `return` statements of the stops, but for a last statement. A function that is passed on counts as called. A
method of another object is followed by the type of a parameter with the object's name, or if one class has the method.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TypeAlias

FOLDERS = ("domain.batches", "domain.web_connector.outcomes", "domain.web_connector.session")
SERVICE = "domain.web_connector.session.service"
WAYS = {"sending": "SessionService._send", "receiving": "SessionService._receive"}

Stop: TypeAlias = tuple[str, str]
"""A module, and the name of a function with its class."""


class Rooms:
    """The functions of FOLDERS."""

    def __init__(self, source: Path) -> None:
        self.functions: dict[Stop, ast.FunctionDef] = {}
        self._imported: dict[Stop, str] = {}
        self._types: dict[Stop, str] = {}
        for folder in FOLDERS:
            for path in source.joinpath(*folder.split(".")).glob("*.py"):
                self._read(f"{folder}.{path.stem}", ast.parse(path.read_text(encoding="utf-8")))

    def _read(self, module: str, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                self._imported |= {(module, alias.name): f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.arg) and node.annotation:
                self._types[module, node.arg] = re.findall(r"\w+", ast.unparse(node.annotation))[0]
        for node in tree.body:
            for function in [node, *(node.body if isinstance(node, ast.ClassDef) else ())]:
                if isinstance(function, ast.FunctionDef):
                    owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                    self.functions[module, owner + function.name] = function

    def reached(self, entry: Stop) -> set[Stop]:
        """Return the stops of a way, with its entry."""
        found, todo = {entry}, [entry]
        while todo:
            stop = todo.pop()
            called = {self._called(stop, node) for node in ast.walk(self.functions[stop])}
            following = self.functions.keys() & called - found
            found |= following
            todo += following
        return found

    def _called(self, stop: Stop, node: ast.AST) -> Stop | None:
        module, function = stop
        if isinstance(node, ast.Name):
            parent, _, name = self._imported.get((module, node.id), f"{module}.{node.id}").rpartition(".")
            return parent, name
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        owner, name = ast.unparse(node.func.value), node.func.attr
        if owner == "self":
            return module, f"{function.partition('.')[0]}.{name}"
        if (module, owner) in self._imported:
            return self._imported[module, owner], name
        kind = self._types.get((module, re.findall(r"[^._]\w*|$", owner)[-2]), r"\w+")
        methods = [method for method in self.functions if re.fullmatch(rf"{kind}\.{name}", method[1])]
        return methods[0] if len(methods) == 1 else None

    def returns(self, stop: Stop) -> int:
        """Return the number of returns of a stop before its end."""
        function = self.functions[stop]
        return sum(isinstance(node, ast.Return) and node is not function.body[-1] for node in ast.walk(function))


def main(root: Path) -> None:
    """Print a line for each way."""
    rooms = Rooms(root / "src")
    for way, entry in WAYS.items():
        stops = rooms.reached((SERVICE, entry))
        files = {module for module, _ in stops}
        print(f"{way}: {len(stops)} stops, {len(files)} rooms, {sum(map(rooms.returns, stops))} returns")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])
