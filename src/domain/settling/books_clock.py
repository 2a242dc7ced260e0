"""The clock of the books: the clock of the machine that stamps `TimeCreated`, compared with ours.

It may be hours off: the clock of the machine may be wrong, and older versions of QuickBooks return times that are an
hour off in summer. Writes of ours that QuickBooks executed in the same company file show by how much.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

CALIBRATED_WITHIN = timedelta(days=1)
"""How long before or after the sending a write was sent that shows the clock."""

MARGIN = timedelta(hours=2)
"""By how much the clock may have changed since: summer time, and a clock that was set."""

MAX_UNCERTAINTY = timedelta(minutes=1)
"""Up to which uncertainty an object counts as created after the sending."""

_SECOND = timedelta(seconds=1)
"""QuickBooks cuts times to whole seconds."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A write of ours: QuickBooks created the object at `created_at` of its clock, between two times of ours."""

    sent_at: datetime
    responded_at: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BooksClock:
    """How far the clock of the books is ahead of ours: in each sample, at least `least` and at most `most`.

    If the samples show different clocks, `least` is that of the fastest one, and may be more than `most`. `earliest` is
    that of the slowest one. `is_bracketed` means that there are samples from after the sending, and from so long before
    it that a change of the clock by MARGIN would show.
    """

    earliest: timedelta
    least: timedelta
    most: timedelta
    is_bracketed: bool

    def since(self, moment: datetime) -> datetime:
        """Return a time of the books' clock that is certainly before a moment of ours."""
        return moment + self.earliest - MARGIN

    def may_be_between(self, created_at: datetime, first: datetime, last: datetime) -> bool:
        """Return whether an object was created between two moments of ours, to within MAX_UNCERTAINTY.

        False if the clock is not known that well.
        """
        is_known = self.is_bracketed and self.most - self.least <= MAX_UNCERTAINTY
        return is_known and first <= created_at + _SECOND - self.least and created_at - self.most <= last


def books_clock(samples: Sequence[Sample], sent_at: datetime) -> BooksClock | None:
    """Return the clock that writes within a day of the sending show, or None without such writes."""
    used = [one for one in samples if abs(one.sent_at - sent_at) <= CALIBRATED_WITHIN]
    if not used:
        return None
    least = [one.created_at - one.responded_at for one in used]
    most = [one.created_at + _SECOND - one.sent_at for one in used]
    long_before, after = sent_at - MARGIN, sent_at
    is_bracketed = any(one.responded_at <= long_before for one in used) and any(one.sent_at >= after for one in used)
    return BooksClock(min(least), max(least), min(most), is_bracketed)
