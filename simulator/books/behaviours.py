"""What QuickBooks does beside the change that was asked for: behaviours that no document describes, each with a switch.

A service has to be right in both positions of each. `Books.does` tells the position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ON, OFF = "on", "off"
SUMMER = "standard_offset_in_summer"
"""The behaviour that belongs to the clock of the machine."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A behaviour. `settled_by` says what would show which position is QuickBooks' own."""

    about: str
    settled_by: str
    default: str = OFF


def _asked(question: str) -> str:
    return f"the question `{question}` of `qbxml-queue check`"


BEHAVIOURS: Mapping[str, Behaviour] = {
    "payment_touches_paid": Behaviour(
        "What a payment or a credit settles gets another TimeModified and EditSequence.", _asked("payment")
    ),
    "deletion_touches_paid": Behaviour(
        "What a payment or a credit had settled gets them when it is deleted or voided.", _asked("deleted-payment")
    ),
    "fulfilment_touches_order": Behaviour(
        "An order gets them when its lines are invoiced or received, or no longer.",
        "a query of a sales order before and after its invoice",
    ),
    "balances_touch_lists": Behaviour(
        "An account, customer, vendor or item gets them when a transaction moves its balance or quantity.",
        _asked("balance"),
    ),
    "rename_touches_children": Behaviour(
        "What is below a renamed object gets them, because its full name is another.", _asked("rename")
    ),
    "merge_touches_referrers": Behaviour(
        "What referred to the source of a merge gets them.",
        "a query of an invoice before and after the merge of its customer",
        ON,
    ),
    "merge_lists_source": Behaviour("The source of a merge is in ListDeletedQuery.", _asked("merged"), ON),
    "custom_field_touches_record": Behaviour(
        "A record gets them when its custom field is set.", _asked("custom-field"), ON
    ),
    SUMMER: Behaviour(
        "Times in summer have the offset of winter, as in older QuickBooks. The time zone needs a summer.",
        _asked("offsets"),
    ),
    "restore_is_reported": Behaviour(
        "CompanyActivityQuery tells when the file was restored from a backup.",
        "the query after a restore of a sample file",
        ON,
    ),
}
"""The behaviours by name."""


def check(name: str, value: str) -> None:
    """Check a position. Raises `ValueError` for a behaviour or a value that does not exist."""
    if name not in BEHAVIOURS:
        raise ValueError(f"{name!r} is not a behaviour. The behaviours are {', '.join(BEHAVIOURS)}.")
    if value not in {ON, OFF}:
        raise ValueError(f"{name} must be {ON} or {OFF}, not {value!r}.")
