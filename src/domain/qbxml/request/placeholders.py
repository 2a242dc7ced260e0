"""The texts that stand in place of references while a request is read and checked."""

from __future__ import annotations


class Placeholder(str):
    """The text of an element whose value is a reference: `$0` for reference 0. The value is checked when it arrives."""

    __slots__ = ()

    def translate(self, _table: object, /) -> str:
        """Return the mark that is stored. Writers of XML escape each text with `translate`, so it is written as is."""
        return f"<?from {self[1:]}?>"
