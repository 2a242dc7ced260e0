"""The questions that only a real company file answers, each with its answer in words.

An answer has no text of the books: only numbers, statuses and words of this module. docs/first-contact.md lists the
statements of the documentation that rest on each question.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from qbxml_queue.check.outcomes import moment, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qbxml_queue.check.outcomes import Outcome

_TYPES = (
    "Bank AccountsReceivable OtherCurrentAsset FixedAsset OtherAsset AccountsPayable CreditCard OtherCurrentLiability "
    "LongTermLiability Equity Income CostOfGoodsSold Expense OtherIncome OtherExpense NonPosting"
)
ACCOUNT_TYPES = _TYPES.split()
"""The types of accounts in the order of the chart of accounts."""

NOT_ANSWERED = "Not answered: the steps that ask were not asked, or came without an answer."


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `answer` returns '' if the outcomes have no answer."""

    name: str
    text: str
    answer: Callable[[Mapping[str, Outcome]], str]
    needs_writes: bool = False


def answers(outcomes: Mapping[str, Outcome], *, has_writes: bool) -> list[tuple[Question, str]]:
    """Return each question with its answer."""
    found = []
    for question in QUESTIONS:
        text = question.answer(outcomes)
        if not text:
            text = NOT_ANSWERED if has_writes or not question.needs_writes else "Not asked: it needs WRITES=on."
        found.append((question, text))
    return found


def _asked(outcomes: Mapping[str, Outcome], step: str) -> Outcome | None:
    outcome = outcomes.get(step)
    return outcome if outcome is not None and outcome.status is not None else None


def _status(step: str, subject: str) -> Callable[[Mapping[str, Outcome]], str]:
    """Return an answer that says with which status, or error, QuickBooks answered a step."""

    def answer(outcomes: Mapping[str, Outcome]) -> str:
        outcome = outcomes.get(step)
        if outcome is None or not outcome.records:
            return ""
        if outcome.status is None:
            return f"{subject} ends as {outcome.error or outcome.records[-1]['state']}, without a status."
        return f"{subject} gets status {outcome.status}."

    return answer


def _same_iterator(outcomes: Mapping[str, Outcome]) -> str:
    outcome = _asked(outcomes, "iterator")
    ids = outcome.values("@iteratorID") if outcome else []
    if len(ids) < 2:  # noqa: PLR2004 - one page says nothing
        return ""
    return f"It {'stays the same' if len(set(ids)) == 1 else 'changes'} over {len(ids)} pages."


def _ret_count(outcomes: Mapping[str, Outcome]) -> str:
    count, pages = _asked(outcomes, "count"), _asked(outcomes, "iterator")
    counted = count.first("@retCount") if count else None
    if counted is None or pages is None:
        return ""
    number = len(pages.values("CustomerRet/ListID"))
    return "It is exact." if number == whole(counted) else "It is not exact: the iterator returned another number."


def _is_by_type(types: list[str]) -> bool:
    """Return whether accounts of these types are in the order of the chart of accounts."""
    places = [ACCOUNT_TYPES.index(name) for name in types if name in ACCOUNT_TYPES]
    return places == sorted(places)


def _order_of_accounts(outcomes: Mapping[str, Outcome]) -> str:
    outcome = _asked(outcomes, "accounts")
    if outcome is None or len(outcome.values("AccountRet/ListID")) < 2:  # noqa: PLR2004 - one account has no order
        return ""
    names = [name.lower() for name in outcome.values("AccountRet/FullName")]
    orders = {
        "by their types, as the chart of accounts": _is_by_type(outcome.values("AccountRet/AccountType")),
        "by their full names": names == sorted(names),
        "by their ListIDs": (ids := outcome.values("AccountRet/ListID")) == sorted(ids),
        "by the times of their creation": (times := outcome.values("AccountRet/TimeCreated")) == sorted(times),
        "by their numbers": bool(numbers := outcome.values("AccountRet/AccountNumber")) and numbers == sorted(numbers),
    }
    found = [order for order, is_true in orders.items() if is_true]
    return f"They are {' and '.join(found)}." if found else "They are in none of the orders that were tried."


def _inclusive(outcomes: Mapping[str, Outcome]) -> str:
    wanted, found = _asked(outcomes, "transaction-dates"), _asked(outcomes, "one-second")
    transaction = wanted.first("InvoiceRet/TxnID") if wanted else None
    if found is None or transaction is None:
        return ""
    is_found = transaction in found.values("InvoiceRet/TxnID")
    return (
        "Both ends are inclusive, the resolution is a second, and a time without its offset is local time: a range of "
        "one second finds the invoice that was changed in it."
        if is_found
        else "A range of one second does not find the invoice that was changed in it. Let ranges overlap."
    )


def _offsets(outcomes: Mapping[str, Outcome]) -> str:
    offsets: dict[bool, set[str]] = {True: set(), False: set()}
    for outcome in outcomes.values():
        for element in outcome.objects:
            for name in ("TimeCreated", "TimeModified"):
                text = element.findtext(name, "")
                if len(text) == len("2026-01-15T12:00:00-05:00"):
                    offsets[text[5:7] in {"06", "07", "08"}].add(text[-6:])
    winter, summer = (sorted(offsets[is_summer]) for is_summer in (False, True))
    if not summer or not winter:
        return ""
    season = "Both seasons have the same offset" if winter == summer else "Summer and winter have different offsets"
    return f"{season}: {', '.join(sorted({*winter, *summer}))}."


def _accents(outcomes: Mapping[str, Outcome]) -> str:
    texts = [element.text or "" for outcome in outcomes.values() for one in outcome.objects for element in one.iter()]
    number = sum(not text.isascii() for text in texts)
    broken = sum("\N{REPLACEMENT CHARACTER}" in text for text in texts)
    if not number:
        return ""
    return f"{number} values with such letters arrived, {broken} of them with a replacement character."


def _sets(outcomes: Mapping[str, Outcome]) -> str:
    sizes: dict[str, int] = defaultdict(int)
    for outcome in outcomes.values():
        for record in outcome.records:
            if record["sent_at"]:
                sizes[record["sent_at"]] += 1
    if not sizes:
        return ""
    largest = max(sizes.values())
    if largest == 1:
        return "Each request travelled alone. With a read_batch_size of 20, reads travel in sets."
    return f"The largest message set had {largest} requests, and each got its own response."


def _times(outcomes: Mapping[str, Outcome]) -> str:
    seconds: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes.values():
        if outcome.seconds is not None and outcome.responses:
            seconds[outcome.responses[0].tag.removesuffix("Rs")].append(outcome.seconds)
    if not seconds:
        return ""
    slowest = sorted(seconds, key=lambda name: -max(seconds[name]))[:5]
    every = [one for some in seconds.values() for one in some]
    listed = ", ".join(f"{name} {max(seconds[name]):.1f} s" for name in slowest)
    return f"The median is {median(every):.1f} s. The slowest are {listed}."


def _touches(before: str, after: str, kind: str) -> Callable[[Mapping[str, Outcome]], str]:
    """Return an answer that compares the times and the EditSequence of an object before and after a change."""

    def answer(outcomes: Mapping[str, Outcome]) -> str:
        one, other = _asked(outcomes, before), _asked(outcomes, after)
        changed = []
        for name in ("TimeModified", "EditSequence"):
            values = [outcome.first(f"{kind}/{name}") if outcome else None for outcome in (one, other)]
            if None in values:
                return ""
            changed += [name] if values[0] != values[1] else []
        return (
            f"It changes {' and '.join(changed)}." if changed else "It changes neither TimeModified nor EditSequence."
        )

    return answer


def _merge_in_deleted_lists(outcomes: Mapping[str, Outcome]) -> str:
    added, merged = _asked(outcomes, "second-customer"), _asked(outcomes, "merge")
    listed = _asked(outcomes, "merge-deleted")
    customer = added.first("CustomerRet/ListID") if added else None
    if customer is None or listed is None or merged is None or merged.status != 0:
        return ""
    return "It is." if customer in listed.values("ListDeletedRet/ListID") else "It is not."


def _clock(outcomes: Mapping[str, Outcome]) -> str:
    outcome = _asked(outcomes, "customer-add")
    created = outcome.first("CustomerRet/TimeCreated") if outcome else None
    if outcome is None or created is None:
        return ""
    sent, responded = (moment(outcome.records[0][name]) for name in ("sent_at", "responded_at"))
    try:
        at = moment(created)
        seconds = round(max((sent - at).total_seconds(), (at - responded).total_seconds(), 0))
    except (TypeError, ValueError):
        return "The time of the new customer has no offset, so it cannot be compared."
    direction = "behind" if at < sent else "ahead"
    return f"At most {seconds} seconds {direction}." if seconds > 1 else "It is right, to a second."


def _dead_set(outcomes: Mapping[str, Outcome]) -> str:
    lost, found = _asked(outcomes, "lost-invoice"), _asked(outcomes, "lost-found")
    if lost is None or found is None:
        return ""
    number = sum(1 for _ in found.objects)
    times = "once" if number == 1 else f"{number} times"
    if len(lost.sets) == 1:
        return f"The response arrived before the Web Connector ended. The invoice exists {times}."
    ended = f"ended with status {lost.status}" if lost.status is not None else f"ended as {lost.error}"
    return f"It was sent, and asked about later. It {ended}, and the invoice exists {times}."


QUESTIONS: tuple[Question, ...] = (
    Question("times", "How long does each kind of request take?", _times),
    Question("accounts-order", "In which order are accounts?", _order_of_accounts),
    Question("iterator-id", "Does iteratorID stay the same from page to page?", _same_iterator),
    Question(
        "iterator-ended",
        "What happens to a page of an iterator that has ended?",
        _status("iterator-ended", "A page of an iterator that has ended"),
    ),
    Question(
        "iterator-ids",
        "Does an iterator work with a list of ids?",
        _status("iterator-with-ids", "An iterator of listed customers"),
    ),
    Question("ret-count", "Is retCount exact?", _ret_count),
    Question("range-ends", "Are both ends of a range of times inclusive, and what is its resolution?", _inclusive),
    Question("offsets", "Do times have the offset of summer in summer?", _offsets),
    Question("letters", "Do letters outside ASCII arrive?", _accents),
    Question("sets", "Are the requests of a message set answered one by one?", _sets),
    Question(
        "unknown-filter",
        "What happens to a filter on something that does not exist?",
        _status("unknown-filter", "A filter on a customer that does not exist"),
    ),
    Question(
        "unknown-object", "What happens to a change of an object that does not exist?", _status("unknown-change", "It")
    ),
    Question(
        "unknown-reference",
        "What happens to a reference by a name that does not exist?",
        _status("unknown-reference", "It"),
    ),
    Question("clock", "How far is the clock of the books off?", _clock, needs_writes=True),
    Question(
        "payment",
        "Does a payment touch its invoice?",
        _touches("invoice-add", "invoice-paid", "InvoiceRet"),
        needs_writes=True,
    ),
    Question(
        "deleted-payment",
        "Does the deletion of a payment touch its invoice?",
        _touches("invoice-paid", "invoice-unpaid", "InvoiceRet"),
        needs_writes=True,
    ),
    Question(
        "balance",
        "Does an invoice touch its customer, whose balance it moves?",
        _touches("customer-add", "customer-invoiced", "CustomerRet"),
        needs_writes=True,
    ),
    Question(
        "rename",
        "Does another name of a customer touch its job?",
        _touches("job-add", "job-renamed", "CustomerRet"),
        needs_writes=True,
    ),
    Question(
        "custom-field",
        "Does a custom field touch its customer?",
        _touches("customer-mod", "customer-with-field", "CustomerRet"),
        needs_writes=True,
    ),
    Question(
        "merge",
        "Does a merge touch the customer that remains?",
        _touches("customer-with-field", "customer-merged", "CustomerRet"),
        needs_writes=True,
    ),
    Question("merged", "Is a merged customer in the deleted lists?", _merge_in_deleted_lists, needs_writes=True),
    Question(
        "void",
        "Does a void touch its invoice?",
        _touches("invoice-unpaid", "invoice-voided", "InvoiceRet"),
        needs_writes=True,
    ),
    Question("dead-set", "What does a Web Connector that was ended leave of a write?", _dead_set, needs_writes=True),
)
"""The questions, in the order of the report."""
