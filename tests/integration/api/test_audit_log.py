"""The audit log: every function that changes something leaves exactly one entry, together with its change."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.audit_log import AUDIT_ENTRIES
from domain.records.app import ApiKey, App, Scope, api_key_hash
from domain.records.audit import OPERATOR, Action, Actor, ActorType, AuditEntry, Subject, audit_entry, public_id
from domain.records.connection import link_id
from domain.storage.changes import Put
from domain.timestamps import timestamp
from handlers.list_audit_log import MAX_LOOKED_AT
from handlers.operate import COMMANDS
from local.emulated_dynamodb import emulated_dynamodb
from local.sam_local import samples
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.integration.api.test_events import FUNCTIONS, KEY, LINK, REQUEST_ID
from tests.integration.api.test_permission_matrix import committed_event
from tests.integration.api.test_permissions import LongRun, Recorder, deployed_as, fill, grants
from tests.support.api_client import load
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, OTHER_APP_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integration.api.conftest import Deployment

AUDITED = {
    "accept_company_file": Action.COMPANY_FILE_ACCEPTED,
    "continue_batch": Action.REQUEST_QUEUED_AGAIN,
    "create_connection": Action.CONNECTION_CREATED,
    "create_onboarding_url": Action.ONBOARDING_LINK_CREATED,
    "delete_connection": Action.CONNECTION_DELETED,
    "delete_queued_request": Action.REQUEST_DELETED,
    "approve_queued_request": Action.REQUEST_APPROVED,
    "reject_queued_request": Action.REQUEST_REJECTED,
    "approve_queued_requests": Action.REQUEST_APPROVED,
    "reject_queued_requests": Action.REQUEST_REJECTED,
    "discard_queued_request": Action.REQUEST_DISCARDED,
    "discard_queued_requests": Action.REQUESTS_DISCARDED,
    "onboard_customer": Action.PASSWORD_SET,
    "create_api_key": Action.API_KEY_CREATED,
    "rename_api_key": Action.API_KEY_RENAMED,
    "revoke_api_key": Action.API_KEY_REVOKED,
    "rotate_api_key": Action.API_KEY_CREATED,
    "invite_person": Action.MEMBER_INVITED,
    "withdraw_invitation": Action.INVITATION_WITHDRAWN,
    "change_member": Action.MEMBER_CHANGED,
    "remove_member": Action.MEMBER_REMOVED,
    "sign_in": Action.MEMBER_JOINED,
    "pause_connection": Action.CONNECTION_PAUSED,
    "queue_request_again": Action.REQUEST_QUEUED_AGAIN,
    "queue_requests_again": Action.REQUESTS_QUEUED_AGAIN,
    "redeliver_queued_request": Action.WEBHOOK_REDELIVERED,
    "redeliver_webhooks": Action.WEBHOOKS_REDELIVERED,
    "reset_company_file": Action.COMPANY_FILE_RESET,
    "resume_connection": Action.CONNECTION_RESUMED,
    "set_connection_password": Action.PASSWORD_SET,
    "update_connection": Action.CONNECTION_CHANGED,
    "update_contact": Action.CONTACT_CHANGED,
    "create_subscription": Action.SUBSCRIPTION_CREATED,
    "delete_subscription": Action.SUBSCRIPTION_DELETED,
    "update_subscription": Action.SUBSCRIPTION_CHANGED,
    "run_subscription": Action.SUBSCRIPTION_RUN,
    "pause_subscription": Action.SUBSCRIPTION_PAUSED,
    "resume_subscription": Action.SUBSCRIPTION_RESUMED,
    "resync_subscription": Action.SUBSCRIPTION_RESYNCED,
}
ON_MANY = {"discard_queued_requests", "queue_requests_again", "redeliver_webhooks"}
"""They store their entry before the first change, and complete it after the last one."""

UNAUDITED = {
    **dict.fromkeys(
        ["create_queued_request", "create_batch"] + [name for name in FUNCTIONS.values() if name.startswith("query_")],
        "the requests themselves are listed, with their time. One that replaces another has an entry",
    ),
    "web_connector": "sessions are shown by the requests that they send",
    **dict.fromkeys(["deliver_webhook", "retry_webhook"], "each attempt is in the record of its request"),
    **dict.fromkeys(["log_and_forget", "pack_search_texts", "sweep"], "the service itself does it"),
    "session_token": "it notes that a browser is used, and ends sign-ins",
    "settle_queued_request": "it queues queries, which change nothing. The request names them",
    "operate": "see the commands",
}
"""Functions that write, and why they leave no entry."""

HASH = api_key_hash(KEY)
COMMANDS_OF_ACTIONS: dict[str, tuple[dict[str, str], Action]] = {
    "create_app": ({"name": "Shop"}, Action.APP_CREATED),
    "delete_app": ({"app_id": OTHER_APP_ID}, Action.APP_DELETED),
    "set_limits": ({"app_id": APP_ID, "waiting": "10", "reads_per_second": "7"}, Action.LIMITS_CHANGED),
    "set_contact": ({"app_id": APP_ID, "phone": "+1 555 010 0199", "name": "Bluewater"}, Action.CONTACT_CHANGED),
    "set_environment": ({"app_id": APP_ID, "environment": "test"}, Action.ENVIRONMENT_CHANGED),
    "invite": ({"email": "kim@example.com", "role": "admin", "app": "Shop"}, Action.MEMBER_INVITED),
    "remove_person": ({"person_id": samples.MEMBER_ID, "app": APP_ID}, Action.MEMBER_REMOVED),
    "forget_person": ({"person_id": samples.ADMIN_ID}, Action.MEMBER_REMOVED),
    "create_key": ({"app_id": APP_ID}, Action.API_KEY_CREATED),
    "rename_key": ({"key_hash": HASH, "name": "Nightly sync"}, Action.API_KEY_RENAMED),
    "revoke_key": ({"key_hash": HASH}, Action.API_KEY_REVOKED),
    "rotate_webhook_secret": ({"app_id": APP_ID}, Action.WEBHOOK_SECRET_ROTATED),
    "retire_old_webhook_secrets": ({"app_id": OTHER_APP_ID}, Action.OLD_WEBHOOK_SECRETS_RETIRED),
}
UNAUDITED_COMMANDS: dict[str, dict[str, str]] = {
    "list_apps": {},
    "show_app": {"app_id": APP_ID},
    "list_connections": {"app_id": APP_ID},
    "list_keys": {"app_id": APP_ID},
    "list_people": {"app": APP_ID},
    "audit_log": {"app_id": APP_ID},
    # Repairs, which change nothing that somebody has set. They are logged as `operator.command`.
    "recount_connection": {"connection_id": CONNECTION_ID, "mend": "yes"},
    "overdue_webhooks": {"send": "yes"},
}

WRITES = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")
WRITING = sorted(
    function
    for function in FUNCTIONS.values()
    if any(action.endswith(WRITES) and not resource.startswith("UsagesTable") for action, resource in grants(function))
)
"""The functions whose role in the template allows to write, but for counters of quotas."""

BY_KEY = Actor(ActorType.API_KEY, public_id("key", HASH))
BY_PERSON = Actor(ActorType.PERSON, samples.ADMIN_ID)
OF_PEOPLE = ("invite_person", "withdraw_invitation", "change_member", "remove_member")
OF_KEYS = ("create_api_key", "rename_api_key", "revoke_api_key", "rotate_api_key")
BY_LINK = Actor(ActorType.ONBOARDING_LINK, link_id(LINK.token_hash))


def event_of(function: str) -> dict[str, Any]:
    """Return the event of a function, as the authorizer lets it through for a key."""
    event = committed_event(function)
    if function == "onboard_customer":
        return event | {"httpMethod": "POST", "resource": "/onboarding/password", "path": "/onboarding/password"}
    if (event.get("requestContext", {}).get("authorizer") or {}).get("scope"):
        event["requestContext"]["authorizer"]["key_id"] = BY_KEY.id
    return event


@pytest.fixture
def make_recorder() -> Iterator[Callable[[], Recorder]]:
    """Yield a function that returns a database with the records of the events, for one function."""
    with emulated_dynamodb():
        number = 0

        def make(function: str) -> Recorder:
            nonlocal number
            number += 1
            client = dynamodb_client()
            recorder = Recorder(dynamodb_client(), DynamoDBStore(client, make_tables(client, "")))
            fill(recorder.store, function)
            if function == "operate":
                other = App(OTHER_APP_ID, "Old shop", timestamp(NOON), ("new", "old"))
                recorder.store.commit(Put(None, other))
                recorder.store.commit(Put(None, ApiKey("ab" * 32, OTHER_APP_ID, Scope.FULL, "sk_a", timestamp(NOON))))
            return recorder

        yield make  # type: ignore[misc]


def invoke(recorder: Recorder, function: str, event: dict[str, Any]) -> Any:
    with deployed_as(recorder, function):
        return load(f"handlers.{function}.handler")(event, LongRun())


def tables_of(recorder: Recorder) -> dict[str, list[str]]:
    """Return everything that is stored, but for counters of quotas."""
    client = recorder.store.client
    return {
        table: sorted(json.dumps(item, sort_keys=True, default=str) for item in client.scan(TableName=table)["Items"])
        for table in client.list_tables()["TableNames"]
        if table != "UsagesTable"
    }


def entries_of(recorder: Recorder) -> list[AuditEntry]:
    return [AUDIT_ENTRIES.entity(item) for item in recorder.store.client.scan(TableName="AuditLogTable")["Items"]]


def test_every_function_that_may_write_is_audited_or_is_deliberately_not() -> None:
    assert sorted(AUDITED.keys() | UNAUDITED) == WRITING, "add the function to AUDITED, or to UNAUDITED with the reason"
    assert not AUDITED.keys() & UNAUDITED
    assert sorted(COMMANDS_OF_ACTIONS.keys() | UNAUDITED_COMMANDS) == sorted(COMMANDS), "likewise the command"


def test_a_request_that_replaces_another_one_leaves_one_entry_however_often_it_is_queued(
    make_recorder: Callable[[str], Recorder],
) -> None:
    recorder = make_recorder("queue_request_again")
    event = event_of("create_queued_request")
    replacing = event | {"body": json.dumps(json.loads(event["body"]) | {"replaces": REQUEST_ID})}

    first, again = (invoke(recorder, "create_queued_request", replacing) for _ in range(2))

    [entry] = entries_of(recorder)
    assert (first["statusCode"], again["statusCode"]) == (201, 200)
    assert (entry.action, entry.actor, entry.request_id) == (Action.REQUEST_QUEUED_AGAIN, BY_KEY, REQUEST_ID)
    assert (entry.app_id, entry.connection_id) == (APP_ID, CONNECTION_ID)


def test_every_action_is_one_of_a_function_or_of_a_command() -> None:
    assert {*AUDITED.values(), *(action for _, action in COMMANDS_OF_ACTIONS.values())} == set(Action)


@pytest.mark.parametrize("function", WRITING)
def test_a_call_leaves_exactly_one_entry_or_none_if_it_is_not_audited(
    make_recorder: Callable[[str], Recorder], function: str
) -> None:
    recorder = make_recorder(function)
    before = entries_of(recorder)

    result = invoke(recorder, function, event_of(function))

    assert not result or result.get("statusCode", 200) < 400
    entries = [entry for entry in entries_of(recorder) if entry not in before]
    if function == "operate":  # the event creates an app
        assert [entry.action for entry in entries] == [Action.APP_CREATED]
        return
    assert [entry.action for entry in entries] == [AUDITED[function] for _ in range(function in AUDITED)]
    for entry in entries:
        if function != "sign_in":  # by the person, who is new
            actors = {"onboard_customer": BY_LINK, **dict.fromkeys((*OF_PEOPLE, *OF_KEYS), BY_PERSON)}
            assert entry.actor == actors.get(function, BY_KEY)
        assert entry.app_id == APP_ID
        assert bool(entry.connection_id) == (function not in {"update_contact", "sign_in", *OF_PEOPLE, *OF_KEYS})
        if function != "create_connection" and entry.connection_id:
            assert entry.connection_id == CONNECTION_ID
        assert entry.completed_at
        assert bool(entry.counts) == (function in ON_MANY)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_command_leaves_exactly_one_entry_or_none_if_it_is_not_audited(
    make_recorder: Callable[[str], Recorder], command: str
) -> None:
    recorder = make_recorder("operate")
    arguments, action = COMMANDS_OF_ACTIONS.get(command) or (UNAUDITED_COMMANDS[command], None)

    result = invoke(recorder, "operate", {"operation": command, **arguments})

    assert "error" not in result
    entries = entries_of(recorder)
    assert [entry.action for entry in entries] == [action] * bool(action)
    for entry in entries:
        assert entry.actor == OPERATOR
        settings = {"set_limits": ("reads_per_second", "waiting"), "set_contact": ("name", "phone")}
        assert entry.settings == settings.get(command, ())
        if command in {"create_key", "rename_key", "revoke_key"}:
            assert entry.credential_id == result["key_id"]
        if "app_id" in arguments:
            assert entry.app_id == arguments["app_id"]


@pytest.mark.parametrize("function", sorted(AUDITED.keys() - {"sign_in"}))  # each sign-in is stored
def test_a_repeated_call_that_changes_nothing_leaves_no_entry(
    make_recorder: Callable[[str], Recorder], function: str
) -> None:
    recorder = make_recorder(function)
    invoke(recorder, function, event_of(function))
    before = tables_of(recorder)

    invoke(recorder, function, event_of(function))

    after = tables_of(recorder)
    assert (after == before) == (len(entries_of(recorder)) == 1)


class Cut(BaseException):
    """The end of a process."""


class CutsOff:
    """Ends the process at one write to the database: before it is done, or after."""

    def __init__(self, client: Any, at: int, *, done: bool) -> None:
        self._left = at
        self.happened = False
        self._done = done
        events = client.meta.events
        for operation in (*WRITES, "TransactWriteItems", "BatchExecuteStatement"):
            events.register(f"{'after' if done else 'before'}-call.dynamodb.{operation}", self._cut)

    def _cut(self, params: Any = None, **_: Any) -> None:
        del params
        self._left -= 1
        if self._left == -1:
            self.happened = True
            raise Cut


def runs_of(
    make_recorder: Callable[[str], Recorder], function: str, event: dict[str, Any]
) -> Iterator[tuple[Recorder, dict[str, list[str]]]]:
    """Yield the database after a run that was cut off at each write, before and after it, and what it had before."""
    for done in (False, True):
        at = 0
        while True:
            with emulated_dynamodb():
                recorder = make_recorder(function)
                before = tables_of(recorder)
                cut = CutsOff(recorder.client, at, done=done)
                with suppress(Cut):
                    invoke(recorder, function, event)
                if not cut.happened:
                    break
                yield recorder, before
            at += 1


@pytest.mark.parametrize("function", sorted(AUDITED))
def test_a_cut_leaves_the_change_with_its_entry_or_neither(
    make_recorder: Callable[[str], Recorder], function: str
) -> None:
    runs = 0
    for recorder, before in runs_of(make_recorder, function, event_of(function)):
        runs += 1
        after = tables_of(recorder)
        entries, _ = entries_of(recorder), after.pop("AuditLogTable")
        before.pop("AuditLogTable")
        if after != before:
            assert [entry.action for entry in entries] == [AUDITED[function]]
        elif entries:  # the entry of a call on many is stored before the first change
            assert function in ON_MANY
            assert entries[0].completed_at is None
            assert entries[0].counts is None
    assert runs >= 2


@pytest.mark.parametrize("command", sorted(COMMANDS_OF_ACTIONS))
def test_a_cut_of_a_command_leaves_the_change_with_its_entry_or_neither(
    make_recorder: Callable[[str], Recorder], command: str
) -> None:
    arguments, action = COMMANDS_OF_ACTIONS[command]
    for recorder, before in runs_of(make_recorder, "operate", {"operation": command, **arguments}):
        after = tables_of(recorder)
        entries, _ = entries_of(recorder), after.pop("AuditLogTable")
        before.pop("AuditLogTable")
        assert [entry.action for entry in entries] == ([action] if after != before else [])


def test_an_interrupted_deletion_of_an_app_is_finished_by_the_next_one(
    make_recorder: Callable[[str], Recorder],
) -> None:
    recorder = make_recorder("operate")
    event = {"operation": "delete_app", "app_id": OTHER_APP_ID}
    CutsOff(recorder.client, 0, done=True)
    with pytest.raises(Cut):
        invoke(recorder, "operate", event)
    assert recorder.store.app(OTHER_APP_ID) is None
    assert recorder.store.api_keys_of(OTHER_APP_ID)

    assert invoke(recorder, "operate", event)["error"]["code"] == "not_found"

    assert not recorder.store.api_keys_of(OTHER_APP_ID)
    assert [entry.action for entry in entries_of(recorder)] == [Action.APP_DELETED]


@pytest.mark.parametrize("function", sorted(AUDITED))
def test_an_entry_has_no_credential_and_no_content(make_recorder: Callable[[str], Recorder], function: str) -> None:
    recorder = make_recorder(function)
    event = event_of(function)
    result = invoke(recorder, function, event)

    (stored,) = recorder.store.client.scan(TableName="AuditLogTable")["Items"]
    texts = {text for value in stored.values() for text in value.values()}
    allowed = {
        "app_id", "position", "at", "action", "actor_type", "actor_id", "connection_id", "request_id", "credential_id",
        "settings", "person_id", "role", "completed_at", "counts", "expires_at", "revision", "commit_id",
    }  # fmt: skip
    assert stored.keys() <= allowed | ({"name"} if "api_key" in function else set())
    secrets = [KEY, KEY[:11], HASH, LINK.token_hash, "CustomerQueryRq", "https://"]
    if AUDITED[function] is Action.PASSWORD_SET:
        secrets.append(json.loads(result["body"])["data"]["password"])
    if AUDITED[function] is Action.API_KEY_CREATED:
        secrets.append(json.loads(result["body"])["data"]["key"])
    for secret in secrets:
        assert not any(secret in text for text in texts), secret


class TestApi:
    """The endpoint."""

    def test_the_log_of_an_app_has_the_actions_of_all_its_keys_newest_first(self, deployment: Deployment) -> None:
        url = f"/api/v1/connections/{CONNECTION_ID}"
        for step in ("pause", "resume", "password"):
            deployment.clock.advance(seconds=1)
            assert deployment.api.call("POST", f"{url}/{step}").status == 200
        own = deployment.readonly.call("GET", "/api/v1/api_key").json["data"]["key_id"]
        key_id = deployment.api.call("GET", "/api/v1/api_key").json["data"]["key_id"]
        actor = {"type": "api_key", "id": key_id, "name": None}

        everything = deployment.readonly.call("GET", "/api/v1/audit_log").json
        of_connection = deployment.readonly.call("GET", f"{url}/audit_log").json

        assert [entry["action"] for entry in of_connection["data"]] == [
            "password_set", "connection_resumed", "connection_paused",
        ]  # fmt: skip
        assert [entry["actor"] for entry in of_connection["data"]] == [actor] * 3
        assert everything["data"][:3] == of_connection["data"]
        created = [entry["credential_id"] for entry in everything["data"] if entry["action"] == "api_key_created"]
        assert set(created) == {actor["id"], own}
        assert everything["next"] is None

    @pytest.mark.parametrize("limit", [1, 2, 3, 7])
    def test_pages_have_every_entry_once(self, deployment: Deployment, limit: int) -> None:
        for number in range(5):
            deployment.clock.advance(seconds=1)
            body = {"name": f"Company {number}"}
            assert deployment.api.call("PATCH", f"/api/v1/connections/{CONNECTION_ID}", body).status == 200
        url, entries, cursor = f"/api/v1/connections/{CONNECTION_ID}/audit_log", [], ""
        while cursor is not None:
            after = f"&cursor={cursor}" if cursor else ""
            page = deployment.api.call("GET", f"{url}?limit={limit}{after}").json
            entries += page["data"]
            cursor = page["next"]

        assert len(entries) == len({entry["id"] for entry in entries}) == 5
        assert [entry["settings"] for entry in entries] == [["name"]] * 5
        assert entries == sorted(entries, key=lambda entry: str(entry["at"]), reverse=True)

    def test_another_app_sees_neither_the_connection_nor_its_entries(self, deployment: Deployment) -> None:
        deployment.api.call("POST", f"/api/v1/connections/{CONNECTION_ID}/pause")

        assert deployment.stranger.call("GET", f"/api/v1/connections/{CONNECTION_ID}/audit_log").status == 404
        others = deployment.stranger.call("GET", "/api/v1/audit_log").json["data"]
        assert {entry["action"] for entry in others} == {"app_created", "api_key_created"}

    def test_a_log_is_filtered_by_action_and_time_in_pages_of_any_size(self, deployment: Deployment) -> None:
        times = []
        for number in range(6):
            deployment.clock.advance(seconds=1)
            times.append(timestamp(deployment.clock()))
            path = f"/api/v1/connections/{CONNECTION_ID}/{['pause', 'resume', 'password'][number % 3]}"
            assert deployment.api.call("POST", path, {} if path.endswith("password") else None).status == 200

        def read(query: str) -> list[tuple[str, int]]:
            found, cursor = [], ""
            while cursor is not None:
                after = f"&cursor={cursor}" if cursor else ""
                page = deployment.api.call("GET", f"/api/v1/audit_log?limit=1&{query}{after}").json
                found += [(entry["action"], times.index(entry["at"])) for entry in page["data"]]
                assert len(page["data"]) <= 1
                cursor = page["next"]
            return found

        assert read("action=connection_paused") == [("connection_paused", 3), ("connection_paused", 0)]
        assert read(f"from={times[1]}&to={times[4]}") == [
            ("connection_paused", 3), ("password_set", 2), ("connection_resumed", 1),
        ]  # fmt: skip
        assert read(f"action=password_set&to={times[5]}") == [("password_set", 2)]
        assert read(f"action=connection_deleted&from={times[0]}") == []

    def test_a_call_with_an_action_looks_at_a_bounded_number_of_entries(self, deployment: Deployment) -> None:
        path = f"/api/v1/connections/{CONNECTION_ID}/audit_log"
        deployment.clock.advance(seconds=1)
        assert deployment.api.call("POST", f"/api/v1/connections/{CONNECTION_ID}/pause").status == 200
        for number in range(MAX_LOOKED_AT):
            at = timestamp(NOON + timedelta(minutes=1, seconds=number))
            subject = Subject(APP_ID, CONNECTION_ID, number + 10, CONNECTION_ID)
            deployment.store.commit(Put(None, audit_entry(Action.PASSWORD_SET, OPERATOR, subject, at)))

        first = deployment.api.call("GET", f"{path}?action=connection_paused").json
        second = deployment.api.call("GET", f"{path}?action=connection_paused&cursor={first['next']}").json

        assert first["data"] == []
        assert ([entry["action"] for entry in second["data"]], second["next"]) == (["connection_paused"], None)

    def test_a_deleted_connection_stays_in_the_log_of_the_app(self, deployment: Deployment) -> None:
        deployment.clock.advance(seconds=1)
        assert deployment.api.call("DELETE", f"/api/v1/connections/{CONNECTION_ID}").status == 204

        assert deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}/audit_log").status == 404
        newest = deployment.api.call("GET", "/api/v1/audit_log?limit=1").json["data"][0]
        assert (newest["action"], newest["connection_id"]) == ("connection_deleted", CONNECTION_ID)

    @pytest.mark.parametrize(
        "query",
        [
            "cursor=1",
            "cursor=",
            "cursor=" + "9" * 5000,
            "limit=0",
            "limit=101",
            "limit=x",
            "before=1",
            "action=nothing",
            "from=yesterday",
            "to=2026-03-14T12:00:00",
        ],
    )
    def test_a_wrong_parameter_is_refused_by_name(self, deployment: Deployment, query: str) -> None:
        response = deployment.api.call("GET", f"/api/v1/audit_log?{query}")

        assert response.status == 400
        assert query.partition("=")[0] in response.json["error"]["message"]

    def test_a_range_that_ends_before_it_begins_is_refused(self, deployment: Deployment) -> None:
        response = deployment.api.call("GET", "/api/v1/audit_log?from=2026-03-15T00:00:00Z&to=2026-03-14T00:00:00Z")

        assert (response.status, response.problem["field"]) == (400, "to")

    def test_a_dry_run_and_a_call_that_finds_nothing_leave_no_entry(self, deployment: Deployment) -> None:
        deployment.queue()
        body = {"filter": {"request_name": "CustomerQueryRq"}}
        url = f"{deployment.requests_url}/discard"
        deployment.clock.advance(seconds=1)
        for unchanged in (body | {"dry_run": True}, {"filter": {"request_name": "InvoiceQueryRq"}}):
            assert deployment.api.call("POST", url, unchanged).status == 200
        assert not [e for e in deployment.store.audit_log.values() if e.action is Action.REQUESTS_DISCARDED]

        assert deployment.api.call("POST", url, body).json["data"]["discarded"] == 1

        (entry,) = [e for e in deployment.store.audit_log.values() if e.action is Action.REQUESTS_DISCARDED]
        assert entry.counts == {"discarded": 1, "in_flight": 0, "has_dependants": 0}

    def test_a_call_on_many_that_is_refused_on_the_way_leaves_an_entry_that_is_not_completed(
        self, deployment: Deployment
    ) -> None:
        for _ in range(60):
            deployment.queue()
        deployment.clock.advance(seconds=1)
        commit, commits = deployment.store.commit, []

        def failing(*changes: Any) -> None:
            commits.append(changes)
            if len(commits) > 2:
                raise ClientError({"Error": {"Code": "InternalFailure"}}, "TransactWriteItems")
            commit(*changes)

        deployment.store.commit = failing  # type: ignore[method-assign]
        body = {"filter": {"request_name": "CustomerQueryRq"}}
        assert deployment.api.call("POST", f"{deployment.requests_url}/discard", body).status == 500

        (entry,) = [e for e in deployment.store.audit_log.values() if e.action is Action.REQUESTS_DISCARDED]
        assert entry.completed_at is None
        assert entry.counts is None
