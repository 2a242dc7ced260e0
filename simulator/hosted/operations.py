"""What the service asks of the company of a test connection: to make, reset, change, show and delete it."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from simulator.faults.plan import FaultPlan
from simulator.hosted.kept import COMPANIES, MAX_COMPANY_BYTES, MAX_DAYS, MAX_SECONDS_A_DAY, Kept, NoCompany
from simulator.hosted.objects import ChangedMeanwhile
from simulator.inspection.inspector import BadParameterError, Inspector, NotFoundError
from simulator.runs.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulator.hosted.objects import Objects

Json = dict[str, Any]

MAX_ANSWER_BYTES = 4_000_000
"""The largest answer. Lambda returns up to 6 MB."""

MAX_SCRIPT_BYTES = 50_000


class Refused(Exception):
    """An operation is refused. `code` is `invalid`, `not_found` or `changed`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def answer(objects: Objects, event: Mapping[str, Any]) -> Json:
    """Return `{"data": …}`, or `{"error": {"code", "message"}}` for an operation that is refused.

    An event has `operation`, `connection_id`, and the arguments of the operation.
    """
    arguments = {key: value for key, value in event.items() if key not in {"operation", "connection_id"}}
    try:
        data = OPERATIONS[event["operation"]](objects, event["connection_id"], **arguments)
    except Refused as error:
        return _error(error.code, str(error))
    except NoCompany:
        return _error("not_found", "The connection has no company any more. Create another test connection.")
    except ChangedMeanwhile:
        return _error("changed", "The company is being changed. Try again in a moment.")
    if len(json.dumps(data)) > MAX_ANSWER_BYTES:
        return _error("invalid", "limit is too high: the answer would have more than 4 MB")
    return {"data": data}


def _error(code: str, message: str) -> Json:
    return {"error": {"code": code, "message": message}}


def create(objects: Objects, name: str, *, company: str, qwc: str, password: str) -> Json:
    """Keep a new company and the credentials of its Web Connector."""
    if company not in COMPANIES:
        raise Refused("invalid", f"must be {' or '.join(COMPANIES)}")
    Kept.made(objects, name, company, qwc, password)
    return {}


def delete(objects: Objects, name: str) -> Json:
    """Delete the company."""
    objects.delete(name)
    return {}


def show(objects: Objects, name: str) -> Json:
    """Return the state of the simulator."""
    return _state(Kept.read(objects, name))


def reset(objects: Objects, name: str) -> Json:
    """Put the company back to its beginning, on the present day and without faults."""
    kept = Kept.read(objects, name)
    kept.days, kept.script, kept.progress = 0, None, None
    kept.build()
    return _saved(kept)


def advance(objects: Objects, name: str, *, days: int) -> Json:
    """Let days pass in the company."""
    kept = Kept.read(objects, name)
    if kept.days + days > MAX_DAYS:
        raise Refused("invalid", f"the company can be {MAX_DAYS} days ahead at most, and it is {kept.days} days ahead")
    kept.days += days
    return _saved(kept)


def faults(objects: Objects, name: str, *, steps: list[Any], expect: Json) -> Json:
    """Replace the faults and the expectations. Without steps, nothing fails."""
    script = {"steps": steps, "expect": expect}
    if len(json.dumps(script)) > MAX_SCRIPT_BYTES:
        raise Refused("invalid", f"the script can have {MAX_SCRIPT_BYTES} bytes at most")
    try:
        Script.of(script)
    except ValueError as error:
        raise Refused("invalid", str(error)) from error
    except TypeError as error:  # a list or an object where the simulator looks up a name
        raise Refused("invalid", f"a step has a value of the wrong type: {error}") from error
    kept = Kept.read(objects, name)
    kept.script, kept.progress = script, None
    return _saved(kept)


def books(objects: Objects, name: str, *, path: str, parameters: dict[str, str]) -> Json:
    """Return what the inspection API shows at a path, such as `lists/Customer`."""
    kept = Kept.read(objects, name)
    inspector = Inspector(kept.company, partial(_problems, kept))
    try:
        return inspector.get([part for part in path.split("/") if part], parameters)
    except NotFoundError as error:
        raise Refused("not_found", str(error)) from error
    except BadParameterError as error:
        raise Refused("invalid", str(error)) from error


OPERATIONS: Mapping[str, Callable[..., Json]] = {
    "create": create,
    "delete": delete,
    "show": show,
    "reset": reset,
    "advance": advance,
    "faults": faults,
    "books": books,
}


def _saved(kept: Kept) -> Json:
    kept.save()
    return _state(kept)


def _plan(kept: Kept) -> FaultPlan:
    plan = FaultPlan(kept.faults.faults)
    kept.resume(plan)
    return plan


def _problems(kept: Kept) -> list[str]:
    """Return the expectations of the script that failed."""
    return kept.faults.expect.problems(kept.company, [], _plan(kept))


def _state(kept: Kept) -> Json:
    plan = _plan(kept)
    return {
        "company": kept.source,
        "today": kept.company.clock.today().isoformat(),
        "days_ahead": kept.days,
        "faults": [str(fault) for fault in plan.faults],
        "faults_happened": [str(fault) for fault in plan.happened],
        "problems": _problems(kept),
        "bytes": kept.size,
        "max_bytes": MAX_COMPANY_BYTES,
        "seconds_today": round(kept.seconds_today, 1),
        "max_seconds_a_day": MAX_SECONDS_A_DAY,
    }
