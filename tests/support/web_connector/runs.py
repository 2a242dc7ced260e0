"""A queue, drained by session after session through whatever breaks, and what must be so afterwards."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.maintenance.sweep import Sweeper
from domain.requests.record import ENDED, QueuedRequest, State, Webhook
from domain.storage.changes import AddRequest
from domain.web_connector.protocol import qwc
from domain.web_connector.session.record import SILENCE_SECONDS
from simulator import Company, Simulator
from tests.support.index_lag import IndexLag
from tests.support.web_connector.cuts import (
    LOCKED,
    Cut,
    FragileCompany,
    FunctionDied,
    Line,
    MortalStore,
    Place,
    Places,
    RandomIds,
)
from tests.support.web_connector.driver import PASSWORD, Desk
from tests.support.web_connector.witness import WitnessedStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.storage.changes import Change
    from simulator.web_connector.connector import SessionResult

SESSIONS = 10
"""More than enough: what is not done by then is stuck."""

LAG_SECONDS = 3.0
QUIET = 2
"""So many sessions in a row find nothing to do: where the queue lags, the first may be wrong."""


class Notifying(WitnessedStore):
    """A store where every request that is queued wants a webhook."""

    def commit(self, *changes: Change) -> None:
        """Commit."""
        super().commit(*(_with_webhook(change) if isinstance(change, AddRequest) else change for change in changes))


def _with_webhook(change: AddRequest) -> AddRequest:
    record = replace(change.record, webhook=Webhook.to("https://example.com/hook"))
    return replace(change, record=record)


class Run:
    """One connection's queue and its Web Connector.

    `lag` is '', 'indexes' (they lag, as deployed) or 'queue' (it lags too, which it never does: then order cannot
    be kept, all else must). A file that is not `marked` is not known to be the connection's.
    """

    def __init__(
        self,
        fill: Callable[[Desk], object],
        *cuts: Cut,
        lag: str = "",
        marked: bool = True,
        store: WitnessedStore | None = None,
    ) -> None:
        self.places = Places(frozenset(cuts))
        self._lags_in_queue = lag == "queue"
        store = store or Notifying()
        mortal = MortalStore(store, self.places)
        self.desk = Desk(store=store, new_id=RandomIds(), reached=mortal)
        if lag:
            store.lag = IndexLag(self.desk.clock, most_seconds=LAG_SECONDS, queue=self._lags_in_queue)
        self.store = store
        connection = self.desk.connect(name="Acme")
        self.company = Company.generated(customers=5, now=self._unix_seconds)
        fill(self.desk)
        self.places.open = True
        self.marked = marked
        self.line = Line(self.desk, self.places)
        self.fragile = FragileCompany(self.company, self.places, marked=marked)
        self.simulator = Simulator(
            qwc.render(connection, base_url="https://queue.example.com", app_name="Queue"),
            PASSWORD,
            self.fragile,  # type: ignore[arg-type]  # it has what the company has
            transport=self.line,
            sleep=lambda seconds: self.desk.clock.advance(seconds=seconds),
        )
        self._sweeper = Sweeper(mortal, self.desk.clock)
        self.results: list[SessionResult] = []

    def _unix_seconds(self) -> float:
        return self.desk.clock.now.timestamp()

    def to_the_end(self) -> Run:
        """Run sessions until nothing is queued and nothing is on its way, then release what the last one left."""
        self._until_quiet()
        if self.line.deliver_what_is_left():
            self._until_quiet()
        self.fragile.do_what_is_left()
        self._sweep()
        self.places.open = False
        self._until_quiet()
        self._sweep()
        return self

    def _until_quiet(self) -> None:
        quiet = 0
        while quiet < (QUIET if self._lags_in_queue else 1) and len(self.results) < SESSIONS * QUIET:
            self.desk.clock.advance(seconds=LAG_SECONDS)
            self.results.append(self.simulator.run_once())
            quiet = quiet + 1 if self.results[-1].status == "No Data Exchange" else 0

    def _sweep(self) -> None:
        self.desk.clock.advance(seconds=SILENCE_SECONDS + LAG_SECONDS)
        self.places.doing = Place("sweep", 0)
        with suppress(FunctionDied):  # the schedule comes again
            self._sweeper.sweep(self.desk.clock.advance(seconds=1))
        self.places.doing = None

    @property
    def records(self) -> list[QueuedRequest]:
        """Return all records."""
        return [record for record in self.store.records.values() if isinstance(record, QueuedRequest)]

    def executions(self, record: QueuedRequest) -> int:
        """Return how often QuickBooks did what a write asks; an object in use keeps it from that."""
        return sum(
            done.message_set_id == record.message_set_id and done.status_code != LOCKED for done in self.company.writes
        )

    def check(self) -> None:
        """Check all that must be so after any cuts."""
        assert self.store.counts == self.store.exact_counts()
        assert not [session for session in self.store.sessions.values() if not session.ended]
        assert self.desk.connection.session_id is None
        self.store.check_webhooks()
        assert self._lags_in_queue or not self.store.out_of_turn
        for record in self.records:
            assert record.state in ENDED, record
            if not record.is_read:
                self._check_write(record)
            elif record.state is not State.RESPONSE_RECEIVED:
                self._check_error(record)

    def _check_error(self, record: QueuedRequest) -> None:
        assert record.error
        if record.error.code == "quickbooks_error":
            # An iterator is used as long as it lives, never twice for one page.
            assert record.error.details["status_code"] == LOCKED or not record.is_read, record
        elif not record.is_read:
            assert record.error.code == "outcome_unknown", record
            assert not self.marked
            # QuickBooks kept nothing that could be asked for: it had not done it, or did it long after.
            kept = {known for sets in self.company.message_sets.stored.values() for known in sets}
            assert record.message_set_id not in kept or self.fragile.done_last
        else:
            assert record.error.code == "iteration_interrupted", record
            assert record.paging.page > 1

    def _check_write(self, record: QueuedRequest) -> None:
        response = self.desk.response(record.id)
        if record.state is State.ERROR:
            self._check_error(record)
            assert record.error
            if record.error.code == "outcome_unknown":
                assert self.executions(record) == self.fragile.done_last, record
            else:
                assert self.executions(record) == (record.error.details["status_code"] != LOCKED), record
            return
        assert self.executions(record) == 1, record
        assert response is not None
        assert f'requestID="{record.request_label}"' in response
        found = re.search(r"<ListID>([^<]+)</ListID>", response)
        assert found
        assert found[1] in {customer.id for customer in self.company.books["Customer"]}

    def summary(self) -> dict[str, Any]:
        """Return what a failing case is looked at with."""
        return {
            "happened": [str(cut) for cut in self.places.happened],
            "sessions": [result.status for result in self.results],
            "records": [(record.request_name, record.state.value, record.error) for record in self.records],
        }
