"""The feed reports what waits for approval and each decision, through the stream and the filters of the template."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.api_client import ApiClient
    from tests.support.whole_service import WholeService

WRITE = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ann"}}}, "metadata": {"order": "7"}}
FATES = {
    "wait": ["approval_required"],
    "approve": ["approval_required", "approved"],
    "approve twice": ["approval_required", "approved"],
    "approve and discard": ["approval_required", "approved", "discarded"],
    "reject": ["approval_required", "rejected", "discarded"],
    "discard": ["approval_required", "discarded"],
    "let it end": ["approval_required", "failed"],
    "delete": ["deleted"],
}


class Office:
    """An app with a connection, a key that queues and a key that decides."""

    def __init__(self, service: WholeService) -> None:
        self.service = service
        app_id = service.operate("create_app", name="Shop")["app_id"]
        self.author, self.decider = service.client_of(app_id), service.client_of(app_id)
        self.connection = self.call(self.author, "/connections", {"name": "Books"})["id"]

    def call(self, client: ApiClient, path: str, body: Any = None, method: str = "POST") -> Any:
        """Make a call that succeeds, and return its data."""
        answer = client.call(method, f"/api/v1{path}", body)
        assert answer.status < 300, answer.text
        return answer.json["data"] if answer.text else None

    def queued(self, body: dict[str, Any]) -> str:
        """Queue a request, and return its id."""
        self.service.clock.advance(seconds=1)
        request_id: str = self.call(self.author, f"/connections/{self.connection}/queued_requests", body)["id"]
        return request_id

    def decide(self, request_id: str, fate: str) -> None:
        """Make the calls of a fate."""
        url = f"/queued_requests/{request_id}"
        if "approve" in fate:
            for _ in range(2 if "twice" in fate else 1):
                self.call(self.decider, f"{url}/approve", {"revision": 1})
        if fate == "reject":
            self.call(self.decider, f"{url}/reject", {"reason": "No."})
        if "discard" in fate:
            self.call(self.author, f"{url}/discard")
        if fate == "delete":
            self.call(self.author, f"{url}?force=true", method="DELETE")

    def events(self) -> list[dict[str, Any]]:
        """Return the feed."""
        self.service.read_streams()
        events = self.author.call("GET", "/api/v1/events").json["data"]
        return [event for event in events if event["type"].startswith("queued_request.")]


def test_the_feed_tells_the_fate_of_each_write_that_needs_approval_and_of_no_other(service: WholeService) -> None:
    office = Office(service)
    waits_shortly = {"send_within": 3600}
    ids = {
        fate: office.queued(WRITE | {"approval": "required"} | (waits_shortly if fate == "let it end" else {}))
        for fate in FATES
    }
    office.queued(WRITE)
    office.queued({"request_json": {"CustomerQueryRq": {"MaxReturned": 1}}, "approval": "required"})
    for fate, request_id in ids.items():
        office.decide(request_id, fate)
    service.clock.advance(hours=2)
    service.sweep()

    told = defaultdict(list)
    for event in office.events():
        told[event["page_request_id"]].append(event["type"].removeprefix("queued_request."))

    assert {fate: told.pop(request_id) for fate, request_id in ids.items()} == FATES
    assert told == {}


def test_an_event_has_what_an_approver_needs_to_decide(service: WholeService) -> None:
    office = Office(service)
    request_id = office.queued(WRITE | {"approval": "required", "label": "shop"})

    (event,) = office.events()

    record = office.call(office.decider, f"/queued_requests/{request_id}", method="GET")
    members = ("approval", "state", "send_by", "links", "subject", "label", "metadata", "request_name", "batch_id")
    assert {name: event[name] for name in members} == {name: record[name] for name in members}
    assert event["approval"]["revision"] == 1
    office.call(office.decider, f"/queued_requests/{request_id}/approve", {"revision": event["approval"]["revision"]})


def test_a_repeated_change_of_the_stream_is_told_once(service: WholeService) -> None:
    office = Office(service)
    office.decide(office.queued(WRITE | {"approval": "required"}), "approve")
    first = office.events()

    service.repeat_streams()

    assert office.events() == first
    assert len(first) == 2
