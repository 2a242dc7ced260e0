"""Random records of a connection, random lists of them, and a brute-force way to make a list."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from hypothesis import strategies as st

from domain.listing.query import ListQuery
from domain.records.approval import Approval
from domain.records.audit import Actor, ActorType
from domain.records.batch import MAX_REQUESTS, ids_of_batch, new_batch_id
from domain.records.request import QUEUED, Paging, QueuedRequest, RequestError, State
from domain.records.search_text import author_mark
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import ChangeRequest
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, SequentialIds, a_record
from tests.support.request_filters import LABELS, NAMES, NOBODY, QUERY_IDS, conditions, meets, of_history

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ("alpha", "beta", "gamma ray")
STATES = (State.WAITING, State.RETRYABLE, State.ERROR, State.RESPONSE_RECEIVED)
WEBHOOKS = (
    Webhook(WebhookState.PENDING, "https://shop.example/hooks?to=https://other.example:8443"),
    Webhook(WebhookState.PENDING, attempts_in_round=1),
    Webhook(WebhookState.NOT_APPLICABLE),
    Webhook(WebhookState.FAILED, "https://ann:secret@other.example:8443/hooks"),
)
ERRORS = (
    RequestError("quickbooks_error", "It failed.", {"status_code": 3170}),
    RequestError("quickbooks_error", "It failed."),
    RequestError("quickbooks_connection_error", "It failed.", {"hresult": "0x80040408"}),
    RequestError("not_sent_in_time", "It failed.", {"status_code": 3170}),
)


KEY_IDS = ("key_00000000000000a1", "key_0000000000000a10")
PERSON_ID = "00000000-0000-0000-0000-0000000000a1"
AUTHORS = (None, *(Actor(ActorType.API_KEY, key_id) for key_id in KEY_IDS), Actor(ActorType.PERSON, PERSON_ID, "a"))
"""The digits of one id are in another one, so that only whole ids tell them apart."""


@dataclass(frozen=True, slots=True)
class Past:
    """A record that was stored, its search text, and whether it was removed again."""

    record: QueuedRequest
    text: str
    removed: bool = False
    queued_by: Actor | None = None

    @property
    def search_text(self) -> str:
        """The search text with the mark of who queued the request."""
        return f"{author_mark(self.queued_by.id)}\n{self.text}" if self.queued_by and self.queued_by.id else self.text


History: TypeAlias = list[Past]


def a_history(seed: int, number: int, connection_id: str = CONNECTION_ID) -> History:
    """Return `number` records over a few days; timestamps often collide. A seed is faster than drawing.

    Some are later pages of a query. Its first page can be one of the records. Some are requests of batches.
    """
    chance = random.Random(seed)
    new_id = SequentialIds(last=chance.choice([0, chance.randrange(2**40)]))
    history = []
    batch: Iterator[str] = iter(())
    for _ in range(number):
        if chance.random() < 0.1:
            batch = iter(ids_of_batch(new_batch_id(new_id()), chance.randint(1, MAX_REQUESTS)))
        page = chance.choice([1, 1, 2, 3])
        inserted = NOON + timedelta(days=chance.randrange(5), hours=chance.randint(-2, 2))
        updated = inserted + timedelta(hours=chance.choice([0, 1, 26]))
        state = chance.choice(STATES)
        sent_at = timestamp(inserted + (updated - inserted) * chance.choice([0, 0.5, 1]))
        # A request with a response was sent, and sending a request changes it.
        was_sent = state is State.RESPONSE_RECEIVED or (updated > inserted and chance.random() < 0.5)
        webhook = chance.choice(WEBHOOKS)
        record = a_record(
            id=next(batch, None) or new_id(),
            connection_id=connection_id,
            inserted_at=timestamp(inserted),
            updated_at=timestamp(updated),
            state=state,
            webhook=webhook,
            # A webhook is tried again only after the end of its request, which then waits for nothing.
            approval=Approval("key_1")
            if state in QUEUED and not webhook.is_retrying and chance.random() < 0.3
            else None,
            sent_at=sent_at if was_sent else None,
            label=chance.choice(LABELS),
            error=chance.choice(ERRORS) if state is State.ERROR else None,
            request_name=chance.choice(NAMES),
            paging=Paging(page, chance.choice(QUERY_IDS)) if page > 1 else Paging(),
        )
        queued_by = chance.choice(AUTHORS)
        history.append(Past(record, chance.choice(WORDS), chance.random() < 0.1, queued_by))
    return history


in_flight_numbers = st.sampled_from([0, 1, 5, 20])
seeds = st.integers(0, 2**32)
numbers = st.integers(0, 100)

queries = st.builds(
    ListQuery,
    connection_id=st.just(CONNECTION_ID),
    which=conditions(),
    page=st.integers(1, 6),
    page_size=st.integers(1, 25),
    sort=st.sampled_from(["inserted_at", "updated_at"]),
    descending=st.booleans(),
    search_phrase=st.none() | st.sampled_from(["alpha", "GAMMA", "nowhere", "a"]),
    queued_by=st.none() | st.sampled_from([KEY_IDS[0], PERSON_ID, NOBODY]),
)
"""Lists. `of_history` gives those with ids the ids of a history."""


def query_of(query: ListQuery, history: History) -> ListQuery:
    """Return a list with the ids of a history in place of positions in it."""
    return replace(query, which=of_history(query.which, [past.record.id for past in history]))


def claim_some(history: History, number: int, seed: int) -> tuple[History, list[ChangeRequest]]:
    """Claim up to `number` queued records and send some of them. Return the history and the changes."""
    chance = random.Random(seed)
    queued = [past for past in history if past.record.state in QUEUED and not past.removed]
    changes = []
    after = {past.record.id: past for past in history}
    for past in chance.sample(queued, min(number, len(queued))):
        moment = NOON + timedelta(days=chance.randrange(7), minutes=chance.randrange(60))
        record = past.record.claimed("a session", moment)
        changes.append(ChangeRequest(past.record, record))
        if chance.random() < 0.5:
            sent = record.moved(State.SENT, moment + timedelta(seconds=chance.randrange(100)))
            changes.append(ChangeRequest(record, sent))
            record = sent
        after[record.id] = replace(past, record=record)
    return list(after.values()), changes


def brute_force(history: History, query: ListQuery) -> tuple[list[QueuedRequest], int]:
    """Return the page and the number of pages by brute force."""
    fitting = [
        past.record
        for past in history
        if not past.removed
        and meets(query.which, past.record)
        and (query.search_phrase or "").casefold() in past.text
        and query.queued_by in (None, past.queued_by and past.queued_by.id)
    ]
    fitting.sort(key=lambda record: (getattr(record, query.sort), record.id), reverse=query.descending)
    start = (query.page - 1) * query.page_size
    return fitting[start : start + query.page_size], -(-len(fitting) // query.page_size)
