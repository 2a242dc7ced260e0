"""The currencies of records while the company uses several.

Simplified: the ledger has the amounts of a transaction as they are, not in the home currency.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.books.records import reference_id
from simulator.rules.preferences import HOME_CURRENCY, is_on

if TYPE_CHECKING:
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

_PARTIES = ("CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef", "AccountRef", "DepositToAccountRef")
"""The fields of a transaction whose currency is that of the transaction."""
_HOME_AMOUNT = "InHomeCurrency"
_CENT = Decimal("0.01")


def currency_of(books: Books, fields: Fields) -> Fields:
    """Return a reference to the currency of a record: its own, that of its party, or the home currency."""
    parties = (books.lists.get(reference_id(fields, name)) for name in _PARTIES)
    theirs = (party.fields.get("CurrencyRef") for party in parties if party is not None)
    currency: Fields = fields.get("CurrencyRef") or next(filter(None, theirs), None) or {}
    return currency or books.preferences.get(HOME_CURRENCY, {})


def complete_rate(books: Books, draft: Draft) -> None:
    """Give a transaction the exchange rate of its currency, unless the request names one."""
    if "ExchangeRate" in draft.kind.fields and is_on(books, "multi_currency"):
        currency = books.lists.get(currency_of(books, draft.fields).get("ListID", ""))
        draft.fields.setdefault("ExchangeRate", currency.fields.get("ExchangeRate", "1") if currency else "1")


def currency_fields(books: Books, record: Record, shown: Fields) -> Fields:
    """Return the currency of a record, and its amounts in the home currency. `shown` are its other fields."""
    model = record.kind.fields.elements
    if "CurrencyRef" not in model or not is_on(books, "multi_currency"):
        return {}
    fields: Fields = {"CurrencyRef": currency_of(books, record.fields)}
    if "ExchangeRate" in model:
        fields["ExchangeRate"] = shown.get("ExchangeRate", "1")
    rate = Decimal(fields.get("ExchangeRate", "1"))
    for name in model:
        amount = shown.get(name.removesuffix(_HOME_AMOUNT)) if name.endswith(_HOME_AMOUNT) else None
        if amount:
            fields[name] = f"{(Decimal(amount) * rate).quantize(_CENT):.2f}"
    return fields
