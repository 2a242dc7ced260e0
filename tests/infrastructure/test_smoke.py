"""`make smoke` reports every failure, what it could not check, and cleans up in every case."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from local import smoke
from local.smoke import NotCheckedError, Smoke, SmokeError

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = {"level": "INFO", "timestamp": "2026-11-22T12:00:00.000+00:00", "message": "web_connector.called"}
OLD_STACK = {"Stacks": [{"CreationTime": datetime(2026, 1, 1, tzinfo=UTC)}]}
PARAMETERS = [{"ParameterKey": "ProtectTables", "ParameterValue": "true"}]


class Aws:
    """Answers every call of every service with prepared responses, and pages with one page."""

    def __init__(self, **responses: Any) -> None:
        self._responses = responses

    def __call__(self, service: str) -> Aws:
        del service
        return self

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name == "get_paginator":
            return lambda operation: Aws(paginate=[self._responses[operation]])
        return lambda **_: self._responses[name]


class Checked(Smoke):
    """A stack that needs no preparation and counts its removals."""

    removals = 0

    def prepare(self) -> None:
        """Do nothing."""

    def remove(self) -> None:
        """Count."""
        self.removals += 1


def checked(**responses: Any) -> Checked:
    return Checked(
        clients=Aws(**responses),
        stack="queue",
        base_url="https://queue.example.com",
        operate_function="operate",
        log_group="logs",
        is_emulator=False,
        started=time.time(),
    )


def fails(_: Smoke) -> str:
    raise SmokeError("it is broken")


def crashes(_: Smoke) -> str:
    raise KeyError("data")


def cannot(_: Smoke) -> str:
    raise NotCheckedError("there is no moon")


def works(_: Smoke) -> str:
    return "fine"


def test_a_failed_check_does_not_hide_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    stack = checked()

    status = smoke.run(stack, {"first": fails, "second": crashes, "third": cannot, "fourth": works})

    lines = capsys.readouterr().out.splitlines()
    marks = [line.split()[:2] for line in lines if " · " in line]
    assert marks == [["FAIL", "first"], ["FAIL", "second"], ["--", "third"], ["ok", "fourth"]]
    assert "  third: there is no moon" in lines
    assert lines[-1] == "2 of 4 checks failed."
    assert (status, stack.removals) == (1, 1)


def test_without_a_failure_the_status_is_zero() -> None:
    assert smoke.run(checked(), {"first": works, "second": cannot}) == 0


def test_the_stack_is_cleaned_up_if_the_preparation_fails() -> None:
    class Unprepared(Checked):
        def prepare(self) -> None:
            raise RuntimeError("no")

    stack = Unprepared(Aws(), "queue", "https://queue.example.com", "operate", "logs", is_emulator=False)

    with pytest.raises(RuntimeError):
        smoke.run(stack, {})

    assert stack.removals == 1


@pytest.mark.parametrize(
    ("alarms", "passes"),
    [
        (
            [{"AlarmName": "queue-A", "StateValue": "OK"}, {"AlarmName": "queue-B", "StateValue": "INSUFFICIENT_DATA"}],
            True,
        ),
        ([{"AlarmName": "queue-A", "StateValue": "ALARM"}], False),
        ([], False),
    ],
)
def test_no_alarm_may_fire(alarms: list[dict[str, str]], *, passes: bool) -> None:
    assert outcome(smoke.alarms, describe_alarms={"MetricAlarms": alarms}, describe_stacks=OLD_STACK) is passes


@pytest.mark.parametrize(("hours", "passes"), [(1, True), (4, False)])
def test_the_alarms_on_jobs_that_did_not_run_may_fire_in_a_new_stack(hours: int, *, passes: bool) -> None:
    stack = {"Stacks": [{"CreationTime": datetime.now(UTC) - timedelta(hours=hours)}]}
    late = [{"AlarmName": "queue-PackMissingAlarm-X1", "StateValue": "ALARM"}]
    other = [*late, {"AlarmName": "queue-ApiErrorsAlarm-X2", "StateValue": "ALARM"}]

    assert outcome(smoke.alarms, describe_alarms={"MetricAlarms": late}, describe_stacks=stack) is passes
    assert not outcome(smoke.alarms, describe_alarms={"MetricAlarms": other}, describe_stacks=stack)


class Service(Smoke):
    """A stack whose operator function and API are in memory. `refusals` is how often it refuses to delete the app."""

    refusals = 0
    calls: list[tuple[str, ...]]

    def operate(self, operation: str, **arguments: str) -> dict[str, Any]:
        """Note the call."""
        self.calls.append((operation, *arguments.values()))
        if operation == "delete_app" and self.refusals > 0:
            self.refusals -= 1
            return {"error": {"message": "has 1 connection(s). Delete them first."}}
        return {}

    @property
    def api(self) -> Any:
        """Return two connections, one of an earlier run."""
        return SimpleNamespace(
            call=lambda *_: {"data": [{"id": "c1"}, {"id": "c2"}]}, request=lambda *call: self.calls.append(call)
        )


def a_service(refusals: int) -> Service:
    service = Service(Aws(), "queue", "https://queue.example.com", "operate", "logs", is_emulator=False)
    service.calls, service.refusals = [], refusals
    service.sleep = lambda _seconds: None
    service.app_id, service.api_key, service.key_hash = "app", "sk_a", "ab"
    return service


@pytest.mark.parametrize("refusals", [0, 1])
def test_the_app_is_deleted_with_the_connections_of_every_run(refusals: int) -> None:
    """The index of connections may show a deleted one for a moment."""
    service = a_service(refusals)

    service.remove()

    assert service.calls == [
        ("DELETE", "/api/v1/connections/c1"),
        ("DELETE", "/api/v1/connections/c2"),
        *[("delete_app", "app")] * (refusals + 1),
    ]


def test_the_key_is_revoked_if_the_app_cannot_be_deleted() -> None:
    service = a_service(refusals=1_000)

    with pytest.raises(SmokeError, match="was not deleted: has 1 connection"):
        service.remove()

    assert service.calls[-1] == ("revoke_key", "ab")


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        (json.dumps(LINE), True),
        (json.dumps(LINE | {"timestamp": "2026-11-22 12:00:00,000+0000"}), False),
        (json.dumps(LINE | {"timestamp": None}), False),
        ("web_connector.called START RequestId", False),
        (json.dumps(LINE | {"message": "database.statement_refused", "of": "web_connector.called"}), False),
    ],
)
def test_log_lines_are_json_with_timestamps_that_lambda_reads(line: str, *, passes: bool) -> None:
    platform = json.dumps({"type": "platform.report", "time": "now"})
    events = {"events": [{"message": platform}, {"message": line}]}

    assert outcome(smoke.log_lines, filter_log_events=events) is passes


@pytest.mark.parametrize(
    ("stack_is_protected", "table_is_protected", "recovery", "passes"),
    [
        (True, True, "ENABLED", True),
        (False, True, "ENABLED", False),
        (True, False, "ENABLED", False),
        (True, True, "DISABLED", False),
    ],
)
def test_stack_and_tables_are_protected_and_can_be_restored(
    recovery: str, *, stack_is_protected: bool, table_is_protected: bool, passes: bool
) -> None:
    resources = [{"LogicalResourceId": name, "PhysicalResourceId": name} for name in smoke.DATA_TABLES]
    description = {"Parameters": PARAMETERS, "EnableTerminationProtection": stack_is_protected}
    backups = {"PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": recovery}}

    result = outcome(
        smoke.protection,
        describe_stacks={"Stacks": [description]},
        list_stack_resources={"StackResourceSummaries": resources},
        describe_table={"Table": {"DeletionProtectionEnabled": table_is_protected}},
        describe_continuous_backups={"ContinuousBackupsDescription": backups},
    )

    assert result is passes


@pytest.mark.parametrize(("setting", "passes"), [("Allow", True), ("Terminate", False)])
def test_lambda_must_not_end_the_chain_of_a_planned_webhook(setting: str, *, passes: bool) -> None:
    resources = [{"LogicalResourceId": "RetryWebhookFunction", "PhysicalResourceId": "queue-RetryWebhookFunction-1"}]

    result = outcome(
        smoke.long_waits,
        list_stack_resources={"StackResourceSummaries": resources},
        get_function_recursion_config={"RecursiveLoop": setting},
    )

    assert result is passes


def outcome(check: Callable[[Smoke], str], **responses: Any) -> bool:
    """Return whether a check passes with these responses of AWS."""
    try:
        return bool(check(checked(**responses)))
    except SmokeError:
        return False
