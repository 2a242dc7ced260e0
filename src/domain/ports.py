"""Time, identifiers and randomness, which callers pass in."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Returns the current time, aware and in UTC."""

IdSource: TypeAlias = Callable[[], str]
"""Returns a new identifier: a lower-case UUID that was never returned before."""

SecretSource: TypeAlias = Callable[[int], bytes]
"""Returns this number of random bytes, which are suitable for secrets."""
