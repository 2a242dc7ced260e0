"""Which function answers which request."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from simulator.books import KINDS
from simulator.errors import RequestError
from simulator.requests import company, delete, mod
from simulator.requests.add import add
from simulator.requests.answers import Answer
from simulator.requests.query import QUERIES, query
from simulator.schema import schema
from simulator.schema.values import check_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.requests.context import Context

    Handler: TypeAlias = Callable[[Context], Answer]

MAX_REQUEST_ID = 50


def _handlers() -> dict[str, Handler]:
    handlers: dict[str, Handler] = {name: query for name in QUERIES if name in schema().requests}
    for suffix, handler in (("AddRq", add), ("ModRq", mod.mod)):
        handlers |= {f"{kind}{suffix}": handler for kind in KINDS if f"{kind}{suffix}" in schema().requests}
    return handlers | {
        "ClearedStatusModRq": mod.set_cleared_status,
        "CompanyQueryRq": company.company,
        "HostQueryRq": company.host,
        "ListDelRq": delete.delete_list_object,
        "PreferencesQueryRq": company.preferences,
        "TxnDelRq": delete.delete_transaction,
    }


HANDLERS = _handlers()
"""The handlers by request name. A handler returns an `Answer` or raises `RequestError`; nothing is changed then."""


def answer(context: Context) -> Answer:
    """Answer one request that the schema accepts."""
    request_id = context.node.get("requestID", "")
    if len(request_id) > MAX_REQUEST_ID:
        message = f'The request ID "{request_id}" is invalid, possibly too long, max {MAX_REQUEST_ID} chars.'
        return Answer.error(1060, message)
    handler = HANDLERS.get(context.name)
    if handler is None:
        return Answer.error(1030, f"The simulated QuickBooks does not support {context.name}.")
    try:
        check_values(context.node, context.model)
        with context.books.atomic():
            return handler(context)
    except RequestError as error:
        return Answer.error(error.code, error.message)
