"""What callers may send: bodies and query parameters. Anything else is refused by name."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain import qbxml
from domain.errors import InvalidRequest, Problem
from domain.queued_request import State, WebhookState


class _Body(BaseModel):
    """A body: no unknown fields, no types taken for others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewQueuedRequest(_Body):
    """A QBXML request to queue, as a tree or as XML. The whole may stand inside `{"queued_request": {…}}`."""

    request_json: Annotated[
        Any,
        Field(
            description="The request as a tree: `{version, request: {name, attributes, children}}`.",
            json_schema_extra={"anyOf": [{"type": "object"}, {"type": "array"}, {"type": "null"}]},
        ),
    ] = None
    request_xml: Annotated[str | None, Field(description="The request as QBXML, with or without prologue.")] = None
    webhook_url: Annotated[
        str | None, Field(description="Where to post the outcome; without it the connection's default.")
    ] = None

    @model_validator(mode="before")
    @classmethod
    def unwrapped(cls, value: Any) -> Any:
        """Take the fields from inside `queued_request` when that is all there is (contract §4)."""
        if isinstance(value, dict) and list(value) == ["queued_request"]:
            return value["queued_request"]
        return value

    def request(self) -> qbxml.Request:
        """Return the request. Raises InvalidRequest when there is none, it is wrong, or the two forms differ."""
        if self.request_xml is None and self.request_json is None:
            raise InvalidRequest.of("request_json", "is missing: send request_json or request_xml")
        from_json = None if self.request_json is None else qbxml.parse_request_json(self.request_json)
        from_xml = None if self.request_xml is None else qbxml.parse_request_xml(self.request_xml)
        if from_json and from_xml and from_json != from_xml:
            message = "says something else than request_xml: send one of them"
            raise InvalidRequest([Problem("request_json", message)])
        request = from_json or from_xml
        if request is None:
            raise AssertionError("one of the two forms was given")
        return request


class NewConnection(_Body):
    """A connection to create; everything is optional."""

    name: Annotated[str | None, Field(max_length=200, description="What people call it.")] = None
    company_file: Annotated[
        str | None,
        Field(max_length=500, description="The company file's full path; without it the one that is open is used."),
    ] = None
    webhook_url: Annotated[str | None, Field(description="Where the outcome of its requests is posted.")] = None


class NewPassword(_Body):
    """A password for the Web Connector; without one it is generated."""

    password: Annotated[str | None, Field(description="12 to 128 characters.")] = None


class NoParameters(BaseModel):
    """Of endpoints without query parameters."""


class PageParameters(BaseModel):
    """Which page of a list."""

    page: Annotated[int, Field(ge=1, description="Counts from 1.")] = 1
    page_size: Annotated[int, Field(ge=1, le=100)] = 20


class ListParameters(PageParameters):
    """Which queued requests, in which order."""

    sort: Literal["inserted_at", "updated_at"] = "inserted_at"
    sort_direction: Literal["asc", "desc"] = "desc"
    search_phrase: Annotated[
        str | None, Field(max_length=200, description="A part of an id, a name, a label, a text or a message.")
    ] = None
    state: State | None = None
    webhook_state: WebhookState | None = None


class DeleteParameters(BaseModel):
    """How to delete."""

    force: Annotated[bool, Field(description="Delete also what still waits.")] = False
