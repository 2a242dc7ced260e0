"""Lists of a range of time: half open, in any zone, in both orders, with all filters; and the times of a request."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.records.request import State
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest, ChangeRequest
from domain.timestamps import timestamp
from tests.integration.api.conftest import make_deployment
from tests.support.builders import NOON, REQUEST_XML, a_record
from tests.support.cases import for_each
from tests.support.fake_store import FakeStore
from tests.support.services import using

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest
    from tests.integration.api.conftest import Deployment

STEP = timedelta(hours=5)


def filled(deployment: Deployment, number: int = 40) -> list[QueuedRequest]:
    """Store requests, five hours apart. Each third failed, with a label."""
    records = []
    for place in range(number):
        inserted = NOON + place * STEP
        records.append(
            a_record(
                app_id=deployment.app_id,
                inserted_at=timestamp(inserted),
                updated_at=timestamp(inserted + timedelta(days=1)),
                state=State.ERROR if place % 3 == 0 else State.WAITING,
                webhook=Webhook(),
                label="nightly" if place % 3 == 0 else None,
            )
        )
        deployment.store.commit(AddRequest(records[-1], REQUEST_XML, f"invoice {place % 4}"))
    return records


def pages_of(deployment: Deployment, **parameters: Any) -> list[str]:
    """Return the ids of all pages. Each page but the last one is full, and their number is exact."""
    ids: list[str] = []
    number, total = 1, 1
    while number <= total:
        deployment.clock.advance(seconds=61)  # The limits of reads and searches are not meant here.
        page = deployment.api.call("GET", f"{deployment.requests_url}?{urlencode(parameters | {'page': number})}")
        assert page.status == 200, page.json
        total = page.json["total_pages"]
        size = parameters["page_size"]
        assert len(page.json["data"]) == size if number < total else len(page.json["data"]) <= size
        ids += [item["id"] for item in page.json["data"]]
        number += 1
    assert total == -(-len(ids) // parameters["page_size"])
    return ids


zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.builds(
    lambda steps, shift, zone: (NOON + steps * STEP + shift).astimezone(zone),
    st.integers(-6, 48),
    st.sampled_from([timedelta(), timedelta(microseconds=1), timedelta(microseconds=-1), timedelta(hours=2)]),
    zones,
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "state": st.sampled_from(["error", "waiting", "sent"]),
        "label": st.just("nightly"),
        "search_phrase": st.sampled_from(["invoice", "invoice 1", "nothing"]),
        "webhook_state": st.just("not_applicable"),
    },
)


@settings(max_examples=60, deadline=None)
@given(
    bounds=st.tuples(st.none() | times, st.none() | times),
    time=st.sampled_from(["inserted_at", "updated_at"]),
    sort=st.sampled_from(["inserted_at", "updated_at"]),
    direction=st.sampled_from(["asc", "desc"]),
    size=st.integers(1, 30),
    others=filters,
)
def test_the_pages_have_the_requests_of_the_range_and_no_others(
    *,
    bounds: tuple[datetime | None, datetime | None],
    time: str,
    sort: str,
    direction: str,
    size: int,
    others: dict[str, str],
) -> None:
    """The filters mean the same in both orders."""
    first, last = bounds
    if first and last and last < first:
        first, last = last, first
    names = ("from", "to") if time == "inserted_at" else ("updated_since", "updated_before")
    given_bounds = {name: bound.isoformat() for name, bound in zip(names, (first, last), strict=True) if bound}

    deployment = make_deployment(FakeStore())
    records = filled(deployment)
    with using(deployment.services):
        ids = pages_of(deployment, sort=sort, sort_direction=direction, page_size=size, **given_bounds, **others)

    def is_meant(place: int, record: QueuedRequest) -> bool:
        moment = datetime.fromisoformat(getattr(record, time))
        return (
            (first is None or first <= moment)
            and (last is None or moment < last)
            and others.get("state", record.state) == record.state
            and others.get("label", record.label) == record.label
            and others.get("search_phrase", "") in f"invoice {place % 4}"
        )

    meant = [record for place, record in enumerate(records) if is_meant(place, record)]
    meant.sort(key=lambda record: (getattr(record, sort), record.id), reverse=direction == "desc")
    assert ids == [record.id for record in meant]


@for_each("name", ["from", "to", "sent_since", "sent_before"])
@for_each(
    ("text", "words"),
    [
        ("2026-03-14", "time zone"),
        ("2026-03-14T12:00:00", "time zone"),
        ("yesterday", "such as 2026-03-14T12:00:00Z"),
        ("", "such as 2026-03-14T12:00:00Z"),
        ("1773489600", "time zone"),
        ("2026-02-30T00:00:00Z", "such as"),
        ("2026-03-14T12:00:00 01:00", "%2B"),
        ("2026-03-14T12:00:00Z" * 3, "at most 40 are allowed"),
    ],
)
def test_a_time_that_is_not_clear_is_refused_with_the_way_to_write_it(
    deployment: Deployment, name: str, text: str, words: str
) -> None:
    response = deployment.api.call("GET", f"{deployment.requests_url}?{name}={quote(text)}")

    assert (response.status, response.json["error"]["code"]) == (400, "invalid_request")
    (problem,) = response.json["error"]["details"]["problems"]
    assert problem["field"] == name
    assert words in problem["message"]


def test_a_range_that_ends_before_it_begins_is_refused_and_an_empty_one_is_not(deployment: Deployment) -> None:
    filled(deployment, 3)
    noon = "2026-03-14T12:00:00Z"

    refused = deployment.api.call("GET", f"{deployment.requests_url}?from={noon}&to=2026-03-14T12:59:59%2B01:00")
    empty = deployment.api.call("GET", f"{deployment.requests_url}?from={noon}&to=2026-03-14T13:00:00%2B01:00")

    assert (refused.status, refused.json["error"]["details"]["problems"][0]["field"]) == (400, "to")
    assert (empty.json["data"], empty.json["total_pages"]) == ([], 0)
    assert sum(empty.json["counts"].values()) == 3  # counts are regardless of filters


def test_what_was_sent_in_an_hour_is_listed_whenever_it_was_queued_and_changed_last(deployment: Deployment) -> None:
    """It was queued at nine and sent at five past two, and its webhook was delivered at four."""

    def processed(queued: datetime, sent: datetime, changed: datetime) -> str:
        record = a_record(app_id=deployment.app_id, inserted_at=timestamp(queued), updated_at=timestamp(queued))
        deployment.store.commit(AddRequest(record, REQUEST_XML, ""))
        ended = record.claimed("", sent).sent(sent).moved(State.RESPONSE_RECEIVED, changed).as_change_of(record)
        deployment.store.commit(ChangeRequest(record, ended, response_xml="<QBXML/>"))
        return record.id

    nine, two, four = (NOON.replace(hour=hour) for hour in (9, 14, 16))
    five_past = two + timedelta(minutes=5)
    meant = [processed(nine, five_past, four), processed(two, two, five_past)]
    processed(nine, two - timedelta(seconds=1), five_past)
    processed(two, two + timedelta(hours=1), four)
    deployment.store.commit(
        AddRequest(a_record(app_id=deployment.app_id, inserted_at=timestamp(five_past)), REQUEST_XML, "")
    )

    def listed(**parameters: str) -> dict[str, Any]:
        answer = deployment.api.call("GET", f"{deployment.requests_url}?{urlencode(parameters)}")
        assert answer.status == 200, answer.json
        page: dict[str, Any] = answer.json
        return page

    hour = {"sent_since": "2026-03-14T14:00:00Z", "sent_before": "2026-03-14T16:00:00+01:00"}
    page = listed(**hour, sort_direction="asc")
    assert [item["id"] for item in page["data"]] == meant
    assert (page["total"], page["total_pages"]) == (2, 1)
    assert meant[0] not in {
        item["id"] for item in listed(**{"from": "2026-03-14T14:00:00Z"}, sort="inserted_at")["data"]
    }
    assert [item["id"] for item in listed(**hour, to="2026-03-14T12:00:00Z")["data"]] == meant[:1]
    assert listed(**hour, state="waiting")["data"] == []
    refused = deployment.api.call(
        "GET", f"{deployment.requests_url}?{urlencode(hour | {'sent_before': '2026-03-14T13:00:00Z'})}"
    )
    assert (refused.status, refused.json["error"]["details"]["problems"][0]["field"]) == (400, "sent_before")


class CountingStore(FakeStore):
    """A store that tells how often entries were counted."""

    counted = 0

    def count_index_entries(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the numbers."""
        self.counted += 1
        return super().count_index_entries(*arguments, **keywords)


def test_a_range_of_another_apps_connection_is_not_found_and_counts_nothing() -> None:
    counting = CountingStore()
    own = make_deployment(counting)
    with using(own.services):
        filled(own, 3)
        answer = own.stranger.call("GET", f"{own.requests_url}?from=2026-03-14T13:00:00Z")
        assert (answer.status, counting.counted) == (404, 0)
        assert own.api.call("GET", f"{own.requests_url}?from=2026-03-14T13:00:00Z").status == 200
        assert counting.counted


def test_a_request_shows_when_it_was_sent_and_when_its_response_arrived(deployment: Deployment) -> None:
    queued = deployment.queue()
    assert (queued["sent_at"], queued["responded_at"]) == (None, None)
    claimed = deployment.stored_record(queued["id"]).claimed("a session", NOON)
    sent = claimed.sent(NOON + timedelta(seconds=3))
    ended = replace(sent.moved(State.RESPONSE_RECEIVED, NOON), responded_at=timestamp(NOON + timedelta(seconds=8)))
    before = deployment.stored_record(queued["id"])
    deployment.store.commit(ChangeRequest(before, ended.as_change_of(before), response_xml="<QBXML/>"))

    record = deployment.api.call("GET", queued["links"]["self"]).json["data"]
    (item,) = deployment.api.call("GET", deployment.requests_url).json["data"]

    for view in (record, item):
        assert view["sent_at"] == "2026-03-14T12:00:03.000000Z"
        assert view["responded_at"] == "2026-03-14T12:00:08.000000Z"


INVOICE = {
    "InvoiceAddRq": {
        "InvoiceAdd": {
            "CustomerRef": {"FullName": "Kristy Abercrombie"},
            "RefNumber": "1042",
            "InvoiceLineAdd": [{"Amount": "100.00"}, {"Amount": "148.50"}],
        }
    }
}


def test_a_request_and_its_list_item_show_its_subject(deployment: Deployment) -> None:
    queued = deployment.api.call("POST", deployment.requests_url, {"request_json": INVOICE}).json["data"]
    (item,) = deployment.api.call("GET", f"{deployment.requests_url}?bodies=false").json["data"]

    assert queued["subject"] == item["subject"] == "Kristy Abercrombie · 1042 · 248.50"


@pytest.mark.parametrize(
    "phrase", ["Invoice add", "INVOICEADDRQ", "kristy aber", "1042", "nightly RUN", "148.50", "248.50"]
)
def test_a_search_finds_what_a_list_shows(deployment: Deployment, phrase: str) -> None:
    deployment.queue()
    call = {"request_json": INVOICE, "label": "Nightly run"}
    queued = deployment.api.call("POST", deployment.requests_url, call).json["data"]

    found = deployment.api.call("GET", f"{deployment.requests_url}?{urlencode({'search_phrase': phrase})}").json["data"]

    assert [item["id"] for item in found] == [queued["id"]]
