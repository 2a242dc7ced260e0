"""Each alarm of the template fires when its fault happens, is silent otherwise, and ends after the fault.

The metrics are those that AWS publishes for the fault, minute by minute or run by run, with gaps where AWS has nothing
to publish.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local.programs import ROOT
from local.template import Template
from tests.support.alarms import ALARM, INSUFFICIENT_DATA, OK, is_published, states
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Points: TypeAlias = list[tuple[int, float]]
"""(second, value): what is published."""

ALARMS: Mapping[str, Mapping[str, Any]] = Template.load(
    parameters={"CallsAlarmAt": 300_000, "WriteUnitsAlarmAt": 1_000_000}
).resources("AWS::CloudWatch::Alarm")
MINUTE, HOUR = 60, 3_600
DAY = 24 * HOUR


def every(seconds: int, value: float, first: int, last: int) -> Points:
    """Return a value that is published regularly."""
    return [(second, value) for second in range(first, last, seconds)]


def once(second: int, value: float) -> Points:
    """Return a value that is published once."""
    return [(second, value)]


@dataclass(frozen=True)
class Case:
    """What is published while all is well and during a fault that lasts from `first` to `last`.

    The alarm has to fire within `within` seconds after the begin of the fault.
    """

    healthy: Callable[[int, int], Points]
    fault: Callable[[int, int], Points]
    within: int
    lasts: int


def nothing(_first: int, _last: int) -> Points:
    """Publish nothing, like a filter whose lines are not written, and a queue that nobody uses."""
    return []


def zeros(_first: int, _last: int, every_seconds: int = MINUTE) -> Points:
    """Publish 0, like a function that runs without errors."""
    return every(every_seconds, 0, _first, _last)


def counted(within: int, lasts: int = 10 * MINUTE, value: float = 1, every_seconds: int = MINUTE) -> Case:
    """Return the case of a metric that is published only during a fault."""
    return Case(nothing, lambda first, last: every(every_seconds, value, first, last), within, lasts)


def errors_of(every_seconds: int, within: int, lasts: int) -> Case:
    """Return the case of a function that runs regularly and fails each time."""
    return Case(
        lambda first, last: zeros(first, last, every_seconds),
        lambda first, last: every(every_seconds, 1, first, last),
        within,
        lasts,
    )


def packer(runs: int) -> Callable[[int, int], Points]:
    """Return the invocations of the packer with this number of schedules: one for each, four minutes apart."""
    return lambda first, last: [
        (second + share * 4 * MINUTE, 1) for second in range(first, last, 15 * MINUTE) for share in range(runs)
    ]


def server_errors(share: float) -> Callable[[int, int], Points]:
    """Return API Gateway's metric for 200 calls a minute, of which a share gets a server error: 0 or 1 a call."""
    failed = round(200 * share)
    return lambda first, last: [
        (second, float(number < failed)) for second in range(first, last, MINUTE) for number in range(200)
    ]


LAST_A_RUN = 5 * MINUTE
CASES: Mapping[str, Case] = {
    "NotProcessedAlarm": counted(10 * MINUTE),
    "FailedLoginsAlarm": Case(
        lambda first, last: every(3 * MINUTE, 1, first, last),  # one machine with a wrong password
        lambda first, last: every(2, 1, first, last),
        10 * MINUTE,
        20 * MINUTE,
    ),
    "WebhookRetryDeadLettersAlarm": counted(10 * MINUTE, HOUR),
    "WebhookStreamDeadLettersAlarm": counted(10 * MINUTE, HOUR),
    "ForgetStreamDeadLettersAlarm": counted(10 * MINUTE, HOUR),
    "WebhooksLateAlarm": Case(
        lambda first, last: every(MINUTE, 800, first, last),
        lambda first, last: every(MINUTE, 700_000, first, last),
        10 * MINUTE,
        HOUR,
    ),
    "EventsLateAlarm": Case(
        lambda first, last: every(MINUTE, 1_500, first, last),
        lambda first, last: every(MINUTE, 700_000, first, last),
        10 * MINUTE,
        HOUR,
    ),
    "RetriesLateAlarm": Case(
        lambda first, last: every(MINUTE, 900, first, last),
        lambda first, last: every(MINUTE, 3_000, first, last),
        10 * MINUTE,
        HOUR,
    ),
    "DeliverWebhookErrorsAlarm": errors_of(10, 30 * MINUTE, 2 * HOUR),
    "RetryWebhookErrorsAlarm": errors_of(10, 30 * MINUTE, 2 * HOUR),
    "SweepErrorsAlarm": errors_of(5 * MINUTE, 30 * MINUTE, 2 * HOUR),
    "PackErrorsAlarm": errors_of(15 * MINUTE, 2 * HOUR, 4 * HOUR),
    "PackBehindAlarm": Case(nothing, lambda first, last: every(15 * MINUTE, 1, first, last), 14 * HOUR, DAY),
    "ApiErrorsAlarm": Case(server_errors(0.005), server_errors(0.03), 20 * MINUTE, HOUR),
    "WebConnectorErrorsAlarm": Case(server_errors(0.005), server_errors(0.03), 20 * MINUTE, HOUR),
    "ThrottledCallsAlarm": counted(10 * MINUTE),
    "ThrottledWebConnectorsAlarm": counted(10 * MINUTE),
    "DatabaseThrottlesAlarm": Case(
        lambda first, last: every(2 * MINUTE, 1, first, last),
        lambda first, last: every(5, 1, first, last),
        15 * MINUTE,
        HOUR,
    ),
    "OverdueWebhooksAlarm": counted(15 * MINUTE, LAST_A_RUN, value=3, every_seconds=LAST_A_RUN),
    "StoppedConnectionsAlarm": counted(30 * MINUTE, DAY, every_seconds=LAST_A_RUN),
    # A disabled event source: nothing for 55 minutes, then a value in each sweep.
    "SilentConsumersAlarm": Case(
        nothing,
        lambda first, last: every(LAST_A_RUN, 1, first + 60 * MINUTE, last),
        80 * MINUTE,
        4 * HOUR,
    ),
    "SweepMissingAlarm": Case(lambda first, last: every(LAST_A_RUN, 1, first, last), nothing, HOUR + MINUTE, 3 * HOUR),
    "PackMissingAlarm": Case(packer(4), packer(3), 4 * HOUR, 8 * HOUR),
    "ConcurrencyAlarm": Case(
        lambda first, last: every(MINUTE, 40, first, last),
        lambda first, last: every(MINUTE, 900, first, last),
        10 * MINUTE,
        30 * MINUTE,
    ),
    "CallsAlarm": Case(
        lambda first, last: every(MINUTE, 26_000, first, last),  # 10,000 connections at their busiest hour
        lambda first, last: every(MINUTE, 100_000, first, last),
        20 * MINUTE,
        HOUR,
    ),
    "WriteUnitsAlarm": Case(
        lambda first, last: every(MINUTE, 96_000, first, last),
        lambda first, last: every(MINUTE, 400_000, first, last),
        20 * MINUTE,
        HOUR,
    ),
    "ThrottlesAlarm": Case(zeros, lambda first, last: every(MINUTE, 5, first, last), 10 * MINUTE, 30 * MINUTE),
}


def test_each_alarm_has_a_case() -> None:
    assert CASES.keys() == ALARMS.keys()


@for_each("name", sorted(ALARMS))
def test_aws_publishes_the_metric_or_a_filter_of_the_stack_does(name: str) -> None:
    alarm = ALARMS[name]
    if alarm["Namespace"] == "local":  # the name of the stack
        filters = Template.load().resources("AWS::Logs::MetricFilter").values()
        transformations = [filter_["MetricTransformations"][0] for filter_ in filters]
        assert not alarm.get("Dimensions")
        assert (alarm["Namespace"], alarm["MetricName"]) in [
            (transformation["MetricNamespace"], transformation["MetricName"]) for transformation in transformations
        ]
    else:
        assert is_published(alarm)


@settings(max_examples=15, deadline=None)
@given(begin=st.integers(3 * HOUR, 5 * HOUR), shift=st.integers(0, 59))
@pytest.mark.parametrize("name", sorted(ALARMS))
def test_an_alarm_fires_during_its_fault_and_only_then(name: str, begin: int, shift: int) -> None:
    alarm, case = ALARMS[name], CASES[name]
    period = int(alarm["Period"])
    settled = int(alarm["EvaluationPeriods"]) + 3  # an alarm looks at up to two more periods
    begin = max(begin, (settled + 1) * period)
    end = begin + case.lasts
    later = end + (settled + 2) * period
    points = [*case.healthy(shift, begin), *case.fault(begin, end), *case.healthy(end, later)]

    found = states(alarm, points, later)

    first = begin // period
    assert set(found[settled:first]) <= {OK}
    assert ALARM in found[first : (begin + case.within) // period + 1]
    assert set(found[end // period + settled :]) == {OK}


@for_each("name", sorted(set(ALARMS) - {"SweepMissingAlarm", "PackMissingAlarm"}))
def test_an_alarm_of_a_deployment_that_nobody_uses_is_silent(name: str) -> None:
    assert set(states(ALARMS[name], [], 2 * DAY)) == {OK}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers())
def test_scheduled_runs_that_are_some_seconds_late_are_no_missing_runs(seed: int) -> None:
    """EventBridge calls within the minute."""
    chance = random.Random(seed)
    runs = [(second + chance.randrange(60), value) for second, value in packer(4)(0, 2 * DAY)]
    sweeps = [(second + chance.randrange(60), 1.0) for second in range(0, 2 * DAY, 5 * MINUTE)]

    assert set(states(ALARMS["PackMissingAlarm"], runs, 2 * DAY)[1:]) == {OK}
    assert set(states(ALARMS["SweepMissingAlarm"], sweeps, 2 * DAY)[1:]) == {OK}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers())
@pytest.mark.parametrize(("name", "minutes"), [("SweepErrorsAlarm", 5), ("PackErrorsAlarm", 15)])
def test_a_job_that_always_fails_has_an_alarm_although_its_runs_are_some_seconds_late(
    name: str, minutes: int, seed: int
) -> None:
    """Two runs may be in the same minutes and none in the next. Of the packer, only one share fails."""
    chance = random.Random(seed)
    runs = [(second + chance.randrange(60) - 30, 1.0) for second in range(HOUR, DAY, minutes * MINUTE)]

    assert set(states(ALARMS[name], runs, DAY)[10:]) == {ALARM}


@pytest.mark.parametrize("name", ["SweepErrorsAlarm", "PackErrorsAlarm"])
def test_one_failed_run_is_no_alarm(name: str) -> None:
    assert set(states(ALARMS[name], once(5 * HOUR, 1), DAY)) == {OK}


@pytest.mark.parametrize("name", ["WebhooksLateAlarm", "EventsLateAlarm"])
def test_only_the_canaries_show_a_disabled_event_source_of_a_stream(name: str) -> None:
    """A function that is not called has no `IteratorAge`, however old its records are."""
    alarm = ALARMS[name]

    assert set(states(alarm, every(MINUTE, 800, 0, HOUR), DAY)) == {OK}
    assert alarm["MetricName"] == "IteratorAge"


def test_a_disabled_event_source_of_the_retry_queue_has_an_alarm() -> None:
    """SQS publishes the age of the oldest message whether or not somebody receives it."""
    ages = [(second, second - HOUR) for second in range(HOUR, 4 * HOUR, MINUTE)]

    found = states(ALARMS["RetriesLateAlarm"], [(second, float(age)) for second, age in ages], 4 * HOUR)

    assert ALARM in found[: (2 * HOUR) // 300]


def test_one_failed_call_is_no_alarm_even_if_few_are_made() -> None:
    calls = [(10 * HOUR + 7 * number, float(number == 3)) for number in range(20)]

    assert set(states(ALARMS["ApiErrorsAlarm"], calls, DAY)) == {OK}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # The tables of "Configuring how CloudWatch alarms treat missing data", three of three periods:
        # missing, ignore, breaching, notBreaching. `0` is within the threshold, `X` is not, `-` is missing.
        ("0-X-X", (OK, OK, OK, OK)),
        ("0----", (OK, "before", OK, OK)),
        ("-----", (INSUFFICIENT_DATA, "before", ALARM, OK)),
        ("0XX-X", (ALARM, ALARM, ALARM, ALARM)),
        ("--X--", (ALARM, "before", ALARM, OK)),
    ],
)
def test_missing_data_is_treated_as_the_guide_says(values: str, expected: tuple[str, ...]) -> None:
    alarm = {
        "Period": 60,
        "EvaluationPeriods": 3,
        "Statistic": "Sum",
        "Threshold": 0,
        "ComparisonOperator": "GreaterThanThreshold",
    }
    points = [(60 * number, float(value == "X")) for number, value in enumerate(values) if value != "-"]
    for treatment, state in zip(("missing", "ignore", "breaching", "notBreaching"), expected, strict=True):
        found = states(alarm | {"TreatMissingData": treatment}, points, 5 * 60)
        assert found[4] == (found[3] if state == "before" else state), treatment


def test_the_runbook_names_the_metric_of_each_filter_that_has_no_alarm() -> None:
    runbook = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    watched = {alarm["MetricName"] for alarm in ALARMS.values()}

    for name in Template.load().resources("AWS::Logs::MetricFilter").keys() - watched:
        assert re.search(rf"metric `{name}`", runbook)
