"""An app with a key, and a connection, in a store in memory, behind the functions as deployed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.apps.administration import Administration
from domain.batches.dependants import with_dependants
from domain.records.app import Scope
from domain.records.request import QueuedRequest, RequestError, State
from domain.storage.changes import ChangeRequest, Put
from tests.support.api_client import ApiClient
from tests.support.builders import (
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    RESPONSE_XML,
    FixedClock,
    SequentialIds,
    a_connection,
)
from tests.support.fake_store import FakeStore
from tests.support.services import services_with, using

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from handlers.common.bootstrap import Services


REFUSAL = RequestError("quickbooks_error", "No.")


def random_bytes(size: int) -> bytes:
    """Return random bytes, because keys must differ."""
    return secrets.token_bytes(size)


@dataclass
class Deployment:
    """The functions over a store in memory, two apps with keys, and a connection of the first app."""

    services: Services
    store: FakeStore
    clock: FixedClock
    administration: Administration
    app_id: str
    api: ApiClient
    readonly: ApiClient
    stranger: ApiClient

    @property
    def requests_url(self) -> str:
        """URL of the connection's requests."""
        return f"/api/v1/connections/{CONNECTION_ID}/queued_requests"

    def queue(self, **fields: Any) -> dict[str, Any]:
        """Queue a request and return its record."""
        response = self.api.call("POST", self.requests_url, {"request_xml": REQUEST_XML} | fields)
        assert response.status == 201
        data: dict[str, Any] = response.json["data"]
        return data

    def stored_record(self, request_id: str) -> QueuedRequest:
        """Return a record as it is stored."""
        record = self.store.request(request_id)
        assert isinstance(record, QueuedRequest)
        return record

    def end(
        self,
        request_id: str,
        state: State = State.RESPONSE_RECEIVED,
        response_xml: str = RESPONSE_XML,
        **fields: Any,
    ) -> None:
        """End a request, as a Web Connector session would."""
        for step in (State.TICKETED, State.SENT):
            before = self.stored_record(request_id)
            self.store.commit(ChangeRequest(before, before.moved(step, self.clock())))
        before = self.stored_record(request_id)
        self.store.commit(
            ChangeRequest(before, replace(before, **fields).moved(state, self.clock()), response_xml=response_xml)
        )

    def respond(self, request_id: str, response_xml: str) -> None:
        """End a request with a response, and release those that wait for it."""
        self._end_with_dependants(request_id, lambda record: record.moved(State.RESPONSE_RECEIVED, NOON), response_xml)

    def refuse(self, request_id: str, error: RequestError = REFUSAL) -> None:
        """End a request with an error, and those that wait for it."""
        self._end_with_dependants(request_id, lambda record: replace(record, error=error).moved(State.ERROR, NOON))

    def _end_with_dependants(
        self, request_id: str, end: Callable[[QueuedRequest], QueuedRequest], response_xml: str | None = None
    ) -> None:
        for step in (State.TICKETED, State.SENT):
            before = self.stored_record(request_id)
            self.store.commit(ChangeRequest(before, before.moved(step, NOON)))
        before = self.stored_record(request_id)
        changes = [ChangeRequest(before, end(before), response_xml)]
        self.store.commit(*with_dependants(self.store, changes, NOON))


def make_deployment(store: FakeStore) -> Deployment:
    """Fill a store and build services over it."""
    clock, ids = FixedClock(), SequentialIds()
    administration = Administration(store, clock, ids, random_bytes)
    app_id = administration.create_app("Shop").id
    other_id = administration.create_app("Somebody else").id
    store.commit(Put(None, a_connection(app_id=app_id)))
    services = services_with(store, clock)
    services.new_id, services.secrets = ids, random_bytes
    return Deployment(
        services,
        store,
        clock,
        administration,
        app_id,
        api=ApiClient(administration.create_key(app_id).text),
        readonly=ApiClient(administration.create_key(app_id, Scope.READ_ONLY).text),
        stranger=ApiClient(administration.create_key(other_id).text),
    )


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    """Return a deployment in memory."""
    deployment = make_deployment(FakeStore())
    with using(deployment.services):
        yield deployment
