"""Log the events of requests and of connections, and clean up after records that have expired.

A write that ends with an unknown outcome is settled: QuickBooks is asked, and what the answers show is stored with it.
A write that was settled then has an event of its own. Its first webhook attempt is planned here, and so are those of
pages of changes: Lambda repeats a failure of this function for a day, and one of `deliver_webhook` only a few times.

The streams of `QueuedRequests` and `Connections` trigger it. A stream has at most two consumers, so this one does both.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.records import RECORDS
from adapters.dynamodb.subscriptions import SEQUENCE, page_entity, webhooks_of
from domain.errors import TooManyRequests
from domain.events.log import append_events
from domain.maintenance.retention import forget_record
from domain.records.event import EventOutcome, LoggedEvent, events_of
from domain.records.request import State
from domain.webhooks.ports import PlannedChanges, PlannedResolution
from handlers.common.bootstrap import end_init, services
from handlers.common.canaries import without_canaries
from handlers.common.logs import ServiceLogger

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    StreamRecord = dict[str, Any]

logger = ServiceLogger()
end_init(lambda services: services.store)

SETTLING_TIME = timedelta(seconds=20)
"""How long a call settles writes. The events behind it wait meanwhile, and one step can need 50 calls of DynamoDB."""


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Append the events of a batch to the logs of their apps, then clean up. Failures have sequence numbers.

    Lambda repeats everything after the first failure. An event that is in the log is not appended again, and a record
    that was already cleaned up is not changed.
    """
    records = without_canaries("log_and_forget", event["Records"])
    changes = [record for record in records if "NewImage" in record["dynamodb"]]
    removals = [record for record in records if "NewImage" not in record["dynamodb"]]
    unplanned = _plan_webhooks(changes)
    if unplanned:
        # Lambda repeats what comes after it as well, and their events would be appended again.
        changes = changes[: [_number(change) for change in changes].index(unplanned[0])]
    failures = [*unplanned, *_log_events(changes), *_forget(removals)]
    _settle(changes)
    return {"batchItemFailures": [{"itemIdentifier": number} for number in failures]}


def _plan_webhooks(changes: Sequence[StreamRecord]) -> Sequence[str]:
    """Plan the first webhook attempts of changes: for writes that were settled, and for pages.

    Return the numbers of the changes whose attempts could not be planned.
    """
    numbers: dict[PlannedResolution | PlannedChanges, str] = {}
    for change in changes:
        try:
            planned = _first_attempts(change["dynamodb"]["NewImage"])
        except Exception:  # noqa: BLE001, S112 - `_events` logs it
            continue
        numbers |= dict.fromkeys(planned, _number(change))
    failures = services().retry_queue.plan_all(list(numbers)) if numbers else {}
    for attempt, error in failures.items():
        logger.error("delivery.not_processed", exc_info=error, extra={"item": numbers[attempt]})
    return [number for attempt, number in numbers.items() if attempt in failures]


def _first_attempts(image: dict[str, Any]) -> Sequence[PlannedResolution | PlannedChanges]:
    """Return the first webhook attempts of a change."""
    if SEQUENCE in image:
        connection_id, app_id = image[keys.CONNECTION_ID]["S"], image[keys.APP_ID]["S"]
        sequence, now = int(image[SEQUENCE]["N"]), services().clock()
        return [PlannedChanges(connection_id, app_id, id_, sequence, 0, now) for id_ in webhooks_of(image)]
    if EventOutcome.RESOLVED not in image.get(keys.EVENT, {}).get("S", ""):
        return ()
    record = RECORDS.entity(image)
    return [PlannedResolution.first(record, services().clock())] if record.webhook.url else ()


def _log_events(changes: Sequence[StreamRecord]) -> Iterator[str]:
    """Append the events of each app as one group. Yield the sequence numbers of the changes that failed."""
    events: defaultdict[str, list[LoggedEvent]] = defaultdict(list)
    numbers: defaultdict[str, list[str]] = defaultdict(list)
    for change in changes:
        try:
            app_id, own_events = _events(change["dynamodb"])
        except Exception:  # the events of other requests must not wait for this one
            logger.exception("events.not_processed", extra={"item": _number(change), **_ids(change, "NewImage")})
            yield _number(change)
        else:
            events[app_id] += own_events
            numbers[app_id].append(_number(change))
    appended = 0
    for app_id, group in events.items():
        try:
            appended += append_events(services().store, app_id, group, services().clock())
        except Exception:  # an app must not hold up the others
            logger.exception("events.not_processed", extra={"item": numbers[app_id][0], "app_id": app_id})
            yield from numbers[app_id]
    if changes:
        logger.info("events.appended", extra={"events": appended, "requests": len(changes)})


def _events(images: dict[str, Any]) -> tuple[str, Sequence[LoggedEvent]]:
    """Return the app of a change and its events. An event that cannot be made is replaced by one that says so.

    The event of a request without a connection belongs to no app, so nobody could read it. Its app is then ''.
    """
    image, before = images["NewImage"], images.get("OldImage", {})
    outcomes = [EventOutcome(letter) for letter in image.get(keys.EVENT, {}).get("S", "")]
    if SEQUENCE in image:
        page = page_entity(image)
        return page.app_id, (LoggedEvent.of_page(page),)
    if keys.STATE not in image:
        return _connection_events(image, outcomes) if outcomes else ("", ())  # without an event, it is a tombstone
    try:
        record = RECORDS.entity(image)
        state_before = State(before[keys.STATE]["S"]) if keys.STATE in before else None
        return record.app_id, events_of(state_before, record, outcomes)
    except Exception:
        connection_id = image[keys.CONNECTION_ID]["S"]
        logger.exception("events.unreadable", extra={"request_id": image[keys.ID]["S"], "connection_id": connection_id})
        connection = services().store.connection(connection_id)
        event = LoggedEvent(EventOutcome.UNREADABLE, image[keys.ID]["S"], connection_id)
        return (connection.app_id, (event,)) if connection else ("", ())


def _connection_events(image: dict[str, Any], outcomes: Iterable[EventOutcome]) -> tuple[str, Sequence[LoggedEvent]]:
    """Return the app of a connection and the events of its change."""
    connection_id, revision = image[keys.ID]["S"], int(image[keys.REVISION]["N"])
    return image[keys.APP_ID]["S"], [LoggedEvent(outcome, "", connection_id, revision) for outcome in outcomes]


def _settle(changes: Sequence[StreamRecord]) -> None:
    """Ask QuickBooks about each write that ended unsettled, and store the answers to such queries.

    A failure is only logged: the sweep repeats the step. It also takes those for which there is no time.
    """
    until = services().clock() + SETTLING_TIME
    for change in changes:
        if services().clock() >= until:
            return
        image = change["dynamodb"]["NewImage"]
        try:
            record = RECORDS.entity(image) if keys.STATE in image else None
        except Exception:  # noqa: BLE001, S112 - `_events` has logged it
            continue
        if record is None or not (record.settles or record.is_unsettled):
            continue
        write_id = record.settles or record.id
        try:
            write = services().settling.proceed(write_id)
        except TooManyRequests:
            write = None  # Many queries of its connection wait. The sweep asks later.
        except Exception:  # the events of other requests must not wait for this one
            logger.exception("settling.not_processed", extra={"item": _number(change), **_ids(change, "NewImage")})
            continue
        executed = write.settling.executed if write else None
        logger.info("settling.proceeded", extra={"request_id": write_id, "done": bool(write), "executed": executed})


def _forget(removals: Sequence[StreamRecord]) -> Iterator[str]:
    """Clean up after each record that was removed. Yield the sequence numbers of those that failed."""
    forgotten = failed = 0
    for removal in removals:
        try:
            record = RECORDS.entity(removal["dynamodb"]["OldImage"])
        except Exception:  # a repetition would fail as well, and hold up the events behind it
            logger.exception("retention.not_processed", extra={"item": _number(removal), **_ids(removal, "OldImage")})
            failed += 1
            continue
        try:
            forgotten += forget_record(services().store, record, services().clock())
        except Exception:  # one bad record must not block the others
            logger.exception("retention.not_processed", extra={"item": _number(removal), **_ids(removal, "OldImage")})
            failed += 1
            yield _number(removal)
    if removals:
        logger.info("retention.forgotten", extra={"records": forgotten, "failed": failed})


def _number(record: StreamRecord) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def _ids(record: StreamRecord, image: str) -> dict[str, str | None]:
    """Return the ids that identify a record in the log."""
    return {name: record["dynamodb"][image].get(name, {}).get("S") for name in (keys.ID, keys.CONNECTION_ID)}
