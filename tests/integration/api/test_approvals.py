"""Approval over HTTP: scopes of keys, the calls that decide, and what the record and the audit log show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import NotFound
from domain.records.app import Scope
from tests.support.api_client import ApiClient
from tests.support.builders import CONNECTION_ID

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment
    from tests.support.api_response import ApiResponse

WRITE = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ann"}}}}
QUERY = {"request_json": {"CustomerQueryRq": {"MaxReturned": 5}}}
CONNECTION = f"/api/v1/connections/{CONNECTION_ID}"


def client(deployment: Deployment, scope: Scope, rotates: str | None = None) -> ApiClient:
    """Return a client with a new key."""
    return ApiClient(deployment.administration.create_key(deployment.app_id, scope, rotates=rotates).text)


def queued(deployment: Deployment, api: ApiClient | None = None, **fields: Any) -> dict[str, Any]:
    """Queue a write that needs approval, and return its record."""
    answer = (api or deployment.api).call("POST", deployment.requests_url, WRITE | {"approval": "required"} | fields)
    assert answer.status == 201, answer.json
    data: dict[str, Any] = answer.json["data"]
    return data


def decide(api: ApiClient, record: dict[str, Any], how: str, **body: Any) -> ApiResponse:
    """Approve or reject a request."""
    given = {"revision": record["approval"]["revision"]} if how == "approve" else {"reason": "No."}
    return api.call("POST", f"/api/v1/queued_requests/{record['id']}/{how}", given | body)


def test_the_record_shows_what_the_approval_names(deployment: Deployment) -> None:
    record = queued(deployment)

    assert record["state"] == "waiting"
    assert record["waiting_reason"]["code"] == "approval"
    assert record["approval"] == {
        "decision": None,
        "revision": 1,
        "queued_by": deployment.api.call("GET", "/api/v1/api_key").json["data"]["key_id"],
        "decided_by": None,
        "decided_at": None,
        "reason": None,
    }
    assert deployment.queue()["approval"] is None


@pytest.mark.parametrize("path", ["/api/v1", CONNECTION])
@pytest.mark.parametrize("scope", [Scope.FULL, Scope.APPROVE])
def test_another_key_approves_once_and_the_audit_log_names_it(deployment: Deployment, scope: Scope, path: str) -> None:
    record, other = queued(deployment), client(deployment, scope)
    key_id = other.call("GET", "/api/v1/api_key").json["data"]["key_id"]

    answers = [other.call("POST", f"{path}/queued_requests/{record['id']}/approve", {"revision": 1}) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].json == answers[1].json
    approval = answers[0].json["data"]["approval"]
    assert (approval["decision"], approval["decided_by"], approval["revision"]) == ("approved", key_id, 1)
    entries = [
        entry
        for entry in other.call("GET", f"{CONNECTION}/audit_log").json["data"]
        if entry["action"] == "request_approved"
    ]
    assert [(entry["actor"]["id"], entry["request_id"]) for entry in entries] == [(key_id, record["id"])]


def test_a_rejection_has_a_reason(deployment: Deployment) -> None:
    record, other = queued(deployment), client(deployment, Scope.APPROVE)

    answer = decide(other, record, "reject", reason="This invoice exists already.")

    assert answer.status == 200
    assert answer.json["data"]["state"] == "discarded"
    assert answer.json["data"]["approval"]["reason"] == "This invoice exists already."
    again = deployment.api.call("POST", f"/api/v1/queued_requests/{record['id']}/queue_again")
    assert (again.status, again.json["error"]["code"]) == (400, "invalid_state")


@pytest.mark.parametrize("reason", ["", "x" * 501, "two\nlines"])
def test_a_reason_is_one_line(deployment: Deployment, reason: str) -> None:
    answer = decide(client(deployment, Scope.APPROVE), queued(deployment), "reject", reason=reason)

    assert (answer.status, answer.json["error"]["details"]["problems"][0]["field"]) == (400, "reason")


@pytest.mark.parametrize("how", ["approve", "reject"])
@pytest.mark.parametrize("scope", list(Scope))
def test_a_rotation_is_the_same_actor(deployment: Deployment, scope: Scope, how: str) -> None:
    first = deployment.administration.create_key(deployment.app_id)
    second = deployment.administration.create_key(deployment.app_id, rotates=first.key.hash)
    third = client(deployment, scope, rotates=second.key.hash)

    for author, decider in [(first, third), (second, third)]:
        record = queued(deployment, ApiClient(author.text))
        answer = decide(decider, record, how)
        assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden")


def test_a_key_of_another_app_cannot_be_rotated(deployment: Deployment) -> None:
    other = deployment.administration.create_app("Another").id
    key = deployment.administration.create_key(other).key.hash

    with pytest.raises(NotFound):
        deployment.administration.create_key(deployment.app_id, rotates=key)


@pytest.mark.parametrize("of_all", [True, False])
def test_a_batch_asks_for_approval_of_all_its_writes_or_of_some(deployment: Deployment, *, of_all: bool) -> None:
    asked = {"approval": "required"}
    body = {"requests": [WRITE, QUERY, WRITE | ({} if of_all else asked)], **(asked if of_all else {})}
    headers = {"Idempotency-Key": "batch-7"}

    answers = [deployment.api.call("POST", f"{deployment.requests_url}/batch", body, headers=headers) for _ in range(2)]

    assert [answer.status for answer in answers] == [201, 200]
    needing = [record["approval"] is not None for record in answers[1].json["data"]]
    assert needing == [of_all, False, True]


class TestAKeyThatProposes:
    """It reads and queues, and nothing else."""

    @pytest.mark.parametrize("path", ["", "/batch"])
    def test_its_writes_need_approval_and_its_queries_do_not(self, deployment: Deployment, path: str) -> None:
        robot = client(deployment, Scope.PROPOSE)
        for body, needs in ((WRITE, True), (QUERY, False)):
            given = {"requests": [body]} if path else body
            data = robot.call("POST", f"{deployment.requests_url}{path}", given).json["data"]
            record = data[0] if path else data
            assert (record["approval"] is not None) is needs

    def test_it_queues_again_and_continues_batches(self, deployment: Deployment) -> None:
        robot = client(deployment, Scope.PROPOSE)
        record = deployment.api.call("POST", deployment.requests_url, WRITE).json["data"]
        deployment.api.call("POST", f"/api/v1/queued_requests/{record['id']}/discard")
        batch = deployment.api.call("POST", f"{deployment.requests_url}/batch", {"requests": [WRITE]}).json["data"][0]
        deployment.api.call("POST", f"/api/v1/queued_requests/{batch['id']}/discard")

        again = robot.call("POST", f"/api/v1/queued_requests/{record['id']}/queue_again")
        continued = robot.call("POST", f"{CONNECTION}/batches/{batch['batch_id']}/continue", {})

        assert (again.status, continued.status) == (201, 201)
        assert again.json["data"]["approval"]
        assert continued.json["data"][0]["approval"]

    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("POST", "/queued_requests", WRITE | {"webhook_url": "https://shop.example/hook"}),
            ("POST", "/queued_requests", WRITE | {"webhook_url": None}),
            ("POST", "/queued_requests/batch", {"requests": [WRITE, WRITE | {"webhook_url": None}]}),
            ("POST", "/queued_requests?force=true", WRITE),
            ("POST", "/customers?webhook_url=https://shop.example/hook", None),
            ("POST", "/queued_requests/{id}/queue_again?force=true", None),
            ("POST", "/batches/{id}/continue?force=true", {}),
            ("POST", "/batches/{id}/continue", WRITE | {"webhook_url": None}),
            ("POST", "/queued_requests/{id}/discard", None),
            ("POST", "/queued_requests/{id}/redeliver", None),
            ("POST", "/queued_requests/{id}/approve", {"revision": 1}),
            ("POST", "/queued_requests/{id}/reject", {"reason": "No."}),
            ("DELETE", "/queued_requests/{id}?force=true", None),
            ("POST", "/queued_requests/queue_again", {"filter": {"state": "error"}}),
            ("POST", "/queued_requests/discard", {"filter": {"state": "waiting"}}),
            ("PATCH", "", {"name": "Mine"}),
            ("POST", "/pause", None),
        ],
    )
    def test_it_may_do_nothing_else(
        self, deployment: Deployment, method: str, path: str, body: dict[str, Any] | None
    ) -> None:
        url = CONNECTION + path.format(id=queued(deployment)["id"])
        before = dict(deployment.store.records)

        answer = client(deployment, Scope.PROPOSE).call(method, url, body)

        assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden")
        assert deployment.store.records == before

    def test_it_sees_only_the_origin_of_webhook_urls(self, deployment: Deployment) -> None:
        record = queued(deployment, webhook_url="https://shop.example/hook?token=secret")

        answer = client(deployment, Scope.PROPOSE).call("GET", f"/api/v1/queued_requests/{record['id']}")

        assert answer.json["data"]["webhook_url"] == "https://shop.example/…"


@pytest.mark.parametrize("path", ["/queued_requests", "/customers", "/queued_requests/{id}/discard", "/pause"])
def test_a_key_that_approves_does_nothing_else(deployment: Deployment, path: str) -> None:
    url = CONNECTION + path.format(id=queued(deployment)["id"])

    answer = client(deployment, Scope.APPROVE).call("POST", url, WRITE if path == "/queued_requests" else None)

    assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden")


def test_a_repeated_create_returns_the_request_that_waits(deployment: Deployment) -> None:
    headers = {"Idempotency-Key": "invoice-1007"}
    body = WRITE | {"approval": "required"}
    first = deployment.api.call("POST", deployment.requests_url, body, headers=headers)
    deployment.clock.advance(days=5)

    second = deployment.api.call("POST", deployment.requests_url, body, headers=headers)

    assert (first.status, second.status) == (201, 200)
    assert second.json["data"]["id"] == first.json["data"]["id"]


class TestSeveral:
    """Up to 100 requests, or a batch as a whole."""

    def test_requests_are_approved_and_what_is_refused_is_named(self, deployment: Deployment) -> None:
        first, second = queued(deployment), queued(deployment)
        body = {"requests": [{"id": first["id"], "revision": 1}, {"id": second["id"], "revision": 2}]}

        answer = client(deployment, Scope.APPROVE).call("POST", f"{CONNECTION}/queued_requests/approve", body)

        assert answer.status == 200
        data = answer.json["data"]
        assert (data["decided"], data["refused"]) == (1, 1)
        assert data["requests"][0] == {"id": first["id"], "error": None}
        error = data["requests"][1]["error"]
        assert (error["code"], error["details"]) == ("invalid_state", {"revision": 1})
        assert deployment.stored_record(first["id"]).is_in_queue
        assert deployment.stored_record(second["id"]).awaits_approval

    @pytest.mark.parametrize("path", ["queued_requests", "batches/{batch}"])
    @pytest.mark.parametrize("scope", [Scope.FULL, Scope.APPROVE])
    def test_requests_are_rejected_with_a_reason(self, deployment: Deployment, scope: Scope, path: str) -> None:
        body = {"requests": [WRITE, QUERY, WRITE], "approval": "required"}
        batch = deployment.api.call("POST", f"{deployment.requests_url}/batch", body).json["data"]
        ids = [record["id"] for record in batch if record["approval"]]
        named = {"ids": ids} if "{" not in path else {}
        url = f"{CONNECTION}/{path.format(batch=ids[0])}/reject"

        answer = client(deployment, scope).call("POST", url, {"reason": "Cancelled."} | named)

        assert answer.json["data"]["decided"] == 2
        for request_id in ids:
            approval = deployment.stored_record(request_id).approval
            assert approval
            assert approval.reason == "Cancelled."

    def test_a_batch_is_approved_as_a_whole_or_not_at_all(self, deployment: Deployment) -> None:
        body = {"requests": [WRITE, WRITE], "approval": "required"}
        batch = deployment.api.call("POST", f"{deployment.requests_url}/batch", body).json["data"]
        first, second = ({"id": record["id"], "revision": 1} for record in batch)
        url, approver = f"{CONNECTION}/batches/{first['id']}/approve", client(deployment, Scope.APPROVE)

        half = approver.call("POST", url, {"requests": [first]})
        own = deployment.api.call("POST", url, {"requests": [first, second]})
        whole = approver.call("POST", url, {"requests": [first, second]})

        assert (half.status, half.json["error"]["details"]) == (400, {"requests": [second["id"]]})
        assert own.status == 403
        assert whole.json["data"]["decided"] == 2

    @pytest.mark.parametrize(
        ("path", "body", "field"),
        [
            ("queued_requests/approve", {"requests": []}, "requests"),
            ("queued_requests/approve", {"requests": [{"id": CONNECTION_ID, "revision": 1}] * 2}, "requests"),
            ("queued_requests/approve", {"requests": [{"id": "7", "revision": 1}]}, "id"),
            ("queued_requests/reject", {"reason": "No."}, "ids"),
            ("queued_requests/reject", {"ids": [CONNECTION_ID] * 101, "reason": "No."}, "ids"),
            (f"batches/{CONNECTION_ID}/reject", {"ids": [CONNECTION_ID], "reason": "No."}, "ids"),
        ],
    )
    def test_a_wrong_body_is_refused(self, deployment: Deployment, path: str, body: dict[str, Any], field: str) -> None:
        answer = deployment.api.call("POST", f"{CONNECTION}/{path}", body)

        assert (answer.status, answer.json["error"]["details"]["problems"][0]["field"]) == (400, field)

    @pytest.mark.parametrize("verb", ["approve", "reject"])
    @pytest.mark.parametrize("scope", [Scope.READ_ONLY, Scope.PROPOSE])
    def test_a_key_that_does_not_decide_is_refused(self, deployment: Deployment, scope: Scope, verb: str) -> None:
        record = queued(deployment)
        bodies = {
            "approve": {"requests": [{"id": record["id"], "revision": 1}]},
            "reject": {"ids": [record["id"]], "reason": "No."},
        }

        answer = client(deployment, scope).call("POST", f"{CONNECTION}/queued_requests/{verb}", bodies[verb])

        assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden")


def test_lists_count_and_find_what_waits_for_approval(deployment: Deployment) -> None:
    """With a webhook and without one, whatever else waits, until somebody has decided."""
    other = client(deployment, Scope.APPROVE)
    waiting = [queued(deployment), queued(deployment, webhook_url="https://shop.example/hook"), queued(deployment)]
    deployment.queue()
    numbers = []
    for record, how in [(None, ""), (waiting[0], "approve"), (waiting[1], "reject")]:
        if record:
            assert decide(other, record, how).status == 200
        found = deployment.api.call("GET", f"{deployment.requests_url}?awaiting_approval=true").json
        (connection,) = deployment.api.call("GET", "/api/v1/connections?counts=true").json["data"]
        assert found["awaiting_approval"] == connection["awaiting_approval"] == found["total"] == len(found["data"])
        assert {one["waiting_reason"]["code"] for one in found["data"]} == {"approval"}
        rest = deployment.api.call("GET", f"{deployment.requests_url}?awaiting_approval=false").json
        numbers.append((found["total"], rest["total"], found["counts"]["waiting"]))

    assert numbers == [(3, 1, 4), (2, 2, 4), (1, 3, 3)]
    states = deployment.api.call("GET", f"{deployment.requests_url}?awaiting_approval=true&webhook_state=pending").json
    assert states["total"] == 0


class TestAConnection:
    """Approval for all writes of a connection, by whatever route."""

    def test_each_route_waits_for_approval_and_queries_do_not(self, deployment: Deployment) -> None:
        single = deployment.api.call("POST", deployment.requests_url, WRITE).json["data"]
        several = {"requests": [WRITE, WRITE]}
        batch = deployment.api.call("POST", f"{deployment.requests_url}/batch", several).json["data"]
        for record in (single, *batch):
            deployment.api.call("POST", f"/api/v1/queued_requests/{record['id']}/discard")
        deployment.api.call("PATCH", CONNECTION, {"approval": "required"})

        answers = {
            "create": deployment.api.call("POST", deployment.requests_url, WRITE),
            "batch": deployment.api.call("POST", f"{deployment.requests_url}/batch", {"requests": [WRITE, QUERY]}),
            "again": deployment.api.call("POST", f"/api/v1/queued_requests/{single['id']}/queue_again"),
            "continue": deployment.api.call(
                "POST", f"{CONNECTION}/batches/{batch[0]['id']}/continue", {"request_id": batch[0]["id"]}
            ),
            "query": deployment.api.call("POST", deployment.requests_url, QUERY),
            "many": deployment.api.call(
                "POST", f"{deployment.requests_url}/queue_again", {"filter": {"ids": [batch[1]["id"]]}}
            ),
        }

        assert {route: answer.status for route, answer in answers.items()} == dict.fromkeys(answers, 201)
        assert answers["many"].json["data"]["queued"] == 1
        records = deployment.api.call("GET", f"{deployment.requests_url}?state=waiting&page_size=100").json["data"]
        assert len(records) == 7
        for record in records:
            assert (record["approval"] is not None) is (record["request_name"] == "CustomerAddRq")

    def test_the_setting_is_for_what_is_queued_afterwards(self, deployment: Deployment) -> None:
        """In this process, which knows the connection from before, and also at the moment of the change."""
        before = deployment.api.call("POST", deployment.requests_url, WRITE).json["data"]
        deployment.api.call("PATCH", CONNECTION, {"approval": "required"})
        during = deployment.api.call("POST", deployment.requests_url, WRITE).json["data"]
        changed = deployment.api.call("PATCH", CONNECTION, {"approval": None}).json["data"]
        after = deployment.api.call("POST", deployment.requests_url, WRITE).json["data"]

        assert changed["approval"] is None
        waits = [deployment.stored_record(record["id"]).awaits_approval for record in (before, during, after)]
        assert waits == [False, True, False]

    def test_its_author_cannot_approve(self, deployment: Deployment) -> None:
        deployment.api.call("PATCH", CONNECTION, {"approval": "required"})
        record = deployment.api.call("POST", deployment.requests_url, WRITE).json["data"]

        answers = [decide(api, record, "approve").status for api in (deployment.api, client(deployment, Scope.FULL))]

        assert answers == [403, 200]

    @pytest.mark.parametrize("scope", [Scope.READ_ONLY, Scope.PROPOSE, Scope.APPROVE])
    def test_a_key_without_full_scope_cannot_change_it(self, deployment: Deployment, scope: Scope) -> None:
        deployment.api.call("PATCH", CONNECTION, {"approval": "required"})

        answer = client(deployment, scope).call("PATCH", CONNECTION, {"approval": None})

        assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden")
        assert deployment.api.call("GET", CONNECTION).json["data"]["approval"] == "required"

    def test_the_audit_log_names_the_setting(self, deployment: Deployment) -> None:
        deployment.api.call("PATCH", CONNECTION, {"approval": "required"})

        entry = deployment.api.call("GET", f"{CONNECTION}/audit_log").json["data"][0]

        assert (entry["action"], entry["settings"]) == ("connection_changed", ["approval"])


def test_a_batch_and_a_search_say_which_requests_wait_for_approval(deployment: Deployment) -> None:
    body = {"requests": [WRITE | {"approval": "required", "label": "night 7"}, QUERY | {"label": "night 7"}]}
    write, query = deployment.api.call("POST", f"{deployment.requests_url}/batch", body).json["data"]

    def awaiting() -> tuple[list[bool], dict[str, bool]]:
        shown = deployment.api.call("GET", f"/api/v1/queued_requests/{query['id']}?include[]=batch").json["data"]
        hits = deployment.api.call("GET", "/api/v1/search?value=night 7").json["data"]["hits"]
        return [one["awaits_approval"] for one in shown["batch"]], {one["id"]: one["awaits_approval"] for one in hits}

    assert awaiting() == ([True, False], {write["id"]: True, query["id"]: False})
    assert decide(client(deployment, Scope.APPROVE), write, "approve").status == 200
    assert awaiting() == ([False, False], {write["id"]: False, query["id"]: False})
