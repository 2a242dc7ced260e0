"""A convenience query: builds a QBXML request from the parameters of a URL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement

from domain.errors import InvalidRequest, Problem
from domain.labels import metadata_from_json
from domain.qbxml import PAGE_SIZE, Request
from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION
from domain.qbxml.request.normalization import normalize
from domain.qbxml.request.problems import Source, quoted
from domain.qbxml.request.schema_check import schema_problems
from domain.qbxml.schema.content_models import request_model, version_number
from domain.qbxml.schema.facts import return_elements
from domain.queries import values
from domain.send_by import SendBy
from domain.suggestions import MAX_COMPARED_CHARACTERS, MIN_SIMILARITY, did_you_mean, letters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

INCLUDE = "include[]"
VERSION = "qbxml_version"

_EXCLUSIVE_FILTERS = (("NameFilter", "NameRangeFilter"), ("ModifiedDateRangeFilter", "TxnDateRangeFilter"))
"""Pairs of elements that a query cannot combine."""

_OTHER_NAMES = {
    **dict.fromkeys(("limit", "per_page", "page_size", "count"), "max_returned"),
    **dict.fromkeys(("updated_after", "updated_since", "modified_after", "modified_since"), "from_modified_date"),
    **dict.fromkeys(("updated_before", "modified_before"), "to_modified_date"),
    **dict.fromkeys(("fields", "fields[]", "select"), "include[]"),
    **dict.fromkeys(("search", "q", "search_phrase", "name_contains", "name_filter"), "name"),
    **dict.fromkeys(("customer", "customer_id"), "customer_list_id"),
    **dict.fromkeys(("line_items", "include_lines", "lines"), "include_line_items"),
    **dict.fromkeys(("callback_url", "webhook"), "webhook_url"),
    **dict.fromkeys(("paid", "paid_status", "state"), "status"),
    **dict.fromkeys(("is_active", "active_status"), "active"),
    **dict.fromkeys(("version", "qbxml"), VERSION),
}
"""The names of other APIs for our parameters."""

_OF_DATES = {
    **dict.fromkeys(("from_date", "start_date", "date_from", "since", "from", "after"), "from_{}_date"),
    **dict.fromkeys(("to_date", "end_date", "date_to", "until", "to", "before"), "to_{}_date"),
    **dict.fromkeys(("from_txn_date", "date", "txn_date"), "from_{}_date"),
    "to_txn_date": "to_{}_date",
}
"""The same for dates: those of the transaction if the query has them, or else of the last change."""

_ANOTHER_WAY = {
    **dict.fromkeys(
        ("from_due_date", "to_due_date"),
        "QBXML cannot select by due date. Query by status or transaction date, and compare DueDate.",
    ),
    **dict.fromkeys(
        ("page", "offset", "cursor"),
        "A query has no numbered pages. With iterate=true, all objects arrive in pages of max_returned.",
    ),
    **dict.fromkeys(
        ("id", "ids", "list_id", "txn_id", "full_name", "ref_number"),
        'Queue a request with it, such as {{"request_json": {{"{}": {{"{}": …}}}}}}.',
    ),
    "wait": "Send it as a header, such as Prefer: wait=10.",
    "prefer": "Send it as a header, such as Prefer: wait=10.",
    "idempotency_key": "Send it as the header Idempotency-Key.",
}
"""How to do what a parameter would do that no query has."""

_ELEMENTS = {"txn_id": ("TxnID",), "full_name": ("FullName",), "ref_number": ("RefNumber",)}
"""The elements that such a request has, if they are not those of an id."""

_OTHER_VALUES = {
    **dict.fromkeys(("true", "yes", "1", "active_only"), "ActiveOnly"),
    **dict.fromkeys(("false", "no", "0"), "InactiveOnly"),
    **dict.fromkeys(("unpaid", "open", "due", "overdue"), "NotPaidOnly"),
    **dict.fromkeys(("paid", "closed"), "PaidOnly"),
    **dict.fromkeys(("any", "both"), "All"),
}
"""The values of other APIs for ours."""

_MIN_SIMILARITY = 0.6
"""The minimum similarity of a value to one of a few choices."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its kind of value, and the path from the request to the element or attribute that receives it.

    `path` is empty if the query itself handles the parameter. `also` is another element with a fixed text that the
    parameter adds. If `choices` is set, the value must be one of them.
    """

    name: str
    kind: values.ValueKind
    path: str
    description: str
    default: str | None = None
    choices: tuple[str, ...] = ()
    also: tuple[str, str] | None = None
    is_list: bool = False

    @property
    def filter(self) -> str:
        """The first of two steps in the path, or an empty string."""
        return self.path.rpartition("/")[0]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value, for OpenAPI."""
        schema = dict(self.kind.schema)
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.is_list:
            return {"type": "array", "items": schema}
        if self.default is not None:
            schema["default"] = self.default if schema["type"] == "string" else json.loads(self.default)
        return schema


COMMON = (
    Parameter(
        "request_id", values.REQUEST_LABEL, "@requestID", "Your own label. QuickBooks returns it as `requestID`."
    ),
    Parameter(
        "iterate",
        values.ITERATION,
        "",
        f"`true`: fetch all objects in pages of `max_returned` or {PAGE_SIZE}. Each page is a separate request. "
        "`auto`: do so only if there is no `max_returned` and the response was too large for one call (about 4.3 MB of "
        "QBXML). `never` (or `false`): the request then ends as `response_too_large`.",
        default="auto",
    ),
    Parameter(
        VERSION,
        values.VERSION,
        "",
        f"QBXML version of the query. The default is {DEFAULT_VERSION}, or the highest that QuickBooks supports if "
        "that is lower.",
    ),
    Parameter("webhook_url", values.TEXT, "", "Receiver of the webhook. The default is the connection's."),
    Parameter("label", values.LABEL, "", "Your own text, by which lists can be filtered. Pages of a query share it."),
    Parameter(
        "metadata",
        values.METADATA,
        "",
        'Your own names and values as JSON, such as `{"order":"1007"}`: up to 20 strings, with 2 KB in all.',
    ),
    Parameter(
        "send_by",
        values.SEND_BY,
        "",
        "The query ends as `not_sent_in_time` if it is not handed to the Web Connector before this time. At least a "
        "minute ahead, at most 366 days. Pages after the first are not meant.",
    ),
    Parameter("send_within", values.SEND_WITHIN, "", "The same in seconds from the call on, in place of `send_by`."),
    Parameter(
        "priority",
        values.TEXT,
        "",
        "`low`: for a backfill that nobody waits for. It is sent after what waits in the normal lane, but as at least "
        "one of ten message sets. `iterate` is then `never` by default, and cannot be anything else.",
        default="normal",
        choices=("normal", "low"),
    ),
)
"""The parameters of every query. `max_returned` is in the tables, because its default differs."""


class BuiltQuery(NamedTuple):
    """A request, its webhook URL, label and metadata, and by when it must have been sent.

    `may_iterate`: it may be sent as an iterated query if its response is too large. `is_low` puts it into the low lane.
    """

    request: Request
    webhook_url: str | None
    may_iterate: bool
    label: str | None
    metadata: Mapping[str, str]
    send_by: SendBy
    is_low: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A query with its name in the URL (`customers`), its QBXML request and its parameters.

    `returns` is the kind of object with the elements that `include[]` may name, or None if the query has no
    `include[]`.
    """

    name: str
    request_name: str
    own_parameters: tuple[Parameter, ...]
    returns: str | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters, the common ones last."""
        if self.returns is None:
            return (*self.own_parameters, *COMMON)
        include = Parameter(
            INCLUDE,
            values.TEXT,
            "IncludeRetElement",
            "Return only these elements. Repeat the parameter, or separate names by commas.",
            choices=tuple(return_elements(self.request_name)[self.returns]),
            is_list=True,
        )
        return (*self.own_parameters, include, *COMMON)

    def build(self, parameters: Mapping[str, Sequence[str]], default_version: str = DEFAULT_VERSION) -> BuiltQuery:
        """Return the query that is to be queued. `parameters` maps each URL parameter to all its values.

        Raises InvalidRequest with a problem for every unknown or invalid parameter, and for every element that is not
        in the QBXML version.
        """
        by_name = {parameter.name: parameter for parameter in self.parameters}
        texts = _read_all(by_name, parameters, self.request_name)
        defaults = {name: [parameter.default] for name, parameter in by_name.items() if parameter.default is not None}
        if texts.get("iterate") == ["true"]:
            defaults["max_returned"] = [str(PAGE_SIZE)]
        is_low = texts.get("priority") == ["low"]
        if is_low:
            defaults["iterate"] = ["false"]
        texts = {VERSION: [default_version], **defaults, **texts}
        (version,), (iterate,) = texts[VERSION], texts["iterate"]
        element = _query_element(self.request_name, by_name.values(), texts)
        request = Request(version, DEFAULT_ON_ERROR, element, source=Source(VERSION))
        too_new = [*self._too_new_elements(texts.get(INCLUDE, ()), version), *schema_problems(request)]
        if too_new and not limits.edition_of(version):
            raise InvalidRequest(too_new[: limits.MAX_PROBLEMS])
        webhook_url, label, metadata, send_by, within = (
            next(iter(texts.get(name, ())), None)
            for name in ("webhook_url", "label", "metadata", "send_by", "send_within")
        )
        return BuiltQuery(
            request,
            webhook_url,
            iterate == "auto",
            label,
            metadata_from_json(metadata) if metadata else {},
            SendBy(send_by, int(within) if within else None),
            is_low,
        )

    def _too_new_elements(self, names: Iterable[str], version: str) -> Iterable[Problem]:
        """Yield a problem for each included element that a later version than that of the query added."""
        since_of = return_elements(self.request_name)[self.returns] if self.returns else {}
        for name in names:
            if version_number(since := since_of[name]) > version_number(version):
                suggestion = f"Use {VERSION}={since} if QuickBooks supports it."
                yield Problem(
                    INCLUDE, f"{name} requires QBXML {since}; this query uses {version}.", suggestion=suggestion
                )


def _read_all(
    by_name: Mapping[str, Parameter], parameters: Mapping[str, Sequence[str]], request_name: str
) -> dict[str, list[str]]:
    """Return the values of all parameters. Raise InvalidRequest with a problem for every mistake."""
    problems: list[Problem] = []
    texts: dict[str, list[str]] = {}
    for name, items in parameters.items():
        if (parameter := by_name.get(name)) is None:
            suggestion = _instead(name, by_name, request_name)
            problems.append(Problem(name, "is not a parameter of this endpoint", suggestion=suggestion))
        else:
            texts[name] = list(_read(parameter, items, problems))
    for filters in _EXCLUSIVE_FILTERS:
        groups = (
            [name for name in by_name if name in texts and by_name[name].filter == filter_name]
            for filter_name in filters
        )
        for one, other in product(*groups):
            problems.append(Problem(other, f"QBXML cannot combine {other} with {one}; remove one of them."))
    if problems:
        raise InvalidRequest(problems[: limits.MAX_PROBLEMS])
    return texts


def _query_element(name: str, parameters: Iterable[Parameter], texts: Mapping[str, Sequence[str]]) -> Element:
    """Return the request element. `texts` holds the values of each parameter."""
    element = Element(name)
    for parameter in parameters:
        for text in texts.get(parameter.name, ()) if parameter.path else ():
            _add(element, parameter.path, text)
        if parameter.also is not None and parameter.name in texts:
            _add(element, *parameter.also)
    if texts["iterate"] == ["true"]:
        element.set("iterator", "Start")
    if "DataExtRet" in texts.get(INCLUDE, ()):
        # QuickBooks returns custom fields only for the owners in the query. Owner 0 holds the public ones.
        _add(element, "OwnerID", "0")
    normalize(element)
    return element


def _instead(name: str, names: Collection[str], request_name: str) -> str | None:
    """Return a suggestion for an unknown parameter. A name with another meaning is not suggested."""
    own = letters(name) if len(name) <= MAX_COMPARED_CHARACTERS else ""
    if own not in map(letters, names):
        for other, way in _ANOTHER_WAY.items():
            if letters(other) == own:
                element = _element_of(other, request_name)
                return way.format(request_name, element) if element or "{" not in way else None
    of_dates = "transaction" if "from_transaction_date" in names else "modified"
    dates = {other: meant.format(of_dates) for other, meant in _OF_DATES.items()}
    return did_you_mean(name, names, others={**_OTHER_NAMES, **dates})


def _element_of(name: str, request_name: str) -> str | None:
    """Return the element of a query that selects by what a parameter of another API names, or None."""
    model = request_model(request_name)
    elements = _ELEMENTS.get(name, ("ListID", "TxnID"))
    return next((element for element in elements if model and element in model.content.rules), None)


def _add(request: Element, path: str, text: str) -> None:
    """Add an attribute, or the element at a path of one or two steps. Elements share the first of two steps."""
    if path.startswith("@"):
        request.set(path[1:], text)
        return
    parent_name, _, name = path.rpartition("/")
    parent = request
    if parent_name:
        existing = request.find(parent_name)
        parent = SubElement(request, parent_name) if existing is None else existing
    SubElement(parent, name).text = text


def _read(parameter: Parameter, texts: Sequence[str], problems: list[Problem]) -> Iterable[str]:
    """Yield the values of a parameter and add any problems to `problems`."""
    name = parameter.name
    if parameter.is_list:
        texts = [*dict.fromkeys(item.strip() for text in texts for item in text.split(","))]
    elif len(texts) > 1:
        problems.append(Problem(name, f"occurs {len(texts)} times", suggestion="Send it once."))
        return
    for text in texts:
        if not text:
            problems.append(Problem(name, "is empty", suggestion="Give it a value, or leave it out."))
            continue
        try:
            value = parameter.kind.read(text)
        except values.BadValue as error:
            problems.append(Problem(name, str(error), suggestion=error.suggestion))
            continue
        if parameter.choices and value not in parameter.choices:
            choices = "an element of the result" if parameter.is_list else f"one of {', '.join(parameter.choices)}"
            similarity = MIN_SIMILARITY if parameter.is_list else _MIN_SIMILARITY
            suggestion = did_you_mean(value, parameter.choices, similarity, _OTHER_VALUES)
            problems.append(Problem(name, f"must be {choices}, not {quoted(value)}", suggestion=suggestion))
            continue
        yield value
