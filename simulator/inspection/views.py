"""The state of the books as JSON: fields have the names and the order of QBXML responses."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from simulator.books import KINDS
from simulator.books.kinds import LISTS, TRANSACTIONS
from simulator.books.ledger import ZERO
from simulator.fidelity.strict import about, basis
from simulator.requests.shown import shown
from simulator.rules.problems import book_problems
from simulator.schema import Aggregate
from simulator.schema.model import mixed_key
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulator.books import Books, Fields, Record
    from simulator.books.ledger import Posting
    from simulator.company import Company

Json = dict[str, Any]

_TOTALS = ("TotalAmount", "AmountDue", "Amount", "CreditAmount", "DepositTotal", "Subtotal")
_PARTIES = ("CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef")


def summary(company: Company, problems: int) -> Json:
    """Return the facts about the company, the number of its records, and whether its books balance."""
    books, product = company.books, company.product
    debits = sum((balance for balance in books.ledger.accounts.values() if balance > 0), ZERO)
    credits_ = -sum((balance for balance in books.ledger.accounts.values() if balance < 0), ZERO)
    return {
        "company": company.name,
        "path": company.path,
        "product": product.name,
        "country": product.country,
        "qbxml_version": product.highest_version,
        "today": books.clock.today().isoformat(),
        "lists": counts(books, LISTS),
        "transactions": counts(books, TRANSACTIONS),
        "debits": money(debits),
        "credits": money(credits_),
        "is_balanced": debits == credits_,
        "executed": len(company.executed),
        "executed_writes": len(company.writes),
        "deleted": len(books.deletions),
        "problems": problems,
    }


def counts(books: Books, kinds: Iterable[str]) -> dict[str, int]:
    """Return the number of records of each kind. Kinds without records are left out."""
    return {kind: len(books[kind]) for kind in kinds if len(books[kind])}


def row(books: Books, record: Record) -> Json:
    """Return a record as QBXML shows it, with all of its lines."""
    return as_json(books, record.kind.fields, shown(books, record))


def summary_row(books: Books, record: Record) -> Json:
    """Return the facts of a record that fit on one line of a table."""
    fields = shown(books, record)
    if record.kind.is_list:
        names = ("FullName", "AccountType", "Balance", "TotalBalance", "QuantityOnHand", "SalesPrice", "Phone")
        return {
            "id": record.id,
            "name": record.full_name or fields.get("Notes", ""),
            "is_active": record.is_active,
            **{name: fields[name] for name in names[1:] if name in fields and name in record.kind.fields},
        }
    party = next((fields[name] for name in _PARTIES if fields.get(name)), None)
    return {
        "id": record.id,
        "number": fields.get("RefNumber", ""),
        "date": fields.get("TxnDate", fields.get("TripStartDate", "")),
        "party": name_of(books, party["ListID"]) if party else "",
        "amount": next((fields[name] for name in _TOTALS if name in fields), ""),
        "is_void": record.is_void,
        **{name: fields[name] for name in ("IsPaid", "BalanceRemaining", "OpenAmount") if name in fields},
    }


def name_of(books: Books, list_id: str) -> str:
    """Return the full name of a list object, '' for an id that does not exist."""
    record = books.lists.get(list_id)
    return record.full_name if record is not None else ""


def as_json(books: Books, model: Aggregate, fields: Fields) -> Json:
    """Return fields in the order of the schema. References have their name. Fields without an element are left out."""
    mixed: dict[str, list[Any]] = {}
    for names in model.mixed:
        for name, value in fields.get(mixed_key(names), ()):
            mixed.setdefault(name, []).append(value)
    result: Json = {}
    for name, element in model.elements.items():
        value = mixed.get(name, fields.get(name))
        if value in (None, "", [], {}):
            continue
        many = value if isinstance(value, list) else [value]
        shown_values = [_value(books, element.type, member) for member in many]
        result[name] = shown_values if element.repeats or name in mixed else shown_values[0]
    return result


def _value(books: Books, kind: Any, value: Any) -> Any:
    if not isinstance(value, dict) or not isinstance(kind, Aggregate):
        return value
    if kind.is_reference:
        return {"ListID": value.get("ListID", ""), "FullName": name_of(books, value.get("ListID", ""))}
    return as_json(books, kind, value)


def transaction(books: Books, record: Record) -> Json:
    """Return a transaction with its postings and its linked transactions."""
    links = ((link, link.target if link.source == record.id else link.source) for link in books.ledger.links(record.id))
    return {
        "type": record.kind.name,
        "record": row(books, record),
        "postings": [posting(books, ledger_posting) for ledger_posting in books.ledger.postings(record.id)],
        "links": [
            {
                "type": other.kind.name,
                "id": other.id,
                "number": other.fields.get("RefNumber", ""),
                "link": link.kind,
                "amount": money(link.amount),
            }
            for link, other_id in links
            if (other := books.transactions.get(other_id)) is not None
        ],
    }


def list_object(record: Record, books: Books) -> Json:
    """Return a list object with the number of records that refer to it."""
    return {"type": record.kind.name, "record": row(books, record), "used_by": len(books.users(record.id))}


def posting(books: Books, ledger_posting: Posting) -> Json:
    """Return one line of the ledger: either a debit or a credit."""
    return {
        "account": name_of(books, ledger_posting.account),
        "debit": money(ledger_posting.amount) if ledger_posting.amount > 0 else "",
        "credit": money(-ledger_posting.amount) if ledger_posting.amount < 0 else "",
        "name": name_of(books, ledger_posting.entity),
        "item": name_of(books, ledger_posting.item),
        "memo": ledger_posting.memo,
    }


def trial_balance(books: Books) -> list[Json]:
    """Return the accounts with a balance: a debit or a credit."""
    rows = []
    for account in books["Account"]:
        balance = books.ledger.accounts.get(account.id, ZERO)
        if balance:
            rows.append(
                {
                    "id": account.id,
                    "account": account.full_name,
                    "type": account.fields.get("AccountType", ""),
                    "debit": money(balance) if balance > 0 else "",
                    "credit": money(-balance) if balance < 0 else "",
                }
            )
    return rows


def account_postings(books: Books, account: str) -> list[Json]:
    """Return the postings to an account by transaction date, with a running balance."""
    rows = []
    balance = Decimal()
    dated = sorted(
        (books.transactions[record_id] for record_id in books.ledger.effects),
        key=lambda record: (record.fields.get("TxnDate", ""), record.number),
    )
    for record in dated:
        for ledger_posting in books.ledger.postings(record.id):
            if ledger_posting.account == account:
                balance += ledger_posting.amount
                rows.append(
                    {
                        "date": record.fields.get("TxnDate", ""),
                        "type": record.kind.name,
                        "id": record.id,
                        "number": record.fields.get("RefNumber", ""),
                        **posting(books, ledger_posting),
                        "balance": money(balance),
                    }
                )
    return rows


def executed(company: Company, *, writes: bool) -> list[Json]:
    """Return the requests that QuickBooks executed, oldest first."""
    executions = company.writes if writes else company.executed
    return [{**asdict(execution), "succeeded": execution.succeeded} for execution in executions]


def simplifications(company: Company) -> list[Json]:
    """Return the behaviours that are not QuickBooks' and that requests depended on, if the company is strict."""
    return [
        {"name": name, "about": about(name), "basis": basis(name), "requests": count}
        for name, count in company.simplifications.items()
    ]


def problems(company: Company) -> list[str]:
    """Return the violated rules of the books, and the writes that were executed twice."""
    failures = book_problems(company.books)
    seen: set[tuple[str, str | None, str]] = set()
    for write in company.writes:
        key = (write.application, write.request_id, write.fingerprint)
        if write.succeeded and write.request_id and key in seen:
            failures.append(f"{write.name} with requestID {write.request_id} was executed more than once.")
        if write.succeeded:
            seen.add(key)
    return failures


def kind_of(name: str, *, is_list: bool) -> str | None:
    """Return the kind with this name in any case, if it is a list or a transaction as asked."""
    match = next((kind for kind in KINDS if kind.lower() == name.lower()), None)
    return match if match is not None and KINDS[match].is_list == is_list else None
