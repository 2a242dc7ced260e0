"""CloudWatch's evaluation of alarms, and the metrics that AWS publishes.

Sources: "Alarm evaluation" and "Configuring how CloudWatch alarms treat missing data" in the CloudWatch guide; the
pages about metrics in the guides of Lambda, SQS, DynamoDB and API Gateway.

An alarm that never fires looks like one that has no reason to. How many further periods CloudWatch looks at is not
documented; two are assumed.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

OK, ALARM, INSUFFICIENT_DATA = "OK", "ALARM", "INSUFFICIENT_DATA"

FURTHER_PERIODS = 2
"""An alarm looks at some more periods than it evaluates. CloudWatch does not say how many; the guide's examples with
three periods show two more."""

STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "Sum": sum,
    "Maximum": max,
    "Average": lambda values: sum(values) / len(values),
}

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": lambda value, threshold: value > threshold,
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
    "LessThanThreshold": lambda value, threshold: value < threshold,
}

PUBLISHED: Mapping[str, tuple[set[str], tuple[set[str], ...]]] = {
    "AWS/Lambda": (
        {"Invocations", "Errors", "Throttles", "Duration", "ConcurrentExecutions", "IteratorAge"},
        (set(), {"FunctionName"}, {"FunctionName", "Resource"}),
    ),
    "AWS/SQS": (
        {
            "ApproximateAgeOfOldestMessage",
            "ApproximateNumberOfMessagesVisible",
            "ApproximateNumberOfMessagesNotVisible",
            "ApproximateNumberOfMessagesDelayed",
        },
        ({"QueueName"},),
    ),
    # "DynamoDB Metrics and dimensions": those of a table do not include those of its indexes.
    "AWS/DynamoDB": (
        {"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "ReadThrottleEvents", "WriteThrottleEvents"},
        ({"TableName"}, {"TableName", "GlobalSecondaryIndexName"}),
    ),
    # A REST API. Metrics of a method need "detailed metrics", which cost extra. The resource is the last dimension.
    "AWS/ApiGateway": ({"Count", "4XXError", "5XXError", "Latency"}, ({"ApiName"}, {"ApiName", "Stage"})),
    # An HTTP API has other names in the same namespace.
    "AWS/ApiGateway (HTTP)": ({"Count", "4xx", "5xx", "Latency"}, ({"ApiId"}, {"ApiId", "Stage"})),
}
"""The metrics of each namespace that AWS publishes without being asked, and the sets of their dimensions."""

NOT_IN_TOTAL = {"IteratorAge"}
"""Metrics of Lambda that exist for each function only."""


def is_published(alarm: Mapping[str, Any]) -> bool:
    """Return whether AWS publishes the metric of an alarm with these dimensions."""
    dimensions = {dimension["Name"] for dimension in alarm.get("Dimensions", [])}
    if not dimensions and alarm["MetricName"] in NOT_IN_TOTAL:
        return False
    return any(
        alarm["MetricName"] in metrics and dimensions in sets
        for namespace, (metrics, sets) in PUBLISHED.items()
        if namespace.partition(" ")[0] == alarm["Namespace"]
    )


def states(alarm: Mapping[str, Any], points: Iterable[tuple[int, float]], seconds: int) -> Sequence[str]:
    """Return the state of an alarm at the end of each of its periods.

    `points` are the values of the metric as they are published: (second, value). The metric is watched from second 0.
    """
    period = int(alarm["Period"])
    published = defaultdict(list)
    for second, value in points:
        published[second // period].append(value)
    statistic = STATISTICS[alarm["Statistic"]]
    values = {number: statistic(in_period) for number, in_period in published.items()}
    state, found = INSUFFICIENT_DATA, []
    for last in range(seconds // period):
        state = _state(alarm, values, last, state)
        found.append(state)
    return found


def _state(alarm: Mapping[str, Any], values: Mapping[int, float], last: int, before: str) -> str:
    """Return the state at the end of the period `last`."""
    evaluated = int(alarm["EvaluationPeriods"])
    first = last - evaluated - FURTHER_PERIODS + 1
    existing = [values[number] for number in range(first, last + 1) if number in values]
    compare = COMPARISONS[alarm["ComparisonOperator"]]
    breaching = [compare(value, float(alarm["Threshold"])) for value in existing][-evaluated:]
    if len(breaching) < evaluated:
        missing = evaluated - len(breaching)
        match alarm.get("TreatMissingData", "missing"):
            case "breaching":
                breaching += [True] * missing
            case "notBreaching":
                breaching += [False] * missing
            case "ignore":
                return before
            case _ if breaching:
                return ALARM if all(breaching) else OK
            case _:
                return INSUFFICIENT_DATA
    return ALARM if sum(breaching) >= int(alarm.get("DatapointsToAlarm", evaluated)) else OK
