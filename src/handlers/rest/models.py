"""Bodies and query parameters that callers may send. Any other member is refused, and the error names it."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from domain.apps.contacts import MAX_EMAIL_CHARACTERS, MAX_NAME_CHARACTERS, MAX_PHONE_CHARACTERS
from domain.connections.service import MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH
from domain.connections.simulators import COMPANIES, MAX_DAYS
from domain.errors import InvalidRequest, shortened
from domain.labels import MAX_LABEL_CHARACTERS, MAX_METADATA_PAIRS, checked_label, checked_metadata
from domain.listing.filters import FILTERS, MAX_IDS, RANGES, Form, Lookup, RequestFilter
from domain.listing.usage import MAX_MONTHS, months_before
from domain.listing.value_search import MAX_HITS, NEWEST, HitPlace
from domain.queueing.selection import MAX_CURSOR_LENGTH
from domain.queueing.waiting_calls import MAX_WAIT_SECONDS
from domain.records.app import Scope
from domain.records.audit import KEY_ID, Action
from domain.records.connection import MAX_BATCH_SIZE
from domain.records.event_types import ALL_EVENTS, WEBHOOK_EVENTS, checked_feed_type, checked_webhook_event
from domain.records.permissions import Role
from domain.records.request import State
from domain.records.session import MAX_LINGER_SECONDS
from domain.records.subscription import (
    MAX_MINUTES,
    MAX_OBJECTS,
    MAX_SEQUENCE,
    MAX_VERIFY_DAYS,
    MIN_MINUTES,
    START_WITH_ALL,
    VERIFY_DAYS,
    DerivedEvery,
    SubscriptionWebhook,
)
from domain.records.sync_window import SyncWindow
from domain.records.webhook import WebhookState
from domain.send_by import MAX_SECONDS as MAX_SEND_WITHIN
from domain.send_by import MIN_SECONDS as MIN_SEND_WITHIN
from domain.storage.statistics import KEPT_DAYS, month_of
from domain.subscriptions.service import checked_start
from domain.timestamps import TimeRange, timestamp, timestamp_from
from domain.webhooks.defaults import MAX_URL_LENGTH
from handlers.rest.endpoint import Body, Parameters

_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")
_LINE = r"^[^\u0000-\u001f\u007f-\u009f\ufffe\uffff]*$"
_WHOLE_NUMBER = re.compile(r"-?[0-9]+")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_AUDIT_CURSOR = re.compile(r"[0-9TZ:.-]{20,30}~[0-9a-z_-]{1,40}~[0-9]{1,15}")
_PLACE = re.compile(rf"2[0-9]{{3}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}\.[0-9]{{6}}Z~{_UUID.pattern}")
_MAX_QUOTED = 60
_UUID_PATTERN = f"^{_UUID.pattern}$"


def _in_digits(value: Any) -> Any:
    """Refuse other spellings that pydantic accepts: `1_0`, `1.0`, ` 1`."""
    if isinstance(value, str) and not _WHOLE_NUMBER.fullmatch(value):
        raise ValueError(f"must be a whole number, not {shortened(value, _MAX_QUOTED)!r}")
    return value


SendWithin = Annotated[int, Field(ge=MIN_SEND_WITHIN, le=MAX_SEND_WITHIN)]
InDigits = Annotated[int, BeforeValidator(_in_digits)]
ChangeSequence = Annotated[int, Field(ge=1, le=MAX_SEQUENCE), BeforeValidator(_in_digits)]
WaitSeconds = Annotated[int, Field(ge=1, le=MAX_WAIT_SECONDS), BeforeValidator(_in_digits)]


def _blank_is_none(value: Any) -> Any:
    """Return None for a text without characters other than spaces."""
    return None if isinstance(value, str) and not value.strip(" ") else value


def _one_line(text: str) -> str:
    """Refuse control characters, U+FFFE and U+FFFF: the Web Connector reads XML, which cannot contain all of them."""
    if _UNWRITABLE.search(text):
        raise ValueError("must be one line without control characters, such as line breaks and tabs")
    return text


Line = Annotated[
    str,
    AfterValidator(_one_line),
    WithJsonSchema({"type": "string", "pattern": _LINE}),
]

MAX_REASON_CHARACTERS = 500
Reason = Annotated[
    str,
    Field(min_length=1, max_length=MAX_REASON_CHARACTERS),
    AfterValidator(_one_line),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_REASON_CHARACTERS, "pattern": _LINE}),
]
"""Why a request is rejected. It is part of the record."""

OptionalLine = Annotated[Line | None, BeforeValidator(_blank_is_none)]
"""A line, or None for a text that is empty."""

# The domain checks the values of the following types. Here they are only described.
Url = Annotated[str, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_URL_LENGTH})]
TimeOfDay = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"})]
Password = Annotated[
    Line,
    WithJsonSchema({"type": "string", "minLength": MIN_PASSWORD_LENGTH, "maxLength": MAX_PASSWORD_LENGTH}),
]

BooksPath = Annotated[str, Field(max_length=200, pattern=r"^/?[A-Za-z0-9-]+(/[A-Za-z0-9-]+){0,2}$")]
BooksText = Annotated[str, Field(min_length=1, max_length=200)]

ContactName = Annotated[str, WithJsonSchema({"type": "string", "maxLength": MAX_NAME_CHARACTERS})]
LogoUrl = Annotated[str, WithJsonSchema({"type": "string", "maxLength": MAX_URL_LENGTH})]
Phone = Annotated[str, WithJsonSchema({"type": "string", "maxLength": MAX_PHONE_CHARACTERS})]
Email = Annotated[str, WithJsonSchema({"type": "string", "maxLength": MAX_EMAIL_CHARACTERS})]

Label = Annotated[
    str,
    AfterValidator(checked_label),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_LABEL_CHARACTERS, "pattern": _LINE}),
]
Metadata = Annotated[
    Any,
    BeforeValidator(checked_metadata),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": MAX_METADATA_PAIRS,
            "propertyNames": {"minLength": 1},
            "additionalProperties": {"type": "string"},
        }
    ),
]


def _uuid(text: str) -> str:
    """Refuse a text that is not an id."""
    if not _UUID.fullmatch(text):
        raise ValueError(f"must be an id, which is a lower-case UUID, not {shortened(text, _MAX_QUOTED)!r}")
    return text


Id = Annotated[str, AfterValidator(_uuid), WithJsonSchema({"type": "string", "pattern": _UUID_PATTERN})]


_AUTHOR = re.compile(f"{KEY_ID}|{_UUID.pattern}")


def _author(text: str) -> str:
    """Refuse a text that is the id of neither an API key nor a person."""
    if not _AUTHOR.fullmatch(text):
        raise ValueError(
            "must be the id of an API key (key_ and 16 hexadecimal digits) or of a person (a lower-case UUID), "
            f"not {shortened(text, _MAX_QUOTED)!r}"
        )
    return text


AuthorId = Annotated[
    str, AfterValidator(_author), WithJsonSchema({"type": "string", "pattern": f"^({_AUTHOR.pattern})$"})
]


def _cursor_of_audit_log(text: str) -> str:
    """Refuse a text that is not a place in the audit log."""
    if not _AUDIT_CURSOR.fullmatch(text):
        raise ValueError("is not a cursor. Use `next` of an answer")
    return text


AuditCursor = Annotated[
    str,
    AfterValidator(_cursor_of_audit_log),
    WithJsonSchema({"type": "string", "pattern": f"^{_AUDIT_CURSOR.pattern}$"}),
]


def _place(text: str) -> str:
    """Refuse a text that is not the place at which a search continues."""
    if not _PLACE.fullmatch(text):
        raise ValueError("is not a cursor. Use `next` of an answer")
    return text


SearchCursor = Annotated[
    str, AfterValidator(_place), WithJsonSchema({"type": "string", "pattern": f"^{_PLACE.pattern}$"})
]


def _request_element(name: str) -> str:
    """Refuse a name that no request element can have."""
    if not name.endswith("Rq"):
        raise ValueError(f"must be a request element, which ends in Rq, such as InvoiceAddRq, not {name!r}")
    return name


RequestName = Annotated[
    str,
    Field(min_length=1, max_length=100),
    AfterValidator(_one_line),
    AfterValidator(_request_element),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 100, "pattern": _LINE}),
]
Cause = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,50}$")]
Origin = Annotated[Line, Field(min_length=1, max_length=300)]
WebhookEvent = Annotated[
    str, AfterValidator(checked_webhook_event), WithJsonSchema({"type": "string", "enum": list(WEBHOOK_EVENTS)})
]


def _feed_types(text: str) -> str:
    """Refuse a type that the feed does not have."""
    for name in text.split(","):
        checked_feed_type(name)
    return text


FeedTypes = Annotated[
    str,
    Field(max_length=1_000),
    AfterValidator(_feed_types),
    WithJsonSchema({"type": "string", "maxLength": 1_000, "pattern": r"^[a-z_]+\.[a-z_*]+(,[a-z_]+\.[a-z_*]+)*$"}),
]


def _without_repeats(names: list[str]) -> list[str]:
    """Refuse an object that is named twice."""
    if len(set(names)) < len(names):
        raise ValueError("names an object twice")
    return names


_ZONE_WITHOUT_PLUS = re.compile(r" \d\d:?\d\d")


def _time(text: str) -> str:
    """Return the timestamp. A `+` that is not encoded in a URL arrives as a space."""
    if _ZONE_WITHOUT_PLUS.search(text):
        raise ValueError("must be a time with a time zone. Write the + of the zone as %2B in a URL")
    return timestamp_from(text)


Time = Annotated[
    str,
    Field(max_length=40),
    AfterValidator(_time),
    WithJsonSchema({"type": "string", "format": "date-time", "maxLength": 40}),
]


def _range_of_time(start: str | None, end: str | None, first: str = "from", last: str = "to") -> TimeRange:
    """Return the range of two members with these names. Raises InvalidRequest if it ends before it begins."""
    if start and end and end < start:
        raise InvalidRequest.of(last, f"is before {first}. Exchange the two times")
    return TimeRange(start, end)


Cursor = Annotated[str, WithJsonSchema({"type": "string", "maxLength": MAX_CURSOR_LENGTH})]


_AN_ID = "c0000000-0000-4000-8000-000000000001"
_FORMS: dict[Form, tuple[Any, list[Any] | None]] = {
    # The body is strict, and its values are JSON.
    "state": (Annotated[State, Field(strict=False)], None),
    "webhook state": (Annotated[WebhookState, Field(strict=False)], None),
    "truth": (bool, None),
    "request name": (RequestName, ["InvoiceAddRq"]),
    "label": (Label, ["nightly"]),
    "cause": (Cause, ["3170"]),
    "receiver": (Origin, ["https://example.com"]),
    "id": (Id, [_AN_ID]),
    "ids": (Annotated[list[Id], Field(min_length=1, max_length=MAX_IDS)], [[_AN_ID]]),
    "time": (Time, ["2026-03-14T00:00:00Z"]),
}
"""The type of each form, with examples."""
_IN_A_LIST = {
    Lookup.INSERTED: " With `sort=updated_at`, such a list is a search.",
    Lookup.UPDATED: " Without `sort=updated_at`, such a list is a search.",
    Lookup.RECORDS: " Such a list is a search.",
}

Model = TypeVar("Model", bound=type[BaseModel])


class _Filters(BaseModel):
    """What the models with the filters of requests have in common."""

    def which(self) -> RequestFilter:
        """Return the conditions that are given. Raises InvalidRequest if a range of time ends before it begins."""
        place = "filter." if isinstance(self, Body) else ""
        given = {own: getattr(self, own) for own in RequestFilter.__dataclass_fields__}
        named = {own.rstrip("_"): value for own, value in given.items()}
        for first, last in RANGES:
            _range_of_time(named[first], named[last], place + first, place + last)
        return RequestFilter(**given | {"ids": tuple(given["ids"]) if given["ids"] else None})


def _with_filters(model: Model) -> Model:
    """Return the model with a field for each filter of requests (`domain.listing.filters`)."""
    members: dict[str, Any] = {}
    is_body = issubclass(model, Body)
    for own, (name, declared) in zip(RequestFilter.__dataclass_fields__, FILTERS.items(), strict=True):
        form, examples = _FORMS[declared.form]
        if declared.form == "ids" and not is_body:
            form = Annotated[form, BeforeValidator(lambda text: text.split(","))]
        description = declared.description + ("" if is_body else _IN_A_LIST.get(declared.reading, ""))
        members[own] = form | None, Field(None, alias=name, description=description or None, examples=examples)
    made: Any = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **members)
    return made  # type: ignore[no-any-return]


class NewSyncWindow(Body):
    """Daily window for sending to QuickBooks, in local time; may cross midnight."""

    from_: TimeOfDay = Field(alias="from", description="Time of day, `HH:MM`.", examples=["22:00"])
    to: TimeOfDay = Field(description="Time of day, `HH:MM`; differs from `from`.", examples=["06:00"])
    time_zone: str = Field(description="IANA name.", examples=["America/New_York"])


class NewSimulated(Body):
    """The simulated QuickBooks of a test connection."""

    company: Literal[COMPANIES] = Field(  # type: ignore[valid-type] # the words are those of the domain
        description="`wholesale`: 300 customers and about 2,000 transactions. `empty`: accounts, terms and taxes only."
    )


class ConnectionSettings(Body):
    """The settings of a connection. All are optional; null means none."""

    name: OptionalLine = Field(default=None, max_length=200, description="A display name.")
    company_file: OptionalLine = Field(
        default=None, max_length=500, description="Full path of the company file. Null: the file that is open."
    )
    webhook_url: Url | None = Field(default=None, description="Webhook URL for requests that do not specify one.")
    webhook_events: list[WebhookEvent] | None = Field(
        default=None,
        max_length=len(WEBHOOK_EVENTS),
        description="The events of the connection that `webhook_url` gets, beside those of requests. "
        f"`{ALL_EVENTS}` means all. The default is none.",
        examples=[["connection.stalled", "connection.calling_again"]],
    )
    sync_window: NewSyncWindow | None = Field(
        default=None,
        description="Null: requests are sent at any time.",
        examples=[{"from": "22:00", "to": "06:00", "time_zone": "America/New_York"}],
    )
    approval: Literal["required"] | None = Field(
        default=None,
        description="`required`: every write that is queued from now on waits until it is approved with another API "
        "key than the one that queued it. Null: only those that ask for approval.",
    )
    linger_seconds: int | None = Field(
        default=None,
        ge=0,
        le=MAX_LINGER_SECONDS,
        description="How long a session waits for more requests after its last one. 0, the default: no lingering. The "
        "end of a run of subscriptions ends the session.",
    )
    batch_size: int | None = Field(
        default=None,
        ge=1,
        le=MAX_BATCH_SIZE,
        description="The largest number of writes that are sent to QuickBooks together. 1, the default: each alone.",
    )
    read_batch_size: int | None = Field(
        default=None,
        ge=1,
        le=MAX_BATCH_SIZE,
        description="The largest number of reads that are sent to QuickBooks together. 1: each alone. "
        f"{MAX_BATCH_SIZE} is the default.",
    )
    settle: bool | None = Field(
        default=None,
        description="Whether the service asks QuickBooks by itself about writes whose outcome is unknown. True is the "
        "default. With false, `POST /queued_requests/{id}/settle` still asks.",
    )

    def settings(self) -> dict[str, Any]:
        """Return the settings in the body as members of a connection. Raises InvalidRequest."""
        settings = self.model_dump(exclude_unset=True)
        if "webhook_events" in settings:
            settings["webhook_events"] = tuple(dict.fromkeys(self.webhook_events or ()))
        if "linger_seconds" in settings:
            settings["linger_seconds"] = self.linger_seconds or 0
        if "batch_size" in settings:
            settings["batch_size"] = self.batch_size or 1
        if "read_batch_size" in settings:
            settings["read_batch_size"] = self.read_batch_size or MAX_BATCH_SIZE
        if "settle" in settings:
            settings["settles_on_call_only"] = settings.pop("settle") is False
        if window := self.sync_window:
            settings["sync_window"] = SyncWindow.checked(window.from_, window.to, window.time_zone)
        return settings


class NewConnection(ConnectionSettings):
    """The settings of a new connection. All are optional; null means none."""

    simulated: NewSimulated | None = Field(
        default=None,
        description="Makes a test connection, behind which a simulated QuickBooks works, without a machine. It cannot "
        "be changed later. Null, the default: a Web Connector on a Windows machine.",
        examples=[{"company": "wholesale"}],
    )

    def settings(self) -> dict[str, Any]:
        """Return the settings in the body as members of a connection. Raises InvalidRequest."""
        settings = super().settings()
        settings.pop("simulated", None)
        return settings


class ChangedConnection(ConnectionSettings):
    """The settings to change. A setting that is not given stays as it is."""


ObjectName = Annotated[
    str, Field(min_length=1, max_length=60), WithJsonSchema({"type": "string", "examples": ["Invoice"]})
]
"""The domain checks that the object exists."""

Objects = Annotated[list[ObjectName], Field(min_length=1, max_length=MAX_OBJECTS), AfterValidator(_without_repeats)]
Start = Annotated[str, AfterValidator(checked_start), WithJsonSchema({"type": "string"})]


class NewSubscription(Body):
    """The objects whose changes are read."""

    objects: Objects = Field(
        description="Lists and transactions of QuickBooks, by the names of their queries.",
        examples=[["Customer", "ItemInventory", "Invoice"]],
    )
    every_minutes: int = Field(
        default=15, ge=MIN_MINUTES, le=MAX_MINUTES, description="How often the objects are read at least."
    )
    verify_days: int = Field(
        default=VERIFY_DAYS,
        ge=1,
        le=MAX_VERIFY_DAYS,
        description="How many days after a snapshot of an object the next one begins, which heals what QuickBooks "
        "changes without notice.",
    )
    start: Start = Field(
        default=START_WITH_ALL,
        description="`all`: all records first, then changes. `now`: changes of the last day and later. A time: changes "
        "at this time of the books or later.",
        examples=["all"],
    )
    include: dict[ObjectName, list[str]] = Field(
        default_factory=dict,
        max_length=MAX_OBJECTS,
        description="What is read beside an object: `lines`, `linked` transactions, `custom_fields`.",
        examples=[{"Invoice": ["lines", "linked"]}],
    )
    derived: DerivedEvery | None = Field(
        default=None,
        strict=False,
        description="How often the derived fields of lists are read, such as `Balance` and `QuantityOnHand`. They are "
        "events of their own, `record.derived`. Null: never.",
        examples=["daily"],
    )
    name: OptionalLine = Field(default=None, max_length=200, description="A name for people.")
    webhook_url: Url | None = Field(
        default=None,
        description="Gets the changes a page at a time, beside the feed (docs/webhooks.md). Null: only the feed.",
    )

    def settings(self) -> dict[str, Any]:
        """Return the settings in the body as members of a subscription."""
        return _of_subscription(self.model_dump())


class ChangedSubscription(Body):
    """The settings to change. A setting that is not given stays as it is."""

    objects: Objects | None = Field(
        default=None, description="All objects. If one is added, all begin again at `start`."
    )
    every_minutes: int | None = Field(default=None, ge=MIN_MINUTES, le=MAX_MINUTES, description="As at the creation.")
    verify_days: int | None = Field(default=None, ge=1, le=MAX_VERIFY_DAYS, description="As at the creation.")
    include: dict[ObjectName, list[str]] | None = Field(default=None, description="As at the creation.")
    derived: DerivedEvery | None = Field(default=None, strict=False, description="As at the creation. Null ends it.")
    name: OptionalLine = Field(default=None, max_length=200, description="A name for people.")
    webhook_url: Url | None = Field(
        default=None,
        description="Gets the changes that are read from now on, a page at a time. What failed before is forgotten. "
        "Null: only the feed.",
    )

    def settings(self) -> dict[str, Any]:
        """Return the settings that are given. Only the name, the webhook URL and `derived` can be null."""
        given, nullable = self.model_dump(exclude_unset=True), {"name", "webhook_url", "derived"}
        return _of_subscription({name: value for name, value in given.items() if value is not None or name in nullable})


def _of_subscription(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with tuples in place of lists, because a subscription never changes."""
    if "objects" in settings:
        settings["objects"] = tuple(settings["objects"])
    if "include" in settings:
        settings["include"] = {name: tuple(parts) for name, parts in settings["include"].items()}
    if "webhook_url" in settings:
        settings["webhook"] = SubscriptionWebhook(settings.pop("webhook_url"))
    return settings


class NewAdvance(Body):
    """How much time passes in the company."""

    days: int = Field(default=1, ge=1, le=MAX_DAYS, description="How many days later it is afterwards.")


class NewFaults(Body):
    """Faults and expectations, as in a script of the simulator (docs/testing-your-integration.md)."""

    steps: list[dict[str, Any]] = Field(
        default_factory=list,
        max_length=100,
        description="The faults, in the form of the simulator. None: removes all faults.",
        examples=[[{"on": "receiveResponseXML", "call": 2, "do": "lose-response"}]],
    )
    expect: dict[str, Any] = Field(
        default_factory=dict,
        description="The state that the company must end with. What differs is in `problems`.",
        examples=[{"executed": {"CustomerAddRq": 3}, "repeated_writes": 0}],
    )


class BooksParameters(Parameters):
    """What of the books is shown."""

    path: BooksPath = Field(
        default="books",
        description="`books` (facts and counts), `lists`, `lists/Customer`, `lists/Customer/<ListID>`, `transactions`, "
        "`transactions/Invoice`, `transactions/Invoice/<TxnID>`, `ledger`, `ledger/<account's ListID>`, `executed`, "
        "`problems` or `preferences`.",
        examples=["lists/Customer"],
    )
    search: BooksText | None = Field(default=None, description="A text in the name, the number or the memo.")
    ref_number: BooksText | None = Field(default=None, description="The number of transactions.")
    order: Literal["newest"] | None = Field(default=None, description="`newest`: the newest transactions first.")
    writes: Literal["true"] | None = Field(default=None, description="`true`: only writes, of `executed`.")
    offset: Annotated[int, Field(ge=0, le=10_000_000), BeforeValidator(_in_digits)] | None = Field(
        default=None, description="How many records to skip."
    )
    limit: Annotated[int, Field(ge=1, le=500), BeforeValidator(_in_digits)] | None = Field(
        default=None, description="How many records to list. The default is 100."
    )

    def texts(self) -> dict[str, str]:
        """Return the parameters of the inspection API that are given."""
        return {name: str(value) for name, value in self.model_dump(exclude={"path"}, exclude_none=True).items()}


class ChangedContact(Body):
    """The fields to change. A field that is not given stays as it is; null or an empty text clears it."""

    name: ContactName | None = Field(
        default=None, description="The name under which customers know the app.", examples=["Bluewater Books"]
    )
    logo_url: LogoUrl | None = Field(
        default=None,
        description="An https URL of a picture. The browser of the customer loads it.",
        examples=["https://bluewater.example/logo.png"],
    )
    phone: Phone | None = Field(default=None, examples=["+1 555 010 0199"])
    email: Email | None = Field(default=None, examples=["help@bluewater.example"])

    def texts(self) -> dict[str, str]:
        """Return the fields in the body, and an empty text for null."""
        return {field: text or "" for field, text in self.model_dump(exclude_unset=True).items()}


_EXPIRY = "From this time on, the key is refused. It must be in the future, and at most 10 years from now."


class NewApiKey(Body):
    """The name, the scope and the end of an API key."""

    name: Label = Field(description="What uses the key.", examples=["Nightly sync"])
    scope: Annotated[Scope, Field(strict=False)]
    expires_at: Time | None = Field(default=None, description=_EXPIRY)


class ChangedApiKey(Body):
    """The other name of an API key."""

    name: Label = Field(description="What uses the key.", examples=["Nightly sync"])


class NewRotation(Body):
    """The end of the API key that takes the place of another one."""

    expires_at: Time | None = Field(default=None, description=_EXPIRY)


class ChangedMember(Body):
    """The role of a member."""

    role: Role = Field(strict=False, description="What the person may do in the app.", examples=["support"])


class NewInvitation(ChangedMember):
    """An invitation."""

    email: str = Field(
        max_length=MAX_EMAIL_CHARACTERS,
        description="The email address of the person at the identity provider.",
        examples=["maria@example.com"],
    )


class NewPassword(Body):
    """A password for the Web Connector. Without one, a password is generated."""

    password: Password | None = Field(
        default=None, description="12 to 128 characters; not a common, repetitive or sequential password."
    )


class NewOnboardingUrl(Body):
    """The options of an onboarding link."""

    redirect_url: Url | None = Field(
        default=None,
        description="Where the page sends the customer at the end, with `state=connected`, `cancelled` or `expired` "
        "added to the query.",
        examples=["https://example.com/quickbooks/connected"],
    )


class PageParameters(Parameters):
    """The page of a list."""

    page: InDigits = Field(default=1, ge=1, description="The number of the page, starting at 1.")
    page_size: InDigits = Field(default=20, ge=1, le=100)


class ConnectionListParameters(PageParameters):
    """The connections of a list."""

    counts: bool = Field(
        default=False, description="True adds `counts` to each connection: the number of its requests in each state."
    )


class EventParameters(Parameters):
    """The place in the feed, and a filter."""

    after: str | None = Field(
        default=None,
        min_length=1,
        max_length=40,
        description="`next` of the last answer, or the `cursor` of an event. Without it: from the oldest event.",
        examples=["1773489600000"],
    )
    connection_id: str | None = Field(
        default=None, description="Only events of this connection.", json_schema_extra={"format": "uuid"}
    )
    subscription_id: str | None = Field(
        default=None,
        description="Only changes of the objects of this subscription, and what happened to its reading. Needs "
        "`connection_id`.",
        json_schema_extra={"format": "uuid"},
    )
    types: FeedTypes | None = Field(
        default=None,
        description="Only events of these types, separated by commas. `record.*` is a group.",
        examples=["record.*"],
    )
    limit: InDigits = Field(default=100, ge=1, le=100)
    wait: WaitSeconds | None = Field(
        default=None,
        description="Wait for up to this many seconds, until there is an event. If too many calls wait, the "
        "answer comes at once.",
    )


class ChangeParameters(Parameters):
    """Which changes of records."""

    object: ObjectName | None = Field(default=None, description="Only changes of this object of QuickBooks.")
    id: str | None = Field(
        default=None,
        min_length=1,
        max_length=40,
        description="Only changes of the record with this ListID or TxnID.",
        examples=["80000001-1"],
    )
    value: str | None = Field(
        default=None,
        min_length=1,
        max_length=209,  # the longest FullName
        pattern=r"\S",
        description="Only changes of records with this `RefNumber`, `Name`, `FullName` or id, without regard to case. "
        "A deletion has only the id.",
        examples=["Kristy Abercrombie"],
    )
    before: ChangeSequence | None = Field(
        default=None, description="`next` of the last answer. Without it: the newest changes."
    )
    limit: InDigits = Field(default=50, ge=1, le=100)


class AuditLogParameters(Parameters):
    """The part of the audit log."""

    cursor: AuditCursor | None = Field(
        default=None,
        description="`next` of the last answer. Without it: the newest entries.",
        examples=["2026-03-14T12:00:00.000000Z~c0000000-0000-4000-8000-000000000001~4"],
    )
    limit: InDigits = Field(default=50, ge=1, le=100)
    action: Action | None = Field(default=None, description="Only entries of this action.")
    from_: Time | None = Field(
        default=None,
        alias="from",
        description="Entries at this time or later.",
        examples=["2026-03-14T00:00:00Z"],
    )
    to: Time | None = Field(default=None, description="Entries before this time.", examples=["2026-03-15T00:00:00Z"])

    def within(self) -> TimeRange:
        """Return the range of time. Raises InvalidRequest if it ends before it begins."""
        return _range_of_time(self.from_, self.to)


class StatisticsParameters(Parameters):
    """The period of statistics."""

    days: InDigits = Field(
        default=2, ge=1, le=KEPT_DAYS, description="The number of days (UTC), of which the last one is today."
    )


class FailureParameters(Parameters):
    """The range of time of failures."""

    since: Time | None = Field(
        default=None,
        description="Requests that changed last at this time or later. The default is 24 hours before now.",
        examples=["2026-03-14T00:00:00Z"],
    )
    until: Time | None = Field(
        default=None, description="Requests that changed last before this time.", examples=["2026-03-15T00:00:00Z"]
    )

    def within(self, now: datetime) -> TimeRange:
        """Return the range of time. Raises InvalidRequest if it ends before it begins."""
        return _range_of_time(self.since or timestamp(now - timedelta(days=1)), self.until, "since", "until")


Month = Annotated[str, Field(pattern="^20[0-9]{2}-(0[1-9]|1[0-2])$")]


class SearchParameters(Parameters):
    """A whole value and the part of its hits."""

    value: str = Field(
        min_length=1,
        max_length=209,  # the longest FullName: five names of 41 characters, with colons between them
        pattern=r"\S",
        description="A whole label, `RefNumber`, `TxnID`, name of a customer or vendor, code of an error, status code "
        "or message, without regard to case. To find a part of a text, list the requests of one connection with "
        "`search_phrase`.",
        examples=["1042"],
    )
    cursor: SearchCursor | None = Field(
        default=None,
        description="`next` of the last answer. Without it: the newest requests.",
        examples=["2026-03-14T12:00:00.000000Z~0b33c224-1d0e-4c52-8f27-6a1f1f5d2c11"],
    )
    limit: InDigits = Field(default=50, ge=1, le=MAX_HITS)

    @property
    def before(self) -> HitPlace:
        """The place before which the requests are."""
        if self.cursor is None:
            return NEWEST
        inserted_at, _, id_ = self.cursor.partition("~")
        return inserted_at, id_


class UsageParameters(Parameters):
    """The months of a report of usage."""

    first_month: Month | None = Field(
        default=None,
        description=f"A calendar month (UTC). The default is {MAX_MONTHS - 1} months before `last_month`.",
        examples=["2026-01"],
    )
    last_month: Month | None = Field(
        default=None,
        description="A calendar month, which is included. The default is the current one.",
        examples=["2026-03"],
    )

    def months(self, now: datetime) -> tuple[str, str]:
        """Return the first and the last month. Raises InvalidRequest if they are in the wrong order or too many."""
        last = self.last_month or month_of(timestamp(now))
        earliest = months_before(last, MAX_MONTHS - 1)
        first = self.first_month or earliest
        if not earliest <= first <= last:
            raise InvalidRequest.of(
                "first_month", f"must be last_month or up to {MAX_MONTHS - 1} months before it, so {earliest} or later"
            )
        return first, last


@_with_filters
class ListParameters(PageParameters, _Filters):
    """The requests of a list and their order."""

    sort: Literal["inserted_at", "updated_at"] = "inserted_at"
    sort_direction: Literal["asc", "desc"] = "desc"
    search_phrase: str | None = Field(
        default=None,
        max_length=200,
        description="A part of an id, a name, a label, a text or a message. A phrase that ends in `change` also finds "
        "`Mod`, as in `InvoiceModRq`. A search that takes longer than 20 seconds returns 400 `invalid_request`.",
    )
    queued_by: AuthorId | None = Field(
        default=None,
        description="Requests that this API key or person has queued: `queued_by.id` of their records. A search.",
    )
    bodies: bool = Field(
        default=True, description="False leaves `request_xml` and `response_xml` out of the items, which is faster."
    )
    include: Literal["replaced_by"] | None = Field(
        default=None,
        alias="include[]",
        description="`replaced_by`: also return which request was queued in place of each one that failed or was "
        "discarded.",
        examples=["replaced_by"],
    )


class DetailParameters(Parameters):
    """Options for getting a request."""

    wait: WaitSeconds | None = Field(
        default=None,
        description="Wait for up to this many seconds, until the request has ended, or the last page of an "
        "iterated query. The answer is the record as it then is. If too many calls wait, the answer comes at once.",
    )

    wait_for: Literal["query", "page"] = Field(
        default="query",
        description="What `wait` waits for. `query`: the last page of an iterated query. `page`: this request, which "
        "can be one page. Without `wait` it has no effect.",
    )

    include: Literal["result", "sent_xml", "batch"] | None = Field(
        default=None,
        alias="include[]",
        description="`result`: return the elements of the response as `result`, in place of `response_json`. "
        "`sent_xml`: also return the QBXML document that is sent to QuickBooks. `batch`: also return the states of all "
        "requests of its batch.",
    )


FORCE = "Queue it although QuickBooks has executed the former request, or may have. It can then be executed twice."


class QueueAgainParameters(Parameters):
    """Options for queueing a request again."""

    force: bool = Field(default=False, description=FORCE)


class DiscardParameters(Parameters):
    """Options for discarding."""

    dependants: bool = Field(
        default=False, description="Also end the requests of its batch that wait for this one, in errors."
    )


class NewApproval(Body):
    """The approval of a request."""

    revision: int = Field(
        ge=1,
        description="`approval.revision` of the record that was looked at. A request that has changed since then is "
        "not approved.",
        examples=[1],
    )
    accept_values: bool = Field(
        default=False,
        description="Approve it although it waits for the responses to other requests, and may get values of them.",
    )


class NewRejection(Body):
    """The rejection of a request."""

    reason: Reason = Field(description="Why it is not sent, in one line.", examples=["This invoice exists already."])


class NewApprovedRequest(Body):
    """A request as somebody has seen it."""

    id: Id = Field(description="The id of the request.")
    revision: int = Field(ge=1, description="`approval.revision` of the record that was looked at.", examples=[1])


def _once(requests: list[NewApprovedRequest]) -> list[NewApprovedRequest]:
    if len({request.id for request in requests}) < len(requests):
        raise ValueError("names a request more than once")
    return requests


class NewApprovals(Body):
    """The approval of several requests."""

    requests: Annotated[list[NewApprovedRequest], AfterValidator(_once)] = Field(
        min_length=1,
        max_length=MAX_IDS,
        description="The requests. Of a batch, each one that waits for approval.",
    )
    accept_values: bool = Field(
        default=False,
        description="Also approve those that wait for the responses to other requests, and may get values of them.",
    )


class NewRejections(Body):
    """The rejection of several requests."""

    ids: list[Id] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_IDS,
        description="The requests. Leave it out for a batch, of which all are rejected that wait for approval.",
    )
    reason: Reason = Field(
        description="Why they are not sent, in one line.", examples=["These invoices exist already."]
    )


class DeleteParameters(DiscardParameters):
    """Options for deleting."""

    force: bool = Field(default=False, description="Also delete a request that is still waiting.")


@_with_filters
class NewRequestFilter(Body, _Filters):
    """Conditions on requests. A request is meant if it meets all that are given. At least one is needed."""


class ManyRequestsBody(Body):
    """What a change of many requests has in common with others."""

    dry_run: bool = Field(default=False, description="Change nothing, and count what would be changed.")
    cursor: Cursor | None = Field(
        default=None,
        max_length=MAX_CURSOR_LENGTH,
        description="`next` of the former answer. The other members must be the same as in that call.",
    )


class NewDiscard(ManyRequestsBody):
    """The requests to discard."""

    filter: NewRequestFilter = Field(examples=[{"state": "waiting"}])


class NewQueueAgain(ManyRequestsBody):
    """The requests to queue again."""

    filter: NewRequestFilter = Field(examples=[{"state": "error"}])


class NewRedelivery(ManyRequestsBody):
    """The webhooks to send again."""

    failed_since: Time | None = Field(
        default=None, description="Webhooks that failed at this time or later. Needed if there is no `filter`."
    )
    failed_before: Time | None = Field(default=None, description="Webhooks that failed before this time.")
    filter: NewRequestFilter | None = Field(default=None, examples=[{"label": "nightly"}])
    include_pending: bool = Field(
        default=False,
        description="Also webhooks of ended requests that are not delivered yet, if they were tried last, or the "
        "request ended, in this time.",
    )

    def failed(self) -> TimeRange:
        """Return the range of time. Raises InvalidRequest if it ends before it begins."""
        return _range_of_time(self.failed_since, self.failed_before, "failed_since", "failed_before")


class NewWebhookTest(Body):
    """The receiver to test."""

    webhook_url: Url | None = Field(default=None, description="The connection's webhook URL if not given.")
