"""What the subscriptions of a connection want together of each object. They share its reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.records.subscription import START_NOW, START_WITH_ALL
from domain.timestamps import known_books_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from domain.records.subscription import Subscription


@dataclass(frozen=True, slots=True)
class Wish:
    """What the subscriptions of a connection together want of one object.

    `starts` are the starts of these subscriptions by the time from which they count. `derived_minutes` is how often the
    derived fields are read, or None, and `derived_since` from when on all of them are wanted.
    """

    minutes: int
    verify_days: int
    include: frozenset[str]
    starts: Mapping[str, str]
    runs_at: str
    derived_minutes: int | None = None
    derived_since: str = ""

    @property
    def began_at(self) -> str:
        """When the newest of the subscriptions began."""
        return max(self.starts)

    def start_after(self, moment: str) -> str:
        """Return the earliest start of the subscriptions that began after a moment."""
        starts = {start for began_at, start in self.starts.items() if began_at > moment}
        times = starts - {START_WITH_ALL, START_NOW}
        return START_WITH_ALL if START_WITH_ALL in starts else min(times, key=known_books_time, default=START_NOW)


def wishes(subscriptions: Iterable[Subscription]) -> Mapping[str, Wish]:
    """Return what the subscriptions that are not paused want, by object.

    They share its reads: the most frequent interval, and everything that one of them includes.
    """
    found: dict[str, Wish] = {}
    for one in subscriptions:
        for name in one.objects if one.paused_at is None else ():
            other = found.get(name, Wish(one.every_minutes, one.verify_days, frozenset(), {}, ""))
            start = START_WITH_ALL if other.starts.get(one.began_at) == START_WITH_ALL else one.start
            found[name] = replace(
                other,
                minutes=min(one.every_minutes, other.minutes),
                verify_days=min(one.verify_days, other.verify_days),
                include=other.include.union(one.include.get(name, ())),
                starts={**other.starts, one.began_at: start},
                runs_at=max(one.runs_at or "", other.runs_at),
            )
            if one.derived:
                found[name] = _with_derived(found[name], one, one.derived.minutes)
    return found


def _with_derived(wish: Wish, one: Subscription, minutes: int) -> Wish:
    """Return what is wanted together with the derived fields for a subscription."""
    since = max(one.began_at, one.derived_since or "", wish.derived_since)
    return replace(wish, derived_minutes=min(minutes, wish.derived_minutes or minutes), derived_since=since)
