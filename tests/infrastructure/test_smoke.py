"""`make smoke` reports every failure, what it could not check, and cleans up in every case."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from local import smoke
from local.smoke import NotCheckedError, Smoke, SmokeError

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = {"level": "INFO", "timestamp": "2026-11-22T12:00:00.000+00:00", "message": "web_connector.called"}
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
    assert outcome(smoke.alarms, describe_alarms={"MetricAlarms": alarms}) is passes


@pytest.mark.parametrize(
    ("line", "passes"),
    [
        (json.dumps(LINE), True),
        (json.dumps(LINE | {"timestamp": "2026-11-22 12:00:00,000+0000"}), False),
        (json.dumps(LINE | {"timestamp": None}), False),
        ("web_connector.called START RequestId", False),
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


def outcome(check: Callable[[Smoke], str], **responses: Any) -> bool:
    """Return whether a check passes with these responses of AWS."""
    try:
        return bool(check(checked(**responses)))
    except SmokeError:
        return False
