"""Batches: up to 25 requests that are queued in one call, all or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from qbxml_queue.options import IfExists, Priority, Required, check_options
from qbxml_queue.results import result_of
from qbxml_queue.values import Reference, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qbxml_queue.schema.records import QueuedRequest

R = TypeVar("R")


_KEY_CHARACTERS = 38
"""How much of the idempotency key is in the names of a batch. A name has at most 50 characters."""


class StepOptions(TypedDict, total=False):
    """How a request of a batch is queued that does not look first."""

    version: str
    """The version of QBXML, such as `14.0`."""
    webhook_url: str | None
    """The receiver. None sends no webhook, even if the connection has a default."""
    label: str
    """At most 50 characters of your own, which lists can be filtered by."""
    metadata: dict[str, str]
    """At most 20 texts of your own, which come back in the record and in events."""
    send_by: str
    """A time with a zone. The request fails as `not_sent_in_time` if it is not sent before it."""
    send_within: int
    """The same in seconds from the call on."""
    approval: Required
    depends_on: Iterable[Entry[Any]]
    """Requests before this one that must succeed first. A value of `Entry.ref` implies it."""


class AddOptions(StepOptions, total=False):
    """How a request of a batch is queued."""

    if_exists: IfExists
    """`return` asks QuickBooks for the object first. If it exists, the request ends with it, and nothing is added."""


class Entry(Generic[R]):
    """A request of a batch."""

    def __init__(self, batch: BatchBase, name: str, body: dict[str, Any]) -> None:
        self._batch = batch
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
        """Return a value of the response, such as `CustomerRet/ListID`, for a later request of this batch or of others.

        An element that can repeat needs a number, counted from 1: `InvoiceRet[1]/TxnID`.
        """
        return Reference(self, path)

    def value(self, member: str) -> Reference:
        """Return a value of the object that the request returns, such as its `ListID`."""
        [name] = [one for one in self._body["request_json"] if one != "version"]
        return self.ref(f"{re.sub('(Add|Mod)Rq$', '', name)}Ret/{member}")

    def name_in(self, batch: object) -> str:
        """Return what identifies this request in a batch, or in None: its name in its own, its id in a later one.

        Raises ValueError in another batch before its own is queued.
        """
        if self._record is not None:
            return self._record["id"]
        if batch is not self._batch:
            message = "The entry is of another batch, which is not queued. Queue that batch first, or add both to one."
            raise ValueError(message)
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

    def __init__(self, idempotency_key: str, priority: Priority | None, approval: Required | None) -> None:
        self.idempotency_key = idempotency_key
        self._options = {"priority": priority, "approval": approval}
        self.entries: list[Entry[Any]] = []
        self.is_queued = False

    def append(self, request: Mapping[str, Any], **options: Any) -> Entry[Any]:
        """Add a request to the end of the batch. Raises TypeError for an unknown option."""
        if self.is_queued:
            raise RuntimeError("The batch has been queued. Add the request to another batch.")
        check_options("add", AddOptions, options)
        depends_on = [entry.name_in(self) for entry in options.pop("depends_on", ())]
        version = options.pop("version", None)
        tree: Any = to_json(request, self)
        body = {"request_json": {"version": version, **tree} if version else tree, **options}
        if depends_on:
            body["depends_on"] = depends_on
        # The same batch has the same names in every process, because a repeated call must have the same body.
        name = f"request-{len(self.entries) + 1}:{self.idempotency_key[-_KEY_CHARACTERS:]}"
        entry: Entry[Any] = Entry(self, name, body)
        self.entries.append(entry)
        return entry

    def body(self) -> dict[str, Any]:
        """Return the batch as the API expects it."""
        options = {name: value for name, value in self._options.items() if value}
        return {"requests": [entry.body() for entry in self.entries], **options}

    def queued(self, records: Iterable[QueuedRequest]) -> None:
        """Give each entry its record."""
        self.is_queued = True
        for entry, record in zip(self.entries, records, strict=True):
            entry.update(record)
