"""The handler of each request, and the checks before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from simulator import reports
from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books import KINDS
from simulator.requests import company, data_extensions, delete, derived, mod, special
from simulator.requests.add import add
from simulator.requests.editions import supported
from simulator.requests.macros import expanded
from simulator.requests.preferences import check_preferences
from simulator.requests.query import QUERIES, next_page, query
from simulator.requests.responses import Response
from simulator.rules.inventory import hold_short_builds
from simulator.schema import schema
from simulator.schema.values import check_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.requests.context import Context

    Handler: TypeAlias = Callable[[Context], Response]

MAX_REQUEST_ID = 50


def _handlers() -> dict[str, Handler]:
    handlers: dict[str, Handler] = {name: query for name in QUERIES if name in schema().requests}
    for suffix, handler in (("AddRq", add), ("ModRq", mod.mod)):
        handlers |= {f"{kind}{suffix}": handler for kind in KINDS if f"{kind}{suffix}" in schema().requests}
    return handlers | {
        **reports.HANDLERS,
        "AccountTaxLineInfoQueryRq": company.tax_lines,
        "BarCodeQueryRq": derived.bar_codes,
        "BillToPayQueryRq": derived.bills_to_pay,
        "ClearedStatusModRq": mod.set_cleared_status,
        "CompanyActivityQueryRq": company.activity,
        "CompanyQueryRq": company.company,
        "DataEventRecoveryInfoDelRq": company.nothing_to_do,
        "DataEventRecoveryInfoQueryRq": company.nothing_recorded,
        "DataExtAddRq": data_extensions.set_value,
        "DataExtDefAddRq": data_extensions.add_definition,
        "DataExtDefDelRq": data_extensions.delete_definition,
        "DataExtDefModRq": data_extensions.change_definition,
        "DataExtDefQueryRq": data_extensions.query_definitions,
        "DataExtDelRq": data_extensions.delete_value,
        "DataExtModRq": data_extensions.set_value,
        "Form1099CategoryAccountMappingModRq": company.change_form_1099,
        "Form1099CategoryAccountMappingQueryRq": company.form_1099,
        "HostQueryRq": company.host,
        "ItemAssembliesCanBuildQueryRq": derived.assemblies_that_can_be_built,
        "ItemSitesQueryRq": derived.item_sites,
        "ListDelRq": delete.delete_list_object,
        "ListDeletedQueryRq": delete.deleted,
        "ListDisplayAddRq": company.needs_user_interface,
        "ListDisplayModRq": company.needs_user_interface,
        "ListMergeRq": delete.merge,
        "PayrollLastPeriodQueryRq": company.nothing_recorded,
        "PreferencesQueryRq": company.preferences,
        "ReceivePaymentToDepositQueryRq": derived.payments_to_deposit,
        "SalesTaxPayableQueryRq": derived.sales_tax_payable,
        "SalesTaxReturnLineQueryRq": company.nothing_recorded,
        "SalesTaxReturnQueryRq": company.nothing_recorded,
        "SpecialAccountAddRq": special.add_account,
        "SpecialItemAddRq": special.add_item,
        "TransactionQueryRq": derived.transactions,
        "TxnDelRq": delete.delete_transaction,
        "TxnDeletedQueryRq": delete.deleted,
        "TxnDisplayAddRq": company.needs_user_interface,
        "TxnDisplayModRq": company.needs_user_interface,
        "TxnVoidRq": delete.void,
    }


HANDLERS = _handlers()
"""The handlers by request name. A handler returns a `Response`, or raises `RequestError` and changes nothing."""


def respond(context: Context) -> Response:
    """Answer one request that the schema accepts."""
    try:
        _check(context)
        context.node, unsupported = supported(context.node, context.model, context.facts.product.edition)
        context.node = expanded(context.node, context.macros)
        check_preferences(context.books, context.node, context.model)
        check_values(context.node, context.model)
        if context.node.get("iterator") in {"Continue", "Stop"}:
            return next_page(context)
        result = _handled(context)
    except RequestError as error:
        return Response.error(error.code, error.message)
    if unsupported and result.code == 0:
        message = f'The field "{unsupported[0]}" is not supported by this implementation.'
        return replace(result, code=530, severity="Warn", message=message)
    return result


def _handled(context: Context) -> Response:
    """Execute a request, and make builds pending whose components it took. An error leaves the books as they were."""
    if context.name.endswith("QueryRq"):
        return HANDLERS[context.name](context)
    try:
        with context.books.atomic():
            result = HANDLERS[context.name](context)
            hold_short_builds(context.books)
    finally:
        context.books.ledger.moved_components()
    return result


def _check(context: Context) -> None:
    """Check the request ID and the edition. Raises `RequestError` 1060 or 3250."""
    request_id = context.node.get("requestID", "")
    if len(request_id) > MAX_REQUEST_ID:
        raise RequestError(
            1060, f'The request ID "{request_id}" is invalid, possibly too long, max {MAX_REQUEST_ID} chars.'
        )
    if context.facts.product.edition in context.model.absent:
        raise RequestError(3250, f"{NOT_AVAILABLE}: {context.name}.")
