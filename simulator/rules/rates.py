"""Rules of price levels, billing rates and workers' compensation codes: prices and rates for items and dates."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.books.records import reference_id
from simulator.rules.items import sales_facts
from simulator.rules.lists import ListRules
from simulator.schema.values import money

if TYPE_CHECKING:
    from simulator.books.records import Draft, Fields
    from simulator.books.store import Books


class PriceLevelRules(ListRules):
    """Price levels: one percentage for all items, or a price for each."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Compute the prices that the request states relative to others."""
        super().complete(books, draft)
        draft.fields["PriceLevelType"] = _type_of(
            draft, "PriceLevelFixedPercentage", "PriceLevelPerItemRet", "FixedPercentage"
        )
        for row in draft.fields.get("PriceLevelPerItemRet", ()):
            _adjust(books, row, "AdjustRelativeTo", "CustomPrice")


class BillingRateRules(ListRules):
    """Billing rates: one rate for all services, or a rate for each."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Compute the rates that the request states relative to others."""
        super().complete(books, draft)
        draft.fields["BillingRateType"] = _type_of(draft, "FixedBillingRate", "BillingRatePerItemRet", "FixedRate")
        for row in draft.fields.get("BillingRatePerItemRet", ()):
            _adjust(books, row, "AdjustBillingRateRelativeTo", "CustomRate")


class WorkersCompCodeRules(ListRules):
    """Workers' compensation codes: rates with the dates from which they apply."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Add the new rates to the history, and note the current and the next one."""
        super().complete(books, draft)
        fields, today = draft.fields, books.clock.today().isoformat()
        history = {
            row["EffectiveDate"]: row for row in [*fields.get("RateHistory", ()), *draft.extra.get("RateEntry", ())]
        }
        fields["RateHistory"] = [history[day] for day in sorted(history)]
        for name in ("CurrentRate", "CurrentEffectiveDate", "NextRate", "NextEffectiveDate"):
            fields.pop(name, None)
        for day, row in sorted(history.items()):
            part = "Current" if day <= today else "Next"
            if part == "Current" or "NextRate" not in fields:
                fields |= {f"{part}Rate": row["Rate"], f"{part}EffectiveDate": day}


def _type_of(draft: Draft, fixed: str, rows: str, fixed_type: str) -> str:
    """Return the form of the record: one of two."""
    return "PerItem" if draft.fields.get(rows) and fixed not in draft.fields else fixed_type


def _adjust(books: Books, row: Fields, relative_to: str, price: str) -> None:
    """Replace a percentage of another price by the resulting price."""
    basis, percentage = row.pop(relative_to, ""), row.pop("AdjustPercentage", "0")
    if not basis:
        if f"{price}Percent" not in row:
            row.setdefault(price, "0.00")
        return
    item = books.lists.get(reference_id(row, "ItemRef"))
    facts = sales_facts(item) if item is not None else {}
    if basis == "Cost" and item is not None:
        amount = item.fields.get("PurchaseCost") or item.fields.get("SalesAndPurchase", {}).get("PurchaseCost")
    else:
        amount = facts.get("Price")
    row[price] = money(Decimal(amount or "0") * (1 + Decimal(percentage) / 100))
