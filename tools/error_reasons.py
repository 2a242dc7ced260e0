"""Generate `docs/errors.md` from the tables in the code and the remedies below: `make error-reasons`."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from domain import errors
from domain.qbxml.codes.hresults import HRESULTS
from domain.qbxml.codes.statuses import STATUSES
from domain.records.connection import COMPANY_FILE_MISMATCH, COMPANY_FILE_MOVED
from domain.records.request import ErrorCode
from domain.web_connector.outcomes.error_reasons import MEANINGS, Reason
from handlers.rest.errors import STATUSES as HTTP_STATUSES
from handlers.rest.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TARGET = Path(__file__).parents[1] / "docs" / "errors.md"

_HEAD = """# Errors by name

Every error of the service, with its cause and what to do about it. Search this page for the name or the number that you
see. This page is generated (`make error-reasons`).

| you have | read |
| --- | --- |
| an HTTP status of 400 or more, with `error.code` | [Errors of a call](#errors-of-a-call) |
| a request in the state `error`, with `error.code` | [Errors of a request](#errors-of-a-request) |
| `last_error.code` of a connection | [Errors of a connection](#errors-of-a-connection) |
| `details.reason`, or `last_error.reason` | [Reasons of the service](#reasons-of-the-service) |
| `details.hresult`, such as 0x80040414 | [HRESULTs](#hresults-quickbooks-did-not-respond) |
| `details.status_code`, such as 3120 | [Status codes](#status-codes-quickbooks-responded) |
| `waiting_reason` of a request or a connection that waits | [Why something waits](support.md#why-something-waits) |
| a code such as QBWC1048 in the Web Connector | [Codes of the Web Connector](support.md#codes-of-the-web-connector) |
"""

_CALLS = """
## Errors of a call

The answer is `{"error": {"code", "message", "details"}}`. `code` is stable; the message is for people and may change.
"""

_WAIT = "Wait for the seconds in `Retry-After`, and repeat the call with the same `Idempotency-Key`."

REMEDIES_OF_CALLS: Mapping[type[errors.ServiceError], tuple[str, str]] = {
    errors.InvalidRequest: (
        "The body, a parameter or the QBXML is wrong. Nothing was queued or changed.",
        "`details.problems` lists each problem with its place and, where one is known, a correction.",
    ),
    errors.UnsupportedByVersion: (
        "The request needs a higher QBXML version than the connection's QuickBooks supports.",
        "Leave out what is newer than `qbxml_version` of the connection, or let the customer update QuickBooks.",
    ),
    errors.InvalidState: (
        "The state of the request or the connection does not allow this.",
        "Read the message. It names the state and, if there is one, the parameter that allows the call.",
    ),
    errors.Unauthorized: (
        "The API key is missing, malformed, unknown, expired or revoked, or was sent with a password.",
        (
            'Send the key as the user name, with an empty password: `curl -u "$API_KEY:"`. After a restart of'
            " `make run`, load `.local/env` again. Otherwise ask the operator for a"
            " [key](operations.md#apps-keys-secrets)."
        ),
    ),
    errors.Forbidden: (
        "The scope of the key does not allow the call, or a key would decide about a request that it has queued.",
        "Use a key with the scope `full`, or to approve or reject, one that is not a rotation of the author's.",
    ),
    errors.BrowserRefused: (
        (
            "A browser sent a `GET` that queues a request, or a change from a page of another site: the call has the"
            " header `Sec-Fetch-Site`, which browsers add ([why](security.md#who-can-reach-what))."
        ),
        "Use `POST` in place of `GET`, with the same parameters. Make the call from a program or from the console.",
    ),
    errors.NotFound: (
        "The path, the connection or the request does not exist, or it belongs to another app.",
        "Check the path and the id, and compare the app with `GET /api/v1/api_key`.",
    ),
    errors.MayBeExecuted: (
        "QuickBooks may be working on the request, or may have executed it.",
        "Wait until the request has ended. Before that it cannot be discarded or deleted.",
    ),
    errors.PossiblyExecuted: (
        "QuickBooks has executed the request that is queued again, or may have: `details.executed`.",
        "Look in QuickBooks. Add `?force=true` only if it was not executed, or if a second execution is intended.",
    ),
    errors.OtherSuccessor: (
        "The request was queued again before with other content, as `details.record_id`.",
        "Look at that request. If it failed too, correct that one.",
    ),
    errors.HasDependants: (
        "Other requests of its batch wait for the request.",
        "Discard or delete those in `details.dependants` first, or add `?dependants=true`.",
    ),
    errors.IdempotencyKeyReused: (
        "The `Idempotency-Key` was used before with another body, path or parameter.",
        (
            "The message says how the first request ended and what to do. Use a new key for a new request. To repeat a"
            " call, send exactly the same."
        ),
    ),
    errors.TooManyKeys: (
        "The app has 200 active API keys, or an API key and its rotation are both active, or the key to rotate is not.",
        "Revoke a key that is not used. In place of a key that is not active, create a new one.",
    ),
    errors.ConnectionActive: (
        "A session of the Web Connector is live, so the connection cannot be deleted.",
        "Pause the connection, and delete it when the session has ended ([how](support.md#remove-a-connection)).",
    ),
    errors.TestConnectionsOff: (
        "The deployment has no [test connections](testing-your-integration.md#test-connections).",
        "Ask the operator to deploy it with `TestConnections=on`. `make run` has them.",
    ),
    errors.Gone: (
        "The request was deleted, or has expired.",
        "Nothing: it is gone. After 90 days, the status is 404.",
    ),
    errors.CursorExpired: (
        "The events behind the cursor are gone, because events are kept for seven days.",
        "Continue with `details.oldest`. Read what you missed from the list of requests (`sort=updated_at`).",
    ),
    errors.RequestTooLarge: (
        "The body is larger than 1 MiB, or a request would be too large when it is sent.",
        "Split it into several requests ([limits](limits.md#requests)).",
    ),
    errors.UnsupportedMediaType: (
        "The body is not JSON.",
        "Send JSON, with `Content-Type: application/json`.",
    ),
    errors.TooManyRequests: (
        "A rate limit of the deployment was reached, or one item was changed too often at once.",
        f"{_WAIT} If it happens often, the operator can raise [the limit](limits.md#limits-of-the-deployment).",
    ),
    errors.QuotaExceeded: (
        "The app has reached one of its limits: `details.limit`.",
        f"{_WAIT} Use webhooks instead of polling. The operator can raise [the limit](limits.md#limits-of-an-app).",
    ),
    InternalError: (
        "The service failed. After 502 and 504 the call may have taken effect.",
        (
            "Repeat the call with the same `Idempotency-Key`. If it fails again, give `details.request_id` to the"
            " operator: it identifies the log line."
        ),
    ),
    errors.Unavailable: (
        "The database did not respond as expected in time. The change may have been made.",
        _WAIT,
    ),
}
"""The cause and the remedy of each error of a call."""

STATUSES_OF_THE_GATEWAY = {HTTP_STATUSES[InternalError]: "500, 502, 504"}
"""API Gateway answers with the same code if a function fails (502) or does not end in time (504)."""

METHOD_NOT_ALLOWED = (
    405,
    "`method_not_allowed`",
    "The path does not have the method.",
    "The header `Allow` names its methods.",
)

_REQUESTS = """
## Errors of a request

`error.code` says how the request ended, `error.message` has QuickBooks' own words, and `error.details.reason` is a
stable name for the cause, whatever language QuickBooks uses. `error.details.hint` says what to do. *Executed* says
whether QuickBooks may have executed the request.

`details.retryable` is true exactly if the hint says to queue the same request again: it was not executed, or it is a
query, and it may succeed later, at once or after what the hint says. The service does not queue such a request again,
because only you can decide whether it is still needed. If it is, queue it again with a new `Idempotency-Key`. It is
false for a request that has to be corrected, and for a write that QuickBooks may have executed.
"""

REMEDIES_OF_REQUESTS: Mapping[ErrorCode, tuple[str, str, str]] = {
    ErrorCode.QUICKBOOKS_ERROR: (
        "QuickBooks refused the request: it responded with a status of severity Error.",
        "no",
        "Follow `details.hint`. If `details.retryable` is true, queue it again later. If not, correct it first.",
    ),
    ErrorCode.QBXML_PARSE_ERROR: (
        "QuickBooks could not parse the request, or the stored request can no longer be written.",
        "no",
        "Correct the names, values and order of the elements, or the QBXML version. Queue the corrected request.",
    ),
    ErrorCode.QUICKBOOKS_CONNECTION_ERROR: (
        "QuickBooks could not be reached, or failed, in as many sessions as allowed.",
        "no",
        "Follow `details.hint`, usually on the Windows machine. Then queue the request again.",
    ),
    ErrorCode.OUTCOME_UNKNOWN: (
        "The response was lost or cannot be used, and QuickBooks cannot tell whether it executed the request.",
        "unknown",
        (
            "The service asks QuickBooks: read `executed`. While it is `unknown`, look in QuickBooks. Queue it"
            " again only if it was not executed."
        ),
    ),
    ErrorCode.ITERATION_INTERRUPTED: (
        "A page of an iterated query could not be fetched.",
        "a query",
        "The pages before it are complete. Queue the query again to get all pages.",
    ),
    ErrorCode.ITERATION_STOPPED: (
        "QuickBooks' iterator does not come to an end, or the query has too many pages.",
        "a query",
        "Follow `details.hint`: queue the query again, or ask for more objects in a page or narrow the filter.",
    ),
    ErrorCode.RESPONSE_TOO_LARGE: (
        "The response is larger than a call of the Web Connector can carry, or no response arrived in three sessions.",
        "a query",
        "Ask for less: [large responses](reference/service-contract.md#large-responses).",
    ),
    ErrorCode.DEPENDENCY_FAILED: (
        "Another request of its batch, on which it depends, did not end with a response.",
        "no",
        (
            "Look at the error of `details.dependency_id`. When its cause is settled, [continue the batch]"
            "(reference/service-contract.md#continuing-a-batch)."
        ),
    ),
    ErrorCode.REFERENCE_UNRESOLVED: (
        "The response to another request has no value at the path of a reference.",
        "no",
        "Compare `details.path` with the response of `details.dependency_id`, and queue the corrected request.",
    ),
    ErrorCode.REFERENCE_INVALID: (
        "The value of a reference does not fit its place in the request.",
        "no",
        "Compare the value at `details.path` with the element at `details.place`. Queue the corrected request.",
    ),
    ErrorCode.NOT_SENT_IN_TIME: (
        "It was not approved, or not handed to the Web Connector, before its `send_by`, which is in `details.send_by`.",
        "no; unknown if its response was lost",
        "If it is still wanted, queue it again with a later `send_by`, or without one.",
    ),
    ErrorCode.AMBIGUOUS_MATCH: (
        "QuickBooks has several objects with the identity of a request with `if_exists`; `details.ids` are their ids.",
        "no; unknown if its response was lost",
        "Find out which of them is meant, and give the others another number in QuickBooks.",
    ),
    ErrorCode.NAME_IN_USE: (
        "A list that shares its names holds the name: `details.list` and `details.list_id`, if a query shows them.",
        "no; unknown if its response was lost",
        "Use another name, or the object that holds it.",
    ),
}
"""The cause of each error of a request, whether QuickBooks may have executed it, and the remedy."""

_CONNECTIONS = """
## Errors of a connection

`last_error` of a connection is the last error that kept a session from working with QuickBooks. Its `reason` and `hint`
say more.
"""

_CONNECTION_ERRORS = (
    (
        "`quickbooks_connection_error`",
        "The Web Connector could not reach QuickBooks or open the company file.",
        "Follow the hint, on the Windows machine.",
    ),
    (
        f"`{COMPANY_FILE_MISMATCH}`",
        MEANINGS[Reason.COMPANY_FILE_MISMATCH][0],
        "[Another file is open](support.md#another-file-is-open)",
    ),
    (
        f"`{COMPANY_FILE_MOVED}`",
        MEANINGS[Reason.COMPANY_FILE_MOVED][0],
        "[The file is at another path](support.md#the-file-is-at-another-path)",
    ),
)

_REASONS = """
## Reasons of the service

`details.reason` of a request, and `last_error.reason` of a connection. A code of QuickBooks that is not on this page is
passed on with its message. Its reason is `unknown_hresult` or `unknown_status`, and it has no hint.
"""

_HRESULTS = """
## HRESULTs: QuickBooks did not respond

`details.hresult` has the code. The kind is `invalid_request` when this request can never succeed, `unavailable` when
QuickBooks is busy, closed or out of reach, so that every request would fail now, and `unknown` otherwise. When a write
may have been executed, the next session asks QuickBooks ([why](decisions/0005-recovery-of-lost-responses.md)).
"""

_STATUSES = """
## Status codes: QuickBooks responded

`details.status_code` has the code. Codes below 1000 are not errors. 9100 to 9199 are `macro_error`. 3170 and 3180 are
`save_refused`, and not retryable, when their message names neither another user nor a lock.
"""


def document() -> str:
    """Return the page."""
    reasons = [(f"`{reason}`", message, hint) for reason, (message, hint) in MEANINGS.items()]
    codes = [
        (f"`{code}`", f"`{entry.reason}`", entry.message, f"`{entry.kind}`", entry.executed, entry.hint or "")
        for code, entry in sorted(HRESULTS.items())
    ]
    status_codes = [
        (str(code), f"`{entry.reason}`", entry.message or "", "yes" if entry.retryable else "", entry.hint or "")
        for code, entry in STATUSES.items()
    ]
    calls = [(HTTP_STATUSES[error], f"`{error.code}`", *texts) for error, texts in REMEDIES_OF_CALLS.items()]
    rows_of_calls = [
        (STATUSES_OF_THE_GATEWAY.get(status, str(status)), *texts)
        for status, *texts in sorted([*calls, METHOD_NOT_ALLOWED], key=itemgetter(0))
    ]
    requests = [(f"`{code}`", *texts) for code, texts in REMEDIES_OF_REQUESTS.items()]
    return "\n".join(
        (
            _HEAD,
            _CALLS.lstrip(),
            _table(("status", "code", "cause", "what to do"), rows_of_calls),
            _REQUESTS,
            _table(("code", "cause", "executed", "what to do"), requests),
            _CONNECTIONS,
            _table(("code", "cause", "what to do"), _CONNECTION_ERRORS),
            _REASONS,
            _table(("reason", "meaning", "what to do"), reasons),
            _HRESULTS,
            _table(("hresult", "reason", "meaning", "kind", "executed", "what to do"), codes),
            _STATUSES,
            _table(("status_code", "reason", "meaning", "retryable", "what to do"), status_codes),
            "",
        )
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
