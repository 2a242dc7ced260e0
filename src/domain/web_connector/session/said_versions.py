"""The version that a Web Connector says in `clientVersion`, a few seconds before it logs in.

That call has no ticket and no user name, so only the address connects it with the login. Two Web Connectors of one
office share an address: if they say different versions at the same time, the version is not known. It is also not known
if another process gets the login.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

BEFORE_LOGIN = timedelta(seconds=10)
"""The Web Connector logs in right after `clientVersion`."""

MAX_ADDRESSES = 1_000
"""A process remembers no more of them: anybody can make this call."""

_VERSION = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,5}){1,3}")


class SaidVersions:
    """The versions that were said lately, by address."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[str | None, datetime]] = {}
        """The version, or None if it is in doubt, and when one was said last. The address that called last is last."""

    def note(self, address: str | None, version: str, now: datetime) -> None:
        """Remember a version that was said now."""
        if address is None or not _VERSION.fullmatch(version):
            return
        before, at = self._said.pop(address, (version, now))
        is_in_doubt = before != version and at > now - BEFORE_LOGIN
        self._said[address] = None if is_in_doubt else version, now
        if len(self._said) > MAX_ADDRESSES:
            self._said.pop(next(iter(self._said)), None)

    def said_at(self, address: str | None, now: datetime) -> str | None:
        """Return the version that the Web Connector at an address has just said, or None if it is not known."""
        version, at = self._said.get(address or "", (None, now))
        return version if at > now - BEFORE_LOGIN else None
