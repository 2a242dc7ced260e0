"""What callers may send: bodies and query parameters. Anything else is refused by name."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from domain.connections.sync_window import SyncWindow
from domain.requests.record import State, WebhookState
from domain.web_connector.session.record import MAX_LINGER_SECONDS


class Body(BaseModel):
    """A body: no unknown fields, no types taken for others."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _one_line(text: str) -> str:
    """Refuse control characters and U+FFFE, U+FFFF: the Web Connector reads XML, which cannot hold them all."""
    if _UNWRITABLE.search(text):
        raise ValueError("must be one line without control characters")
    return text


_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")
Line = Annotated[str, AfterValidator(_one_line)]


class NewSyncWindow(Body):
    """The hours in which QuickBooks may be worked with, by the wall clock of a time zone; may go past midnight."""

    from_: Annotated[str, Field(alias="from", description="Time of day, `HH:MM`.", examples=["22:00"])]
    to: Annotated[str, Field(description="Time of day, not the same as `from`.", examples=["06:00"])]
    time_zone: Annotated[str, Field(description="IANA name.", examples=["America/New_York"])]


class NewConnection(Body):
    """A connection's settings; everything is optional, null means without."""

    name: Annotated[Line | None, Field(max_length=200, description="What people call it.")] = None
    company_file: Annotated[
        Line | None,
        Field(max_length=500, description="The company file's full path; without it the one that is open is used."),
    ] = None
    webhook_url: Annotated[str | None, Field(description="Where the outcome of its requests is posted.")] = None
    sync_window: Annotated[
        NewSyncWindow | None, Field(description="Without it QuickBooks is worked with at any hour.")
    ] = None
    linger_seconds: Annotated[
        int | None,
        Field(
            ge=0,
            le=MAX_LINGER_SECONDS,
            description="How long a session waits for more after its last request; 0 (the default): not at all.",
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """Return what was given, as members of a connection. Raises InvalidRequest."""
        given = self.model_dump(exclude_unset=True)
        if "linger_seconds" in given:
            given["linger_seconds"] = self.linger_seconds or 0
        if self.sync_window:
            window = self.sync_window
            given["sync_window"] = SyncWindow.checked(window.from_, window.to, window.time_zone)
        return given


class ChangedConnection(NewConnection):
    """The settings to change; what is not given stays as it is."""


class NewPassword(Body):
    """A password for the Web Connector; without one it is generated."""

    password: Annotated[Line | None, Field(description="12 to 128 characters.")] = None


class NewOnboardingUrl(Body):
    """An onboarding link."""

    redirect_url: Annotated[
        str | None,
        Field(
            description="Where the page leads when it is done, with `state=connected`, `cancelled` or `expired` added "
            "to the query.",
            examples=["https://example.com/quickbooks/connected"],
        ),
    ] = None


class NoParameters(BaseModel):
    """Of endpoints without query parameters."""


class PageParameters(BaseModel):
    """Which page of a list."""

    page: Annotated[int, Field(ge=1, description="Counts from 1.")] = 1
    page_size: Annotated[int, Field(ge=1, le=100)] = 20

    @field_validator("page", "page_size", mode="before")
    @classmethod
    def in_digits(cls, value: Any) -> Any:
        """Refuse what pydantic reads as a whole number beside digits: `1_0`, `1.0`, ` 1`."""
        if isinstance(value, str) and not _WHOLE_NUMBER.fullmatch(value):
            raise ValueError("must be a whole number")
        return value


_WHOLE_NUMBER = re.compile(r"-?[0-9]+")


class ListParameters(PageParameters):
    """Which queued requests, in which order."""

    sort: Literal["inserted_at", "updated_at"] = "inserted_at"
    sort_direction: Literal["asc", "desc"] = "desc"
    search_phrase: Annotated[
        str | None,
        Field(
            max_length=200,
            description="A part of an id, a name, a label, a text or a message. "
            "A search that does not end within 20 seconds is answered 400 `invalid_request`.",
        ),
    ] = None
    state: State | None = None
    webhook_state: WebhookState | None = None


class DeleteParameters(BaseModel):
    """How to delete."""

    force: Annotated[bool, Field(description="Delete also what still waits.")] = False
