"""Bloom filters: which search blocks may have a whole value. A filter takes twelve bits for each value of its block.

One of three hundred blocks without a value is read for nothing, and no block with the value is left out.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_BITS_PER_VALUE = 12
_BITS_SET = 8
"""The number with the fewest needless reads at this size."""


def filter_of(values: Collection[str]) -> bytes:
    """Return the filter of these values."""
    bits = bytearray(-(-len(values) * _BITS_PER_VALUE // 8) or 1)
    for value in values:
        for bit in hashes_of(value):
            bits[bit % (8 * len(bits)) // 8] |= 1 << bit % 8
    return bytes(bits)


def hashes_of(value: str) -> list[int]:
    """Return the hashes of a value, each of which sets a bit. Computing them takes longer than testing a filter."""
    digest = blake2b(value.encode(errors="surrogatepass"), digest_size=16).digest()
    first, step = int.from_bytes(digest[:8]), int.from_bytes(digest[8:])
    return [first + number * step for number in range(_BITS_SET)]


def may_have(filter_: bytes, hashes: list[int]) -> bool:
    """Return whether a filter has all bits of a value."""
    size = 8 * len(filter_)
    return all(filter_[bit % size // 8] >> bit % 8 & 1 for bit in hashes)
