"""Formats, limits and descriptions that OpenAPI needs and that types alone cannot express."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

# pydantic needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from domain.connections.second_machine import WARNING_CODES
from domain.queueing.waiting_reason import CODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.connections.second_machine import ConnectionWarning
    from domain.queueing.waiting_reason import WaitingReason

T = TypeVar("T")


class Schema:
    """Keywords that are added to a type's JSON Schema: `Annotated[str, Schema(format="uuid")]`."""

    def __init__(self, description: str | None = None, **keywords: Any) -> None:
        self._keywords = keywords | ({"description": description} if description else {})

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """Return the type's schema with the keywords. Pydantic calls this method."""
        return handler(core) | self._keywords


Uuid = Annotated[str, Schema(format="uuid")]
Moment = Annotated[
    str,
    Schema("ISO 8601 in UTC with microseconds", format="date-time", examples=["2026-03-14T12:00:00.000000Z"]),
]

QuickBooksStatus = Annotated[
    str,
    Schema(
        "Like `status`, but `connected` means that QuickBooks has answered. `testing`: the Web Connector has "
        "logged in, and QuickBooks has not answered yet",
        enum=["never_connected", "testing", "connected", "error"],
    ),
]


class Data(TypedDict, Generic[T]):
    """A response with one object."""

    data: T  # the object, or null in a `Data[ConnectionView | None]`


PageNumber = Annotated[int, Schema(minimum=1)]
TotalPages = Annotated[int, Schema("0 when there are none", minimum=0)]


class Page(TypedDict, Generic[T]):
    """One page of a list."""

    data: list[T]
    page: PageNumber
    total_pages: TotalPages


class WaitingReasonView(TypedDict):
    """Why a request or a connection waits."""

    code: Annotated[str, Schema(enum=list(CODES))]
    message: Annotated[str, Schema("For developers")]
    hint: Annotated[str | None, Schema("What to do; null when nothing needs to be done")]


def waiting_reason(reason: WaitingReason | None) -> WaitingReasonView | None:
    """Return the view of a waiting reason."""
    return {"code": reason.code, "message": reason.message, "hint": reason.hint} if reason else None


class ConnectionWarningView(TypedDict):
    """Something about a connection that needs a person, although nothing waits because of it."""

    code: Annotated[str, Schema(enum=list(WARNING_CODES))]
    message: Annotated[str, Schema("For developers")]
    hint: Annotated[str, Schema("What to do")]


def warning(stored: ConnectionWarning) -> ConnectionWarningView:
    """Return the view of a warning."""
    return {"code": stored.code, "message": stored.message, "hint": stored.hint}
