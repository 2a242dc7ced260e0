"""The lists and transactions that QuickBooks can be asked for by time of change, derived from the schema of QBXML.

A subscription may name these and no others. A query that returns several kinds of objects (`ItemQueryRq`) is not one of
them, because each kind has a query of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from domain.errors import InvalidRequest
from domain.qbxml.schema.content_models import RequestModel, request_model, version_number
from domain.qbxml.schema.facts import request_facts, request_names, return_elements
from domain.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_QUERY = "QueryRq"
_MODIFIED_IN_LISTS, _MODIFIED_IN_TRANSACTIONS = "FromModifiedDate", "ModifiedDateRangeFilter"

INCLUDES: Mapping[str, str] = {"lines": "IncludeLineItems", "linked": "IncludeLinkedTxns", "custom_fields": "OwnerID"}
"""What a subscription may ask for beside the object, and the element of the query for it."""


class Kind(StrEnum):
    """Whether an object is an entry of a list or a transaction."""

    LIST = "list"
    TRANSACTION = "transaction"


_QUANTITIES = ("QuantityOnHand", "QuantityOnOrder", "QuantityOnSalesOrder")

DERIVED: Mapping[Kind, frozenset[str]] = {
    Kind.LIST: frozenset(
        {"Balance", "TotalBalance", "OpenBalance", "CustomerBalance", "AverageCost", *_QUANTITIES},
    ),
    Kind.TRANSACTION: frozenset(
        {
            *("IsPaid", "BalanceRemaining", "BalanceRemainingInHomeCurrency", "OpenAmount"),
            *("CreditRemaining", "CreditRemainingInHomeCurrency", "UnusedPayment", "UnusedCredits"),
            *("IsFullyInvoiced", "Invoiced", "IsFullyReceived", "ReceivedQuantity", "UnbilledQuantity", "IsBilled"),
            *("FromAccountBalance", "ToAccountBalance", *_QUANTITIES, "AppliedAmount"),
        }
    ),
}
"""Elements, at any depth of a record, that QuickBooks computes from other transactions. It may change them without
`TimeModified`, so a copy of them would be wrong without notice."""

_PAID = ("AppliedAmount", "BalanceRemaining", "BalanceRemainingInHomeCurrency", "IsPaid", "OpenAmount")
"""The derived fields of transactions that tell whether and how far one is paid."""

_NARROW_SINCE = "4.0"
"""The version that added `IncludeRetElement`, with which only some elements of a record are read, and `metaData`, with
which only their number is."""


@dataclass(frozen=True, slots=True)
class BooksObject:
    """A kind of object, and what QuickBooks offers for it.

    `since` is the QBXML version that added its query. `has_limit` is whether a query may have `MaxReturned`.
    `deleted_since` is the version from which QuickBooks reports its deletions, or None if it never does. `includes` are
    the keys of INCLUDES that it has, with the version that added each of them. `has_range` is whether a snapshot is
    divided by names or dates. A list whose records have no `Name`, such as `ToDo`, is divided by times of change.
    `paid_fields` are the elements that tell how far a transaction is paid, with the version that added each of them, if
    QuickBooks can be asked for those that are not paid. `derived_fields` are those of a list that QuickBooks computes.
    """

    name: str
    kind: Kind
    since: str
    has_iterator: bool
    has_limit: bool
    has_active_status: bool
    has_range: bool
    deleted_since: str | None
    includes: Mapping[str, str]
    paid_fields: Mapping[str, str]
    derived_fields: Mapping[str, str]

    @property
    def is_list(self) -> bool:
        """Whether it is an entry of a list."""
        return self.kind is Kind.LIST

    @property
    def request(self) -> str:
        """The name of its query."""
        return f"{self.name}{_QUERY}"

    @property
    def returned(self) -> str:
        """The element that its query returns."""
        return f"{self.name}Ret"

    @property
    def id_field(self) -> str:
        """The element that identifies an object."""
        return "ListID" if self.is_list else "TxnID"

    def exists_in(self, version: str) -> bool:
        """Whether a version of QBXML has the query."""
        return version_number(self.since) <= version_number(version)

    def reports_deletions_in(self, version: str) -> bool:
        """Whether QuickBooks reports deletions in a version of QBXML."""
        return self.deleted_since is not None and version_number(self.deleted_since) <= version_number(version)

    def is_counted_in(self, version: str) -> bool:
        """Whether a version of QBXML tells how many entries a list has. Only entries of lists can be merged."""
        return self.is_list and self.reports_deletions_in(version) and _has_narrow_queries(version)

    @property
    def has_paid_filter(self) -> bool:
        """Whether QuickBooks can be asked for its transactions that are not paid."""
        return bool(self.paid_fields)

    @property
    def left_out(self) -> frozenset[str]:
        """The elements that are left out of a record, because QuickBooks changes them without notice."""
        return DERIVED[self.kind].difference(self.paid_fields)

    def paid_fields_in(self, version: str) -> Sequence[str]:
        """Return the paid fields that are read in a version of QBXML: none if it cannot read single elements."""
        return _narrow(self.paid_fields, version)

    def derived_fields_in(self, version: str) -> Sequence[str]:
        """Return the derived fields that are read in a version of QBXML."""
        return _narrow(self.derived_fields, version)

    def includes_in(self, version: str, names: Collection[str]) -> Sequence[str]:
        """Return those of `names` that a version of QBXML has, in the order of the schema."""
        number = version_number(version)
        return [name for name, since in self.includes.items() if name in names and version_number(since) <= number]


@cache
def books_object(name: str) -> BooksObject | None:
    """Return an object by its name (`Invoice`), or None if QuickBooks cannot be asked for it by time of change."""
    model, facts = request_model(f"{name}{_QUERY}"), request_facts(f"{name}{_QUERY}")
    returned = return_elements(f"{name}{_QUERY}")
    if model is None or facts is None or list(returned) != [f"{name}Ret"]:
        return None
    rules = model.content.rules
    kind = Kind.TRANSACTION if _MODIFIED_IN_TRANSACTIONS in rules else Kind.LIST
    if kind is Kind.LIST and _MODIFIED_IN_LISTS not in rules:
        return None
    top = returned[f"{name}Ret"]
    return BooksObject(
        name=name,
        kind=kind,
        since=facts["since"],
        has_iterator="iterator" in facts["attributes"],
        has_limit="MaxReturned" in rules,
        has_active_status="ActiveStatus" in rules,
        has_range=kind is Kind.TRANSACTION or "Name" in top,
        deleted_since=_deleted_kinds(kind).get(name),
        includes={key: _since(model, element) for key, element in INCLUDES.items() if element in rules},
        paid_fields={key: top[key] for key in _PAID if key in top} if "PaidStatus" in rules else {},
        derived_fields={key: top[key] for key in sorted(DERIVED[kind]) if key in top} if kind is Kind.LIST else {},
    )


def known_object(name: str) -> BooksObject:
    """Return an object that a subscription has. Raises LookupError for another name."""
    known = books_object(name)
    if known is None:
        raise LookupError(f"{name} is not an object of a subscription.")
    return known


@cache
def books_objects() -> Sequence[BooksObject]:
    """Return all objects by name. The first call reads the schema of each query."""
    names = sorted(name.removesuffix(_QUERY) for name in request_names() if name.endswith(_QUERY))
    return [found for name in names if (found := books_object(name))]


def checked_object(name: str, field: str = "objects") -> BooksObject:
    """Return the object with this name. Raises InvalidRequest for a field, with the nearest names, if there is none."""
    if found := books_object(name):
        return found
    names = [known.name for known in books_objects()]
    parts = [part for part in names if name and part.startswith(name)]
    hint = f"Use {', '.join(parts)}." if parts else did_you_mean(name, names)
    exists = f"{name}{_QUERY}" in request_names()
    reason = "cannot be asked for by time of change" if exists else "is not an object of QuickBooks"
    raise InvalidRequest.of(field, f"{name!r} {reason}. {hint or 'Use a name such as Customer or Invoice.'}")


def _since(model: RequestModel, element: str) -> str:
    return str(model.content.rules[element].facts.get("since", "1.0"))


def _narrow(fields: Mapping[str, str], version: str) -> Sequence[str]:
    number = version_number(version)
    if not _has_narrow_queries(version):
        return []
    return [name for name, since in fields.items() if version_number(since) <= number]


def _has_narrow_queries(version: str) -> bool:
    return version_number(version) >= version_number(_NARROW_SINCE)


def deleted_kinds_in(kind: Kind, version: str) -> Sequence[str]:
    """Return all objects of a kind whose deletions QuickBooks reports in a version of QBXML."""
    number = version_number(version)
    return [name for name, since in _deleted_kinds(kind).items() if version_number(since) <= number]


@cache
def _deleted_kinds(kind: Kind) -> Mapping[str, str]:
    """Return the objects whose deletions QuickBooks reports, with the version that added each of them."""
    request, element = deletion_query(kind)
    facts = request_facts(request)
    if facts is None:
        return {}
    ((_, _, number, *more),) = [part for part in facts["content"]["sequence"] if part[0] == element]
    added = more[0].get("added", {}) if more else {}
    return {value: added.get(value, facts["since"]) for value in facts["types"][number]}


def deletion_query(kind: Kind) -> tuple[str, str]:
    """Return the query for deletions of a kind, and its element that names the objects."""
    return ("ListDeletedQueryRq", "ListDelType") if kind is Kind.LIST else ("TxnDeletedQueryRq", "TxnDelType")
