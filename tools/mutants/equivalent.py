"""Equivalent mutants: no behaviour depends on the change. A test checks that each is still made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.mutants.tracing import ROOT

if TYPE_CHECKING:
    from tools.mutants.operators import Mutant

_OUTCOMES, _SESSION = "domain/web_connector/outcomes", "domain/web_connector/session"

REASONS = {
    (f"{_OUTCOMES}/attribution.py", 'tag, _, _ = text[start:].partition(">")'): (
        "It bounds the time for a text without `>`. The tag of QuickBooks is shorter."
    ),
    (f"{_SESSION}/admission.py", "COUNTER_KEPT_SECONDS = 60 * 61"): (
        "A counter is used for two seconds. No rule depends on when it is removed later."
    ),
    (
        f"{_SESSION}/sending.py",
        "if (first.stored.request_xml and (not any(map(sets.may_have_company, _writable([first]))))):",
    ): ("A set of one has no companions. The test of the size saves the time of reading the request."),
    ("domain/batches/dependants.py", "return cls(after, response=qbxml.ResponseValues((change.response_xml)))"): (
        "A request that ends with a response has one. The default is for the type."
    ),
    (
        f"{_SESSION}/login.py",
        "if (recorded != before.updated_at or recorded <= timestamp(self.now - RECORDED_EVERY)):",
    ): "A connection always has `updated_at`, which None is not. The test for None is for the type.",
    (
        f"{_SESSION}/polling.py",
        "shortest = min(MIN_USER_INTERVAL_SECONDS * 2 ** min(connection.turned_away, 9), IDLE_POSTPONEMENT_SECONDS)",
    ): "Three doublings reach the longest postponement. More only make the number larger.",
    (f"{_OUTCOMES}/looking.py", "return _after_answer(stored, (outcome.response_xml), open_key, now)"): (
        "A request that was answered has a response. The default is for the type."
    ),
    ("adapters/dynamodb/transactions.py", "if self._dynamodb.monotonic() - start >= MAX_REPEATING_SECONDS:"): (
        "No two readings of the clock are exactly this far apart."
    ),
    ("domain/events/log.py", "LOOK_BACK = 17"): (
        "More groups recognise the same repetitions. The number is what one read unit pays for."
    ),
    ("domain/queueing/new_request.py", "MAX_SECONDS_WITH_APPROVAL = 2 * 367 * 24 * 60 * 60"): (
        "A key is released a day after the end of its request. The number bounds one that never ends."
    ),
    (
        f"{_SESSION}/sending.py",
        "waits = not page_is_allowed and record.inserted_at >= timestamp(now - MAX_PAGE_DELAY)",
    ): "At this very moment it may wait or not.",
    (f"{_SESSION}/admission.py", "self._executor = executor or ThreadPoolExecutor(2)"): (
        "A count takes less than the second after which the next one begins."
    ),
    (f"{_SESSION}/login.py", "TICKET_BYTES = 17"): "More random bytes are as good.",
    ("domain/queueing/new_request.py", "if (not isinstance(claim, IdempotencyClaim)):"): (
        "While an ordinary key lives, its requests have not ended more than a day ago. The test saves reading them."
    ),
}
"""Why each is equivalent, by its module and its last changed line."""


def reason_of(mutant: Mutant) -> str:
    """Return why a mutant is equivalent, or an empty text."""
    return REASONS.get(key_of(mutant), "")


def key_of(mutant: Mutant) -> tuple[str, str]:
    """Return the module and the last changed line of a mutant."""
    changed = mutant.diff(mutant.path.read_bytes()).splitlines()[-1]
    return mutant.path.relative_to(ROOT / "src").as_posix(), changed[1:].strip()
