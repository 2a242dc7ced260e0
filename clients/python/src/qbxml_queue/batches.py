"""Batches: up to 25 requests that are queued in one call, all or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from qbxml_queue.protocol import result_of
from qbxml_queue.values import Reference, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qbxml_queue.schema.records import QueuedRequest

R = TypeVar("R")


class Entry(Generic[R]):
    """A request of a batch."""

    def __init__(self, name: str, body: dict[str, Any]) -> None:
        self._name = name
        self._body = body
        self._record: QueuedRequest | None = None

    @property
    def record(self) -> QueuedRequest:
        """The record, as it was when the batch last read it. Raises RuntimeError before the batch is queued."""
        if self._record is None:
            raise RuntimeError("The batch has not been queued.")
        return self._record

    @property
    def result(self) -> R:
        """The result. Raises RequestFailed, and RuntimeError before the batch is executed."""
        result: Any = result_of(self.record)
        return result  # type: ignore[no-any-return]  # what the overloads of `Add` say

    def ref(self, path: str) -> Reference:
        """Return a value of the response for a later request, such as `CustomerRet/ListID`.

        An element that can repeat needs a number, counted from 1: `InvoiceRet[1]/TxnID`.
        """
        self.use_name()
        return Reference(self._name, path)

    def use_name(self) -> str:
        """Send the name of this request with the batch, and return it."""
        self._body["ref"] = self._name
        return self._name

    def body(self) -> dict[str, Any]:
        """Return the request as the API expects it."""
        return self._body

    def update(self, record: QueuedRequest) -> None:
        """Keep the latest record."""
        self._record = record


class BatchBase:
    """The requests of a batch in their order."""

    def __init__(self, idempotency_key: str) -> None:
        self.idempotency_key = idempotency_key
        self.entries: list[Entry[Any]] = []

    def append(
        self, request: Mapping[str, Any], *, depends_on: Iterable[Entry[Any]] = (), **options: Any
    ) -> Entry[Any]:
        """Add a request to the end of the batch."""
        version = options.pop("version", None)
        tree: Any = to_json(request)
        body = {"request_json": {"version": version, **tree} if version else tree, **options}
        if names := [entry.use_name() for entry in depends_on]:
            body["depends_on"] = names
        entry: Entry[Any] = Entry(f"request-{len(self.entries) + 1}", body)
        self.entries.append(entry)
        return entry

    def body(self) -> dict[str, Any]:
        """Return the batch as the API expects it."""
        return {"requests": [entry.body() for entry in self.entries]}
