"""The complete check of a request against the schema, which reports every problem at once."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from domain.errors import shortened
from domain.qbxml.request import limits
from domain.qbxml.request.diagnosis import MIN_SIMILARITY_IN_NEWER, diagnose
from domain.qbxml.request.fast_schema_check import is_blank, is_valid
from domain.qbxml.request.other_names import BESIDE_THE_REQUEST
from domain.qbxml.request.placeholders import Placeholder
from domain.qbxml.request.problems import quoted
from domain.qbxml.request.request_names import suggested_request
from domain.qbxml.request.value_problems import wrong_value
from domain.qbxml.schema.content_models import ATTRIBUTES_SINCE, END, request_model, version_number, within
from domain.suggestions import MIN_SIMILARITY, did_you_mean, letters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from xml.etree.ElementTree import Element

    from domain.errors import Problem
    from domain.qbxml.request.document import Request
    from domain.qbxml.schema.content_models import ContentModel, ElementRule, RequestModel
    from domain.qbxml.schema.value_types import ValueType

NEWEST_VERSION = 140
"""The schema describes all elements up to 14.0. A request in a later version may contain more."""

NEWEST_REQUESTS = 160
"""The schema has all request types up to 16.0."""

_MAX_COMPARISONS = 5_000
"""The maximum number of unknown names in a newer version to compare with known names. Comparing is slow."""

_line_break = re.compile(r"[\t\n\r]").search

_WITHOUT_PARENT = frozenset({"VendorAdd", "VendorMod", "OtherNameAdd", "OtherNameMod"})
"""Names that have no parent, but may not contain a colon either."""

_MAX_REFERENCE = 60
"""The maximum characters of a text that a suggestion repeats as a name."""

_SUBSCRIPTIONS = ("DataEventSubscription", "UIEventSubscription", "UIExtensionSubscription", "SubscriptionDel")


def schema_problems(request: Request, *, outside_us: bool = False) -> list[Problem]:
    """Return the problems with a request, roughly in document order.

    `outside_us` allows the greater lengths of the editions outside the US.
    """
    if is_valid(request.element, request.version):
        return []
    return [*all_problems(request, outside_us=outside_us), *macro_problems(request)]


def all_problems(request: Request, *, outside_us: bool = False) -> list[Problem]:
    """Return only the problems that the schema determines, without the fast check."""
    model = request_model(request.name)
    if model is None:
        return _unknown_request(request)
    return _SchemaCheck(request, outside_us=outside_us).problems(model)


def name_problems(request: Request) -> Iterable[Problem]:
    """Yield a problem for a name that is empty or has a line break or a colon. QuickBooks refuses it.

    Colons separate the names of a FullName. The names of terms, currencies and the like may contain one.
    """
    kind = request.name.removesuffix("Rq")
    name = request.element.find(f"{kind}/Name")
    text = "" if name is None else name.text or ""
    if name is None or isinstance(text, Placeholder):
        return
    path = f"{request.name}/{kind}/Name"
    if not text.strip():
        suggestion = "Leave Name out to keep the name." if kind.endswith("Mod") else None
        yield request.source.problem("A name must not be empty.", name, path, suggestion, part="text")
    elif _line_break(text):
        one_line = quoted(" ".join(text.split()))
        message = "A name must not contain a line break or a tab."
        yield request.source.problem(message, name, path, f"Write {one_line}.", part="text")
    elif ":" in text:
        yield from _colon_problems(request, kind, name, text)


def _colon_problems(request: Request, kind: str, name: Element, text: str) -> Iterable[Problem]:
    model = request_model(request.name)
    rule = model.content.rules.get(kind) if model else None
    suggestion = None
    if rule and rule.content and "ParentRef" in rule.content.rules:
        parent, _, last = text.rpartition(":")
        suggestion = f"Write {quoted(last.strip())}, and {quoted(parent.strip())} as the FullName of ParentRef."
    elif kind not in _WITHOUT_PARENT:
        return
    path = f"{request.name}/{kind}/Name"
    yield request.source.problem("A name must not contain a colon.", name, path, suggestion, part="text")


def iterator_problems(request: Request) -> list[Problem]:
    """Return the problems with the iterator of a query that the schema does not cover."""
    name, element = request.name, request.element
    model = request_model(name)
    if model is not None and "iterator" not in model.attributes:
        return []
    if request.iterator == "Start" and request.element.find("MaxReturned") is None:
        message = "An iterator requires MaxReturned, the number of objects in a page."
        return [request.source.problem(message, element, name, "Add <MaxReturned>100</MaxReturned>.")]
    if request.iterator in {"Continue", "Stop"} and not request.element.get("iteratorID"):
        message = f"iterator={request.iterator} requires the iteratorID that QuickBooks returned."
        return [request.source.problem(message, element, f"{name}/@iteratorID")]
    return []


def macro_problems(request: Request) -> Iterable[Problem]:
    """Yield a problem for each macro that the request uses but does not define. No other request can define it."""
    elements = list(request.elements())
    defined = {element.get("defMacro") for element, _ in elements}
    for element, path in elements:
        macro = element.get("useMacro")
        if macro is not None and macro not in defined:
            message = f"No element defines the macro {quoted(macro)}, and each request is sent on its own."
            suggestion = "Use the ListID or TxnID that QuickBooks returned."
            yield request.source.problem(message, element, f"{path}/@useMacro", suggestion, part="@useMacro")


def _unknown_request(request: Request) -> list[Problem]:
    name, element = request.name, request.element
    if name.startswith(_SUBSCRIPTIONS):
        message = f"{name} belongs to QBXMLSubscriptionMsgsRq, which the Web Connector cannot send."
        return [request.source.problem(message, element, name)]
    is_newer = version_number(request.version) > NEWEST_REQUESTS
    suggestion = suggested_request(name, MIN_SIMILARITY_IN_NEWER if is_newer else MIN_SIMILARITY)
    if is_newer and suggestion is None:
        return []
    return [request.source.problem(f"QBXML has no request {name}.", element, name, suggestion)]


class _SchemaCheck:
    """One check of one request."""

    def __init__(self, request: Request, *, outside_us: bool) -> None:
        self._request = request
        self._version = version_number(request.version)
        self._is_newer = self._version > NEWEST_VERSION
        self._outside_us = outside_us
        self._comparisons = iter(range(_MAX_COMPARISONS))
        self._problems: list[Problem] = []
        # The elements around the current one with their content models, outermost first.
        self._open: list[tuple[Element, ContentModel]] = []
        self._steps: dict[Element, str] = {}

    def problems(self, model: RequestModel) -> list[Problem]:
        element = self._request.element
        if model.since > self._version:
            self._too_new(element, model.since)
        self._check_attributes(element, model.attributes)
        self._check_children(element, model.content)
        return self._problems

    def _check_children(self, element: Element, content: ContentModel) -> None:
        children, followers = list(element), content.first
        self._open.append((element, content))
        checked = 0
        for child in children:
            rule = followers.get(child.tag)
            if rule is None:
                break
            followers = rule.followers
            self._check_child(child, rule)
            checked += 1
        if checked < len(children) or END not in followers or _has_too_many(element, content):
            findings = diagnose(
                element.tag,
                children,
                content,
                is_newer=self._is_newer,
                comparisons=self._comparisons,
                enclosing={parent.tag: model for parent, model in reversed(self._open[:-1])},
                counterpart=self._counterpart(),
            )
            for place, message, suggestion in islice(findings, limits.MAX_PROBLEMS):
                elsewhere = self._elsewhere(place.tag, content) if place is not None else None
                self._add(place, message, elsewhere or suggestion)
            for child in children[checked:]:
                if (rule := content.rules.get(child.tag)) is not None:
                    self._check_child(child, rule)
        self._open.pop()

    def _elsewhere(self, name: str, content: ContentModel) -> str | None:
        """Return where a name belongs that is not an element of the innermost one, or None if that is not known."""
        if name in content.rules:
            return None
        if name in BESIDE_THE_REQUEST:
            return f"Write {name} beside {self._request.source.field}, not in it."
        model = request_model(self._request.name)
        attributes = [own for own in model.attributes if letters(own) == letters(name)] if model else []
        if not attributes or len(self._open) > 1:
            return None
        written = f'"@{attributes[0]}": "…"' if self._is_json() else f'{attributes[0]}="…"'
        return f"It is an attribute. Write {written}."

    def _is_json(self) -> bool:
        return isinstance(self._request.source.location(self._request.element), str)

    def _counterpart(self) -> tuple[str, ContentModel] | None:
        """Return the Add request for a Mod request, or the reverse, with its content model in this place."""
        name = self._request.name
        for own, other in (("Mod", "Add"), ("Add", "Mod")):
            other_name = f"{name.removesuffix(f'{own}Rq')}{other}Rq"
            if name.endswith(f"{own}Rq") and (model := request_model(other_name)) is not None:
                content: ContentModel | None = model.content
                for element, _ in self._open[1:]:
                    rule = None if content is None else content.rules.get(element.tag.replace(own, other))
                    content = None if rule is None else rule.content
                return None if content is None else (other_name, content)
        return None

    def _check_child(self, child: Element, rule: ElementRule) -> None:
        if len(self._problems) >= limits.MAX_PROBLEMS:
            return
        if rule.since > self._version:
            self._too_new(child, rule.since)
        if child.keys():
            self._check_attributes(child, rule.attributes)
        if rule.content is not None:
            if not is_blank(child.text):
                suggestion = self._as_reference(child.text or "", rule.content)
                self._add(child, f"{child.tag} must contain elements, not text.", suggestion)
            self._check_children(child, rule.content)
        elif len(child):
            self._add(child, f"{child.tag} must contain text, not elements.", None)
        elif rule.value_type is not None:
            for message, suggestion in self._text_findings(child.tag, child.text or "", rule.value_type, rule):
                self._add(child, message, suggestion, part="text")

    def _as_reference(self, text: str, content: ContentModel) -> str | None:
        """Return how to write a text in place of a reference, or None if the element is not a reference."""
        if isinstance(text, Placeholder):
            return "Write the reference in place of a text, such as that of its ListID."
        if "FullName" not in content.rules:
            return None
        text = shortened(text.strip(), _MAX_REFERENCE)
        return f"Write {json.dumps({'FullName': text})}." if self._is_json() else f"Write <FullName>{text}</FullName>."

    def _text_findings(
        self, name: str, text: str, value_type: ValueType, rule: ElementRule
    ) -> Iterable[tuple[str, str | None]]:
        facts = rule.facts
        if isinstance(text, Placeholder):
            return
        if not text and "default" in facts:
            return
        if value_type.accepts is not None and not value_type.accepts(text):
            yield wrong_value(name, text, value_type)
            return
        minimum, maximum = facts.get("least"), facts.get("most")
        if (minimum is not None or maximum is not None) and not within(text, minimum, maximum):
            allowed = f"at least {minimum}" if maximum is None else f"from {minimum} to {maximum}"
            yield f"{name} must be {allowed}, not {quoted(text.strip())}.", None
        max_length = facts.get("length_abroad" if self._outside_us else "length", facts.get("length"))
        if max_length is not None and len(text) > max_length:
            message = f"{name} has {len(text)} characters; at most {max_length} are allowed."
            yield message, f"Shorten it by {len(text) - max_length}."
        since = facts.get("added", {}).get(text)
        if since is not None and version_number(since) > self._version:
            yield self._requires(f"The value {text}", since)

    def _check_attributes(self, element: Element, types: Mapping[str, ValueType]) -> None:
        for name, value in islice(element.items(), limits.MAX_PROBLEMS):
            value_type, part = types.get(name), f"@{name}"
            if value_type is None:
                if not self._is_newer or did_you_mean(name, types, MIN_SIMILARITY_IN_NEWER):
                    self._add(element, *self._unknown_attribute(element, name, types), part=part)
                continue
            if value_type.accepts is not None and not value_type.accepts(value):
                self._add(element, *wrong_value(name, value, value_type), part=part)
            if (since := ATTRIBUTES_SINCE.get(name, 0)) > self._version:
                self._too_new(element, since, name)

    def _unknown_attribute(self, element: Element, name: str, types: Mapping[str, ValueType]) -> tuple[str, str]:
        if name in {"iterator", "iteratorID"} and element.tag.endswith("QueryRq"):
            suggestion = f"Remove {name} and split the query by name range or modified date."
            return f"{element.tag} does not support iterators.", suggestion
        model = request_model(self._request.name)
        if model is not None and element is not self._request.element and name in model.attributes:
            suggestion = f"It belongs to {self._request.name}."
        else:
            suggestion = did_you_mean(name, types) or f"Remove {name}."
        return f"{element.tag} has no attribute {name}.", suggestion

    def _too_new(self, element: Element, since: int, attribute: str = "") -> None:
        version = f"{since // 10}.{since % 10}"
        part = f"@{attribute}" if attribute else ""
        self._add(element, *self._requires(attribute or element.tag, version), part=part)

    def _requires(self, what: str, version: str) -> tuple[str, str]:
        message = f"{what} requires QBXML {version}; this request uses {self._request.version}."
        return message, f"Use version {version} if QuickBooks supports it."

    def _add(self, child: Element | None, message: str, suggestion: str | None, *, part: str = "") -> None:
        """Add a problem of `child`, or of the innermost open element. `part` is `text` or an attribute as `@name`."""
        elements = [element for element, _ in self._open] + ([] if child is None else [child])
        steps = [elements[0].tag, *(self._step(*pair) for pair in pairwise(elements))]
        if part.startswith("@"):
            steps.append(part)
        problem = self._request.source.problem(message, elements[-1], "/".join(steps), suggestion, part=part)
        self._problems.append(problem)

    def _step(self, parent: Element, child: Element) -> str:
        """Return the child's name, numbered from 1 if the parent has several children of that name."""
        if child not in self._steps:
            counts = Counter(sibling.tag for sibling in parent)
            numbers: Counter[str] = Counter()
            for sibling in parent:
                numbers[sibling.tag] += 1
                self._steps[sibling] = (
                    sibling.tag if counts[sibling.tag] == 1 else f"{sibling.tag}[{numbers[sibling.tag]}]"
                )
        return self._steps[child]


def _has_too_many(element: Element, content: ContentModel) -> bool:
    if not content.bounded:
        return False
    counts = Counter(child.tag for child in element)
    return any(rule.max_occurs is not None and counts[rule.name] > rule.max_occurs for rule in content.bounded)
