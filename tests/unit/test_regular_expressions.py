"""Every regular expression of the deployed code takes time in proportion to its input.

The steps of a backtracking matcher are counted, not timed.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from domain.qbxml.schema.value_types import BASE_TYPES
from tests.support.regex_steps import Matcher, attacks, growth, has_unbounded_repeat

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[2] / "src"
FUNCTIONS = {"compile", "sub", "match", "fullmatch", "search", "split", "findall", "finditer", "subn"}
ANCHORED = {"match", "fullmatch"}

MAX_GROWTH = 6
"""Input that is four times as long may take this many times as many steps; a quadratic match takes 16 times as many."""


def expressions() -> Iterator[tuple[str, str, int, bool]]:
    """Yield where each expression is, its pattern, its flags, and whether it searches."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        attributes = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        targets = {
            id(node.value): target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_re(node.func)):
                continue
            where = f"{path.relative_to(SOURCE)}:{node.lineno}"
            namespace = vars(importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts)))
            try:
                pattern, *flags = [_value(argument, namespace) for argument in (node.args[0], *_flags(node))]
            except NameError:
                assert where.startswith("domain/qbxml/schema/value_types.py"), f"{where}: the pattern is not a constant"
                continue
            methods = {attributes.get(id(node), node.func.attr)} - {"compile"}
            methods |= set(re.findall(rf"\b{targets[id(node)]}\.(\w+)\(", text)) if id(node) in targets else set()
            pattern = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
            yield where, pattern, flags[0] if flags else 0, not methods or not methods <= ANCHORED


def _is_re(function: ast.Attribute) -> bool:
    return isinstance(function.value, ast.Name) and function.value.id == "re" and function.attr in FUNCTIONS


def _flags(node: ast.Call) -> list[ast.expr]:
    is_compile = isinstance(node.func, ast.Attribute) and node.func.attr == "compile"
    return node.args[1:2] if is_compile else []


def _value(expression: ast.expr, namespace: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(expression), "pattern", "eval"), namespace)  # noqa: S307 - our own source


EXPRESSIONS = list(expressions())


@pytest.mark.parametrize(
    ("pattern", "flags", "searches"), [each[1:] for each in EXPRESSIONS], ids=[each[0] for each in EXPRESSIONS]
)
def test_a_regular_expression_takes_linear_time(pattern: str, flags: int, *, searches: bool) -> None:
    slow = [
        attack(5)
        for attack in attacks(pattern, flags)
        if growth(pattern, flags, attack, searches=searches) > MAX_GROWTH
    ]

    assert slow == []


@pytest.mark.parametrize("name", sorted(BASE_TYPES))
def test_a_base_type_takes_constant_time(name: str) -> None:
    matcher = getattr(BASE_TYPES[name].accepts, "__self__", None)

    assert not isinstance(matcher, re.Pattern) or not has_unbounded_repeat(matcher)


@pytest.mark.parametrize(
    ("pattern", "searches"),
    [
        (r"[ \t]*(?:true)?[ \t]*\Z", False),
        (r"0*(\d+)\Z", False),
        (r"<Rs\s[^>]*?id=", True),
        (r"\s+\Z", True),
        (r"(\w+)Rs\s", True),
    ],
)
def test_a_quadratic_expression_is_noticed(pattern: str, *, searches: bool) -> None:
    assert max(growth(pattern, 0, attack, searches=searches) for attack in attacks(pattern)) > MAX_GROWTH


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"[ \t]*(?:true|1)?[ \t]*", " 1 "),
        (r"(?:ab|a)*b?\Z", "abaab"),
        (r"a{2,3}?b", "aab"),
        (r"&(?!#)[^;]*;", "&a;"),
        (r"\bversion\s*=(?=\d)", "version =1"),
        (r"[^\W\d]+?x", "abx"),
    ],
)
def test_the_matcher_agrees_with_python(pattern: str, text: str) -> None:
    for cut in range(len(text) + 1):
        expected = re.match(pattern, text[:cut])
        assert Matcher(pattern).match(text[:cut], 0) == (expected.end() if expected else None)
