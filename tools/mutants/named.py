"""Mutants with a name: each breaks one rule of the core. A test checks that each text still occurs once."""

from __future__ import annotations

from dataclasses import dataclass

from tools.mutants.operators import Mutant, lines_to_execute
from tools.mutants.tracing import ROOT


@dataclass(frozen=True, slots=True)
class Named:
    """A rule that is broken by replacing `before`, which occurs once in a module, by `after`."""

    rule: str
    path: str
    before: str
    after: str


NAMED = (
    Named(
        "a pause returns all requests of a claimed set",
        "domain/web_connector/session/sending.py",
        "claimed.requeued(now)) for claimed in dispatch.records]",
        "claimed.requeued(now)) for claimed in dispatch.records[:1]]",
    ),
    Named(
        "a set that was sent is not sent again without a member",
        "domain/web_connector/session/sending.py",
        "if message_set is None or len(self.items) == message_set.size:",
        "if True:",
    ),
    Named(
        "a request with dependants is sent alone",
        "domain/web_connector/session/sets.py",
        "not record.dependants\n        and not record.is_low",
        "not record.is_low",
    ),
    Named(
        "a request of the low lane is sent alone",
        "domain/web_connector/session/sets.py",
        "not record.dependants\n        and not record.is_low",
        "not record.dependants",
    ),
    Named(
        "a running write of the low lane holds both lanes",
        "domain/records/request.py",
        "comes_first = self.recovering or self.queue_priority == FIRST_IN_LINE",
        "comes_first = False",
    ),
    Named(
        "a set of the low lane begins a new cycle",
        "domain/records/session.py",
        "sends=0 if first.is_low else (self.sends + 1)",
        "sends=(self.sends + 1)",
    ),
    Named(
        "a reader stops at a gap",
        "domain/events/feed.py",
        "while group and group.position == expected:",
        "while group:",
    ),
    Named(
        "the oldest cursor is read twice",
        "domain/events/feed.py",
        "for _ in range(2)]",
        "for _ in range(1)]",
    ),
    Named(
        "a released dependant passes no entry that was not read",
        "domain/web_connector/session/claims.py",
        "for record in queued_again if last is None or record.place_in_queue < last]",
        "for record in queued_again]",
    ),
    Named(
        "a session claims no request that it had",
        "domain/web_connector/session/claims.py",
        "if record.claim.session_id != self.session_id and not",
        "if not",
    ),
    Named(
        "nothing behind a running write is claimed",
        "domain/web_connector/session/claims.py",
        "queue[: running + 1]",
        "queue",
    ),
    Named(
        "released requests are claimed in queue order",
        "domain/web_connector/session/claims.py",
        'queue.sort(key=attrgetter("place_in_queue"))',
        "pass",
    ),
    Named(
        "the claim of a request that has ended is skipped",
        "domain/web_connector/session/claims.py",
        "queue = [record for record in front if record not in skipped]",
        "queue = list(front)",
    ),
    Named(
        "a session that ends holds no request",
        "domain/web_connector/session/end.py",
        "ended=True, in_flight=None, connection=None",
        "ended=True, connection=None",
    ),
    Named(
        "a session that ends releases every request",
        "domain/web_connector/session/end.py",
        ".change(request) for request in requests]",
        ".change(request) for request in requests[:1]]",
    ),
    Named(
        "a session that ends frees its connection",
        "domain/web_connector/session/end.py",
        "session_id=None,",
        "",
    ),
    Named(
        "a write whose response was lost is recovered",
        "domain/web_connector/outcomes/lost_response.py",
        "if record.is_read:\n        priority",
        "if True:\n        priority",
    ),
    Named(
        "a write may run on after its session, however that ended",
        "domain/web_connector/outcomes/lost_response.py",
        "record.queued_for_recovery(now, running_until=running_until)",
        "record.queued_for_recovery(now, running_until=None)",
    ),
    Named(
        "a write without its own response is never sent again",
        "domain/web_connector/outcomes/outcome.py",
        "Ended(outcome_unknown(record, now, MISSING, reason_details(Reason.RESPONSE_NOT_UNDERSTOOD)))",
        "Requeued(record.divided(now))",
    ),
    Named(
        "a dependant that has ended is not released",
        "domain/batches/dependants.py",
        "if dependant and _waits_for(dependant.record, position):",
        "if dependant:",
    ),
    Named(
        "the values of several dependencies arrive one after the other",
        "domain/batches/dependants.py",
        "replace(dependant, record=after, references=references)",
        "replace(dependant, record=after)",
    ),
    Named(
        "a change is made to the revision that was read",
        "adapters/dynamodb/operations.py",
        'f"{keys.REVISION} = :before"',
        'f"{keys.REVISION} = :before OR {keys.REVISION} <> :before"',
    ),
    Named(
        "an entity is added once",
        "adapters/dynamodb/operations.py",
        'f"attribute_not_exists({key})", change',
        'f"attribute_not_exists({key}) OR attribute_exists({key})", change',
    ),
    Named(
        "a commit recognises what it stored itself",
        "adapters/dynamodb/transactions.py",
        "operation.is_own(item, transaction.commit_id) or ",
        "",
    ),
    Named(
        "a record that left its place in the queue leaves no entry",
        "adapters/dynamodb/queue.py",
        "if old and old != new:",
        "if False:",
    ),
    Named(
        "an author does not decide about their own request",
        "domain/records/approval.py",
        "None in {author.id, self.queued_by} or author.id == self.queued_by",
        "None in {author.id, self.queued_by}",
    ),
    Named(
        "a key and its rotations are one author",
        "domain/apps/administration.py",
        "first_key_id=former.family if former else None",
        "first_key_id=None",
    ),
    Named(
        "a session token is of the sign-in that it names",
        "domain/people/sign_ins.py",
        "if not found or not token.is_of(found.sign_in) or not",
        "if not found or not",
    ),
    Named(
        "only a verified address redeems an invitation",
        "domain/people/sign_ins.py",
        "if not claims.email_verified:",
        "if False:",
    ),
    Named(
        "an approval is for the revision that was looked at",
        "domain/queueing/approvals.py",
        "if record.revision != revision:",
        "if False:",
    ),
    Named(
        "nobody decides after the time for it",
        "domain/queueing/approvals.py",
        "if record.misses_send_by(now):",
        "if False:",
    ),
    Named(
        "a decision is final",
        "domain/queueing/approvals.py",
        "if not record.awaits_approval:",
        "if False:",
    ),
    Named(
        "after a restore, an approval does not count",
        "domain/records/request.py",
        "approval = self.approval.asked_again()",
        "approval = self.approval",
    ),
    Named(
        "an update writes only after an approval",
        "domain/records/request.py",
        "is_approved = self.approval.decision is ApprovalDecision.APPROVED",
        "is_approved = True",
    ),
    Named(
        "an approval is for one text",
        "domain/records/request.py",
        "return is_approved and self.lookup.modification_id == modification_id",
        "return is_approved",
    ),
    Named(
        "an addition in place of an update needs its own approval",
        "domain/web_connector/outcomes/looking.py",
        "if record.may_write(None) else _approval_of_addition(record, now)",
        "",
    ),
    Named(
        "a Mod needs its own approval",
        "domain/web_connector/outcomes/looking.py",
        "_not_recovering(record, now), record.may_write(mod_id)",
        "_not_recovering(record, now), True",
    ),
    Named(
        "a write that differs from the approved one has no approval",
        "domain/web_connector/outcomes/looking.py",
        "replace(queued.awaiting_approval_again(now), claim=Claim())",
        "replace(queued, claim=Claim())",
    ),
    Named(
        "an addition that waits for approval is not the Mod before it",
        "domain/records/lookup.py",
        "None if step is LookupStep.ADD else self.modification_id",
        "self.modification_id",
    ),
    Named(
        "a write that waits for approval is not in the queue",
        "domain/records/request.py",
        "self.state in QUEUED and not self.dependencies and not self.awaits_approval",
        "self.state in QUEUED and not self.dependencies",
    ),
    Named(
        "after a restore, a recovered write waits for approval",
        "domain/web_connector/outcomes/outcome.py",
        "Requeued(again) if again.awaits_approval else SentAgain(",
        "SentAgain(",
    ),
    Named(
        "values that nobody has seen are not approved",
        "domain/queueing/approvals.py",
        "if record.dependencies and not accept_values:",
        "if False:",
    ),
    Named(
        "a copy waits for approval anew",
        "domain/queueing/new_request.py",
        "needs_approval=record.approval is not None",
        "needs_approval=False",
    ),
    Named(
        "what replaces a write that needed approval needs it too",
        "domain/queueing/new_request.py",
        "new.needs_approval or replaced.approval is not None",
        "new.needs_approval",
    ),
    Named(
        "every write of a key that proposes needs approval",
        "domain/queueing/new_request.py",
        "new.needs_approval or new.author.proposes or",
        "new.needs_approval or",
    ),
)


def mutants() -> list[Mutant]:
    """Return the named mutants. Raises ValueError if a text does not occur once."""
    return [_mutant(entry) for entry in NAMED]


def _mutant(entry: Named) -> Mutant:
    path = ROOT / "src" / entry.path
    source = path.read_bytes()
    before = entry.before.encode()
    if source.count(before) != 1:
        raise ValueError(f"{entry.path} has {source.count(before)} times, not once: {entry.before}")
    start = source.index(before)
    line = source[:start].count(b"\n") + 1
    lines = lines_to_execute(source, line)
    return Mutant(path, line, start, start + len(before), entry.after, lines, entry.rule)
