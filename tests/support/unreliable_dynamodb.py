"""A client of DynamoDB that loses answers, delivers calls late, fails reads and reads batches within a transaction.

Each fault can happen in AWS. A call is done after its caller gave up, `TransactWriteItems` is still in progress when
botocore stops repeating it, a repeated call arrives twice, and `BatchGetItem` reads each item at its own moment.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, ReadTimeoutError

from local.emulated_dynamodb.partiql import UpdateStatement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ANSWER_LOST = "answer lost"
"""The call is done, and its answer is lost."""
IN_PROGRESS = "in progress"
"""The transaction is done, and botocore's repetitions end before DynamoDB knows it."""
SERVER_ERROR = "server error"
"""The call is not done."""
LATE = "late"
"""The call times out. It is done just before the next transaction."""
LATER = "later"
"""The call times out. The next transaction is cancelled because of a conflict, and then this call is done."""
REPEATED = "repeated"
"""The call is done, and once more just before the next write."""
MINUTES_LATE = "minutes late"
"""The call times out. It is done at the time that `arrives_at` returns, or soon after."""
REPEATED_MINUTES_LATER = "repeated minutes later"
"""The call is done, and once more at that time."""
CONFLICT = "conflict"
"""The transaction or the plain put is cancelled because of another transaction."""

TRANSACTION_FAULTS = (ANSWER_LOST, IN_PROGRESS, SERVER_ERROR, LATE, LATER, REPEATED, CONFLICT)
CONDITIONAL_FAULTS = tuple(fault for fault in TRANSACTION_FAULTS if fault != IN_PROGRESS)
"""The faults of a plain put with a condition. Only a transaction can be in progress."""
UPDATE_FAULTS = (ANSWER_LOST, SERVER_ERROR, LATE, REPEATED)
"""The faults of the plain updates before a transaction."""
REFUSED = "refused"
"""Every other statement of a batch is throttled, and not done."""
BATCH_FAULTS = (*UPDATE_FAULTS, REFUSED)
WRITE_FAULTS = (ANSWER_LOST, LATE, REPEATED)

NO_ANSWER = "no answer"
"""A read times out."""
READ_FAULTS = (SERVER_ERROR, NO_ANSWER)

TORN = "torn"
"""A batch returns bodies as they were before the latest transaction."""
MAX_TORN_READS = 2
"""The number of batches in a row that show an old body. A transaction changes its items within milliseconds."""

Fault = str


def client_error(code: str, status: int = 400, **members: Any) -> ClientError:
    """Return an error of DynamoDB."""
    response: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}, **members}
    return ClientError(response, "TransactWriteItems")


def timeout() -> ReadTimeoutError:
    """Return the error of a call without an answer."""
    return ReadTimeoutError(endpoint_url="https://dynamodb.us-east-1.amazonaws.com")


@dataclass
class UnreliableDynamoDB:
    """Passes calls on to `client`. `fault` returns the fault of a call by its operation, or None.

    A put with a condition is the operation `put_if`, because a commit of one item is such a put. `read_fault` does the
    same for reads. `clock` and `arrives_at` say when a call that is minutes late is done.
    """

    client: Any
    fault: Callable[[str], Fault | None] = lambda _operation: None
    read_fault: Callable[[str], Fault | None] = lambda _operation: None
    clock: Callable[[], datetime] = lambda: datetime.max.replace(tzinfo=UTC)
    arrives_at: Callable[[], datetime] = lambda: datetime.max.replace(tzinfo=UTC)
    happened: list[Fault] = field(default_factory=list)
    late: deque[Callable[[], Any]] = field(default_factory=deque)
    holds_late_calls: bool = False
    """Whether calls that are late wait for `deliver_late_calls`, and not only for the next transaction."""
    _minutes_late: list[tuple[datetime, Callable[[], Any]]] = field(default_factory=list)
    _former: dict[str, dict[str, Any]] = field(default_factory=dict)
    _torn_reads: dict[str, int] = field(default_factory=dict)
    _cancels_next: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def transact_write_items(self, **request: Any) -> Any:
        """Do a transaction, or fail."""
        self._before_commit(request)
        self._keep_former(request["TransactItems"])
        return self._write("transact_write_items", request)

    def put_item(self, **request: Any) -> Any:
        """Store an item, or fail."""
        if "ConditionExpression" not in request:
            return self._write("put_item", request)
        self._before_commit(request)
        return self._write("put_item", request, "put_if")

    def update_item(self, **request: Any) -> Any:
        """Change an item. The updates before a transaction may fail: a response, and the count of a session."""
        if not {":response", ":limit"} & request.get("ExpressionAttributeValues", {}).keys():
            return self.client.update_item(**request)
        self._keep_former([{"Update": request}])
        return self._write("update_item", request)

    def batch_execute_statement(self, **request: Any) -> Any:
        """Store the responses of a message set, or fail."""
        statements = map(UpdateStatement.of, request["Statements"])
        self._keep_former([{"Update": {"TableName": one.table, "Key": dict(one.equal)}} for one in statements])
        fault = self._next_fault("batch_execute_statement")
        return (
            self._refuse_every_other(request)
            if fault == REFUSED
            else self._do("batch_execute_statement", request, fault)
        )

    def _refuse_every_other(self, request: dict[str, Any]) -> Any:
        error = {"Error": {"Code": "ThrottlingError", "Message": "Throughput exceeds the current capacity."}}
        done = self.client.batch_execute_statement(Statements=request["Statements"][::2])["Responses"]
        return {
            "Responses": [done.pop(0) if number % 2 == 0 else error for number in range(len(request["Statements"]))]
        }

    def _before_commit(self, request: dict[str, Any]) -> None:
        """Do the calls that are late now. Raises ClientError for a conflict."""
        if self._cancels_next:
            self._cancels_next = False
            try:
                raise self._conflict(request)
            finally:
                self.deliver_late_calls()
        if not self.holds_late_calls:
            self.deliver_late_calls()
        self._deliver_what_is_due()

    def get_item(self, **request: Any) -> Any:
        """Read an item, or fail."""
        return self._read("get_item", request)

    def query(self, **request: Any) -> Any:
        """Read items of a partition, or fail."""
        return self._read("query", request)

    def _read(self, method: str, request: dict[str, Any]) -> Any:
        self._deliver_what_is_due()
        fault = self.read_fault(method)
        if fault:
            self.happened.append(fault)
            raise timeout() if fault == NO_ANSWER else client_error("InternalServerError", 500)
        return getattr(self.client, method)(**request)

    def batch_get_item(self, **request: Any) -> Any:
        """Read a batch, possibly with bodies as they were before the latest transaction."""
        response = self._read("batch_get_item", request)
        if self._next_fault("batch_get_item") != TORN:
            return response
        for table, wanted in request["RequestItems"].items():
            for key in wanted["Keys"]:
                self._tear(response["Responses"].setdefault(table, []), table, key)
        return response

    def deliver_late_calls(self) -> None:
        """Do the calls that are still on their way."""
        while self.late:
            with suppress(ClientError):
                self.late.popleft()()

    def deliver_everything(self) -> None:
        """Do the calls that are still on their way, also those that are minutes late."""
        self.deliver_late_calls()
        self.late.extend(call for _, call in self._minutes_late)
        self._minutes_late.clear()
        self.deliver_late_calls()

    def _deliver_what_is_due(self) -> None:
        now = self.clock()
        due = [call for moment, call in self._minutes_late if moment <= now]
        self._minutes_late = [entry for entry in self._minutes_late if entry[0] > now]
        for call in due:
            with suppress(ClientError):
                call()

    def _write(self, method: str, request: dict[str, Any], operation: str | None = None) -> Any:
        return self._do(method, request, self._next_fault(operation or method))

    def _do(self, method: str, request: dict[str, Any], fault: Fault | None) -> Any:
        call = partial(getattr(self.client, method), **request)
        match fault:
            case "answer lost":
                call()
                raise timeout()
            case "in progress":
                call()
                raise client_error("TransactionInProgressException")
            case "server error":
                raise client_error("InternalServerError", 500)
            case "late":
                self.late.append(call)
                raise timeout()
            case "minutes late":
                self._minutes_late.append((self.arrives_at(), call))
                raise timeout()
            case "repeated minutes later":
                self._minutes_late.append((self.arrives_at(), call))
                return call()
            case "later":
                self.late.append(call)
                self._cancels_next = True
                raise timeout()
            case "repeated":
                self.late.append(call)
                return call()
            case "conflict":
                raise self._conflict(request)
        return call()

    def _conflict(self, request: dict[str, Any]) -> ClientError:
        if "TransactItems" not in request:
            return client_error("TransactionConflictException")
        reasons = [{"Code": "None"} for _ in request["TransactItems"]]
        reasons[-1] = {"Code": "TransactionConflict"}
        return client_error("TransactionCanceledException", CancellationReasons=reasons)

    def _next_fault(self, operation: str) -> Fault | None:
        fault = self.fault(operation)
        if fault:
            self.happened.append(fault)
        return fault

    def _keep_former(self, entries: Iterable[dict[str, Any]]) -> None:
        """Remember the bodies as they are before a transaction."""
        for entry in entries:
            for write in entry.values():
                table = write["TableName"]
                attributes = write.get("Key") or write["Item"]
                key = {name: attributes[name] for name in ("request_id", "part") if name in attributes}
                if len(key) == 2:
                    place = f"{table} {key}"
                    self._former[place] = self.client.get_item(TableName=table, Key=key).get("Item")
                    self._torn_reads[place] = MAX_TORN_READS

    def _tear(self, items: list[dict[str, Any]], table: str, key: dict[str, Any]) -> None:
        place = f"{table} {key}"
        if not self._torn_reads.get(place):
            return
        self._torn_reads[place] -= 1
        items[:] = [item for item in items if any(item.get(name) != value for name, value in key.items())]
        if former := self._former[place]:
            items.append(former)
