"""The tables of the convenience queries (contract §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.queries import values
from domain.queries.query import Parameter, Query

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODIFIED = ("from_modified_date", "to_modified_date")
_TRANSACTION = ("from_transaction_date", "to_transaction_date")


def _max_returned(default: str | None = None) -> Parameter:
    return Parameter("max_returned", values.count, "MaxReturned", "Return this many objects at most.", default)


_LIST_FILTERS = (
    Parameter(
        "name",
        values.text,
        "NameFilter/Name",
        "Names that contain this text.",
        beside=(("NameFilter/MatchCriterion", "Contains"),),
    ),
    Parameter("from_name", values.text, "NameRangeFilter/FromName", "Names from this one on, in alphabetical order."),
    Parameter("to_name", values.text, "NameRangeFilter/ToName", "Names up to this one."),
    Parameter("from_modified_date", values.moment, "FromModifiedDate", "Changed at this moment or later."),
    Parameter("to_modified_date", values.moment, "ToModifiedDate", "Changed at this moment or earlier."),
    Parameter(
        "active",
        values.text,
        "ActiveStatus",
        "Active ones, inactive ones or all.",
        default="ActiveOnly",
        choices=("ActiveOnly", "InactiveOnly", "All"),
    ),
    _max_returned(),
)
_LIST_EXCLUSIVE = ((("name",), ("from_name", "to_name")),)

_TRANSACTION_FILTERS = (
    Parameter(
        "from_modified_date",
        values.moment,
        "ModifiedDateRangeFilter/FromModifiedDate",
        "Changed on this day or at this moment, or later.",
    ),
    Parameter(
        "to_modified_date",
        values.moment,
        "ModifiedDateRangeFilter/ToModifiedDate",
        "Changed on this day or at this moment, or earlier.",
    ),
    Parameter("from_transaction_date", values.day, "TxnDateRangeFilter/FromTxnDate", "Dated this day or later."),
    Parameter("to_transaction_date", values.day, "TxnDateRangeFilter/ToTxnDate", "Dated this day or earlier."),
    Parameter("customer_list_id", values.list_id, "EntityFilter/ListID", "Of the customer with this ListID."),
    Parameter("include_line_items", values.boolean, "IncludeLineItems", "Return the lines too.", default="false"),
)
_TRANSACTION_EXCLUSIVE = ((_MODIFIED, _TRANSACTION),)

QUERIES: Mapping[str, Query] = {
    query.name: query
    for query in (
        Query("customers", "CustomerQueryRq", _LIST_FILTERS, "CustomerRet", _LIST_EXCLUSIVE),
        Query("vendors", "VendorQueryRq", _LIST_FILTERS, "VendorRet", _LIST_EXCLUSIVE),
        Query("items", "ItemQueryRq", _LIST_FILTERS, None, _LIST_EXCLUSIVE),
        Query(
            "sales_orders",
            "SalesOrderQueryRq",
            (*_TRANSACTION_FILTERS, _max_returned("100")),
            "SalesOrderRet",
            _TRANSACTION_EXCLUSIVE,
        ),
        Query(
            "invoices",
            "InvoiceQueryRq",
            (
                *_TRANSACTION_FILTERS,
                Parameter(
                    "status",
                    values.text,
                    "PaidStatus",
                    "Paid ones, unpaid ones or all.",
                    choices=("All", "PaidOnly", "NotPaidOnly"),
                ),
                _max_returned(),
            ),
            "InvoiceRet",
            _TRANSACTION_EXCLUSIVE,
        ),
    )
}
"""Every query by the last part of its path."""
