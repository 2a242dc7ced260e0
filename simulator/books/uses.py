"""Which records refer to a list object."""

from __future__ import annotations

from collections import defaultdict
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simulator.books.records import Fields, Record


class Uses:
    """The users of each list object: the ids of the records with a reference to it, in the order of their last change.

    The references of a record are read when somebody asks for users next: a company file is made without such a
    question, and reading all references takes an eighth of the time. Several threads may ask at once.
    """

    def __init__(self) -> None:
        self._users: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._unread: dict[str, Record] = {}
        self._reading = Lock()

    def add(self, record: Record) -> None:
        """Note a new or changed record."""
        self._unread[record.id] = record

    def remove(self, record: Record) -> None:
        """Forget a record, before it changes or is taken out."""
        if self._unread.pop(record.id, None) is None:
            for target in references(record.fields):
                del self._users[target][record.id]

    def of(self, list_id: str) -> Iterable[str]:
        """Return the ids of the users of a list object."""
        return self.all().get(list_id, {})

    def all(self) -> Mapping[str, Mapping[str, None]]:
        """Return the users of all list objects."""
        with self._reading:
            for record in self._unread.values():
                for target in references(record.fields):
                    self._users[target][record.id] = None
            self._unread.clear()
        return self._users

    def copy(self, copied: Callable[[Record], Record]) -> Uses:
        """Return the same uses in a copy of the books. `copied` returns the copy of a record."""
        uses = Uses()
        with self._reading:
            uses._users.update({target: users.copy() for target, users in self._users.items()})
            uses._unread = {record_id: copied(record) for record_id, record in self._unread.items()}
        return uses


def references(fields: Fields) -> set[str]:
    """Return the ListIDs in the references of a record's fields."""
    found: set[str] = set()
    pending: list[Any] = [fields]
    for holder in pending:
        for member in holder.values() if type(holder) is dict else holder:
            kind = type(member)
            if kind is dict:
                if len(member) == 1 and "ListID" in member:
                    found.add(member["ListID"])
                else:
                    pending.append(member)
            elif kind is list:
                pending.append(member)
    return found
