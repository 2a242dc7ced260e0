"""The convenience queries and their parameters (docs/reference/service-contract.md, Convenience queries)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.queries.query import Parameter, Query
from domain.queries.values import BOOLEAN, COUNT, DAY, LIST_ID, MOMENT, NAME, TEXT, ValueKind

if TYPE_CHECKING:
    from collections.abc import Mapping


def _max_returned(default: str | None = None) -> Parameter:
    return Parameter("max_returned", COUNT, "MaxReturned", "Return at most this many objects.", default)


def _date_range(
    name: str, kind: ValueKind, path: str, verb: str, *, when: str = "at or {} this time"
) -> tuple[Parameter, Parameter]:
    """Return `from_<name>` and `to_<name>`. `{}` in the path stands for `From` or `To`."""
    return (
        Parameter(f"from_{name}", kind, path.format("From"), f"{verb} {when.format('after')}."),
        Parameter(f"to_{name}", kind, path.format("To"), f"{verb} {when.format('before')}."),
    )


_LIST_PARAMETERS = (
    Parameter(
        "name",
        NAME,
        "NameFilter/Name",
        "Objects whose name contains this text.",
        also=("NameFilter/MatchCriterion", "Contains"),
    ),
    Parameter("from_name", NAME, "NameRangeFilter/FromName", "Names from this one on, in alphabetical order."),
    Parameter("to_name", NAME, "NameRangeFilter/ToName", "Names up to this one, in alphabetical order."),
    *_date_range("modified_date", MOMENT, "{}ModifiedDate", "Changed"),
    Parameter(
        "active",
        TEXT,
        "ActiveStatus",
        "Active, inactive or all.",
        default="ActiveOnly",
        choices=("ActiveOnly", "InactiveOnly", "All"),
    ),
    _max_returned(),
)

_TRANSACTION_PARAMETERS = (
    *_date_range("modified_date", MOMENT, "ModifiedDateRangeFilter/{}ModifiedDate", "Changed"),
    *_date_range("transaction_date", DAY, "TxnDateRangeFilter/{}TxnDate", "Dated", when="on or {} this day"),
    Parameter("include_line_items", BOOLEAN, "IncludeLineItems", "Also return the line items.", default="false"),
)
_CUSTOMER = Parameter(
    "customer_list_id", LIST_ID, "EntityFilter/ListID", "Transactions of the customer with this ListID."
)
_STATUS = Parameter("status", TEXT, "PaidStatus", "Paid, unpaid or all.", choices=("All", "PaidOnly", "NotPaidOnly"))

QUERIES: Mapping[str, Query] = {
    query.name: query
    for query in (
        Query("customers", "CustomerQueryRq", _LIST_PARAMETERS, "CustomerRet"),
        Query("vendors", "VendorQueryRq", _LIST_PARAMETERS, "VendorRet"),
        Query("items", "ItemQueryRq", _LIST_PARAMETERS),
        Query(
            "sales_orders",
            "SalesOrderQueryRq",
            (*_TRANSACTION_PARAMETERS, _CUSTOMER, _max_returned("100")),
            "SalesOrderRet",
        ),
        Query(
            "invoices", "InvoiceQueryRq", (*_TRANSACTION_PARAMETERS, _CUSTOMER, _STATUS, _max_returned()), "InvoiceRet"
        ),
    )
}
"""Every query by its name in the URL."""
