"""Expressions: conditions, filters, key conditions, updates and projections.

Supports top-level attributes. A document path (`a.b`, `a[0]`), a set function or a function that the service does not
use is refused, so that nobody relies on it. The text of an expression is parsed once and then kept; the values of its
placeholders are looked up in each call.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Context, Decimal, Inexact
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

from local.emulated_dynamodb.values import comparable, invalid, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.emulated_dynamodb.values import Item, Value

TEXTS_KEPT = 4096

_TOKEN = re.compile(r"\s*(?:([#:]?[A-Za-z0-9_]+)|(<>|<=|>=|[=<>+\-(),]))")

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_NUMBERS = Context(prec=38, traps=[Inexact])

Operand: TypeAlias = Callable[["Placeholders", "Item"], "Value | None"]
Test: TypeAlias = Callable[["Placeholders", "Item"], bool]


@dataclass(frozen=True, slots=True)
class Placeholders:
    """The names (`#name`) and values (`:value`) of a request."""

    names: Mapping[str, str]
    values: Mapping[str, Value]

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Placeholders:
        """Return the placeholders of a request or of an entry of a transaction."""
        return cls(request.get("ExpressionAttributeNames") or {}, request.get("ExpressionAttributeValues") or {})

    def attribute(self, name: str) -> str:
        """Return the attribute that a name in an expression means."""
        return self.names[name] if name.startswith("#") else name

    def check(self, *expressions: Parsed | None) -> None:
        """Raise a ValidationException unless the expressions use exactly these placeholders."""
        used_names = {name for expression in expressions if expression for name in expression.placeholders}
        for kind, sign, defined_names in (("name", "#", self.names), ("value", ":", self.values)):
            undefined_names = sorted(name for name in used_names if name.startswith(sign) and name not in defined_names)
            if undefined_names:
                raise invalid(
                    f"Invalid expression: An expression attribute {kind} used in the document path is not defined; "
                    f"attribute {kind}: {undefined_names[0]}"
                )
            unused_names = sorted(name for name in defined_names if name not in used_names)
            if unused_names:
                raise invalid(
                    f"Value provided in ExpressionAttribute{kind.title()}s unused in expressions: "
                    f"keys: {{{', '.join(unused_names)}}}"
                )


@dataclass(frozen=True, slots=True)
class KeyTest:
    """One comparison of a key condition: an attribute, an operator, and one or two values."""

    name: str
    comparison: str
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What every parsed expression has: the placeholders that it uses."""

    placeholders: frozenset[str]


@dataclass(frozen=True, slots=True)
class Condition(Parsed):
    """A condition or filter. `key_tests` are its comparisons if they are joined by AND alone."""

    test: Test
    key_tests: tuple[KeyTest, ...]

    def holds(self, placeholders: Placeholders, item: Item | None) -> bool:
        """Return whether the condition holds for an item, or for a missing item if `item` is None."""
        return self.test(placeholders, item or {})


@dataclass(frozen=True, slots=True)
class Update(Parsed):
    """An update: each action is an attribute and the operand of its new value (None removes the attribute)."""

    actions: tuple[tuple[str, Operand], ...]

    def apply(self, placeholders: Placeholders, item: Item) -> Item:
        """Return the updated item. All operands read the item as it was."""
        updated = dict(item)
        for name, operand in self.actions:
            value = operand(placeholders, item)
            attribute = placeholders.attribute(name)
            if value is None:
                updated.pop(attribute, None)
            else:
                updated[attribute] = value
        return updated

    def attributes(self, placeholders: Placeholders) -> list[str]:
        """Return the attributes that the update changes."""
        return [placeholders.attribute(name) for name, _ in self.actions]


@dataclass(frozen=True, slots=True)
class Projection(Parsed):
    """The attributes that a response contains."""

    names: tuple[str, ...]

    def of(self, placeholders: Placeholders, item: Item) -> Item:
        """Return the projected attributes of an item."""
        attributes = [placeholders.attribute(name) for name in self.names]
        return {name: item[name] for name in attributes if name in item}


@lru_cache(TEXTS_KEPT)
def condition(text: str) -> Condition:
    """Parse a condition, filter or key condition."""
    parser = _Parser(text)
    test = parser.any_of()
    parser.end()
    return Condition(frozenset(parser.placeholders), test, tuple(parser.key_tests) if parser.is_conjunction else ())


@lru_cache(TEXTS_KEPT)
def update(text: str) -> Update:
    """Parse an update."""
    parser = _Parser(text)
    actions = parser.clauses()
    return Update(frozenset(parser.placeholders), tuple(actions))


@lru_cache(TEXTS_KEPT)
def projection(text: str) -> Projection:
    """Parse a projection."""
    parser = _Parser(text)
    names = tuple(parser.separated(parser.name))
    parser.end()
    return Projection(frozenset(parser.placeholders), names)


@dataclass
class _Parser:
    """A recursive descent parser. Each method reads the part of an expression that its name says, and returns it."""

    text: str
    placeholders: set[str] = field(default_factory=set)
    key_tests: list[KeyTest] = field(default_factory=list)
    is_conjunction: bool = True
    _tokens: list[str] = field(init=False)
    _position: int = 0

    def __post_init__(self) -> None:
        self._tokens = []
        position, end = 0, len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                raise self._unsupported(self.text[position:].strip())
            self._tokens.append(match[1] or match[2])
            position = match.end()

    # --- Conditions

    def any_of(self) -> Test:
        tests = [self._all_of()]
        while self._takes("OR"):
            self.is_conjunction = False
            tests.append(self._all_of())
        return tests[0] if len(tests) == 1 else lambda at, item: any(test(at, item) for test in tests)

    def _all_of(self) -> Test:
        tests = [self._one()]
        while self._takes("AND"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda at, item: all(test(at, item) for test in tests)

    def _one(self) -> Test:
        if self._takes("NOT"):
            self.is_conjunction = False
            test = self._one()
            return lambda at, item: not test(at, item)
        if self._takes("("):
            test = self.any_of()
            self._expect(")")
            return test
        match self._next().lower():
            case "attribute_exists":
                (name,) = self._arguments(self.name)
                return lambda at, item: at.attribute(name) in item
            case "attribute_not_exists":
                (name,) = self._arguments(self.name)
                return lambda at, item: at.attribute(name) not in item
            case "begins_with":
                name, start = self._arguments(self.name, self._value)
                self.key_tests.append(KeyTest(name, "begins_with", (start,)))
                return lambda at, item: _begins_with(item.get(at.attribute(name)), at.values[start])
            case _:
                self._position -= 1
                return self._comparison()

    def _comparison(self) -> Test:
        name = self.name()
        match self._next():
            case "=":
                value = self._value()
                self.key_tests.append(KeyTest(name, "=", (value,)))
                return lambda at, item: _equal(item.get(at.attribute(name)), at.values[value])
            case "<>":
                self.is_conjunction = False
                value = self._value()
                return lambda at, item: not _equal(item.get(at.attribute(name)), at.values[value])
            case "<" | "<=" | ">" | ">=" as sign:
                value, compare = self._value(), _ORDER[sign]
                self.key_tests.append(KeyTest(name, sign, (value,)))
                return lambda at, item: _ordered(compare, item.get(at.attribute(name)), at.values[value])
            case "BETWEEN":
                low = self._value()
                self._expect("AND")
                high = self._value()
                self.key_tests.append(KeyTest(name, "BETWEEN", (low, high)))
                return lambda at, item: (
                    _ordered(operator.ge, item.get(at.attribute(name)), at.values[low])
                    and _ordered(operator.le, item.get(at.attribute(name)), at.values[high])
                )
            case other:
                raise self._unsupported(other)

    # --- Updates

    def clauses(self) -> list[tuple[str, Operand]]:
        actions: list[tuple[str, Operand]] = []
        while not self._at_end():
            match self._next().upper():
                case "SET":
                    actions += self.separated(self._assignment)
                case "REMOVE":
                    actions += [(name, lambda _at, _item: None) for name in self.separated(self.name)]
                case "ADD":
                    actions += self.separated(self._addition)
                case other:
                    raise self._unsupported(other)
        if not actions:
            raise invalid("Invalid UpdateExpression: The expression can not be empty;")
        return actions

    def _assignment(self) -> tuple[str, Operand]:
        name = self.name()
        self._expect("=")
        value = self._value()
        return name, lambda at, _item: at.values[value]

    def _addition(self) -> tuple[str, Operand]:
        name, value = self.name(), self._value()

        def total(at: Placeholders, item: Item) -> Value:
            increment = at.values[value]
            if kind_of(increment) == "SS":
                former = item.get(at.attribute(name), {"SS": []})
                if kind_of(former) != "SS":
                    raise invalid("An operand in the update expression has an incorrect data type")
                return {"SS": sorted({*former["SS"], *increment["SS"]})}
            old = item.get(at.attribute(name), {"N": "0"})
            if kind_of(old) != "N" or kind_of(increment) != "N":
                raise invalid("An operand in the update expression has an incorrect data type")
            try:
                return {"N": f"{_NUMBERS.add(Decimal(old['N']), Decimal(increment['N'])):f}"}
            except Inexact:
                raise invalid("Attempting to store more than 38 significant digits in a Number") from None

        return name, total

    # --- Tokens

    def name(self) -> str:
        """Read an attribute name or its placeholder."""
        token = self._next()
        if token.startswith("#"):
            self.placeholders.add(token)
        elif not token[0].isalpha():
            raise self._unsupported(token)
        elif token.upper() in ReservedKeywords.get_reserved_keywords():
            raise invalid(f"Invalid expression: Attribute name is a reserved keyword; reserved keyword: {token}")
        return token

    def _value(self) -> str:
        token = self._next()
        if not token.startswith(":"):
            raise self._unsupported(token)
        self.placeholders.add(token)
        return token

    def separated(self, read: Callable[[], Any]) -> list[Any]:
        """Read a list with commas."""
        elements = [read()]
        while self._takes(","):
            elements.append(read())
        return elements

    def end(self) -> None:
        """Raise a ValidationException unless everything has been read."""
        if not self._at_end():
            raise self._unsupported(self._next())

    def _arguments(self, *reads: Callable[[], str]) -> list[str]:
        arguments = []
        for separator, read in zip(("(", *"," * (len(reads) - 1)), reads, strict=True):
            self._expect(separator)
            arguments.append(read())
        self._expect(")")
        return arguments

    def _at_end(self) -> bool:
        return self._position == len(self._tokens)

    def _next(self) -> str:
        if self._at_end():
            raise self._unsupported("the end")
        self._position += 1
        return self._tokens[self._position - 1]

    def _takes(self, token: str) -> bool:
        if self._at_end() or self._tokens[self._position].upper() != token:
            return False
        self._position += 1
        return True

    def _expect(self, token: str) -> None:
        if not self._takes(token):
            raise self._unsupported("the end" if self._at_end() else self._tokens[self._position])

    def _unsupported(self, token: str) -> Exception:
        return invalid(
            f"Invalid expression: syntax error or not supported by the emulation: {token!r} in {self.text!r}"
        )


def _equal(value: Value | None, other: Value) -> bool:
    if value is None or kind_of(value) != kind_of(other):
        return False
    return bool(comparable(value) == comparable(other)) if "N" in value else value == other


def _ordered(compare: Callable[[Any, Any], bool], value: Value | None, other: Value) -> bool:
    return value is not None and kind_of(value) == kind_of(other) and compare(comparable(value), comparable(other))


def _begins_with(value: Value | None, start: Value) -> bool:
    if value is None or kind_of(value) != kind_of(start) or "N" in value:
        return False
    return bool(comparable(value).startswith(comparable(start)))


def project(items: Iterable[Item], expression: Projection | None, placeholders: Placeholders) -> list[Item]:
    """Return the projected items, or all attributes if there is no projection."""
    return [expression.of(placeholders, item) if expression else item for item in items]
