"""Every error that the service raises on purpose, each with the contract's stable `code`.

ServiceError
├── InvalidRequest         400 invalid_request      a body or a parameter is wrong
├── UnsupportedByVersion   400 unsupported_by_version   the connection's QuickBooks is too old
├── InvalidState           400 invalid_state        the record's state does not allow this
├── Unauthorized           401 unauthorized         no, malformed, unknown or revoked credential
├── Forbidden              403 forbidden            a read-only key asks for a change
├── NotFound               404 not_found            no such thing, or another app's
├── Gone                   410 not_found            the record was deleted
├── InFlight               409 in_flight            QuickBooks may be working on the request
├── IdempotencyKeyReused   409 idempotency_key_reused
├── ConnectionActive       409 connection_active    a Web Connector session is live
├── RequestTooLarge        413 request_too_large
├── UnsupportedMediaType   415 unsupported_media_type
└── TooManyRequests        429 too_many_requests    contention or throttling; try again
Conflict                   internal: a conditional write met another state than it expected
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request: where it is, what it is and how to mend it.

    `field` is the body field or parameter (`request_xml`, `page_size`). `path` is the place
    inside a QBXML request (`CustomerQueryRq/MaxReturned`) or a JSON pointer. `line` and
    `column` count from 1.
    """

    field: str
    message: str
    line: int | None = None
    column: int | None = None
    path: str | None = None
    suggestion: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the members that are known, in the order of the contract (§2)."""
        values = {
            "field": self.field,
            "message": self.message,
            "line": self.line,
            "column": self.column,
            "path": self.path,
            "suggestion": self.suggestion,
        }
        return {name: value for name, value in values.items() if value is not None}


class ServiceError(Exception):
    """What went wrong, in words for the caller; `details` is JSON or None."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class InvalidRequest(ServiceError):
    """A body or parameter is wrong; `problems` names each."""

    status = 400
    code = "invalid_request"

    def __init__(self, problems: Iterable[Problem], message: str | None = None) -> None:
        self.problems = tuple(problems)
        super().__init__(
            message or "; ".join(f"{problem.field}: {problem.message}" for problem in self.problems[:3]),
            {"problems": [problem.as_dict() for problem in self.problems]},
        )

    @classmethod
    def of(cls, field: str, message: str) -> InvalidRequest:
        """Return the error for a single problem."""
        return cls([Problem(field, message)])


class UnsupportedByVersion(ServiceError):
    """The request is written in a QBXML version that the connection's QuickBooks does not serve."""

    status = 400
    code = "unsupported_by_version"


class InvalidState(ServiceError):
    """The record's state does not allow this."""

    status = 400
    code = "invalid_state"


class Unauthorized(ServiceError):
    """The credential is missing, malformed, unknown or revoked."""

    status = 401
    code = "unauthorized"


class Forbidden(ServiceError):
    """The key may not do this."""

    status = 403
    code = "forbidden"


class NotFound(ServiceError):
    """No such thing, or it belongs to another app: both are answered alike."""

    status = 404
    code = "not_found"


class Gone(ServiceError):
    """The record existed and was deleted."""

    status = 410
    code = "not_found"


class InFlight(ServiceError):
    """QuickBooks may be working on the request."""

    status = 409
    code = "in_flight"


class IdempotencyKeyReused(ServiceError):
    """The idempotency key was used with another body."""

    status = 409
    code = "idempotency_key_reused"


class ConnectionActive(ServiceError):
    """A Web Connector session of this connection is live."""

    status = 409
    code = "connection_active"


class RequestTooLarge(ServiceError):
    """The body is over the stated limit."""

    status = 413
    code = "request_too_large"


class UnsupportedMediaType(ServiceError):
    """The body is not JSON."""

    status = 415
    code = "unsupported_media_type"


class TooManyRequests(ServiceError):
    """Too many changes at once; `retry_after_seconds` goes into `Retry-After`."""

    status = 429
    code = "too_many_requests"

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Conflict(Exception):
    """A change in a commit did not hold; nothing of the commit was stored.

    `change` is the first change that did not hold, `current` the entity that is stored in its
    place (None when there is none).
    """

    def __init__(self, change: object, current: object | None = None) -> None:
        super().__init__(f"{type(change).__name__} did not hold")
        self.change = change
        self.current = current
