"""Every error that the service raises on purpose. A caller recognises it by its stable `code`.

`handlers/rest/errors.py` gives each class its HTTP status. The docstrings are the descriptions in OpenAPI.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, ClassVar, Self

MAX_PROBLEMS = 100
MAX_TEXT_LENGTH = 500
"""Limits on the contents of an error. Its texts quote the request, which can be a thousand times longer."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem with a request: where it is, what it is, and how to correct it.

    `field` is a body field or parameter, such as `request_xml`. `path` is the place inside a QBXML request
    (`CustomerQueryRq/MaxReturned`) or a JSON pointer. `line` and `column` count from 1. `index` is the position of the
    request in a batch, counted from 0.
    """

    field: str
    message: str
    line: int | None = None
    column: int | None = None
    path: str | None = None
    suggestion: str | None = None
    index: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the members that have a value. Long texts are shortened."""
        return compact(asdict(self), MAX_TEXT_LENGTH)


def shortened(text: str, limit: int) -> str:
    """Return `text`, shortened and ended by an ellipsis if it has more than `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def compact(members: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the members that have a value. Texts of more than `limit` characters are shortened."""
    return {
        name: shortened(value, limit) if isinstance(value, str) else value
        for name, value in members.items()
        if value is not None
    }


class ServiceError(Exception):
    """An error that the caller can understand. `message` is a sentence for people; `details` is JSON or None."""

    code: ClassVar[str]
    retry_after_seconds: int | None = None

    def __init_subclass__(cls, *, code: str) -> None:
        cls.code = code

    def __init__(
        self, message: str, details: dict[str, Any] | None = None, retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.retry_after_seconds = retry_after_seconds or self.retry_after_seconds


class InvalidRequest(ServiceError, code="invalid_request"):
    """The body or a parameter is wrong; `details.problems` lists the first 100 problems."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(islice(problems, MAX_PROBLEMS))
        members = [problem.as_dict() for problem in self.problems]
        *sentences, last = map(_sentence, members[:3]) if members else [""]
        texts = [*(sentence.removesuffix(".") for sentence in sentences), last]
        super().__init__("; ".join(texts), {"problems": members})

    @classmethod
    def of(cls, field: str, message: str) -> Self:
        """Return the error for a single problem."""
        return cls([Problem(field, message)])


def _sentence(problem: Mapping[str, Any]) -> str:
    request = f"requests[{problem['index']}]: " if "index" in problem else ""
    return f"{request}{problem['field']}: {problem['message']}"


class UnsupportedByVersion(ServiceError, code="unsupported_by_version"):
    """The request needs a higher QBXML version than the connection's QuickBooks supports."""


@contextmanager
def of_request_in_batch(index: int) -> Iterator[None]:
    """Add the position of a request in its batch to the errors that the block raises about it."""
    try:
        yield
    except InvalidRequest as error:
        raise InvalidRequest(replace(problem, index=index) for problem in error.problems) from None
    except ServiceError as error:
        error.details = {**(error.details or {}), "index": index}
        raise


class InvalidState(ServiceError, code="invalid_state"):
    """The state of the request does not allow this."""


class TooManyKeys(ServiceError, code="too_many_keys"):
    """The app, or the rotations of an API key, have as many active keys as they may have, or the key is not active."""


class Unauthorized(ServiceError, code="unauthorized"):
    """The credential is missing, malformed, unknown, expired or revoked."""


class Forbidden(ServiceError, code="forbidden"):
    """The scope of the API key does not allow the call, or the key would decide about a request that it has queued."""


class BrowserRefused(ServiceError, code="browser_refused"):
    """A browser sent a GET that queues a request, or a change from a page of another site."""


class NotFound(ServiceError, code="not_found"):
    """It does not exist, or it belongs to another app."""


class Gone(ServiceError, code="not_found"):
    """The request was deleted."""


class CursorExpired(ServiceError, code="cursor_expired"):
    """Events behind the cursor are gone. `details.oldest` is the cursor before the oldest event that is kept."""


class MayBeExecuted(ServiceError, code="in_flight"):
    """QuickBooks may be working on the request, so it cannot be discarded or deleted."""


class PossiblyExecuted(ServiceError, code="possibly_executed"):
    """QuickBooks has executed the request, or may have. `details.executed` is `yes` or `unknown`."""


class OtherSuccessor(ServiceError, code="queued_again_differently"):
    """The request was queued again before, with other content: `details.record_id`."""


class HasDependants(ServiceError, code="has_dependants"):
    """Other requests of its batch wait for the request; `details.dependants` has their ids."""


class IdempotencyKeyReused(ServiceError, code="idempotency_key_reused"):
    """The `Idempotency-Key` was used for another call: another path, body or query parameter."""


class TestConnectionsOff(ServiceError, code="test_connections_off"):
    """The deployment has no test connections: its parameter `TestConnections` is `off`."""


class ConnectionActive(ServiceError, code="connection_active"):
    """A Web Connector session is live, so the connection cannot be deleted."""


class RequestTooLarge(ServiceError, code="request_too_large"):
    """The body is too large."""


class UnsupportedMediaType(ServiceError, code="unsupported_media_type"):
    """The body is not JSON."""


class TooManyRequests(ServiceError, code="too_many_requests"):
    """Too many calls, or too many changes of one item at once. Try again after `Retry-After` seconds."""

    retry_after_seconds = 1


class Unavailable(ServiceError, code="unavailable"):
    """The database did not respond as expected in time. A change may have been made. Repeat the call."""

    retry_after_seconds = 5


class QuotaExceeded(ServiceError, code="quota_exceeded"):
    """The app has reached one of its limits, `details.limit`. Try again after `Retry-After` seconds."""


class Conflict(Exception):
    """A change of a commit did not apply, so nothing of the commit was stored. Callers of the API never see it.

    `change` is the first change that did not apply. `current` is the entity that is stored in its place, or None.
    """

    def __init__(self, change: object, current: object | None = None) -> None:
        super().__init__(f"{type(change).__name__} did not apply")
        self.change = change
        self.current = current
