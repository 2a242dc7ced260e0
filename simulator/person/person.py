"""The person: chooses edits from a seed, and makes them as QuickBooks' own user.

The same seed gives the same edits of the same company. QuickBooks checks the edits as it checks requests. They are not
in `company.executed`, because no application sent them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from simulator.basics.xml_trees import read_tree
from simulator.person.edits import EDITS, Desk

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from simulator.company import Company

_TRIES = 100
"""How many edits are tried to find one for which the company has something."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What the person did: its name in `EDITS`, the id of the record ('' for a backup), and QuickBooks' status.

    0 is success. With any other status nothing changed.
    """

    name: str
    record_id: str
    status: int


class Person:
    """Makes one random edit at a time. `edits` are names of `EDITS`, by default all.

    Raises `ValueError` for an edit that does not exist.
    """

    def __init__(self, company: Company, seed: int, edits: Iterable[str] = EDITS) -> None:
        self._company = company
        self._edits = list(edits)
        if unknown := [name for name in self._edits if name not in EDITS]:
            raise ValueError(f"{unknown[0]!r} is not an edit. The edits are {', '.join(EDITS)}.")
        self._desk = Desk(company, Random(seed))  # noqa: S311 - the edits have to repeat

    def edit(self) -> Edit:
        """Make an edit and return it. Raises `ValueError` if the company has nothing for any of the edits."""
        weights = [EDITS[name].weight for name in self._edits]
        with self._company.unobserved():
            for name in self._desk.chance.choices(self._edits, weights, k=_TRIES):
                change = EDITS[name].make(self._desk)
                if change is None:
                    continue
                response = self._ask(change.request) if change.request else None
                status = 0 if response is None else int(response.get("statusCode", "0"))
                return Edit(name, change.record_id or _id_in(response), status)
        raise ValueError(f"The company has nothing for any of the edits {', '.join(self._edits)}.")

    def _ask(self, request: str) -> Element:
        envelope = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{request}</QBXMLMsgsRq></QBXML>'
        text = f'<?xml version="1.0"?><?qbxml version="{self._company.product.highest_version}"?>{envelope}'
        return read_tree(self._company.process_request(text.encode("ascii", "xmlcharrefreplace").decode()))[0][0]


def _id_in(response: Element | None) -> str:
    """Return the id of the record that a response shows, '' without one."""
    ids = () if response is None else (one.text or "" for one in response.iter() if one.tag in {"ListID", "TxnID"})
    return next(iter(ids), "")
