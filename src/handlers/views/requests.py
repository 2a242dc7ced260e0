"""The views of a queued request: whole, and as a list item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypeAlias, cast

from typing_extensions import TypeAliasType, TypedDict

from domain import qbxml
from domain.existing.modification import keys_of, not_compared
from domain.records.approval import ApprovalDecision
from domain.records.batch import batch_id, id_at, position_of
from domain.records.lookup import IfExists, LookupOutcome, MessageKind
from domain.records.request import State, WhetherExecuted
from domain.records.webhook import WebhookState
from handlers.views.audit_log import ActorView, actor_view
from handlers.views.schema import Moment, PageNumber, Schema, TotalPages, Uuid, WaitingReasonView, waiting_reason

if TYPE_CHECKING:
    from domain.queueing.new_request import Queued
    from domain.queueing.waiting_reason import WaitingReason
    from domain.records.request import ListedRequest, QueuedRequest, RequestError, StoredRequest
    from domain.records.webhook import WebhookAttempt

Omitted = Annotated[
    bool, Schema("True when the body is null because it is too large; get the request itself. Otherwise absent")
]


ResponseElement = TypeAliasType(
    "ResponseElement", "dict[str, str | bool | int | ResponseElement | list[str | bool | ResponseElement]]"
)
"""An element of a response: its attributes (`@statusCode`), child elements and text (`#text`)."""

ResponseJson = list[dict[str, ResponseElement]]
"""An object for each message set, with one member: `QBXMLMsgsRs`."""


_KEY_ID = "key_3b1f0c9d5e7a2468"

Metadata = Annotated[dict[str, str], Schema("Your own names and values", examples=[{"order": "1007"}])]


Result = dict[str, ResponseElement | list[ResponseElement] | str | list[str] | bool]
"""The elements of the response to the request, such as `{"CustomerRet": [ … ]}`, without its attributes."""


class RequestNode(TypedDict):
    """An element of a request. It has either text or children."""

    name: Annotated[str, Schema(examples=["CustomerQueryRq"])]
    attributes: NotRequired[Annotated[dict[str, str], Schema("`requestID` is `request_id`")]]
    text: NotRequired[str]
    children: NotRequired[list[RequestNode]]


class RequestTree(TypedDict):
    """A request as a tree."""

    version: Annotated[str, Schema("The QBXML version", examples=["13.0"])]
    request: RequestNode


class RequestLinks(TypedDict):
    """Paths of a request in the API and of its pages in the console."""

    self: str
    ui: str
    connection_ui: str


class WebhookAttemptView(TypedDict):
    """One webhook attempt."""

    attempted_at: Moment
    response: Annotated[str, Schema("The receiver's response, or a description of the failure; both are shortened")]
    status_code: Annotated[int | None, Schema("Null if no response arrived")]
    duration_ms: int | None
    next_attempt_at: Annotated[Moment | None, Schema("Null if no further attempt was planned")]


class ReferenceView(TypedDict):
    """A value of a request that comes from the response to another request."""

    place: Annotated[
        str, Schema("The element that gets the value", examples=["InvoiceAddRq/InvoiceAdd/CustomerRef/ListID"])
    ]
    request_id: Annotated[Uuid, Schema("The other request")]
    path: Annotated[str, Schema("The place of the value in its response", examples=["CustomerRet/ListID"])]
    value: Annotated[str | None, Schema("Null until the other request has ended")]


class BatchMemberView(TypedDict):
    """The state of a request of a batch."""

    id: Uuid
    batch_position: Annotated[int, Schema("Counted from 0", minimum=0, maximum=24)]
    request_name: Annotated[str, Schema(examples=["CustomerAddRq"])]
    subject: str | None
    state: State
    awaits_approval: Annotated[bool, Schema("Whether somebody has to approve it before it is sent")]
    executed: WhetherExecuted | None
    depends_on: Annotated[list[Uuid], Schema("The requests for which it still waits, or waited when it ended")]
    error_code: Annotated[str | None, Schema("`code` of its error", examples=["dependency_failed"])]


class RequestErrorView(TypedDict):
    """Why a request ended in the state `error`."""

    message: Annotated[str, Schema("For developers")]
    code: Annotated[str, Schema("Stable name")]
    details: Annotated[
        dict[str, Any],
        Schema(
            "`reason`: a stable name for what went wrong (docs/errors.md). `hint`: what the user can do. `retryable`: "
            "whether the hint says to queue the same request again. `status_code` or `hresult`: as QuickBooks "
            "reported it."
        ),
    ]


class SentMessageView(TypedDict):
    """A message of a request with `if_exists` that was handed to the Web Connector."""

    kind: Annotated[
        MessageKind,
        Schema("`status_check` asked whether QuickBooks had executed the addition whose response was lost"),
    ]
    sent_at: Moment


class FieldChangeView(TypedDict):
    """A field that a Mod changes."""

    field: Annotated[str, Schema("Its path in the object", examples=["BillAddress/City"])]
    old: Annotated[str | None, Schema("The value that QuickBooks returned; null without one")]
    new: Annotated[str, Schema("The value in the Mod; empty if it clears the field")]


class ModificationView(TypedDict):
    """The Mod that a request with `if_exists` `update` sends in place of its addition."""

    list_id: str
    edit_sequence: Annotated[str, Schema("QuickBooks refuses the Mod if the object has another one by then")]
    changes: list[FieldChangeView]
    request_xml: str


class SettlingView(TypedDict):
    """The query that settles a write whose outcome is unknown."""

    query_id: Annotated[
        Uuid, Schema("The first of its queries. The others, if there are any, have its id as their `batch_id`")
    ]
    answered: Annotated[bool, Schema("Whether `executed` shows the answer. If it is then `unknown`, ask again later")]


class ApprovalView(TypedDict):
    """The approval that a write needs before it is sent."""

    decision: Annotated[ApprovalDecision | None, Schema("Null until somebody has decided")]
    revision: Annotated[
        int | None, Schema("What the call that approves the request names, and then what was approved", minimum=1)
    ]
    queued_by: Annotated[
        str | None,
        Schema(
            "The id of the person who queued it, or of the first API key of its rotations",
            examples=[_KEY_ID],
        ),
    ]
    decided_by: Annotated[str | None, Schema("The id of the person or API key that decided", examples=[_KEY_ID])]
    decided_by_name: NotRequired[
        Annotated[
            str | None,
            Schema(
                "Only in the response with one request: the name that the person who decided has now. Null for an API "
                "key, and if the person is not known any more"
            ),
        ]
    ]
    decided_at: Moment | None
    reason: Annotated[str | None, Schema("Why it was rejected")]


Simulated: TypeAlias = Annotated[
    bool, Schema("True for a test connection, behind which a simulated QuickBooks works. Otherwise absent")
]


class _RequestFields(TypedDict):
    """What a record and a list item have in common."""

    id: Uuid
    connection_id: Uuid
    batch_id: Annotated[Uuid | None, Schema("The batch with which it was queued. Null if it was queued alone")]
    batch_position: Annotated[int | None, Schema("Its position in its batch, counted from 0", minimum=0, maximum=24)]
    request_name: Annotated[str, Schema(examples=["CustomerQueryRq"])]
    query_id: Annotated[Uuid, Schema("The id of page 1, which all pages of an iterated query share")]
    page: Annotated[int, Schema("1, or the page of an iterated query", minimum=1)]
    last_page: Annotated[bool | None, Schema("Whether this is the last page. Null until the request has ended")]
    subject: Annotated[
        str | None,
        Schema(
            "What the request is about, for people: customer, vendor or object, number, amount. At most 80 bytes of "
            "UTF-8. Null if the request names nothing",
            examples=["Kristy Abercrombie · 1042 · 248.50"],
        ),
    ]
    label: Annotated[str | None, Schema("Your own text, by which lists can be filtered", examples=["nightly sync"])]
    state: State
    webhook_state: WebhookState
    webhook_retrying: Annotated[
        bool, Schema("Whether the webhook failed and is tried again. `webhook_state` is then `pending`")
    ]
    depends_on: Annotated[
        list[Uuid], Schema("The requests of its batch for which this one still waits, or waited when it ended")
    ]
    approval: Annotated[ApprovalView | None, Schema("Null if the request needs no approval")]
    waiting_reason: Annotated[WaitingReasonView | None, Schema("Null if the request does not wait")]
    error: RequestErrorView | None
    executed: Annotated[
        WhetherExecuted | None,
        Schema(
            "Whether QuickBooks has executed the write. `unknown`: look in QuickBooks before you queue it again. Null "
            "for a query, and until the request has ended"
        ),
    ]
    settling: Annotated[
        SettlingView | None, Schema("How QuickBooks was asked last whether it executed the write. Null if it was not")
    ]
    settles: Annotated[
        Uuid | None, Schema("The write that the query settles, if the service has queued it for that. Otherwise null")
    ]
    webhook_url: Annotated[str | None, Schema("A read-only key sees only the origin")]
    webhook_attempts: list[WebhookAttemptView]
    webhook_error: Annotated[str | None, Schema("Why the latest webhook attempt failed")]
    links: RequestLinks
    inserted_at: Moment
    send_by: Annotated[
        Moment | None, Schema("From this time on it is not sent for the first time. Null if it may be sent at any time")
    ]
    sent_at: Annotated[Moment | None, Schema("When it was sent to QuickBooks last. Null if it was not sent")]
    responded_at: Annotated[Moment | None, Schema("When the response of QuickBooks arrived. Null if there is none")]
    updated_at: Moment
    priority: Annotated[Literal["normal", "low"], Schema("The lane in which it waits")]
    if_exists: Annotated[IfExists, Schema("What an addition does if its object exists")]
    outcome: Annotated[
        LookupOutcome | None,
        Schema("How a request with `if_exists` ended with its object. Null until then, and without `if_exists`"),
    ]
    messages: Annotated[
        list[SentMessageView] | None,
        Schema("The messages of a request with `if_exists` that were sent, at most the latest 20. Null without it"),
    ]
    simulated: NotRequired[Simulated]


class QueuedRequestView(_RequestFields):
    """A queued request with its bodies."""

    metadata: Metadata
    request_xml: str
    request_json: Annotated[RequestTree | None, Schema("Null only with `request_json_omitted`, in a large batch")]
    response_xml: Annotated[
        str | None,
        Schema(
            "The response exactly as QuickBooks sent it. With the outcomes `found`, `updated` and `unchanged`, the "
            "object in the form of a response to the addition"
        ),
    ]
    response_json: Annotated[
        ResponseJson | None,
        Schema(
            "The same response. Elements that can repeat are arrays, and boolean elements are booleans. Sort the rows "
            "of a report by `@rowNumber`."
        ),
    ]
    result: NotRequired[
        Annotated[Result | None, Schema("With `include[]=result`, in place of `response_json`, which is then null")]
    ]
    sent_xml: NotRequired[
        Annotated[
            str | None,
            Schema(
                "With `include[]=sent_xml`: the document for QuickBooks, with its declarations and the message set ID "
                "of a write. Of a message set with several requests it has only this one, and a comment says so. With "
                "`if_exists`, the write that was sent last; null if there is none, or another one follows"
            ),
        ]
    ]
    batch: NotRequired[
        Annotated[
            list[BatchMemberView],
            Schema("With `include[]=batch`: the requests of its batch that exist, in their order; empty without one"),
        ]
    ]
    sent_in_sessions: Annotated[
        int,
        Schema("In how many sessions the request itself was sent. Those in which QuickBooks was closed do not count"),
    ]
    first_sent_at: Annotated[
        Moment | None, Schema("When a write was sent first, if the response to that was lost. Otherwise null")
    ]
    not_compared: Annotated[
        list[str] | None,
        Schema("The fields of an addition with `if_exists` `update` that are not compared with its object. Else null"),
    ]
    modification: Annotated[
        ModificationView | None,
        Schema(
            "With `if_exists` `update`, what was made last from the object that was read: the Mod that waits for "
            "approval, is sent next or was sent. Null if the write is the addition, or nothing differed"
        ),
    ]
    references: Annotated[
        list[ReferenceView], Schema("The references of the request. `request_xml` and `request_json` have their values")
    ]
    queued_by: Annotated[
        ActorView | None,
        Schema("Who queued it. Null if the service did, or if it was queued before this was stored"),
    ]
    replaces: Annotated[Uuid | None, Schema("The request in whose place this one was queued. Otherwise null")]
    replaced_by: NotRequired[
        Annotated[
            Uuid,
            Schema(
                "In the answer to a GET of a request that failed or was discarded: the request that was queued in its "
                "place. Otherwise absent"
            ),
        ]
    ]
    request_json_omitted: NotRequired[Omitted]
    response_omitted: NotRequired[Omitted]
    response_json_omitted: NotRequired[Omitted]
    result_omitted: NotRequired[Omitted]


class QueuedRequestBatchView(TypedDict):
    """The requests of a batch, in its order."""

    data: list[QueuedRequestView]


class ListedRequestView(_RequestFields):
    """A queued request in a list."""

    request_xml: Annotated[str | None, Schema("Null only with `request_omitted`")]
    response_xml: Annotated[str | None, Schema("Also null with `response_omitted`")]
    modification: Annotated[
        ModificationView | None,
        Schema(
            "The Mod that waits for approval. Null if an addition waits or nothing does, and with "
            "`modification_omitted`. The record itself has it also later"
        ),
    ]
    request_omitted: NotRequired[Omitted]
    response_omitted: NotRequired[Omitted]
    modification_omitted: NotRequired[Omitted]
    replaced_by: NotRequired[
        Annotated[
            Uuid | None,
            Schema(
                "With `include[]=replaced_by`: the request that was queued in its place. Null without one, and of a "
                "request that has neither failed nor been discarded"
            ),
        ]
    ]


class ListedRequestPageView(TypedDict):
    """One page of a connection's requests."""

    data: list[ListedRequestView]
    page: PageNumber
    total: Annotated[int, Schema("The number of requests that match", minimum=0)]
    total_pages: TotalPages
    counts: Annotated[
        dict[str, int], Schema("Number of the connection's requests in each state, regardless of filters and search")
    ]
    awaiting_approval: Annotated[
        int, Schema("Number of those that wait for approval: a part of `waiting` and `retryable`", minimum=0)
    ]


def links(record: QueuedRequest, *, below_connection: bool = False) -> RequestLinks:
    """Return the links of a record. The response to the call that queues it has its path below its connection."""
    base = f"/api/v1/connections/{record.connection_id}" if below_connection else "/api/v1"
    return {
        "self": f"{base}/queued_requests/{record.id}",
        "ui": f"/app/queued_requests/{record.id}",
        "connection_ui": f"/app/connections/{record.connection_id}",
    }


def error_view(error: RequestError | None) -> RequestErrorView | None:
    """Return the view of the error in which a request ended."""
    if error is None:
        return None
    return {"message": error.message, "code": error.code, "details": dict(error.details)}


def approval_view(record: QueuedRequest) -> ApprovalView | None:
    """Return the approval that a request needs, as its record shows it."""
    approval = record.approval
    if approval is None:
        return None
    return {
        "decision": approval.decision,
        "revision": record.revision if record.awaits_approval else approval.revision,
        "queued_by": approval.queued_by,
        "decided_by": approval.decided_by,
        "decided_at": approval.decided_at,
        "reason": approval.reason,
    }


def settling_view(record: QueuedRequest) -> SettlingView | None:
    """Return how QuickBooks was asked last about a write."""
    if record.settling_query_id is None:
        return None
    return {"query_id": record.settling_query_id, "answered": record.settling.executed is not None}


def queued_request(
    stored: StoredRequest,
    *,
    waiting: WaitingReason | None = None,
    below_connection: bool = False,
    with_result: bool = False,
) -> QueuedRequestView:
    """Return a record with both forms of its request and its response, or with the result in place of one of them."""
    tree = response_json(stored)
    view: QueuedRequestView = {
        **_fields(stored.record, waiting, below_connection=below_connection),  # type: ignore[typeddict-item]  # without the members that may be absent
        "metadata": dict(stored.metadata),
        "request_xml": stored.request_xml,
        "request_json": request_json(stored),
        "response_xml": stored.response_xml,
        "response_json": tree,
        "sent_in_sessions": stored.record.attempts.sessions,
        "first_sent_at": stored.record.recovery.first_sent_at,
        "not_compared": _not_compared(stored),
        "modification": modification_view(stored),
        "references": [
            {
                "place": reference.place,
                "request_id": reference.source,
                "path": reference.path,
                "value": reference.value,
            }
            for reference in stored.references
        ],
        "queued_by": actor_view(stored.queued_by) if stored.queued_by else None,
        "replaces": stored.replaces,
    }
    if with_result:
        view |= {"response_json": None, "result": result(stored, tree)}
    return view


def _not_compared(stored: StoredRequest) -> list[str] | None:
    if not stored.record.updates:
        return None
    return list(not_compared(qbxml.stored_request(stored.request_xml, stored.record.qbxml_version)))


def modification_view(stored: StoredRequest | ListedRequest) -> ModificationView | None:
    """Return the Mod that was made last in place of a request, unless it is not needed any more."""
    if stored.modification_xml is None or stored.record.outcome is LookupOutcome.UNCHANGED:
        return None
    list_id, edit_sequence = keys_of(qbxml.stored_request(stored.modification_xml, stored.record.qbxml_version))
    return {
        "list_id": list_id,
        "edit_sequence": edit_sequence,
        "changes": [{"field": one.field, "old": one.old, "new": one.new} for one in stored.field_changes],
        "request_xml": stored.modification_xml,
    }


def batch_member(record: QueuedRequest) -> BatchMemberView:
    """Return a request of a batch as the others show it."""
    return {
        "id": record.id,
        "batch_position": position_of(record.id),
        "request_name": record.request_name,
        "subject": record.subject,
        "state": record.state,
        "awaits_approval": record.awaits_approval,
        "executed": record.executed,
        "depends_on": [id_at(record.id, position) for position in record.dependencies],
        "error_code": record.error.code if record.error else None,
    }


def new_queued_request(queued: Queued) -> QueuedRequestView:
    """Return the record of a request that a call below its connection has queued."""
    view = queued_request(queued.stored, waiting=queued.waiting, below_connection=True)
    if queued.stored.response_xml is None and queued.stored.record.response_size:
        view["response_omitted"] = True
    return view


def listed_request(listed: ListedRequest, *, waiting: WaitingReason | None = None) -> ListedRequestView:
    """Return a list item: a record without its JSON forms."""
    view: ListedRequestView = {
        **_fields(listed.record, waiting),  # type: ignore[typeddict-item]  # as above
        "request_xml": listed.request_xml,
        "response_xml": listed.response_xml,
        "modification": modification_view(listed),
    }
    if listed.request_xml is None:
        view["request_omitted"] = True
    if listed.response_xml is None and listed.record.response_size:
        view["response_omitted"] = True
    if listed.lacks_modification:
        view["modification_omitted"] = True
    return view


def request_json(stored: StoredRequest) -> RequestTree:
    """Return the request as a tree."""
    return cast("RequestTree", qbxml.stored_request(stored.request_xml, stored.record.qbxml_version).to_json())


def response_json(stored: StoredRequest) -> ResponseJson | None:
    """Return the response as JSON, or None if there is none or it is not QBXML."""
    if stored.response_xml is None:
        return None
    try:
        return qbxml.response_to_json(stored.response_xml)
    except qbxml.UnreadableResponse:
        return None


def result(stored: StoredRequest, tree: ResponseJson | None) -> Result | None:
    """Return the elements of the response, given as JSON, or None unless the request ended with a usable response."""
    if stored.record.state is not State.RESPONSE_RECEIVED or not tree:
        return None
    (message_set,) = tree[0].values()
    responses = [value for name, value in message_set.items() if not name.startswith("@")]
    if not responses or not isinstance(responses[0], dict):
        return None
    return cast("Result", {name: value for name, value in responses[0].items() if not name.startswith("@")})


def _attempt_view(attempt: WebhookAttempt) -> WebhookAttemptView:
    return {
        "attempted_at": attempt.attempted_at,
        "response": attempt.response,
        "status_code": attempt.status_code,
        "duration_ms": attempt.duration_ms,
        "next_attempt_at": attempt.next_attempt_at,
    }


def _messages_view(record: QueuedRequest) -> list[SentMessageView] | None:
    if record.lookup is None:
        return None
    return [{"kind": message.kind, "sent_at": message.sent_at} for message in record.lookup.messages]


def _fields(record: QueuedRequest, waiting: WaitingReason | None, *, below_connection: bool = False) -> _RequestFields:
    view: _RequestFields = {
        "id": record.id,
        "connection_id": record.connection_id,
        "batch_id": batch_id(record.id),
        "batch_position": position_of(record.id) if batch_id(record.id) else None,
        "request_name": record.request_name,
        "query_id": record.query_id,
        "page": record.paging.page,
        "last_page": record.last_page,
        "subject": record.subject,
        "label": record.label,
        "state": record.state,
        "webhook_state": record.webhook_state,
        "webhook_retrying": record.webhook.is_retrying,
        "depends_on": [id_at(record.id, position) for position in record.dependencies],
        "approval": approval_view(record),
        "waiting_reason": waiting_reason(waiting),
        "error": error_view(record.error),
        "executed": record.executed,
        "settling": settling_view(record),
        "settles": record.settles,
        "webhook_url": record.webhook.url,
        "webhook_attempts": [_attempt_view(attempt) for attempt in record.webhook.attempts],
        "webhook_error": record.webhook.error,
        "links": links(record, below_connection=below_connection),
        "inserted_at": record.inserted_at,
        "send_by": record.send_by_time,
        "sent_at": record.sent_at,
        "responded_at": record.responded_at,
        "updated_at": record.updated_at,
        "priority": "low" if record.is_low else "normal",
        "if_exists": record.lookup.if_exists if record.lookup else IfExists.FAIL,
        "outcome": record.outcome,
        "messages": _messages_view(record),
    }
    if record.simulated:
        view["simulated"] = True
    return view
