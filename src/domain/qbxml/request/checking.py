"""The check of a request against the whole schema: everything that is wrong with it, at once."""

from __future__ import annotations

from collections import Counter
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from domain.qbxml.request import limits
from domain.qbxml.request.diagnosis import diagnose
from domain.qbxml.request.envelope import problem
from domain.qbxml.request.quick_check import element_fits
from domain.qbxml.schema.facts import request_names
from domain.qbxml.schema.models import ATTRIBUTES_SINCE, END, request_model, version_number, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.errors import Problem
    from domain.qbxml.request.document import Element, Request
    from domain.qbxml.schema.models import Item, Kind, Model, RequestModel

NEWEST_KNOWN = 140
"""What the schema knows ends with QBXML 14.0; a request of a later version may hold more."""

MAX_VALUES = 16
"""Values of an enumeration that a message lists."""

_SUBSCRIPTIONS = ("DataEventSubscription", "UIEventSubscription", "UIExtensionSubscription", "SubscriptionDel")


def schema_problems(request: Request, field: str, *, abroad: bool = False) -> list[Problem]:
    """Return what the schema finds wrong with a request, in document order as far as it can be told.

    `abroad` allows the greater lengths of the editions outside the US.
    """
    model = request_model(request.name)
    if model is not None and element_fits(request.element, model, version_number(request.version)):
        return []
    return every_problem(request, field, abroad=abroad)


def every_problem(request: Request, field: str, *, abroad: bool = False) -> list[Problem]:
    """Return the same without asking the quick check first."""
    model = request_model(request.name)
    if model is None:
        return _unknown_request(request, field)
    return _Check(request, field, abroad=abroad).problems(model)


def iterator_problems(request: Request, field: str) -> list[Problem]:
    """Return what is wrong with the iteration of a query, beyond the schema (`qbxml.md` §5)."""
    attributes = request.element.attributes
    iterator, name = attributes.get("iterator"), request.name
    model = request_model(name)
    if iterator is None or (model is not None and "iterator" not in model.attributes):
        return []
    place = request.element.place
    if iterator == "Start" and request.element.child("MaxReturned") is None:
        message = "An iteration needs MaxReturned: how many objects a page has."
        return [problem(field, message, place, name, "Add <MaxReturned>100</MaxReturned>.")]
    if iterator in {"Continue", "Stop"} and not attributes.get("iteratorID"):
        message = f"iterator={iterator} needs the iteratorID that QuickBooks returned."
        return [problem(field, message, place, f"{name}/@iteratorID")]
    return []


def _unknown_request(request: Request, field: str) -> list[Problem]:
    if version_number(request.version) > NEWEST_KNOWN:
        return []
    name, place = request.name, request.element.place
    if name.startswith(_SUBSCRIPTIONS):
        message = f"{name} belongs to QBXMLSubscriptionMsgsRq, which the Web Connector does not carry."
        return [problem(field, message, place, name)]
    message = f"QBXML has no request {name}."
    return [problem(field, message, place, name, limits.nearest(name, request_names()))]


class _Check:
    """One walk over a request."""

    def __init__(self, request: Request, field: str, *, abroad: bool) -> None:
        self._request = request
        self._field = field
        self._version = version_number(request.version)
        self._may_be_newer = self._version > NEWEST_KNOWN
        self._abroad = abroad
        self._found: list[Problem] = []
        # The open elements, each with its parent, for the paths of what is found.
        self._open: list[Element] = []

    def problems(self, model: RequestModel) -> list[Problem]:
        element = self._request.element
        if model.since > self._version:
            self._too_new(element, model.since)
        self._attributes(element, model.attributes)
        self._children(element, model.content)
        return self._found

    def _children(self, element: Element, model: Model) -> None:
        children, followers = element.children, model.start()
        self._open.append(element)
        checked = 0
        for child in children:
            item = followers.get(child.name)
            if item is None:
                break
            followers = item.followers
            self._child(child, item)
            checked += 1
        misfit = checked < len(children) or END not in followers
        if misfit or (model.counted and self._too_many(element, model)):
            self._explain(element, model, children[checked:])
        self._open.pop()

    def _too_many(self, element: Element, model: Model) -> bool:
        counts = Counter(child.name for child in element.children)
        return any(item.most is not None and counts[item.name] > item.most for item in model.counted)

    def _explain(self, element: Element, model: Model, unchecked: Sequence[Element]) -> None:
        """Say why the children do not fit, and what else is wrong with those that were not looked at."""
        findings = diagnose(
            element.name,
            element.children,
            model,
            may_be_newer=self._may_be_newer,
            outer=self._outer_models(),
            sibling=self._sibling(),
        )
        for child, message, suggestion in islice(findings, limits.MAX_PROBLEMS):
            self._add(child, message, suggestion)
        for child in unchecked:
            if (item := model.items().get(child.name)) is not None:
                self._child(child, item)

    def _outer_models(self) -> dict[str, Model]:
        """Return the models of the open elements around the innermost, that one's parent first."""
        models: dict[str, Model] = {}
        known = request_model(self._request.name)
        model = None if known is None else known.content
        for element, inner in pairwise(self._open):
            if model is None:
                break
            models = {element.name: model, **models}
            model = item.model if (item := model.items().get(inner.name)) is not None else None
        return models

    def _sibling(self) -> tuple[str, Model] | None:
        """Return the request that adds what this one changes, or the other way round, and its model of this place."""
        name = self._request.name
        for mine, theirs in (("Mod", "Add"), ("Add", "Mod")):
            if name.endswith(f"{mine}Rq") and (known := request_model(f"{name.removesuffix(f'{mine}Rq')}{theirs}Rq")):
                model: Model | None = known.content
                for element in self._open[1:]:
                    item = None if model is None else model.items().get(element.name.replace(mine, theirs))
                    model = None if item is None else item.model
                return None if model is None else (f"{name.removesuffix(f'{mine}Rq')}{theirs}Rq", model)
        return None

    def _child(self, child: Element, item: Item) -> None:
        if len(self._found) >= limits.MAX_PROBLEMS:
            return
        _, attributes, grandchildren, text, _ = child
        if item.since > self._version:
            self._too_new(child, item.since)
        if attributes:
            self._attributes(child, item.attributes)
        if item.model is not None:
            if text and not text.isspace():
                self._add(child, f"{child.name} holds elements, not text.", None)
            self._children(child, item.model)
        elif grandchildren:
            self._add(child, f"{child.name} holds text, not elements.", None)
        elif item.kind is not None:
            self._text(child, item.kind, item)

    def _text(self, child: Element, kind: Kind, item: Item) -> None:
        """Say what is wrong with a text, if anything is."""
        text, facts = child.text or "", item.facts
        if not text and "default" in facts:
            return
        if kind.accepts is not None and not kind.accepts(text):
            self._add(child, *_refusal(child.name, text, kind), part="text")
            return
        least, most = facts.get("least"), facts.get("most")
        if (least is not None or most is not None) and not within(text, least, most):
            allowed = f"at least {least}" if most is None else f"from {least} to {most}"
            self._add(child, f"{child.name} is {allowed}, not {limits.shown(text.strip())}.", None, part="text")
        length = facts.get("length_abroad" if self._abroad else "length", facts.get("length"))
        if length is not None and len(text) > length:
            message = f"{child.name} has at most {length} characters; here are {len(text)}."
            self._add(child, message, f"Shorten it by {len(text) - length}.", part="text")
        since = facts.get("added", {}).get(text)
        if since is not None and version_number(since) > self._version:
            self._add(child, f"The value {text} came with QBXML {since}.", _use(since), part="text")

    def _attributes(self, element: Element, known: Mapping[str, Kind]) -> None:
        for name, value in element.attributes.items():
            kind = known.get(name)
            part = f"@{name}"
            if kind is None:
                if not self._may_be_newer:
                    self._add(element, *self._unknown_attribute(element, name, known), part=part)
            elif kind.accepts is not None and not kind.accepts(value):
                self._add(element, *_refusal(name, value, kind), part=part)
            if kind is not None and (since := ATTRIBUTES_SINCE.get(name, 0)) > self._version:
                self._too_new(element, since, name)

    def _unknown_attribute(self, element: Element, name: str, known: Mapping[str, Kind]) -> tuple[str, str | None]:
        if name in {"iterator", "iteratorID"} and element.name.endswith("QueryRq"):
            return (
                f"{element.name} cannot iterate.",
                f"Remove {name}, and ask for parts by name range or modified date instead.",
            )
        model = request_model(self._request.name)
        if model is not None and element is not self._request.element and name in model.attributes:
            mend = f"It belongs to {self._request.name}."
        else:
            mend = limits.nearest(name, known) or f"Remove {name}."
        return f"{element.name} has no attribute {name}.", mend

    def _too_new(self, element: Element, since: int, attribute: str = "") -> None:
        version = f"{since // 10}.{since % 10}"
        new = attribute or element.name
        message = f"{new} came with QBXML {version}; this request is written in {self._request.version}."
        self._add(element, message, _use(version), part=f"@{attribute}" if attribute else "")

    def _add(self, child: Element | None, message: str, suggestion: str | None, *, part: str = "") -> None:
        """Note a problem of `child`, or of the innermost open element; `part` is `text` or an attribute's `@name`."""
        path = [*self._open, child] if child is not None and child is not self._request.element else self._open
        element = path[-1] if path else self._request.element
        place = element.place
        if isinstance(place, str):
            place = f"{place}{_pointer(part, element)}"
        steps = [_step(element, path[index - 1] if index else None) for index, element in enumerate(path)]
        if not steps:
            steps = [element.name]
        if part.startswith("@"):
            steps.append(part)
        self._found.append(problem(self._field, message, place, "/".join(steps), suggestion))


def _step(element: Element, parent: Element | None) -> str:
    """Return the element's name, with its number from 1 among several of that name."""
    if parent is None:
        return element.name
    same = [child for child in parent.children if child.name == element.name]
    if len(same) == 1:
        return element.name
    number = next(index for index, child in enumerate(same, 1) if child is element)
    return f"{element.name}[{number}]"


def _pointer(part: str, element: Element) -> str:
    if part.startswith("@"):
        name = part[1:]
        return f"/attributes/{'request_id' if name == 'requestID' else name}"
    return f"/{part}" if part and element.text is not None else ""


def _refusal(name: str, text: str, kind: Kind) -> tuple[str, str | None]:
    shown = limits.shown(text)
    if kind.base is None:
        values = ", ".join(kind.values[:MAX_VALUES]) + (", …" if len(kind.values) > MAX_VALUES else "")
        return f"{name} is one of {values}; not {shown}.", limits.nearest(text, kind.values)
    converted = kind.base.converted(text)
    return f"{name} is {kind.base.expected}; not {shown}.", None if converted is None else f"Write {converted}."


def _use(version: str) -> str:
    return f"Use version {version}, if QuickBooks supports it."
