"""The statuses that a request can be answered with.

QuickBooks does not list them for each request. They follow from what the request does and from its elements. Statuses
of recovery, of macros and of the former online edition are left out, because consumers do not meet them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from domain.qbxml.codes.statuses import STATUSES, Status
from domain.qbxml.schema.facts import particles_of, request_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CHANGE = "Add Mod"
_WRITE = "Add Mod Del Void Merge"
_EXISTING = "Mod Del Void Merge Display"


@dataclass(frozen=True, slots=True)
class _Rule:
    """Statuses of requests that do one of `verbs` and match `having`. An empty condition is met by every request.

    `having` matches the whole name of an element or of a base type, or `ENUMERATION`.
    """

    codes: tuple[int, ...]
    verbs: str = ""
    having: str = ""

    def applies(self, verb: str, words: frozenset[str]) -> bool:
        return (not self.verbs or verb in self.verbs.split()) and (
            not self.having or any(re.fullmatch(self.having, word) for word in words)
        )


_RULES = (
    _Rule((0, 530, 560, 1000, 1010, 1030, 1060, 3231, 3250, 3260, 3261)),
    _Rule((1, 501), "Query"),
    _Rule((500,), "Query", "ListID|TxnID|FullName|RefNumber"),
    _Rule((510,), _CHANGE),
    _Rule((531, 3110), "", "ENUMERATION"),
    _Rule((550,), _CHANGE, "Notes"),
    _Rule((570,), _CHANGE, "LinkToTxn|LinkToTxnID"),
    _Rule((3000,), "", "IDTYPE|iteratorID"),
    _Rule((3010,), "", "BOOLTYPE"),
    _Rule((3020,), "", "DATETYPE|DATETIMETYPE"),
    _Rule((3030,), "", "From(Modified|Txn|Report|ReportModified|Deleted)Date"),
    _Rule((3031,), "", "FromName|FromRefNumber"),
    _Rule((3035,), "", "TIMEINTERVALTYPE"),
    _Rule((3040,), "", "AMTTYPE"),
    _Rule((3045,), "", "PRICETYPE"),
    _Rule((3050,), "", "PERCENTTYPE"),
    _Rule((3060,), "", "QUANTYPE"),
    _Rule((3070,), "", "STRTYPE"),
    _Rule((3085,), "", "INTTYPE|FLOATTYPE"),
    _Rule((3100,), _CHANGE, "Name"),
    _Rule((3120,), _EXISTING),
    _Rule((3130,), _CHANGE, "ParentRef"),
    _Rule((3140,), "", r"\w+Ref"),
    _Rule((3160,), "Del"),
    _Rule((3161, 3171), _CHANGE, "TxnDate"),
    _Rule((3161, 3171), "Del Void", "TxnID"),
    _Rule((3170,), "Mod Merge"),
    _Rule((3175, 3176, 3263), _WRITE),
    _Rule((3180, 3210), _CHANGE),
    _Rule((3185,), "Void"),
    _Rule((3190,), "Mod"),
    _Rule((3200,), "", "EditSequence"),
    _Rule((3205,), _CHANGE, "Addr1"),
    _Rule((3262,), "", "SSN|CreditCardInfo|BirthDate"),
    _Rule((3262,), "Query", "Employee|Payroll"),
)

_verb = re.compile(r"(Display|Query|Add|Mod|Del|Void|Merge)(?:Add|Mod)?Rq\Z").search
_subject = re.compile(r"(?:Employee|Payroll)(?=[A-Z])").match


def possible_answers(request_name: str) -> Sequence[Status]:
    """Return the statuses, by code. Raises KeyError for a request that is not in the schema."""
    facts = request_facts(request_name)
    verb = _verb(request_name)
    if facts is None or verb is None:
        raise KeyError(request_name)
    subject = _subject(request_name)
    words = frozenset({*_words(facts), *([subject[0]] if subject else [])})
    codes = {code for rule in _RULES if rule.applies(verb[1], words) for code in rule.codes}
    return [STATUSES[code] for code in sorted(codes)]


def _words(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the elements and attributes of a request, and of their types."""
    yield from facts["attributes"]
    for group in (facts["content"], *facts["types"]):
        yield from ["ENUMERATION"] if isinstance(group, list) else _words_in(group)


def _words_in(group: Mapping[str, Any]) -> Iterator[str]:
    for particle in particles_of(group):
        if isinstance(particle, list):
            yield particle[0]
            yield particle[2] if isinstance(particle[2], str) else ""
        else:
            yield from _words_in(particle)
