"""The errors of the client.

A call that the service refused is an `ApiError`: nothing was queued or changed. A request that was queued and did not
succeed is a `RequestFailed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qbxml_queue.schema.records import QueuedRequest


class QbxmlQueueError(Exception):
    """The base of all errors of this client."""


class ApiError(QbxmlQueueError):
    """The service refused the call. `code` is stable; `problems` lists what is wrong, each with its correction."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        self.status = status
        self.code = code
        self.details: Mapping[str, Any] = details or {}
        self.problems: list[dict[str, Any]] = self.details.get("problems", [])
        problems = "".join(
            f"\n  {problem['message']} {problem.get('suggestion', '')}".rstrip() for problem in self.problems
        )
        super().__init__(f"{status} {code}: {message}{problems}")


class ReadOnlyKey(ApiError):
    """The API key may only read, so the client did not make the call."""

    def __init__(self) -> None:
        super().__init__(403, "forbidden", "A read-only key cannot queue requests. Use a key with the scope full.")


class AnswerLost(QbxmlQueueError):
    """The call was made before, its answer was lost, and the service may have forgotten its idempotency key since.

    The client did not make the call: it might be a second write. `key` is the idempotency key.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(
            f"The answer to this call was lost over 23 hours ago, and the service forgets its idempotency key {key!r} "
            "after 24 hours. The service may have queued the request, so the client does not make the call again. Look "
            "in QuickBooks and in the list of requests. If nothing was written, make the call with a new "
            "idempotency_key."
        )


class InvalidSignature(QbxmlQueueError):
    """The webhook is not an event that was signed with the secret within the last five minutes."""


class RequestFailed(QbxmlQueueError):
    """The request ended without a result. `record` is the request."""

    def __init__(self, record: QueuedRequest, code: str, message: str, details: Mapping[str, Any]) -> None:
        self.record = record
        self.code = code
        self.details = details
        hint = f" {self.hint}" if self.hint else ""
        super().__init__(f"{record['request_name']} {record['id']}: {code}: {message}{hint}")

    @property
    def reason(self) -> str | None:
        """The stable name of the cause, such as `name_in_use`."""
        return self.details.get("reason")

    @property
    def hint(self) -> str | None:
        """What to do about it."""
        return self.details.get("hint")

    @property
    def status_code(self) -> int | None:
        """The status code of QuickBooks, such as 3100."""
        return self.details.get("status_code")

    @property
    def is_retryable(self) -> bool:
        """Whether the hint says to queue the same request again, under a new idempotency key."""
        return self.details.get("retryable") is True


class QuickBooksError(RequestFailed):
    """QuickBooks refused the request and changed nothing."""


class StaleEditSequence(QuickBooksError):
    """The object has changed since it was read. Read it again and repeat the change."""


class OutcomeUnknown(RequestFailed):
    """QuickBooks may have executed the request. Look in QuickBooks before you queue it again."""


class DependencyFailed(RequestFailed):
    """A request that this one needs did not succeed, so it was not sent."""


class Discarded(RequestFailed):
    """The request was taken out of the queue and was not sent."""


class ResultUnavailable(RequestFailed):
    """QuickBooks executed the request, but its response is too large or unreadable. `response_xml` may have it."""


class StillWaiting(QbxmlQueueError, TimeoutError):
    """The request has not ended in time. It stays queued: wait for it again with `wait`, and do not queue it again."""

    def __init__(self, record: QueuedRequest) -> None:
        self.record = record
        reason = record["waiting_reason"]
        why = f" {reason['message']}" if reason else ""
        super().__init__(f"{record['request_name']} {record['id']} is still {record['state']}.{why}")


class StillQueued(StillWaiting):
    """The call of a resource has not ended in time. Its request stays queued: the same call resumes it."""

    @property
    def id(self) -> str:
        """The id of the request."""
        return self.record["id"]


class NotFound(QbxmlQueueError, LookupError):
    """The books do not have the object."""

    def __init__(self, kind: str, identifier: str) -> None:
        super().__init__(f"The books have no {kind} with the id {identifier!r}.")


class Ambiguous(QbxmlQueueError, LookupError):
    """The books have several objects with a number. `ids` are theirs: use `get` with one of them."""

    def __init__(self, kind: str, sought: str, ids: Sequence[str]) -> None:
        self.ids = list(ids)
        super().__init__(f"The books have {len(ids)} objects of the type {kind} with {sought!r}: {', '.join(ids)}.")


@dataclass(frozen=True, slots=True)
class Change:
    """A field that two programs have changed. A value is None if the field is empty, or the line was removed."""

    field: str
    read: Any
    """The value that the call has read."""
    theirs: Any
    """The value in the books now."""
    ours: Any
    """The value that the call would write."""


class Conflict(QbxmlQueueError):
    """Somebody else has changed a field that the call changes. Nothing was written. `changes` has both values."""

    def __init__(self, kind: str, identifier: str, changes: Sequence[Change]) -> None:
        self.changes = list(changes)
        both = "; ".join(f"{one.field} is {one.theirs!r} now, and this call writes {one.ours!r}" for one in changes)
        super().__init__(f"{kind} {identifier} was changed meanwhile: {both}. Read it and decide which value stays.")


class CustomFieldsNotWritten(QbxmlQueueError):
    """The object was written, but not all of its custom fields. `id` is its id, and `failures` the reasons by name."""

    def __init__(self, kind: str, identifier: str, failures: Mapping[str, RequestFailed]) -> None:
        self.id = identifier
        self.failures = dict(failures)
        reasons = "; ".join(f"{name!r}: {failure}" for name, failure in failures.items())
        super().__init__(
            f"{kind} {identifier} was written, but not its custom fields {reasons}. Define them in QuickBooks for this "
            f"type of object, and make the same call again: it writes only them. If a name is wrong, call "
            f"update({identifier!r}, custom_fields=…) with the right one."
        )


_CODES: dict[str, type[RequestFailed]] = {
    "quickbooks_error": QuickBooksError,
    "outcome_unknown": OutcomeUnknown,
    "dependency_failed": DependencyFailed,
}

_STALE_EDIT_SEQUENCE = 3200


def failure_of(record: QueuedRequest) -> RequestFailed:
    """Return the error of a request that has ended without a result."""
    error = record["error"]
    if error is None:
        if record["state"] == "discarded":
            return Discarded(record, "discarded", "The request was discarded.", {})
        message = "The result is left out because it is too large or cannot be read. Read response_xml."
        return ResultUnavailable(record, "result_unavailable", message, {})
    kind = _CODES.get(error["code"], RequestFailed)
    if error["details"].get("status_code") == _STALE_EDIT_SEQUENCE:
        kind = StaleEditSequence
    return kind(record, error["code"], error["message"], error["details"])
