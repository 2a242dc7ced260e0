"""Transactions: how one is repeated, and how a repetition recognises its own earlier success.

A transaction writes every item twice. One that only puts a single item on a condition is therefore a plain conditional
put, which costs half.

The answer to a transaction can be lost: the call times out, the connection breaks, or DynamoDB returns a status of
5xx. The transaction may then have been done, may still be in progress, or may even arrive later. It is repeated with
the same `ClientRequestToken` and the same entries. DynamoDB keeps tokens for ten minutes, so it does the transaction
once. botocore repeats a call in the same way before it reports a failure. Only a cancelled transaction gets a new
token. A plain put has no token.

A repetition can therefore meet an item that it wrote itself: the lost call was a plain put, or arrived after the
transaction got a new token. Every item that is stored on a condition has the commit's id. No other commit has this id.
An item with it proves that the transaction was done (decision 0037).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, ConnectionError, HTTPClientError  # noqa: A004 - botocore's name
from botocore.parsers import ResponseParserError

from adapters.dynamodb.client import Policy
from domain.errors import Conflict, TooManyRequests, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.dynamodb.client import DynamoDB, Tries
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.operations import Operation

CONTENTION = Policy(
    retries=10,
    first_seconds=0.02,
    max_seconds=0.5,
    message="Too many changes to this connection at the same time. Try again in a moment.",
)
"""A transaction takes about 10 ms."""

MAX_REPEATING_SECONDS = 10.0
"""No call begins this long after the first one. A call can take 12 seconds (`handlers/common/bootstrap.py`), and the
functions of the API may take 25."""

NOT_CONFIRMED = (
    "The database did not confirm the change in time. It may have been made. Repeat the call. Repeat a create with the "
    "same Idempotency-Key."
)

LOST_ANSWERS = (ConnectionError, HTTPClientError, ResponseParserError)
"""Errors of botocore after which it is not known whether DynamoDB received and did a call."""

_UNKNOWN_CODES = frozenset({"TransactionInProgressException", "RequestTimeout", "RequestTimeoutException"})
"""Codes with a status of 4xx after which it is not known whether DynamoDB did a call. It never is after one of 5xx."""

_REFUSED_CODES = frozenset({"ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"})
_CANCELLED_CODES = frozenset(
    {"TransactionCanceledException", "ConditionalCheckFailedException", "TransactionConflictException"}
)
"""DynamoDB cancels a transaction with reasons. A plain put gets an error of its own for each of two reasons."""
_RETRYABLE_REASONS = frozenset(
    {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"}
)
_SERVER_ERRORS = 500


class CallOutcome(Enum):
    """How a call ended. An error of another kind is the fault of the caller."""

    UNKNOWN = auto()
    """It was done, is in progress, may still arrive or was lost."""
    REFUSED = auto()
    """It was throttled before it began."""
    CANCELLED = auto()
    """It was not done. `_reasons` returns a reason for each entry."""


def new_commit_id() -> str:
    """Return the id of a commit: 12 characters, 72 random bits."""
    return secrets.token_urlsafe(9)


def outcome_of(error: Exception) -> CallOutcome:
    """Return how a call ended that raised `error`. Raises the error if a repetition cannot help."""
    if not isinstance(error, ClientError):
        return CallOutcome.UNKNOWN
    code = error.response["Error"]["Code"]
    if code in _CANCELLED_CODES:
        return CallOutcome.CANCELLED
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in _UNKNOWN_CODES or status >= _SERVER_ERRORS:
        return CallOutcome.UNKNOWN
    if code in _REFUSED_CODES:
        return CallOutcome.REFUSED
    raise error


@dataclass(frozen=True, slots=True)
class Transaction:
    """One commit.

    `first_operations` returns the operations that depend on how often the transaction was cancelled. They are the same
    for each repetition with the same token. Their conflicts are reported before those of the others.
    """

    commit_id: str
    operations: Sequence[Operation]
    first_operations: Callable[[int], Sequence[Operation]] = lambda _cancellations: ()

    def all_operations(self, cancellations: int) -> Sequence[Operation]:
        """Return the operations after a number of cancellations."""
        return [*self.first_operations(cancellations), *self.operations]


class Transactions:
    """Carries out transactions."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def write(self, transaction: Transaction) -> None:
        """Do all operations or none.

        Raises Conflict if a condition does not hold, TooManyRequests if other transactions got in the way on every try,
        and Unavailable if it is unknown whether the transaction was done.
        """
        backoff, start = self._dynamodb.backoff(CONTENTION), self._dynamodb.monotonic()
        cancellations, may_have_arrived = 0, False
        operations = transaction.all_operations(cancellations)
        while True:
            try:
                self._call(_entries(transaction, operations), token=f"{transaction.commit_id}.{cancellations}")
            except (ClientError, *LOST_ANSWERS) as error:
                outcome = outcome_of(error)
                may_have_arrived |= outcome is CallOutcome.UNKNOWN or _was_repeated_by_botocore(error)
                if outcome is CallOutcome.CANCELLED:
                    if _was_done_before(error, transaction, operations, may_have_arrived=may_have_arrived):
                        return
                    _raise_unless_retryable(error, operations)
                    cancellations += 1
                    operations = transaction.all_operations(cancellations)
                try:
                    self._pause(backoff, start)
                except TooManyRequests:
                    if may_have_arrived:
                        raise Unavailable(NOT_CONFIRMED) from error
                    raise
            else:
                return

    def _call(self, entries: list[dict[str, Any]], token: str) -> None:
        """Do the entries with one call."""
        if len(entries) == 1 and "ConditionExpression" in (put := entries[0].get("Put", {})):
            self._dynamodb.client.put_item(**put)
        else:
            self._dynamodb.client.transact_write_items(TransactItems=entries, ClientRequestToken=token)

    def _pause(self, backoff: Tries, start: float) -> None:
        """Wait before the next call. Raises TooManyRequests if none is left."""
        backoff.wait()
        if self._dynamodb.monotonic() - start > MAX_REPEATING_SECONDS:
            raise TooManyRequests(CONTENTION.message)


def _entries(transaction: Transaction, operations: Sequence[Operation]) -> list[dict[str, Any]]:
    return [operation.entry_of(transaction.commit_id) for operation in operations]


def _was_repeated_by_botocore(error: Exception) -> bool:
    """Whether botocore made several calls. The answer to one of them may have been lost."""
    response = getattr(error, "response", None) or {}
    return bool(response.get("ResponseMetadata", {}).get("RetryAttempts"))


def _was_done_before(
    error: Exception, transaction: Transaction, operations: Sequence[Operation], *, may_have_arrived: bool
) -> bool:
    """Whether a cancelled transaction failed because it was done before.

    An item that was stored may have been changed since, and then has the id of another commit. A new entity that exists
    after a lost answer was stored by the lost call, unless it shows that another call has stored it.
    """
    return any(
        operation.is_own(item, transaction.commit_id) or (may_have_arrived and operation.may_be_own_later(item))
        for operation, item in _failed(error, operations)
        if item is not None
    )


def _failed(error: Any, operations: Sequence[Operation]) -> list[tuple[Operation, Item | None]]:
    """Return the operations with an unmet condition, each with the stored item."""
    return [
        (operation, reason.get("Item") or None)
        for operation, reason in zip(operations, _reasons(error), strict=False)
        if reason.get("Code") == "ConditionalCheckFailed"
    ]


def _raise_unless_retryable(error: Any, operations: Sequence[Operation]) -> None:
    """Raise Conflict if a condition did not hold, or the error itself if a repetition cannot help."""
    for operation, item in _failed(error, operations):
        if operation.change is not None:
            raise Conflict(operation.change, operation.decode(item) if item else None) from None
    if not any(reason.get("Code") in _RETRYABLE_REASONS for reason in _reasons(error)):
        raise error


def _reasons(error: Any) -> list[dict[str, Any]]:
    """Return why each entry was not done. A plain put has one entry, and its error is the reason."""
    response = error.response
    code = response["Error"]["Code"].removesuffix("Exception")
    reasons: list[dict[str, Any]] = response.get("CancellationReasons", [{"Code": code, "Item": response.get("Item")}])
    return reasons
