"""The bodies that queue requests. They are not in `models`, because only they need the code that reads QBXML."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from domain import qbxml
from domain.errors import MAX_PROBLEMS, InvalidRequest, Problem, of_request_in_batch
from domain.queueing.continuation import Correction
from domain.queueing.new_request import NewRequest, WebhookUrl
from domain.records.batch import MAX_REQUESTS, is_id
from domain.records.connection import Connection
from domain.records.lookup import IfExists
from domain.send_by import SendBy
from handlers.rest.endpoint import Body, Parameters
from handlers.rest.models import FORCE, Id, Label, Metadata, SendWithin, Time, Url

SEND_BY = (
    "The request ends as `not_sent_in_time` if it is not handed to the Web Connector before this time. At least a "
    "minute ahead, at most 366 days."
)
APPROVAL = (
    "`required`: a write waits until it is approved with another API key than the one that queued it. Without an "
    "approval it ends after seven days. Queries never wait."
)
SEND_WITHIN = "The same in seconds from the call on, in place of `send_by`."
NEWER_MEMBERS = ("send_by", "send_within", "approval")
PRIORITY = (
    "`low` for a backfill that nobody waits for: it is sent behind all requests with `normal`, alone, and at least as "
    "one of ten message sets. Not for an iterated query."
)
IF_EXISTS = (
    "What an addition does if its object exists. `return`: QuickBooks is asked for the object first, by its name or by "
    "its number and its customer, vendor or account. If it exists, the request ends with it, and nothing is added. "
    "`update`, for lists: if it exists, a Mod changes the fields that differ; if none does, nothing is sent. If it "
    "needs approval, QuickBooks is asked first, and what it would write waits for approval."
)
Priority = Literal["normal", "low"]


class NewRequestParameters(Parameters):
    """How a request is read."""

    validate_: bool = Field(
        default=True,
        alias="validate",
        serialization_alias="validate",
        description="`false` skips the check against the QBXML schema.",
    )
    transliterate: bool = Field(
        default=False, description="Replace characters that QuickBooks cannot store. By default they are refused."
    )

    def how_to_read(self, *, by_alias: bool = False) -> dict[str, bool]:
        """Return the parameters that change how a request is read."""
        return self.model_dump(include=set(NewRequestParameters.model_fields), by_alias=by_alias)


class CreateParameters(NewRequestParameters):
    """How a request is read, and what it may replace."""

    force: bool = Field(default=False, description=FORCE)


class WrittenRequest(Body):
    """A QBXML request, as JSON or as XML. The body may also be wrapped: `{"queued_request": {…}}`.

    A body with both forms is accepted if they describe the same request, so that a record can be queued again.
    """

    request_json: Any = Field(default=None, description="The request as a tree, or in the form of `response_json`.")
    request_xml: str | None = Field(default=None, description="The request as QBXML, with or without prologue.")
    iterate: Literal["auto", "never"] = Field(
        default="never",
        description="`auto`: send a query in pages of 100 objects if its response is too large for one call. The query "
        "must be able to iterate, and have no MaxReturned.",
    )
    webhook_url: Url | None = Field(
        default=None, description="Receiver of the webhook. The connection's default if not given, none if null."
    )

    label: Label | None = Field(
        default=None, description="Your own text, by which lists can be filtered. Pages of a query share it."
    )
    metadata: Metadata | None = Field(
        default=None,
        description="Your own names and values: up to 20 strings, with 2 KB in all. They come back with the request.",
        examples=[{"order": "1007"}],
    )

    send_by: Time | None = Field(default=None, description=SEND_BY, examples=["2026-03-14T18:00:00Z"])
    send_within: SendWithin | None = Field(default=None, description=SEND_WITHIN, examples=[3600])

    approval: Literal["required"] | None = Field(default=None, description=APPROVAL)
    if_exists: Literal["fail", "return", "update"] = Field(default="fail", description=IF_EXISTS)

    @model_validator(mode="before")
    @classmethod
    def unwrapped(cls, value: Any) -> Any:
        """Unwrap `{"queued_request": {…}}`."""
        if isinstance(value, dict) and list(value) == ["queued_request"]:
            return value["queued_request"]
        return value

    @property
    def gives_webhook(self) -> bool:
        """Whether the webhook is not left to the connection."""
        return self.webhook_choice is not WebhookUrl.DEFAULT

    @property
    def webhook_choice(self) -> str | WebhookUrl:
        """The webhook URL. Null means no webhook, and a missing member the connection's default."""
        if self.webhook_url is not None:
            return self.webhook_url
        return WebhookUrl.NONE if "webhook_url" in self.model_fields_set else WebhookUrl.DEFAULT

    def inputs(self, parameters: NewRequestParameters) -> list[Any]:
        """Return everything that a repeated call with the same `Idempotency-Key` must repeat."""
        opts_out = self.webhook_choice is WebhookUrl.NONE
        # Without the members that are newer than keys in use, unless they are given.
        newer = {name for name in NEWER_MEMBERS if getattr(self, name) is None}
        newer |= {"if_exists"} if self.if_exists == "fail" else set()
        given = self.model_dump(exclude={"replaces", "priority", *newer})
        return [given, parameters.how_to_read(), *(["no webhook"] if opts_out else [])]

    def reader(self, parameters: NewRequestParameters) -> Callable[[Connection], NewRequest]:
        """Return the function that reads the request for a connection. See `request`."""

        def read(connection: Connection) -> NewRequest:
            request = self.request(parameters, connection.country, connection.qbxml_version)
            return NewRequest(
                request,
                self.webhook_choice,
                may_iterate=self.iterate == "auto",
                label=self.label,
                metadata=self.metadata or {},
                send_by=SendBy(self.send_by, self.send_within),
                needs_approval=self.approval is not None,
                if_exists=IfExists(self.if_exists),
            )

        return read

    def request(
        self, parameters: NewRequestParameters, country: str | None, qbxml_version: str | None = None
    ) -> qbxml.Request:
        """Return the request, checked against the schema of the edition for `country` (None: the US).

        `qbxml_version` is the highest that QuickBooks supports. It decides the version of a request without one.

        Raises InvalidRequest if it is missing or wrong, or if the two forms differ.
        """
        if self.request_xml is None and self.request_json is None:
            raise InvalidRequest.of("request_json", "is missing. Send request_json or request_xml")
        options: dict[str, Any] = {**parameters.how_to_read(by_alias=True), "country": country}
        options["default_version"] = qbxml.default_version(qbxml_version)
        from_json = None if self.request_json is None else qbxml.parse_request_json(self.request_json, **options)
        # XML without a prologue has no version, and a tree has no onError. The other form supplies them.
        if from_json:
            options["default_version"] = from_json.version
        from_xml = None if self.request_xml is None else qbxml.parse_request_xml(self.request_xml, **options)
        if from_json and from_xml and not _are_the_same(from_json, from_xml):
            raise InvalidRequest.of("request_json", "differs from request_xml. Send only one of them")
        request = from_xml or from_json
        if request is None:
            raise AssertionError("one of the two forms is there")
        if self.iterate == "auto" and not qbxml.iterated(request):
            message = f"cannot be auto: {request.name} has no iterator, or it names its objects or limits their number"
            raise InvalidRequest.of("iterate", message)
        return request


def _not_an_id(ref: str) -> str:
    """Refuse a ref that looks like the id of another request."""
    if is_id(ref):
        raise ValueError("must not have the form of an id")
    return ref


Ref = Annotated[str, Field(min_length=1, max_length=50), AfterValidator(_not_an_id)]


class NewQueuedRequest(WrittenRequest):
    """A QBXML request to queue, as JSON or as XML. The body may also be wrapped: `{"queued_request": {…}}`.

    A body with both forms is accepted if they describe the same request, so that a record can be queued again.
    """

    replaces: Id | None = Field(
        default=None,
        description="A request of the connection that has ended, and that this one corrects. It is replaced once: the "
        "call returns the request that replaces it already, if there is one.",
    )
    priority: Priority = Field(default="normal", description=PRIORITY)

    def inputs(self, parameters: NewRequestParameters) -> list[Any]:
        """Return everything that a repeated call with the same `Idempotency-Key` must repeat."""
        return [*super().inputs(parameters), *([self.replaces] if self.replaces else []), *_inputs_of(self.priority)]

    def reader(self, parameters: NewRequestParameters) -> Callable[[Connection], NewRequest]:
        """Return the function that reads the request for a connection."""
        read = super().reader(parameters)
        return lambda connection: replace(read(connection), is_low=self.priority == "low")


class NewContinuation(WrittenRequest):
    """How a batch is continued: the request that failed, and its correction.

    Without `request_json` and `request_xml`, the same request is queued again. What is not given is that of the request
    that failed. `$from` in `request_json` is the id of a request of the connection that has ended with a response.
    """

    request_id: Id | None = Field(
        default=None, description="The request of the batch that failed. It is needed if several failed."
    )

    @property
    def corrects(self) -> bool:
        """Whether it has a request."""
        return self.request_xml is not None or self.request_json is not None

    def correction(self, parameters: NewRequestParameters) -> Correction:
        """Return the function that reads the corrected request for a connection."""

        def corrected(connection: Connection, former: NewRequest) -> NewRequest:
            tree, references = qbxml.without_references(self.request_json)
            plain = self.model_copy(update={"request_json": tree})
            new = plain.reader(parameters)(connection)
            given = self.model_fields_set
            return replace(
                former,
                request=new.request,
                references=qbxml.placed(new.request, references),
                may_iterate=new.may_iterate if "iterate" in given else former.may_iterate,
                webhook_url=new.webhook_url if "webhook_url" in given else former.webhook_url,
                label=new.label if "label" in given else former.label,
                metadata=new.metadata if "metadata" in given else former.metadata,
                send_by=new.send_by if new.send_by.is_given else former.send_by,
                needs_approval=new.needs_approval or former.needs_approval,
                if_exists=new.if_exists if "if_exists" in given else former.if_exists,
            )

        return corrected


class NewBatchRequest(WrittenRequest):
    """A request of a batch, which can depend on others.

    In `request_json`, `{"$from": "<ref or id>", "path": "CustomerRet/ListID"}` in place of a text is a value of the
    response to another request.
    """

    ref: Ref | None = Field(
        default=None, description="A name for the requests behind it in the batch.", examples=["customer"]
    )
    depends_on: list[str] | None = Field(
        default=None,
        max_length=MAX_REQUESTS,
        description="The refs of requests before it in the batch, or the ids of requests of the connection that have "
        "ended with a response. The request is queued when all of them have ended with a response.",
        examples=[["customer"]],
    )

    def reader(self, parameters: NewRequestParameters) -> Callable[[Connection], NewRequest]:
        """Return the function that reads the request for a connection, with its references."""

        def read(connection: Connection) -> NewRequest:
            tree, references = qbxml.without_references(self.request_json)
            plain = self.model_copy(update={"request_json": tree})
            new = WrittenRequest.reader(plain, parameters)(connection)
            return replace(
                new,
                ref=self.ref,
                depends_on=tuple(self.depends_on or ()),
                references=qbxml.placed(new.request, references),
            )

        return read


class NewBatch(Body):
    """A batch of requests to queue in this order: all of them, or none."""

    requests: list[NewBatchRequest] = Field(
        min_length=1, max_length=MAX_REQUESTS, examples=[[{"request_json": {"CustomerQueryRq": {"MaxReturned": 5}}}]]
    )
    send_by: Time | None = Field(
        default=None, description=f"For the requests without a time of their own. {SEND_BY}", examples=[None]
    )
    send_within: SendWithin | None = Field(default=None, description=SEND_WITHIN, examples=[None])
    approval: Literal["required"] | None = Field(default=None, description=f"For all writes of the batch. {APPROVAL}")
    priority: Priority = Field(default="normal", description=f"For all requests of the batch. {PRIORITY}")

    def inputs(self, parameters: NewRequestParameters) -> list[Any]:
        """Return everything that a repeated call with the same `Idempotency-Key` must repeat."""
        given = [[name, value] for name in NEWER_MEMBERS if (value := getattr(self, name)) is not None]
        return [*(request.inputs(parameters) for request in self.requests), *given, *_inputs_of(self.priority)]

    def reader(self, parameters: NewRequestParameters) -> Callable[[Connection], list[NewRequest]]:
        """Return the function that reads the requests for a connection. It raises InvalidRequest with all problems."""

        def read(connection: Connection) -> list[NewRequest]:
            batch: list[NewRequest] = []
            problems: list[Problem] = []
            of_all = SendBy(self.send_by, self.send_within)
            for index, request in enumerate(self.requests):
                if len(problems) >= MAX_PROBLEMS:
                    break
                try:
                    with of_request_in_batch(index):
                        new = request.reader(parameters)(connection)
                        is_low = self.priority == "low"
                        send_by = new.send_by if new.send_by.is_given else of_all
                        needs_approval = new.needs_approval or self.approval is not None
                        batch.append(replace(new, send_by=send_by, needs_approval=needs_approval, is_low=is_low))
                except InvalidRequest as error:
                    problems += error.problems
            if problems:
                raise InvalidRequest(problems)
            return batch

        return read


def _inputs_of(priority: Priority) -> list[str]:
    """Return the inputs of a priority. Keys in use are older than it, and mean the normal one."""
    return [] if priority == "normal" else [priority]


def _are_the_same(one: qbxml.Request, other: qbxml.Request) -> bool:
    return (one.to_json(), one.response_data) == (other.to_json(), other.response_data)
