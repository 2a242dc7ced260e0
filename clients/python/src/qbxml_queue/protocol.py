"""What both clients do: the calls, their order, retries and waiting.

Each operation is a generator. It yields a `Call` and gets the response, or yields a `Pause`. `Client` and `AsyncClient`
make the calls and the pauses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from qbxml_queue.changes import TYPES, ChangesRead, Place, ResyncRequired, change_of
from qbxml_queue.errors import ApiError, ReadOnlyKey, StillWaiting
from qbxml_queue.keys import Unanswered
from qbxml_queue.options import IterateOptions, check_options
from qbxml_queue.results import read_result, result_of
from qbxml_queue.schema.facts import SINGLE
from qbxml_queue.values import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    import httpx

    from qbxml_queue.batches import BatchBase
    from qbxml_queue.options import ContentOptions, ContinueOptions, ExecuteOptions, QueueOptions
    from qbxml_queue.schema.records import Decisions, Feed, QueuedRequest

T = TypeVar("T")
Steps: TypeAlias = "Generator[Call | Pause, httpx.Response | None, T]"

CALL_SECONDS = 30.0
WAIT_SECONDS = 300.0
PAGE_SIZE = 100
MAX_ATTEMPTS = 6
FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 60.0
FIRST_POLL_SECONDS = 0.5
MAX_POLL_SECONDS = 10.0
FIRST_HOLD_SECONDS = 2
"""While a session is open, a request ends within a second or two. The service looks the more often, the shorter a call
is held."""
MAX_HOLD_SECONDS = 20
ENDED = frozenset({"response_received", "error", "discarded"})

_segment = re.compile(r"[A-Za-z0-9_-]+").fullmatch
_path = re.compile(r"(?:/[A-Za-z0-9_-]+)+").fullmatch
_without_iterators = re.compile(r"[1-4]\.").match
"""Iterators exist since QBXML 5.0."""

_BODY_OPTIONS = frozenset(
    {
        *("webhook_url", "label", "metadata", "send_by", "send_within"),
        *("iterate", "replaces", "priority", "approval", "if_exists"),
    }
)
_PARAMETERS = frozenset({"validate", "transliterate", "force"})
_LISTED = 100
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the API. Raises ValueError for a path that another host or resource could read differently."""

    method: str
    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = CALL_SECONDS
    takes_effect_once: bool = False

    def __post_init__(self) -> None:
        if not _path(self.path):
            raise ValueError(f"{self.path!r} is not a path of the API, such as /api/v1/contact. Pass parameters apart.")

    @property
    def key(self) -> str:
        """The idempotency key, or an empty text."""
        return self.headers.get("Idempotency-Key", "")

    @property
    def is_repeatable(self) -> bool:
        """Whether the call may be made twice."""
        return self.takes_effect_once or self.method in {"GET", "DELETE"} or bool(self.key)


def segment(identifier: str) -> str:
    """Return an id as a part of a path. It needs no encoding. Raises ValueError if it could be more than one part."""
    if not _segment(identifier):
        raise ValueError(f"{identifier!r} is not an id. An id has only letters, digits and hyphens.")
    return identifier


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait."""

    seconds: float


class Protocol:
    """The operations on one connection. `clock` returns seconds, `new_key` a text that is new, `chance` 0 to 1."""

    def __init__(
        self, connection_id: str, clock: Callable[[], float], new_key: Callable[[], str], chance: Callable[[], float]
    ) -> None:
        self.connection = f"/api/v1/connections/{segment(connection_id)}"
        self.clock = clock
        self.new_key = new_key
        self._chance = chance
        self._unanswered = Unanswered(clock)
        self._scope: str | None = None

    def send(self, call: Call) -> Steps[Any]:
        """Make a call and return the JSON of the response, or None.

        Raises ApiError, httpx.TransportError, and AnswerLost for a call whose key the service may have forgotten.

        A call that the service did not execute (429, no connection) is repeated. One that it may have executed (5xx, a
        lost connection) is repeated if that is safe: a GET, a DELETE, or a POST with an Idempotency-Key.
        """
        import httpx  # noqa: PLC0415 - see `Client`

        self._unanswered.check(call)
        for attempt in range(1, MAX_ATTEMPTS + 1):
            is_last, began = attempt == MAX_ATTEMPTS, self._unanswered.now()
            delay = FIRST_DELAY_SECONDS * 2 ** (attempt - 1) * (0.5 + self._chance())
            try:
                response = yield call
            except BaseException as error:  # also one that cancels the call
                was_sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
                if was_sent:
                    self._unanswered.add(call, began)
                is_lost = isinstance(error, httpx.NetworkError | httpx.TimeoutException | httpx.RemoteProtocolError)
                if is_last or not is_lost or (was_sent and not call.is_repeatable):
                    raise
            else:
                assert response is not None  # noqa: S101 - a Call is answered by a response
                was_executed = response.status_code >= _SERVER_ERROR
                if response.is_success or was_executed:
                    self._unanswered.add(call, began)
                if response.is_success:
                    answer = response.json() if response.content else None
                    self._unanswered.remove(call)
                    return answer
                delay = max(delay, _retry_after(response))
                is_temporary = was_executed or response.status_code == _TOO_MANY_REQUESTS
                is_safe = call.is_repeatable or not was_executed
                if is_last or not is_temporary or not is_safe or delay > MAX_DELAY_SECONDS:
                    raise _error_of(response)
            yield Pause(delay)
        raise AssertionError("unreachable")

    def scope(self) -> Steps[str]:
        """Return the scope of the API key: `full` or `read_only`. The first call asks the service."""
        if self._scope is None:
            self._scope = str((yield from self.send(Call("GET", "/api/v1/api_key")))["data"]["scope"])
        return self._scope

    def require_full_scope(self) -> Steps[None]:
        """Raise ReadOnlyKey if the key cannot queue requests."""
        if (yield from self.scope()) == "read_only":
            raise ReadOnlyKey

    def queue(self, request: Mapping[str, Any], options: QueueOptions) -> Steps[QueuedRequest]:
        """Queue a request and return its record."""
        yield from self.require_full_scope()
        body, parameters = {"request_json": _tree(request, options), **_body(options)}, _parameters(options)
        headers = {"Idempotency-Key": options.get("idempotency_key") or self.new_key()}
        answer = yield from self.send(Call("POST", f"{self.connection}/queued_requests", parameters, body, headers))
        return cast("QueuedRequest", answer["data"])

    def continue_batch(
        self, batch_id: str, request: Mapping[str, Any] | None, options: ContinueOptions
    ) -> Steps[list[QueuedRequest]]:
        """Queue a failed request of a batch again, and what was not sent because of it. Return their records."""
        yield from self.require_full_scope()
        body = _body(options) | ({"request_id": options["request_id"]} if "request_id" in options else {})
        if request is not None:
            body["request_json"] = _tree(request, options)
        path = f"{self.connection}/batches/{segment(batch_id)}/continue"
        # The service queues each request again once.
        answer = yield from self.send(Call("POST", path, _parameters(options), body, takes_effect_once=True))
        return cast("list[QueuedRequest]", answer["data"])

    def settle(self, request_id: str) -> Steps[QueuedRequest]:
        """Ask QuickBooks whether it executed a write, and return the record of the write."""
        yield from self.require_full_scope()
        path = f"/api/v1/queued_requests/{segment(request_id)}/settle"
        # The service queues nothing while its queries wait.
        answer = yield from self.send(Call("POST", path, takes_effect_once=True))
        return cast("QueuedRequest", answer["data"])

    def approve(self, request_id: str, revision: int, *, accept_values: bool) -> Steps[QueuedRequest]:
        """Approve a write, and return its record."""
        body = {"revision": revision, **_accepting(accept_values)}
        return cast("QueuedRequest", (yield from self._decide(_request(request_id), "approve", body)))

    def reject(self, request_id: str, reason: str, *, dependants: bool) -> Steps[QueuedRequest]:
        """Reject a write, and return its record."""
        parameters = _with_dependants(dependants)
        return cast(
            "QueuedRequest", (yield from self._decide(_request(request_id), "reject", {"reason": reason}, parameters))
        )

    def approve_all(
        self, revisions: Mapping[str, int], batch_id: str | None, *, accept_values: bool
    ) -> Steps[Decisions]:
        """Approve several writes, or a batch as a whole, and return what became of each."""
        requests = [{"id": segment(request_id), "revision": revision} for request_id, revision in revisions.items()]
        body = {"requests": requests, **_accepting(accept_values)}
        return cast("Decisions", (yield from self._decide(self._several(batch_id), "approve", body)))

    def reject_all(
        self, ids: Iterable[str] | None, batch_id: str | None, reason: str, *, dependants: bool
    ) -> Steps[Decisions]:
        """Reject several writes, or a batch as a whole, and return what became of each."""
        body = {"reason": reason} | ({} if ids is None else {"ids": [segment(request_id) for request_id in ids]})
        parameters = _with_dependants(dependants)
        return cast("Decisions", (yield from self._decide(self._several(batch_id), "reject", body, parameters)))

    def _several(self, batch_id: str | None) -> str:
        return f"{self.connection}/" + (f"batches/{segment(batch_id)}" if batch_id else "queued_requests")

    def _decide(self, path: str, how: str, body: Any, parameters: Mapping[str, str] | None = None) -> Steps[Any]:
        yield from self.require_full_scope()
        # What was decided stays decided, with the same answer.
        answer = yield from self.send(Call("POST", f"{path}/{how}", parameters or {}, body, takes_effect_once=True))
        return answer["data"]

    def queue_batch(self, batch: BatchBase, options: ContentOptions | None = None) -> Steps[None]:
        """Queue the requests of a batch. The options say how the service reads them."""
        yield from self.require_full_scope()
        headers = {"Idempotency-Key": batch.idempotency_key}
        parameters = _parameters(options or {})
        call = Call("POST", f"{self.connection}/queued_requests/batch", parameters, batch.body(), headers)
        answer = yield from self.send(call)
        batch.queued(answer["data"])

    def execute_batch(self, batch: BatchBase, timeout: float) -> Steps[None]:
        """Queue a batch and wait until all of its requests have ended. Raises the first failure."""
        deadline = self.clock() + timeout
        if not batch.is_queued:
            yield from self.queue_batch(batch)
        for entry in batch.entries:
            entry.update((yield from self.wait(entry.record["id"], deadline - self.clock())))
        for entry in batch.entries:
            result_of(entry.record)

    def events(self, after: str | None, *, every_connection: bool) -> Steps[Feed]:
        """Return the events behind a cursor, with the types of `execute` in their results."""
        parameters = {} if every_connection else {"connection_id": self.connection.rpartition("/")[2]}
        if after is not None:
            parameters["after"] = after
        feed: Feed = yield from self.send(Call("GET", "/api/v1/events", parameters))
        for event in feed["data"]:
            read_result(event)
        return feed

    def changes(self, text: str | None, subscription_id: str | None) -> Steps[ChangesRead]:
        """Return the changes behind a place. If the feed has no longer kept them, the only one is ResyncRequired."""
        place = Place.parsed(text)
        parameters = {"connection_id": self.connection.rpartition("/")[2], "types": TYPES}
        if subscription_id is not None:
            parameters["subscription_id"] = subscription_id
        if place.after is not None:
            parameters["after"] = place.after
        try:
            feed = yield from self.send(Call("GET", "/api/v1/events", parameters))
        except ApiError as error:
            if error.code != "cursor_expired":
                raise
            place.after = str(error.details["oldest"])
            reason = "The feed keeps events for seven days, and the program has not read them for longer."
            return ChangesRead([ResyncRequired(None, reason)], str(place), has_more=True)
        found = [change for event in feed["data"] if place.passes(event) and (change := change_of(event))]
        place.after = feed["next"]
        return ChangesRead(found, str(place), feed["has_more"])

    def record(self, request_id: str, hold_seconds: int = 0) -> Steps[QueuedRequest]:
        """Return the record of a request, with `result` in place of `response_json`.

        The service may hold the call for `hold_seconds`, until the request has ended: of an iterated query, this page.
        """
        parameters = {"include[]": "result"}
        if hold_seconds:
            parameters |= {"wait": str(hold_seconds), "wait_for": "page"}
        path = f"/api/v1/queued_requests/{segment(request_id)}"
        answer = yield from self.send(Call("GET", path, parameters, seconds=CALL_SECONDS + hold_seconds))
        return cast("QueuedRequest", answer["data"])

    def wait(self, request_id: str, timeout: float) -> Steps[QueuedRequest]:
        """Return the record of a request that has ended. Raises StillWaiting.

        The service holds a call for up to 20 seconds. It answers at once if too many calls wait; then the client polls.
        """
        deadline = self.clock() + timeout
        delay, longest = FIRST_POLL_SECONDS, FIRST_HOLD_SECONDS
        while True:
            began = self.clock()
            hold_seconds = max(0, min(int(deadline - began), longest))
            record = yield from self.record(request_id, hold_seconds)
            if record["state"] in ENDED:
                return record
            remaining = deadline - self.clock()
            if remaining <= 0:
                raise StillWaiting(record)
            if self.clock() - began < hold_seconds / 2 or not hold_seconds:
                yield Pause(min(delay, remaining))
                delay = min(delay * 1.5, MAX_POLL_SECONDS)
            longest = MAX_HOLD_SECONDS

    def execute(self, request: Mapping[str, Any], options: ExecuteOptions) -> Steps[dict[str, Any]]:
        """Queue a request, wait until it has ended and return its result: that of all its pages, if it has several."""
        deadline = self.clock() + options.get("timeout", WAIT_SECONDS)
        # The low lane takes no request that may be sent in pages.
        if "iterate" not in options and options.get("priority") != "low" and can_be_paged(request, options):
            options = {**options, "iterate": "auto"}
        pages = Pages(self, (yield from self.queue(request, options))["id"])
        result = yield from pages.next(deadline)
        while not pages.was_last:
            for name, value in (yield from pages.next(deadline)).items():
                if isinstance(value, list):
                    result[name] = [*result.get(name, ()), *value]
        return result


class Pages:
    """The pages of a query, in order. Each is a record, which exists when the page before it has ended.

    A request that does not iterate has one page. `was_last` tells whether the last one has been returned.
    """

    def __init__(self, protocol: Protocol, query_id: str) -> None:
        self.was_last = False
        self._protocol = protocol
        self._query_id = query_id
        self._ids: dict[int, str] = {1: query_id}
        self._number = 0

    def next(self, deadline: float) -> Steps[dict[str, Any]]:
        """Return the result of the next page. Raises RequestFailed, and StillWaiting at the deadline of the clock."""
        self._number += 1
        page_id = yield from self._page(deadline)
        record = yield from self._protocol.wait(page_id, deadline - self._protocol.clock())
        self.was_last = record["last_page"] is not False
        return result_of(record)

    def _page(self, deadline: float) -> Steps[str]:
        """Return the id of the page, as soon as it exists."""
        delay = FIRST_POLL_SECONDS
        while self._number not in self._ids:
            yield from self._list()
            remaining = deadline - self._protocol.clock()
            if self._number not in self._ids and remaining <= 0:
                raise StillWaiting((yield from self._protocol.record(self._ids[self._number - 1])))
            if self._number not in self._ids:
                yield Pause(min(delay, remaining))
                delay = min(delay * 1.5, MAX_POLL_SECONDS)
        return self._ids[self._number]

    def _list(self) -> Steps[None]:
        parameters = {
            "query_id": self._query_id,
            "sort": "inserted_at",
            "sort_direction": "asc",
            "page_size": str(_LISTED),
            "page": str((self._number - 1) // _LISTED + 1),
            "bodies": "false",
        }
        answer = yield from self._protocol.send(Call("GET", f"{self._protocol.connection}/queued_requests", parameters))
        self._ids |= {item["page"]: item["id"] for item in answer["data"]}


class IteratedPages:
    """The results of the pages of an iterated query, which is queued when the first one is wanted."""

    def __init__(self, protocol: Protocol, request: Mapping[str, Any], options: IterateOptions) -> None:
        check_options("iterate", IterateOptions, options)
        [(name, query)] = request.items()
        if "page_size" in options and "MaxReturned" in query:
            raise TypeError("page_size and MaxReturned are the same limit. Give one of them.")
        page_size = options.get("page_size", PAGE_SIZE)
        self._request = {name: {"@iterator": "Start", "MaxReturned": page_size, **query}}
        self._protocol = protocol
        self._options = options
        self._pages: Pages | None = None

    def next(self) -> Steps[dict[str, Any] | None]:
        """Return the result of the next page, or None after the last one. Raises RequestFailed and StillWaiting."""
        if self._pages is None:
            queued = yield from self._protocol.queue(self._request, cast("QueueOptions", self._options))
            self._pages = Pages(self._protocol, queued["id"])
        if self._pages.was_last:
            return None
        deadline = self._protocol.clock() + self._options.get("timeout", WAIT_SECONDS)
        return (yield from self._pages.next(deadline))


def _request(request_id: str) -> str:
    """Return the path of a request."""
    return f"/api/v1/queued_requests/{segment(request_id)}"


def _accepting(accept_values: bool) -> dict[str, bool]:
    return {"accept_values": True} if accept_values else {}


def _with_dependants(dependants: bool) -> dict[str, str]:
    return {"dependants": "true"} if dependants else {}


def can_be_paged(request: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether the service may send a request in pages: its response may be large, and it can iterate."""
    if _without_iterators(options.get("version", "")):
        return False
    return all(
        name in SINGLE and "@iterator" not in query and SINGLE[name].isdisjoint(query)
        for name, query in request.items()
    )


def _tree(request: Mapping[str, Any], options: ContentOptions) -> dict[str, Any]:
    """Return a request as the API expects it."""
    version: dict[str, Any] = {"version": options["version"]} if "version" in options else {}
    return version | cast("dict[str, Any]", to_json(request))


def _body(options: ContentOptions) -> dict[str, Any]:
    """Return the options that are members of the body."""
    return {name: value for name, value in options.items() if name in _BODY_OPTIONS}


def _parameters(options: ContentOptions) -> dict[str, str]:
    """Return the options that are parameters of the URL."""
    return {name: _parameter(value) for name, value in options.items() if name in _PARAMETERS}


def _parameter(value: object) -> str:
    """Return a parameter of a URL. The service refuses other texts than `true` and `false`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _error_of(response: httpx.Response) -> ApiError:
    try:
        error = response.json()["error"]
        return ApiError(response.status_code, error["code"], error["message"], error.get("details"))
    except (ValueError, KeyError, TypeError):
        return ApiError(response.status_code, "unknown", f"The response is not the service's: {response.text[:200]!r}")


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds of Retry-After, or 0."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else 0.0
