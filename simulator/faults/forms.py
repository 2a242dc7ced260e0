"""The faults and their notation, in one table for the command line, scripts and Python.

A fault happens at a place: a SOAP method (`receiveResponseXML`), `process` (QuickBooks gets a request of the service)
or `session` (the Web Connector opens the company). `FORMS` lists the actions of each kind of place and their keys. An
unknown key is refused with the most similar known one as a suggestion.
"""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.basics.errors import HRESULTS
from simulator.schema import schema
from simulator.web_connector.transport import CALL_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

METHODS = (
    "serverVersion clientVersion authenticate sendRequestXML receiveResponseXML connectionError getLastError "
    "closeConnection getInteractiveURL interactiveRejected interactiveDone"
).split()
_WITHOUT_TICKET = {"serverVersion", "clientVersion", "authenticate"}
PLACES = ("process", "session", *METHODS)

KINDS = ("reads", "writes", "mods", "pages", "checks", "clears")
"""The values of `request` besides the names of requests, as `simulator.faults.company.kinds_of` returns them."""


@dataclass(frozen=True, slots=True)
class Form:
    """An action: its description, its keys with their defaults, and the key that VALUE sets."""

    about: str
    keys: Mapping[str, Any]
    value: str | None = None


_CALL = {
    "lose-request": Form("the service never sees the call; the call fails", {}),
    "lose-response": Form("the service sees the call; the call fails", {}),
    "duplicate": Form("the service sees the call twice; the second answer counts", {}),
    "delay": Form("the call comes SECONDS later", {"seconds": 5.0}, "seconds"),
    "hang": Form(
        "the service sees the call; the call fails after SECONDS", {"seconds": float(CALL_TIMEOUT_SECONDS)}, "seconds"
    ),
    "close": Form("the Web Connector is killed: neither this call nor another of the session", {}),
    "stop": Form("the user presses Stop: the call is made, of the rest only the answer to a request in work", {}),
    "stale-ticket": Form("the call carries the ticket of the session before", {}),
    "late-duplicate": Form("the call is made, and again after `until` (the next authenticate)", {"until": None}),
    "sleep": Form(
        "the machine sleeps before the call, until `until` (the others' sessions are over) and for SECONDS",
        {"seconds": 0.0, "until": None},
        "seconds",
    ),
}
_PROCESS = {
    "fail": Form(
        "ProcessRequest throws; with after_execution it was done",
        {"hresult": "0x800706BE", "message": None, "after_execution": False},
        "hresult",
    ),
    "status": Form(
        "every request gets this status; it is done if the status is a warning",
        {"code": 3175, "message": None},
        "code",
    ),
    "message-set-status": Form(
        "the message set as a whole is answered with this status; with after_execution it was done",
        {"code": 9001, "after_execution": False},
        "code",
    ),
    "slow": Form(
        "QuickBooks executes the request until `until` and for SECONDS more; then its answer is stored and comes",
        {"seconds": 5.0, "until": None},
        "seconds",
    ),
    "hang": Form(
        "no answer comes and no call follows: the user ends the Web Connector after SECONDS",
        {"seconds": 0.0, "after_execution": False},
        "seconds",
    ),
    "run-on": Form(
        "as hang, but QuickBooks goes on: it has executed the request after `until` (the next session has opened the"
        " company)",
        {"seconds": 0.0, "until": None},
        "seconds",
    ),
    "execute-late": Form(
        "as hang, but the request is executed after `until` (the next session has opened the company)",
        {"seconds": 0.0, "until": None},
        "seconds",
    ),
    "oversized": Form("the response is padded to so many MEGABYTES", {"megabytes": 11.0}, "megabytes"),
    "unreadable": Form("half of the response comes", {}),
    "forbidden-characters": Form("the response has a reference to a character that XML forbids", {}),
    "expire-iterator": Form("the iterator is gone: status 3000; counts pages only, unless told", {}),
    "user-edits": Form("a user saves the record just before it is changed: 3200; counts Mods only, unless told", {}),
    "forget": Form("QuickBooks has forgotten all kept responses before this request", {}),
    "store-badly": Form("the response is kept so that it cannot be read again: 9002", {}),
    "cannot-store": Form("the request is done and its response cannot be kept: 9005", {}),
    "die-within": Form(
        "ProcessRequest throws after the first EXECUTED requests of the message set were done, and before the last one;"
        " with stored, their responses are kept under its id",
        {"executed": 1, "stored": False, "hresult": "0x800706BE", "message": None},
        "executed",
    ),
}
_SESSION = {
    "open-error": Form("the company cannot be opened", {"hresult": "0x80040414", "message": None}, "hresult"),
    "wrong-file": Form("another company is open; its FileID is file_id, '' for no mark", {"file_id": None}, "file_id"),
    "copied-file": Form(
        "a copy of the company is open at `path`: it has the same FileID and knows no message set",
        {"path": "D:\\Backup\\Simulated Company.QBW"},
        "path",
    ),
    "forbidden-characters": Form("the company's facts refer to a character that XML forbids", {}),
    "forget": Form("QuickBooks has forgotten all kept responses when the session begins", {}),
}
FORMS: Mapping[str, Mapping[str, Form]] = {"call": _CALL, "process": _PROCESS, "session": _SESSION}
"""The actions by kind of place: any SOAP method (`call`), `process`, `session`."""

ACTIONS = tuple(dict.fromkeys(name for forms in FORMS.values() for name in forms))
"""The names of all actions."""

OPEN_ERRORS = {
    "modal-dialog": "0x80040414",
    "closed": "0x80040416",
    "busy": "0x80040424",
    "locked": "0x8004041B",
    "no-company-open": "0x80040417",
    "no-permission": "0x8004041A",
}
"""Words that can replace the most common HRESULTs of opening a company."""

LATE = frozenset({"late-duplicate", "sleep", "slow", "run-on", "execute-late"})
"""The actions that finish at the event `until`. Other actions last until that event."""

_COUNTS_ONLY = {"expire-iterator": "pages", "user-edits": "mods"}
"""The requests that an action counts if its step does not say."""

_COMMON = ("on", "do", "nth", "call", "times", "request", "machine", "until", "name", "about")
EVENT_KEYS = ("on", "nth", "call", "request", "machine")
"""The keys of an event. In a step they determine the beginning of the fault."""


@dataclass(frozen=True, slots=True)
class Event:
    """The `nth` time that something happens `on` a place, counted from 1. None means every time.

    `request` limits it to ProcessRequests of that name or kind, `machine` to the events of that machine.
    """

    on: str
    nth: int | None = 1
    request: str | None = None
    machine: int | None = None

    def counts(self, place: str, machine: int, kinds: Collection[str]) -> bool:
        """Return whether this event counts something that happens."""
        return (
            self.on == place
            and self.machine in {None, machine}
            and (self.request is None or self.request in kinds)
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at a place. `call` counts from 1. None means every time.

    It happens `times` times, or until the event `until`. The other fields belong to its action. `parse` and `of`
    check them and fill in the defaults.
    """

    method: str
    call: int | None
    action: str
    seconds: float = 0.0
    times: int = 1
    request: str | None = None
    machine: int | None = None
    hresult: str = ""
    message: str | None = None
    code: int = 0
    after_execution: bool = False
    executed: int = 0
    stored: bool = False
    megabytes: float = 0.0
    file_id: str | None = None
    path: str = ""
    until: Event | None = None
    name: str | None = None

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read `PLACE[/REQUEST]:NTH:ACTION[:VALUE][:KEY=VALUE…]`. Raises `ValueError` with the reason."""
        parts = text.split(":")
        if len(parts) < 3:  # noqa: PLR2004 - the three that must be there
            raise ValueError(f"a fault is METHOD:CALL:ACTION[:VALUE][:KEY=VALUE], not {text!r}")
        place, nth, action, *rest = parts
        place, _, request = place.partition("/")
        if place not in PLACES:
            raise ValueError(f"no such method: {place!r}; {_nearest(place, PLACES)}")
        form = _form(place, action)
        step: dict[str, Any] = {"on": place, "nth": _count(nth), "do": action}
        if request:
            step["request"] = request
        for at, part in enumerate(rest):
            key, is_pair, value = part.partition("=")
            if not is_pair:
                if at or form.value is None:
                    raise ValueError(f"{action} takes no value here: {part!r}")
                key, value = form.value, part
            step[key] = _typed(key, value)
        return cls.of(step)

    @classmethod
    def of(cls, step: Mapping[str, Any]) -> Fault:
        """Read a step of a script: `{"on": "process", "nth": 1, "do": "fail", …}`. Raises `ValueError`."""
        _check(
            isinstance(step, dict), f'a step is an object like {{"on": "authenticate", "do": "close"}}, not {step!r}'
        )
        action = step.get("do")
        if action is None or "on" not in step:
            raise ValueError('a step says where ("on") and what ("do")')
        place = step["on"]
        event = _event({key: value for key, value in step.items() if key in EVENT_KEYS})
        form = _form(place, action)
        values = dict(form.keys)
        for key, value in step.items():
            if key not in _COMMON and key not in form.keys:
                raise ValueError(f"{action} has no {key!r}; {_nearest(key, (*form.keys, *_COMMON))}")
            if key in form.keys and key != "until":
                values[key] = _checked(key, value)
        if action in _COUNTS_ONLY and event.request is None:
            event = Event(event.on, event.nth, _COUNTS_ONLY[action], event.machine)
        times = step.get("times", 1)
        _check(type(times) is int and times > 0, f"times is a number from 1, not {times!r}")
        values["until"] = _event(step["until"]) if "until" in step else None
        if values["until"] is not None and "times" in step:
            raise ValueError("a fault lasts for some times or until something: not both")
        for key in ("name", "about"):
            _check(isinstance(step.get(key, ""), str), f"{key} is a text, not {step.get(key)!r}")
        return cls(
            place,
            event.nth,
            action,
            times=times,
            request=event.request,
            machine=event.machine,
            name=step.get("name"),
            **values,
        )

    @property
    def event(self) -> Event:
        """The event that begins the fault."""
        return Event(self.method, self.call, self.request, self.machine)

    def __str__(self) -> str:
        """Return its name, or `PLACE[/REQUEST]:NTH:ACTION`."""
        place = f"{self.method}/{self.request}" if self.request else self.method
        return self.name or f"{place}:{self.call or '*'}:{self.action}"


def refuse_unknown(what: str, names: Iterable[str], valid_names: Collection[str]) -> None:
    """Raise `ValueError` for the first unknown name, with the nearest valid one."""
    for name in names:
        if name not in valid_names:
            raise ValueError(f"{what} has no {name!r}; {_nearest(name, valid_names)}")


def _form(place: object, action: object) -> Form:
    if place not in PLACES:
        raise ValueError(f"there is no place {place!r}; {_nearest(place, PLACES)}")
    forms = FORMS.get(str(place), _CALL)
    if action == "stale-ticket" and place in _WITHOUT_TICKET:
        raise ValueError(f"{place} carries no ticket")
    if not isinstance(action, str) or action not in forms:
        raise ValueError(f"no such action on {place}: {action!r}; {_nearest(action, forms)}")
    return forms[action]


def _event(step: Any) -> Event:
    """Read an event: `{"on": "process", "request": "CustomerAddRq", "nth": 2}`."""
    _check(isinstance(step, dict), f'an event is an object like {{"on": "authenticate", "call": 2}}, not {step!r}')
    refuse_unknown("an event", step, EVENT_KEYS)
    place = step.get("on")
    if place not in PLACES:
        raise ValueError(f"there is no place {place!r}; {_nearest(place, PLACES)}")
    _check("call" not in step or "nth" not in step, "call and nth mean the same: give one")
    nth = step.get("call", step.get("nth", 1))
    _check(nth == "*" or (type(nth) is int and nth > 0), f'nth counts from 1, or is "*": not {nth!r}')
    request, machine = step.get("request"), step.get("machine")
    if request is not None:
        _check(place == "process", f"request goes with process, not with {place}")
        if request not in schema().requests and request not in KINDS:
            raise ValueError(f"no such request: {request!r}; {_nearest(request, (*KINDS, *schema().requests))}")
    _check(machine is None or (type(machine) is int and machine > 0), f"machine counts from 1: not {machine!r}")
    return Event(place, None if nth == "*" else nth, request, machine)


def _checked(key: str, value: Any) -> Any:
    """Return the value of an action's key, or raise `ValueError`."""
    if key in {"seconds", "megabytes"}:
        _check(type(value) in {int, float} and 0 <= value < 1e6, f"{key} is a number from 0, not {value!r}")  # noqa: PLR2004 - below eleven days
        return float(value)
    if key == "hresult":
        _check(isinstance(value, str), f"{key} is a text, not {value!r}")
        if value in OPEN_ERRORS:
            return OPEN_ERRORS[value]
        if not re.fullmatch(r"0x[0-9A-Fa-f]{1,8}", value):
            raise ValueError(f"hresult is 0x and up to eight hexadecimal digits: {value!r}; "
                             f"{_nearest(value, (*OPEN_ERRORS, *HRESULTS))}")  # fmt: skip
        return value
    if key in {"code", "executed"}:
        _check(type(value) is int and value >= 0, f"{key} is a number, not {value!r}")
    elif key in {"after_execution", "stored"}:
        _check(type(value) is bool, f"{key} is true or false, not {value!r}")
    else:
        _check(isinstance(value, str), f"{key} is a text, not {value!r}")
    return value


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _count(text: str) -> int | str:
    """Read NTH of the command line."""
    if text != "*" and not re.fullmatch(r"[1-9]\d*", text):
        raise ValueError(f"CALL counts from 1, or is *: not {text!r}")
    return text if text == "*" else int(text)


def _typed(key: str, text: str) -> Any:
    """Read a value of the command line. `Fault.of` checks it."""
    if key in {"seconds", "megabytes", "code", "executed", "times", "machine"} and re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text) if "." in text else int(text)
    return {"true": True, "false": False}.get(text, text) if key in {"after_execution", "stored"} else text


def _nearest(name: object, valid_names: Iterable[str]) -> str:
    """Return a hint with the nearest valid name, '' without one."""
    names = list(valid_names)
    close = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    if not names:
        return "there is none"
    return f"one of {', '.join(names)}" if len(names) <= 20 else "see the table in simulator/README.md"  # noqa: PLR2004 - a line on a terminal
