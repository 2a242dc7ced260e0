"""The tools of an assistant. None of them can approve, discard or change anything, and a write waits for a person."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any, Literal

from qbxml_queue.mcp import reference
from qbxml_queue.mcp.answers import MAX_ROWS, answer
from qbxml_queue.protocol import ENDED, MAX_HOLD_SECONDS, segment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qbxml_queue.async_client import AsyncClient

MAX_WAIT_SECONDS = 60
CONNECTIONS_OF_A_PAGE = 100
LABEL = "assistant"

_OF_CONNECTION = (
    *("id", "name", "company_name", "status", "waiting_reason", "awaiting_approval", "last_connected_at", "last_error"),
    *("qbxml_version", "quickbooks_product_name", "country", "paused_at", "simulated"),
)
_OF_REQUEST = (
    *("id", "connection_id", "request_name", "subject", "label", "state", "waiting_reason", "approval", "error"),
    *("executed", "outcome", "batch_id", "inserted_at", "sent_at", "responded_at"),
)

State = Literal["waiting", "ticketed", "sent", "response_received", "error", "retryable", "discarded"]


class Tools:
    """The tools, for the key of `client`. Each returns an answer as JSON, or raises an error with a message.

    `address` is that of the service. `reveals` shows numbers of taxes, banks and cards.
    """

    def __init__(
        self,
        client: AsyncClient,
        address: str,
        *,
        reveals: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._address = address
        self._reveals = reveals
        self._clock = clock

    async def list_connections(self, page: int = 1, offset: int = 0) -> dict[str, Any]:
        """List the company files: 100 a page, each with its id, its name and why something waits."""
        size = CONNECTIONS_OF_A_PAGE
        parameters = {"page": str(page), "page_size": str(size)}
        listed = await self._client.call("GET", "/api/v1/connections", parameters=parameters)
        rows = [_chosen(one, _OF_CONNECTION) for one in listed["data"]]
        return self._answer({"page": page, "connections": rows}, "list_connections", offset)

    async def search_requests(
        self, connection_id: str, words: str = "", state: State | None = None, page: int = 1, offset: int = 0
    ) -> dict[str, Any]:
        """List the requests of a company file, newest first, 50 a page.

        `words` must be in the name, label, customer, number or ids of a request or its response. get_request has the
        result of one.
        """
        parameters = {"page": str(page), "page_size": "50", "bodies": "false"}
        parameters |= {"search_phrase": words} if words else {}
        parameters |= {"state": state} if state else {}
        listed = await self._client.call("GET", f"{_connection(connection_id)}/queued_requests", parameters=parameters)
        rows = [_chosen(one, _OF_REQUEST) for one in listed["data"]]
        return self._answer({"page": page, "requests": rows}, "search_requests", offset)

    async def describe_request(self, request_name: str) -> dict[str, Any]:
        """Describe a request of QBXML, such as CustomerQueryRq or InvoiceAddRq: its fields, limits and an example.

        A report is a request, too, such as AgingReportQueryRq. Read this before you write a request for the first time.
        """
        return reference.describe(request_name)

    async def read(
        self, connection_id: str, request: dict[str, Any], wait_seconds: int = MAX_WAIT_SECONDS, limit: int = 50
    ) -> dict[str, Any]:
        """Ask QuickBooks: a query or a report, such as {"CustomerQueryRq": {"FullName": "Ada Ltd"}}.

        It changes nothing. It waits up to a minute. If QuickBooks has not answered by then, the answer has an id: call
        get_request later. Ask for few fields with IncludeRetElement, because an answer has at most 40 kB.
        """
        name = _name_of(request)
        if not name.endswith("QueryRq"):
            raise ValueError(f"{name} is not a query. Use propose_write, which waits for the approval of a person.")
        record = await self._queued(connection_id, {"request_json": request, "label": LABEL}, str(uuid.uuid4()))
        return await self._ended(record["id"], wait_seconds, 0, limit)

    async def propose_write(
        self,
        connection_id: str,
        request: dict[str, Any],
        idempotency_key: str,
        reason: str,
        if_exists: Literal["fail", "return"] = "fail",
    ) -> dict[str, Any]:
        """Propose an addition, a change or a deletion, such as {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada Ltd"}}}.

        It is not executed: it waits until a person approves it, and the answer says where. `idempotency_key` names the
        cause, such as invoice-1042. A second call with the same key and request proposes nothing more. `reason` says in
        a sentence why, for the person. With `if_exists` "return", an object that exists already is not added again.
        """
        name = _name_of(request)
        if name.endswith("QueryRq"):
            raise ValueError(f"{name} is a query. Use read, which does not wait for approval.")
        body: dict[str, Any] = {"request_json": request, "label": LABEL, "approval": "required"}
        body["metadata"] = {"reason": reason}
        body |= {"if_exists": if_exists} if if_exists != "fail" else {}
        record = await self._queued(connection_id, body, idempotency_key)
        shown = _chosen(record, _OF_REQUEST)
        return self._answer({"request": shown, "approve_at": self._address + record["links"]["ui"]})

    async def get_request(
        self, request_id: str, wait_seconds: int = 0, offset: int = 0, limit: int = 50
    ) -> dict[str, Any]:
        """Return a request with its state, its error or its result: the rows from `offset` on, at most `limit`."""
        return await self._ended(request_id, wait_seconds, offset, limit)

    async def changes(
        self, after: str | None = None, connection_id: str | None = None, offset: int = 0
    ) -> dict[str, Any]:
        """List what has ended: requests that were executed, failed, were approved or rejected. 50 events, oldest first.

        Pass `next` of the answer as `after` to go on. Without `after`, the list begins with the oldest event that is
        kept, which is seven days old.
        """
        parameters = {"limit": "50"} | ({"after": after} if after else {})
        parameters |= {"connection_id": segment(connection_id)} if connection_id else {}
        return self._answer(await self._client.call("GET", "/api/v1/events", parameters=parameters), "changes", offset)

    async def search_docs(self, words: str) -> dict[str, Any]:
        """Search the documents: errors by name or status code, why something waits, limits, rules of QBXML."""
        return {"sections": reference.search(words)}

    async def _queued(self, connection_id: str, body: Mapping[str, Any], key: str) -> Any:
        path = f"{_connection(connection_id)}/queued_requests"
        return (await self._client.call("POST", path, body=body, idempotency_key=key))["data"]

    async def _ended(self, request_id: str, seconds: int, offset: int, limit: int) -> dict[str, Any]:
        """Return the record of a request when it has ended, or as it is after the seconds."""
        path = f"/api/v1/queued_requests/{segment(request_id)}"
        until = self._clock() + max(0, min(seconds, MAX_WAIT_SECONDS))
        while True:
            wait = max(0, min(MAX_HOLD_SECONDS, round(until - self._clock())))
            parameters = {"include[]": "result"} | ({"wait": str(wait)} if wait else {})
            record = (await self._client.call("GET", path, parameters=parameters))["data"]
            if record["state"] in ENDED or not wait:
                break
        shown = _chosen(record, _OF_REQUEST)
        if record["state"] not in ENDED:
            hint = "It has not ended. Call get_request with this id later. Do not queue it again."
            return self._answer({"request": shown, "request_json": record.get("request_json"), "next": hint})
        shown_result = {"request": shown, "result": record.get("result")}
        if record["state"] == "response_received" and record.get("result") is None:
            shown_result["next"] = (
                "The result is too large for an answer of the service. Ask for fewer objects or fields."
            )
        return self._answer(shown_result, "get_request", offset, limit)

    def _answer(self, value: Any, tool: str = "get_request", offset: int = 0, limit: int = MAX_ROWS) -> dict[str, Any]:
        return answer(value, reveals=self._reveals, tool=tool, offset=offset, limit=limit)


def _connection(connection_id: str) -> str:
    return f"/api/v1/connections/{segment(connection_id)}"


def _name_of(request: Mapping[str, Any]) -> str:
    """Return the name of the one request. Raises ValueError."""
    names = [name for name in request if name != "version"]
    if len(names) != 1:
        raise ValueError('A request has one name, such as {"CustomerQueryRq": {}}. describe_request has the fields.')
    return names[0]


def _chosen(record: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: record[name] for name in names if record.get(name) is not None}
