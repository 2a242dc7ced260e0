"""The use cases of subscriptions: create, change, delete, run, pause, resume and resync them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from domain.errors import Conflict, InvalidRequest, InvalidState
from domain.records.audit import Action, Actor, Subject, audit_entry
from domain.records.ownership import not_found, owned_connection
from domain.records.subscription import (
    MAX_SUBSCRIPTIONS,
    START_NOW,
    START_WITH_ALL,
    CopyState,
    Subscription,
)
from domain.storage.changes import Put, RemoveCopy
from domain.storage.retry import commit_with_retry
from domain.subscriptions.objects import INCLUDES, checked_object
from domain.subscriptions.progress import Progress
from domain.timestamps import timestamp, timestamp_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.ports import Clock, IdSource
    from domain.records.connection import Connection
    from domain.storage.ports import SubscriptionStore

Change = Callable[[Subscription, CopyState, str], Subscription]

FIRST_START = "1980"
"""No books are older, and QuickBooks has no times before 1970."""

CONTENDED = "Other calls are changing the subscriptions of this connection."


class SubscriptionService:
    """The use cases. They raise NotFound for a connection or subscription of another app, or one that was deleted.

    A change is stored together with its entry in the audit log, which names the `actor`. The connection gets the time
    of its next run in the same commit.
    """

    def __init__(self, store: SubscriptionStore, clock: Clock, new_id: IdSource) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    def all_of(self, app_id: str, connection_id: str) -> tuple[Progress, Sequence[Subscription]]:
        """Return how far the objects have been read, and the subscriptions, oldest first."""
        connection = owned_connection(self._store.connection(connection_id), app_id)
        state = self._store.copy_state(connection_id)
        progress = Progress(state, connection, self._clock())
        return progress, sorted(state.subscriptions, key=lambda one: (one.inserted_at, one.id))

    def get(self, app_id: str, connection_id: str, subscription_id: str) -> tuple[Progress, Subscription]:
        """Return how far the objects have been read, and one subscription."""
        progress, found = self.all_of(app_id, connection_id)
        return progress, _found(found, subscription_id)

    def create(
        self, app_id: str, connection_id: str, *, actor: Actor, **settings: Any
    ) -> tuple[Progress, Subscription]:
        """Store a subscription. Its first run is made in the next session of the Web Connector.

        `settings` are members of `Subscription`: `objects`, `every_minutes`, `verify_days`,
        `start`, `include`, `name`, `webhook`, `derived`.
        Raises InvalidRequest if an object or what is included does not exist, and InvalidState.
        """
        check_objects(settings["objects"], settings.get("include", {}))
        if settings["start"] not in {START_WITH_ALL, START_NOW} and settings["start"] > timestamp(self._clock()):
            raise InvalidRequest.of("start", "is in the future. Use all, now or a time in the past")
        subscription_id = self._new_id()

        def step(state: CopyState) -> tuple[None, Subscription]:
            if len(state.subscriptions) >= MAX_SUBSCRIPTIONS:
                raise InvalidState(
                    f"A connection has at most {MAX_SUBSCRIPTIONS} subscriptions. Add the objects to one of them.",
                    {"limit": MAX_SUBSCRIPTIONS},
                )
            now = timestamp(self._clock())
            one = Subscription(subscription_id, connection_id, app_id, now, now, began_at=now, **settings)
            return None, _with_derived_since(None, one, now)

        return self._commit(app_id, connection_id, Action.SUBSCRIPTION_CREATED, actor, step)

    def update(
        self, app_id: str, connection_id: str, subscription_id: str, *, actor: Actor, **settings: Any
    ) -> tuple[Progress, Subscription]:
        """Change settings. Objects that are removed lose what is included of them. Raises InvalidRequest.

        If an object is added, all objects of the subscription begin again at its `start`.
        """

        def changed(before: Subscription, _: CopyState, now: str) -> Subscription:
            after = replace(before, **settings)
            if "include" not in settings:
                kept = {name: parts for name, parts in after.include.items() if name in after.objects}
                after = replace(after, include=kept)
            check_objects(after.objects, after.include)
            is_more = not set(after.objects) <= set(before.objects)
            after = replace(after, began_at=now if is_more else before.began_at)
            return _with_derived_since(before, after, now)

        return self._change(app_id, connection_id, subscription_id, Action.SUBSCRIPTION_CHANGED, actor, changed)

    def act(
        self, app_id: str, connection_id: str, subscription_id: str, action: Action, *, actor: Actor
    ) -> tuple[Progress, Subscription]:
        """Run, pause, resume or resync a subscription, by the action of the audit log."""
        change = _ACTS[action]
        return self._change(app_id, connection_id, subscription_id, action, actor, change)

    def delete(self, app_id: str, connection_id: str, subscription_id: str, *, actor: Actor) -> None:
        """Remove a subscription, and what was read of objects that no other one wants."""

        def attempt(_: object) -> Sequence[str]:
            connection = owned_connection(self._store.connection(connection_id), app_id)
            state = self._store.copy_state(connection_id)
            before = _found(state.subscriptions, subscription_id)
            others = tuple(one for one in state.subscriptions if one is not before)
            wanted = {name for one in others for name in one.objects}
            removed = [one for one in state.objects if one.name not in wanted]
            entry = self._entry(Action.SUBSCRIPTION_DELETED, actor, before, before.revision + 1)
            after = replace(state, subscriptions=others)
            self._store.commit(
                RemoveCopy(before),
                *map(RemoveCopy, removed),
                Put(None, entry),
                *self._known(connection, Progress(after, connection, self._clock())),
            )
            return [one.name for one in removed]

        names = commit_with_retry(attempt, CONTENDED)
        # One commit may not take them all. What stays after a failure is compared with the next snapshot.
        for part in self._store.copy_state(connection_id, names).remembered:
            with suppress(Conflict):
                self._store.commit(RemoveCopy(part))

    # --- Parts

    def _change(  # noqa: PLR0917 - the parts of one change
        self,
        app_id: str,
        connection_id: str,
        subscription_id: str,
        action: Action,
        actor: Actor,
        change: Change,
    ) -> tuple[Progress, Subscription]:
        def step(state: CopyState) -> tuple[Subscription, Subscription]:
            before, now = _found(state.subscriptions, subscription_id), timestamp(self._clock())
            after = change(before, state, now)
            return before, before if after == before else after.changed(now)

        return self._commit(app_id, connection_id, action, actor, step)

    def _commit(
        self,
        app_id: str,
        connection_id: str,
        action: Action,
        actor: Actor,
        step: Callable[[CopyState], tuple[Subscription | None, Subscription]],
    ) -> tuple[Progress, Subscription]:
        """Commit what `step` makes of the stored state. Return the state and the subscription after it."""

        def attempt(_: object) -> tuple[Progress, Subscription]:
            connection = owned_connection(self._store.connection(connection_id), app_id)
            state = self._store.copy_state(connection_id)
            before, after = step(state)
            others = tuple(one for one in state.subscriptions if one is not before)
            progress = Progress(replace(state, subscriptions=(*others, after)), connection, self._clock())
            if after is before:
                return progress, after
            entry = self._entry(action, actor, after, after.revision)
            known = self._known(connection, progress)
            self._store.commit(Put(before, after), Put(None, entry), *known)
            return progress.of(known[0].after if known else connection), after

        return commit_with_retry(attempt, CONTENDED)

    def _known(self, connection: Connection, progress: Progress) -> list[Put[Connection]]:
        """Return the change of what the connection knows: when its next run is due, and how old the copy is."""
        after = replace(connection, run_due_at=progress.run.run_due_at, copied_at=progress.all_copied_at)
        return [] if after == connection else [Put(connection, after.changed(timestamp(self._clock())))]

    def _entry(self, action: Action, actor: Actor, one: Subscription, revision: int) -> Any:
        subject = Subject(one.app_id, one.id, revision, one.connection_id)
        return audit_entry(action, actor, subject, timestamp(self._clock()), name=one.name)


def _resumed(before: Subscription, state: CopyState, now: str) -> Subscription:
    """Return a subscription that is no longer paused. It begins again if its objects were never read for it.

    That is so if another subscription began later with one of them while this one was paused.
    """
    later = [one for one in state.objects if one.name in before.objects and one.began_at > before.began_at]
    is_missing = any(before.start != START_WITH_ALL or not one.generation for one in later)
    return replace(before, paused_at=None, began_at=now if before.paused_at and is_missing else before.began_at)


_ACTS: Mapping[Action, Change] = {
    Action.SUBSCRIPTION_RUN: lambda before, _, now: replace(before, runs_at=now),
    Action.SUBSCRIPTION_PAUSED: lambda before, _, now: replace(before, paused_at=before.paused_at or now),
    Action.SUBSCRIPTION_RESUMED: _resumed,
    Action.SUBSCRIPTION_RESYNCED: lambda before, _, now: replace(before, start=START_WITH_ALL, began_at=now),
}
"""What an action makes of a subscription, with the stored state and the present."""


def _with_derived_since(before: Subscription | None, after: Subscription, now: str) -> Subscription:
    """Return a subscription with the time from which on it wants derived fields. All of them are emitted then."""
    if after.derived and not (before and before.derived):
        return replace(after, derived_since=now)
    return after if after.derived else replace(after, derived_since=None)


def check_objects(names: Sequence[str], include: Mapping[str, Sequence[str]]) -> None:
    """Raise InvalidRequest, with the nearest names, unless all objects exist and have what is included."""
    for name in names:
        checked_object(name)
    for name, parts in include.items():
        if name not in names:
            raise InvalidRequest.of("include", f"names {name!r}, which is not in objects")
        known = checked_object(name)
        for part in parts:
            if part not in known.includes:
                possible = ", ".join(known.includes) or "nothing"
                message = f"{name} has no {part!r} to include. It has {possible} of {', '.join(INCLUDES)}"
                raise InvalidRequest.of("include", message)


def checked_start(start: str) -> str:
    """Return a start: one of the two words, or a timestamp. Raises ValueError."""
    if start in {START_WITH_ALL, START_NOW}:
        return start
    moment = timestamp_from(start)
    if moment < FIRST_START:
        raise ValueError(f"Use {START_WITH_ALL}, {START_NOW} or a time after {FIRST_START[:4]}.")
    return moment


def _found(subscriptions: Sequence[Subscription], subscription_id: str) -> Subscription:
    """Return a subscription of a connection. Raises NotFound."""
    for one in subscriptions:
        if one.id == subscription_id:
            return one
    raise not_found("subscription")
