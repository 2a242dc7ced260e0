"""A convenience query: from a URL's parameters to a QBXML request."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from domain.errors import InvalidRequest, Problem
from domain.qbxml import Element, Request
from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION
from domain.qbxml.request.fitting import fitted
from domain.qbxml.schema.facts import return_elements
from domain.queries import values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

INCLUDE = "include[]"

PAGE_SIZE = "100"
"""Objects per page of an iterated query that names no `max_returned` (contract §7)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: how its text is read, and the element that its value becomes.

    `path` leads there from the request element (`NameFilter/Name`); it is empty where the query
    itself knows what to do. `beside` are fixed elements that belong to it. With `choices` the
    value is one of them.
    """

    name: str
    read: Callable[[str], str]
    path: str
    description: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    is_list: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """What OpenAPI says of its value."""
        schema = dict(values.SCHEMAS[self.read])
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.is_list:
            return {"type": "array", "items": schema}
        match schema["type"], self.default:
            case _, None:
                pass
            case "boolean", default:
                schema["default"] = default == "true"
            case "integer", default:
                schema["default"] = int(default)
            case _, default:
                schema["default"] = default
        return schema


COMMON = (
    Parameter("request_id", values.label, "", "A label of your own; QuickBooks echoes it as `requestID`."),
    Parameter(
        "iterate",
        values.boolean,
        "",
        f"Fetch everything, {PAGE_SIZE} or `max_returned` objects a page; every page is a request of its own.",
        default="false",
    ),
    Parameter("webhook_url", values.text, "", "Where the answer is posted to; else the connection's default."),
)
"""What every query takes (contract §7); `max_returned` comes with each table, because its default differs."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query by name (`customers`), the QBXML request that it makes and the parameters it takes.

    `returns` is the kind of object whose elements `include[]` may name, None where it cannot be
    given. `exclusive` are pairs of groups of parameters that QBXML cannot combine.
    """

    name: str
    request_name: str
    own_parameters: tuple[Parameter, ...]
    returns: str | None = None
    exclusive: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, the common ones last."""
        include: tuple[Parameter, ...] = ()
        if self.returns is not None:
            include = (
                Parameter(
                    INCLUDE,
                    values.text,
                    "IncludeRetElement",
                    "Return these elements only. Repeat it, or separate names by commas.",
                    choices=tuple(return_elements(self.request_name)[self.returns]),
                    is_list=True,
                ),
            )
        return (*self.own_parameters, *include, *COMMON)

    def build(self, parameters: Mapping[str, Sequence[str]]) -> tuple[Request, str | None]:
        """Return the request and the webhook URL of a URL's parameters, each with all values given.

        Raises InvalidRequest with a problem for every parameter that is unknown or wrong.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        problems: list[Problem] = []
        given: dict[str, list[str]] = {}
        for name, texts in parameters.items():
            parameter = known.get(name)
            if parameter is None:
                message = f"There is no parameter {name}."
                problems.append(Problem(name, message, suggestion=limits.nearest(name, known)))
            else:
                given[name] = list(_read(parameter, texts, problems))
        problems.extend(self._contradictions(given))
        if problems:
            raise InvalidRequest(problems)
        return self._request(known, given), next(iter(given.get("webhook_url", ())), None)

    def _contradictions(self, given: Mapping[str, object]) -> Iterable[Problem]:
        for group, others in self.exclusive:
            for name, other in product(group, others):
                if name in given and other in given:
                    yield Problem(other, f"{other} cannot be combined with {name}: QBXML takes one or the other.")

    def _request(self, known: Mapping[str, Parameter], given: Mapping[str, list[str]]) -> Request:
        iterates = given.get("iterate") == ["true"]
        tree = _Tree()
        for name, parameter in known.items():
            texts = given.get(name)
            if texts is None:
                default = PAGE_SIZE if iterates and name == "max_returned" else parameter.default
                texts = [] if default is None else [default]
            if parameter.path:
                for text in texts:
                    tree.add(parameter.path, text, repeats=parameter.is_list)
                for path, text in parameter.beside if texts else ():
                    tree.add(path, text)
        if "DataExtRet" in given.get(INCLUDE, ()):
            # Without an owner QuickBooks leaves custom fields out; 0 owns the public ones (`qbxml.md` §6).
            tree.add("OwnerID", "0")
        attributes = {}
        if label := given.get("request_id"):
            attributes["requestID"] = label[0]
        if iterates:
            attributes["iterator"] = "Start"
        element = fitted(Element(self.request_name, attributes, tree.elements()))
        return Request(DEFAULT_VERSION, DEFAULT_ON_ERROR, element)


def _read(parameter: Parameter, texts: Sequence[str], problems: list[Problem]) -> Iterable[str]:
    """Yield the values of a parameter; what is wrong goes to `problems`."""
    if parameter.is_list:
        texts = [name.strip() for text in texts for name in text.split(",")]
        texts = [*dict.fromkeys(texts)]
    elif len(texts) > 1:
        problems.append(Problem(parameter.name, f"{parameter.name} is given {len(texts)} times; give it once."))
        return
    for text in texts:
        if not text:
            problems.append(Problem(parameter.name, f"{parameter.name} is empty; leave it out or give a value."))
            continue
        try:
            value = parameter.read(text)
        except ValueError as error:
            problems.append(Problem(parameter.name, str(error)))
            continue
        if parameter.choices and value not in parameter.choices:
            problems.append(_no_choice(parameter, value))
            continue
        yield value


def _no_choice(parameter: Parameter, value: str) -> Problem:
    suggestion = limits.nearest(value, parameter.choices)
    if parameter.is_list:
        return Problem(parameter.name, f"{value} is not returned here.", suggestion=suggestion)
    return Problem(parameter.name, f"It is one of {', '.join(parameter.choices)}.", suggestion=suggestion)


class _Tree:
    """Elements by path, while they are collected."""

    def __init__(self) -> None:
        self._children: dict[str, _Tree] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, path: str, text: str, *, repeats: bool = False) -> None:
        name, _, rest = path.partition("/")
        if rest:
            self._children.setdefault(name, _Tree()).add(rest, text)
        elif repeats:
            self._texts.setdefault(name, []).append(text)
        else:
            self._texts[name] = [text]

    def elements(self) -> tuple[Element, ...]:
        leaves = [Element(name, text=text) for name, texts in self._texts.items() for text in texts]
        return (*leaves, *(Element(name, children=child.elements()) for name, child in self._children.items()))
