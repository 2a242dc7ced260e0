"""Mutants from the syntax tree of a module: each changes one expression or statement."""

from __future__ import annotations

import ast
import copy
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}
CONDITIONS = {
    "attribute_not_exists": "attribute_exists",
    "attribute_exists": "attribute_not_exists",
    " AND ": " OR ",
    " OR ": " AND ",
    " = :": " <> :",
    " <> :": " = :",
    " < :": " <= :",
    " <= :": " < :",
    " >= :": " > :",
}
"""The changes of a condition that is a text for DynamoDB."""

CHECKS = {"strict"}
"""Arguments that only check their caller."""

TRUTHS = (ast.Name, ast.Attribute, ast.Call, ast.NamedExpr)
"""Tests that are negated. Operators have their own changes."""

CONDITION = "ConditionExpression"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module in which the bytes from `start` to `end` are replaced.

    A test that executes one of `lines` can find it. None means that the change is outside of functions, so that every
    test that executes the module can.
    """

    path: Path
    line: int
    start: int
    end: int
    replacement: str
    lines: range | None
    name: str = ""

    def applied(self, source: bytes) -> bytes:
        """Return the source of the module with the change."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]

    def diff(self, source: bytes) -> str:
        """Return the lines that differ."""
        before, after = (text.decode().splitlines() for text in (source, self.applied(source)))
        lines = list(difflib.unified_diff(before, after, lineterm="", n=0))
        return "\n".join(line for line in lines[2:] if not line.startswith("@@"))


def mutants_of(path: Path, *, only_conditions: bool = False) -> list[Mutant]:
    """Return every mutant of a module in the order of the text, or only those of its conditions for DynamoDB."""
    source = path.read_bytes()
    finder = _Finder(path, source, only_conditions=only_conditions)
    finder.visit(ast.parse(source))
    found = dict.fromkeys(mutant for mutant in finder.found if _compiles(mutant.applied(source)))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.replacement))


def lines_to_execute(source: bytes, line: int) -> range | None:
    """Return the lines of the statement at a line, or None if it is outside of functions."""
    finder = _Statement(line)
    finder.visit(ast.parse(source))
    return finder.lines


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _header(node: ast.stmt) -> range:
    """Return the lines of a statement without the statements in it."""
    body: list[ast.stmt] = getattr(node, "body", None) or getattr(getattr(node, "cases", [None])[0], "body", [])
    end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return range(node.lineno, max(end, node.lineno) + 1)


class _Statement(ast.NodeVisitor):
    """Finds the innermost statement that a line belongs to."""

    def __init__(self, line: int) -> None:
        self._line = line
        self._function: ast.AST | None = None
        self.lines: range | None = None

    def generic_visit(self, node: ast.AST) -> None:
        """Look at a node and into it."""
        if isinstance(node, ast.stmt) and self._line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            is_definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
            self.lines = _header(node) if self._function and not is_definition else None
            if isinstance(node, ast.FunctionDef):
                self._function = node
        super().generic_visit(node)


class _Finder(ast.NodeVisitor):
    """Collects the mutants of a module."""

    def __init__(self, path: Path, source: bytes, *, only_conditions: bool) -> None:
        self.found: list[Mutant] = []
        self._path = path
        self._source = source
        self._only_conditions = only_conditions
        self._line_starts = [0]
        for line in source.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._functions = 0
        self._statement: ast.stmt | None = None

    # --- The walk

    def visit(self, node: ast.AST) -> None:
        """Collect the mutants of a node and of those in it."""
        if self._is_left_out(node):
            return
        if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._statement = node
        for replacement in self._replacements(node):
            self._add(node, replacement)
        has_test = isinstance(node, ast.If | ast.IfExp | ast.While) and not self._only_conditions
        if has_test and isinstance(node.test, TRUTHS):  # type: ignore[attr-defined]
            self._add(node.test, ast.UnaryOp(ast.Not(), node.test))  # type: ignore[attr-defined]
        is_function = isinstance(node, ast.FunctionDef)
        if isinstance(node, ast.FunctionDef):
            for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                self.visit(default)
        self._functions += is_function
        for child in self._children(node):
            self.visit(child)
        self._functions -= is_function

    @staticmethod
    def _is_left_out(node: ast.AST) -> bool:
        """Whether a node has no behaviour: a docstring, an import, a name of a type, a check of the caller."""
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
                return True
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
                return True
            case ast.keyword(arg=name) if name in CHECKS:
                return True
        return False

    @staticmethod
    def _children(node: ast.AST) -> Iterator[ast.AST]:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield from node.body
            case ast.AnnAssign():
                yield from filter(None, [node.value])
            case ast.Raise() | ast.JoinedStr():
                pass
            case _:
                yield from ast.iter_child_nodes(node)

    def _add(self, node: ast.AST, replacement: str | ast.AST) -> None:
        if isinstance(replacement, ast.AST):
            replacement = ast.unparse(ast.fix_missing_locations(replacement))
            if isinstance(node, ast.BoolOp | ast.BinOp | ast.IfExp):
                replacement = f"({replacement})"
        start, end = self._offsets(node)
        lines = _header(self._statement) if self._functions and self._statement else None
        self.found.append(Mutant(self._path, node.lineno, start, end, replacement, lines))  # type: ignore[attr-defined]

    def _offsets(self, node: ast.AST) -> tuple[int, int]:
        start = self._line_starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = self._line_starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return start, end

    # --- The changes

    def _replacements(self, node: ast.AST) -> Iterator[str | ast.AST]:
        yield from self._of_conditions(node)
        if self._only_conditions:
            return
        match node:
            case ast.expr():
                yield from self._of_operators(node)
                yield from self._of_values(node)
                yield from self._of_parts(node)
            case ast.stmt():
                yield from self._of_statements(node)
        yield from self._of_filters(node)

    def _of_conditions(self, node: ast.AST) -> Iterator[str | ast.AST]:
        """Change the text of a condition, or leave it out."""
        match node:
            case ast.Constant(value=str()) | ast.JoinedStr():
                start, end = self._offsets(node)
                text = self._source[start:end].decode()
                for former, other in CONDITIONS.items():
                    for found in re.finditer(re.escape(former), text):
                        yield text[: found.start()] + other + text[found.end() :]
            case ast.Dict():
                for number, key in enumerate(node.keys):
                    if isinstance(key, ast.Constant) and key.value == CONDITION:
                        yield _without(node, "keys", number, "values")
            case ast.Call() if self._only_conditions:
                for number, keyword in enumerate(node.keywords):
                    if keyword.arg == CONDITION:
                        yield _without(node, "keywords", number)

    @staticmethod
    def _of_operators(node: ast.expr) -> Iterator[ast.AST]:
        match node:
            case ast.Compare():
                for number, operator in enumerate(node.ops):
                    if other := COMPARISONS.get(type(operator)):
                        changed = copy.deepcopy(node)
                        changed.ops[number] = other()
                        yield changed
            case ast.BoolOp():
                swapped = copy.deepcopy(node)
                swapped.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield swapped
                for number in range(len(node.values)):
                    shorter = _without(node, "values", number)
                    yield shorter if len(shorter.values) > 1 else shorter.values[0]
            case ast.UnaryOp(op=ast.Not()):
                yield node.operand
            case ast.BinOp(op=ast.BitOr()):
                yield node.left
                yield node.right
            case ast.BinOp() if other_operator := ARITHMETIC.get(type(node.op)):
                yield ast.BinOp(node.left, other_operator(), node.right)

    @staticmethod
    def _of_values(node: ast.expr) -> Iterator[str | ast.AST]:
        match node:
            case ast.Constant(value=bool() as truth):
                yield str(not truth)
            case ast.Constant(value=int() | float() as number):
                yield repr(number + 1)
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                yield ast.Call(ast.Name(FUNCTIONS[name]), node.args, node.keywords)
            case ast.Call():
                for place, keyword in enumerate(node.keywords):
                    if keyword.arg and keyword.arg not in CHECKS:
                        yield _without(node, "keywords", place)

    @staticmethod
    def _of_parts(node: ast.expr) -> Iterator[ast.AST]:
        """Leave out a bound of a slice, an element of a set, or a group of elements of a list."""
        match node:
            case ast.Subscript(slice=ast.Slice()):
                for bound in ("lower", "upper"):
                    if getattr(node.slice, bound):
                        changed = copy.deepcopy(node)
                        setattr(changed.slice, bound, None)
                        yield changed
            case ast.Set() | ast.List() | ast.Tuple() if isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                for place, element in enumerate(node.elts):
                    if len(node.elts) > 1 and (isinstance(node, ast.Set) or isinstance(element, ast.Starred)):
                        yield _without(node, "elts", place)

    @staticmethod
    def _of_filters(node: ast.AST) -> Iterator[ast.AST]:
        """Leave out a condition of a comprehension."""
        match node:
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for number, comprehension in enumerate(node.generators):
                    for condition in range(len(comprehension.ifs)):
                        changed = copy.deepcopy(node)
                        del changed.generators[number].ifs[condition]
                        yield changed

    @staticmethod
    def _of_statements(node: ast.stmt) -> Iterator[str | ast.AST]:
        match node:
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
                yield "pass"
            case ast.Continue():
                yield "break"
            case ast.Break():
                yield "continue"


def _without(node: ast.AST, field: str, number: int, *parallel: str) -> Any:
    """Return a copy of a node without the element `number` of a field, and of those that are parallel to it."""
    changed = copy.deepcopy(node)
    for name in (field, *parallel):
        del getattr(changed, name)[number]
    return changed
