"""How long the stream consumer waits for the receivers of each app.

A batch of the stream has records of all apps, and the next batch waits for its slowest attempt. So an app could delay
the webhooks of the others with receivers that respond late or not at all. Three rules limit that. They count by app,
because an app can have any number of hosts, and one host can serve several apps:

* A receiver that was slow gets no first attempts of this app for a minute.
* The slow attempts of an app, and what the others take beyond QUICK_SECONDS, may take PATIENCE_SECONDS a minute in all.
  After that the app gets no first attempts.
* An app makes one attempt at a time to hosts that have not responded quickly yet, and begins none while one is slow.

An attempt that is not made here is made by the retry queue, a second later. Each process learns for itself. The
time of an attempt is that of its receiver alone (docs/decisions/0042-patience-by-app.md).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Condition
from typing import TYPE_CHECKING, TypeAlias

from domain.webhooks.defaults import (
    MAX_REMEMBERED_APPS,
    MAX_REMEMBERED_HOSTS,
    PATIENCE_SECONDS,
    QUICK_SECONDS,
    SLOW_DURATION,
    SLOW_SECONDS,
    TRIAL_SECONDS,
)

if TYPE_CHECKING:
    from datetime import datetime

    from domain.ports import Clock

    Token: TypeAlias = tuple[datetime, object]

SLOW_HOST = "The receiver recently did not respond in time."
SLOW_APP = "The receivers of this app recently took too long."
ANOTHER_IS_SLOW = "Another webhook attempt of this app takes long."


class Refused(Exception):
    """The first attempt is not made. The text is the reason."""


@dataclass
class _App:
    """What a process knows about the receivers of an app."""

    spent_seconds: float = 0
    spent_at: datetime | None = None
    slow_until: dict[str, datetime] = field(default_factory=dict)
    quick_hosts: set[str] = field(default_factory=set)
    running: dict[Token, str] = field(default_factory=dict)
    """The attempts in progress, with their hosts."""

    def trials(self) -> list[Token]:
        """Return the attempts in progress to hosts that are not known as quick."""
        return [token for token, host in self.running.items() if host not in self.quick_hosts]


class Patience:
    """Decides whether the stream consumer makes a first attempt. One instance serves many threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._apps: OrderedDict[str, _App] = OrderedDict()
        self._changed = Condition()

    def require(self, app_id: str, host: str) -> None:
        """Raise Refused if `begin` would refuse an attempt now. It is called before the record is read."""
        with self._changed:
            self._require_patience(self._app(app_id), host)

    def begin(self, app_id: str, host: str) -> Token:
        """Return the token of an attempt, for `end`. Raises Refused. May wait for TRIAL_SECONDS.

        Only the call of the receiver belongs between `begin` and `end`. An app is not charged for anything else.
        """
        with self._changed:
            app = self._app(app_id)
            self._require_patience(app, host)
            trials = app.trials()
            if host not in app.quick_hosts and trials:
                # The trial soon shows whether its receiver is quick.
                seconds_left = TRIAL_SECONDS - (self._clock() - min(began for began, _ in trials)).total_seconds()
                if seconds_left <= 0 or not self._changed.wait_for(
                    lambda: host in app.quick_hosts or not app.trials(), seconds_left
                ):
                    raise Refused(ANOTHER_IS_SLOW)
                self._require_patience(app, host)
            token = (self._clock(), object())
            app.running[token] = host
            return token

    def end(self, app_id: str, host: str, token: Token) -> None:
        """Record the end of an attempt."""
        with self._changed:
            app, now = self._app(app_id), self._clock()
            app.running.pop(token, None)
            seconds = (now - token[0]).total_seconds()
            for hosts in (app.slow_until, app.quick_hosts):
                if len(hosts) >= MAX_REMEMBERED_HOSTS:
                    hosts.clear()
            charged = seconds if seconds > SLOW_SECONDS else max(seconds - QUICK_SECONDS, 0)
            if charged:
                app.spent_seconds = min(self._spent(app, now) + charged, PATIENCE_SECONDS + SLOW_SECONDS)
                app.spent_at = now
            if seconds > SLOW_SECONDS:
                app.slow_until[host] = now + SLOW_DURATION
                app.quick_hosts.discard(host)
            else:
                app.slow_until.pop(host, None)
                app.quick_hosts.add(host)
            self._changed.notify_all()

    def _require_patience(self, app: _App, host: str) -> None:
        now = self._clock()
        if now < app.slow_until.get(host, now):
            raise Refused(SLOW_HOST)
        if self._spent(app, now) + SLOW_SECONDS > PATIENCE_SECONDS:
            raise Refused(SLOW_APP)
        if any((now - began).total_seconds() > SLOW_SECONDS for began, _ in app.running):
            raise Refused(ANOTHER_IS_SLOW)

    def _spent(self, app: _App, now: datetime) -> float:
        """Return how many seconds of patience are spent. All of them return within SLOW_DURATION."""
        if app.spent_at is None:
            return 0
        returned = (now - app.spent_at) / SLOW_DURATION * PATIENCE_SECONDS
        return max(app.spent_seconds - returned, 0)

    def _app(self, app_id: str) -> _App:
        """Return what is known about an app. The app that was used least recently is forgotten."""
        app = self._apps.setdefault(app_id, _App())
        self._apps.move_to_end(app_id)
        if len(self._apps) > MAX_REMEMBERED_APPS:
            self._apps.popitem(last=False)
        return app
