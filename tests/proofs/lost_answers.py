"""The state machine on a database that loses answers, delivers calls late and fails reads.

DynamoDB is emulated in the process, because only there can a call be repeated at the right moment.
"""

from __future__ import annotations

import random
import uuid
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore
from domain.errors import Gone
from domain.maintenance.sweep import SETTLED_AFTER
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import drop_tables, make_tables
from tests.contract.conftest import dynamodb_client
from tests.proofs.interleavings import InMemory
from tests.support.builders import AN_ACTOR
from tests.support.unreliable_dynamodb import (
    BATCH_FAULTS,
    CONDITIONAL_FAULTS,
    MINUTES_LATE,
    READ_FAULTS,
    REPEATED,
    REPEATED_MINUTES_LATER,
    TORN,
    TRANSACTION_FAULTS,
    UPDATE_FAULTS,
    UnreliableDynamoDB,
)
from tests.support.web_connector.system import System

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tests.support.unreliable_dynamodb import Fault

MINUTES = (MINUTES_LATE, REPEATED_MINUTES_LATER)

SHARES: dict[str, tuple[float, tuple[Fault, ...]]] = {
    "transact_write_items": (0.2, (*TRANSACTION_FAULTS, *MINUTES)),
    "put_if": (0.2, (*CONDITIONAL_FAULTS, *MINUTES)),
    "update_item": (0.3, (*UPDATE_FAULTS, *MINUTES)),
    "batch_execute_statement": (0.3, (*BATCH_FAULTS, *MINUTES)),
    "put_item": (0.5, (REPEATED, REPEATED_MINUTES_LATER)),
    "batch_get_item": (0.3, (TORN,)),
}
"""The share of the writes and batches of an operation that fail, and how."""

SHARE_OF_READS = 0.05
"""The share of reads that fail in functions that are interrupted."""

MAX_SECONDS_LATE = (SETTLED_AFTER - timedelta(minutes=1)).total_seconds()
"""No function runs longer, so no call arrives later."""

SHARE_LARGE = 0.1
"""The share of responses that are stored in chunks."""


class LostAnswers(InMemory):
    """Two apps with three connections on an unreliable database. Some responses are large."""

    client: Any = None
    """The client of the emulation that all runs share."""

    def make_system(self, seed: int) -> System:
        """Return an empty system."""
        chance = random.Random(seed)
        self._prefix = f"lost{uuid.uuid4().hex[:8]}-"
        self._tables = make_tables(self.client, self._prefix)
        self._unreliable = UnreliableDynamoDB(self.client)
        store = DynamoDBStore(
            self._unreliable, self._tables, sleep=lambda _: None, random=chance.random, monotonic=lambda: 0.0
        )
        system = System(store, batch_size=self.batch_size, seed=seed)
        self._unreliable.fault = partial(_fault, chance)
        self._unreliable.read_fault = partial(_read_fault, chance, system)
        self._unreliable.clock = system.clock
        self._unreliable.arrives_at = partial(_arrival, chance, system)
        for books in system.books.values():
            books.response_to = partial(_response, chance, books.response_to)  # type: ignore[method-assign]
        return system

    def teardown(self) -> None:
        """Send everything that is queued, then delete everything, and check that nothing is left."""
        try:
            super().teardown()
            if hasattr(self, "system"):
                self._delete_everything()
        finally:
            if hasattr(self, "_prefix"):
                drop_tables(self.client, self._prefix)

    def _delete_everything(self) -> None:
        system = self.system
        for record in system.records():
            with suppress(Gone):
                system.requests.delete(record.app_id, record.id, actor=AN_ACTOR)
        self._unreliable.fault = lambda _: None
        self._unreliable.deliver_everything()
        system.sweep((SETTLED_AFTER + timedelta(minutes=1)).total_seconds())
        items = self.client.scan(TableName=self._tables.payloads)["Items"]
        assert [item["part"]["S"] for item in items if "removed" not in item] == []
        assert not system.records()
        system.check()


def _fault(chance: random.Random, operation: str) -> Fault | None:
    share, faults = SHARES.get(operation, (0.0, ()))
    return chance.choice(faults) if chance.random() < share else None


def _read_fault(chance: random.Random, system: System, _operation: str) -> Fault | None:
    return chance.choice(READ_FAULTS) if system.may_fail and chance.random() < SHARE_OF_READS else None


def _arrival(chance: random.Random, system: System) -> datetime:
    return system.clock() + timedelta(seconds=chance.uniform(1, MAX_SECONDS_LATE))


def _response(chance: random.Random, response_to: Any, *arguments: Any, **keywords: Any) -> str:
    """Return the response of QuickBooks, sometimes with 600 KB that do not compress well."""
    response: str = response_to(*arguments, **keywords)
    if chance.random() >= SHARE_LARGE or "</QBXML>" not in response:
        return response
    return response.replace("</QBXML>", f"<!-- {chance.randbytes(400_000).hex()} --></QBXML>")


@contextmanager
def on_emulation() -> Iterator[type[LostAnswers]]:
    """Yield the state machine with a client of DynamoDB emulated in the process."""
    with emulated_dynamodb():
        yield type("LostAnswersEmulated", (LostAnswers,), {"client": dynamodb_client()})
