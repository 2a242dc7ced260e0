"""The calls of the service that a check makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qbxml_queue.errors import ApiError, StillWaiting
from qbxml_queue.protocol import ENDED, Pause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qbxml_queue.client import Client
    from qbxml_queue.protocol import Steps

WAIT_SECONDS = 10
"""How long a call waits for a request, so that a person sees every ten seconds why it waits."""

_CONFLICT = 409
_INVALID = 400


class Service:
    """One connection of the service."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._requests = f"{client.protocol.connection}/queued_requests"

    def connection(self) -> dict[str, Any]:
        """Return the connection."""
        connection: dict[str, Any] = self._call("GET", self._client.protocol.connection)
        return connection

    def queue(self, requests: Sequence[dict[str, Any]], key: str, *, is_validated: bool) -> list[dict[str, Any]]:
        """Queue requests in their order, all or none, and return their records. Raises ApiError."""
        parameters = {} if is_validated else {"validate": "false"}
        path, body = self._requests, requests[0]
        if len(requests) > 1:
            path, body = f"{self._requests}/batch", {"requests": list(requests)}
        data = self._call("POST", path, parameters=parameters, body=body, idempotency_key=key)
        return data if isinstance(data, list) else [data]

    def labelled(self, label: str) -> list[str]:
        """Return the ids of the requests with a label, without the later pages of queries."""
        return [item["id"] for item in self._list({"label": label}) if item["page"] == 1]

    def pages(self, query_id: str) -> list[dict[str, Any]]:
        """Return the records of the pages of a query in their order."""
        return [self.record(item["id"]) for item in self._list({"query_id": query_id})]

    def record(self, request_id: str) -> dict[str, Any]:
        """Return a record."""
        record: dict[str, Any] = self._call("GET", f"/api/v1/queued_requests/{request_id}")
        return record

    def wait(self, request_id: str) -> dict[str, Any]:
        """Return a record when it has ended, or as it is after ten seconds."""
        try:
            self._client.wait(request_id, WAIT_SECONDS)
        except StillWaiting as error:
            return dict(error.record)
        return self.record(request_id)

    def pause(self, seconds: float) -> None:
        """Wait."""
        self._client.run(_pause(seconds))

    def discard(self, request_id: str) -> None:
        """Take a request out of the queue. One that was sent, or has ended, stays."""
        try:
            self._call("POST", f"/api/v1/queued_requests/{request_id}/discard")
        except ApiError as error:
            if error.status not in {_CONFLICT, _INVALID}:
                raise

    def _list(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        parameters = {**filters, "sort": "inserted_at", "sort_direction": "asc", "page_size": "100", "bodies": "false"}
        items: list[dict[str, Any]] = self._client.call("GET", self._requests, parameters=parameters)["data"]
        return items

    def _call(self, method: str, path: str, **options: Any) -> Any:
        return self._client.call(method, path, **options)["data"]


def _pause(seconds: float) -> Steps[None]:
    yield Pause(seconds)


def has_ended(record: dict[str, Any]) -> bool:
    """Whether a request has ended."""
    return record["state"] in ENDED
