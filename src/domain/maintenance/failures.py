"""Failures of one item of a job in the background, which must not keep the job from the other items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, TypeVar

T = TypeVar("T")

OnFailure: TypeAlias = Callable[[Exception, Mapping[str, str]], None]
"""Called with each failure and with facts that name the item, such as `connection_id`."""


def raising(error: Exception, _facts: Mapping[str, str]) -> None:
    """Raise the failure, which ends the job."""
    raise error


def attempted(step: Callable[[], T], otherwise: T, on_failure: OnFailure, /, **facts: str) -> T:
    """Return the result of a step, or `otherwise` after a failure, which `on_failure` gets."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one item, the others must be handled
        on_failure(error, facts)
        return otherwise


def contained(items: Iterable[T], on_failure: OnFailure, /, **facts: str) -> Iterator[T]:
    """Yield the items up to a failure, which `on_failure` gets."""
    try:
        yield from items
    except Exception as error:  # noqa: BLE001 - as in `attempted`
        on_failure(error, facts)
