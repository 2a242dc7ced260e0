"""The records that the events in `events/` mention: an app with a key, a connection, and a request.

Most events need a request that waits. Some need one that has ended, so the records depend on the function.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from domain.connections.passwords import hash_password
from domain.people.tokens import Cookie, secret_hash
from domain.records.app import ApiKey, App, Scope, api_key_hash
from domain.records.approval import Approval
from domain.records.audit import public_id
from domain.records.batch import new_batch_id
from domain.records.connection import Connection, OnboardingLink
from domain.records.permissions import Role
from domain.records.person import Invitation, Membership, Person, PersonIdentity, SignIn, identity_of
from domain.records.request import QueuedRequest, RequestError, State
from domain.records.subscription import CopyPhase, ObjectCopy, Subscription
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.storage.changes import Change
    from domain.storage.ports import Database

APP_ID = "a0000000-0000-4000-8000-000000000001"
CONNECTION_ID = "c0000000-0000-4000-8000-000000000001"
SUBSCRIPTION_ID = "e0000000-0000-4000-8000-000000000001"
REQUEST_ID = "b0000000-0000-4000-8000-000000000001"
API_KEY = "sk_" + "A" * 43
API_KEY_ID = public_id("key", api_key_hash(API_KEY))
WEBHOOK_SECRET = "whsec_" + "A" * 43 + "="
PASSWORD = "correct horse battery staple"  # noqa: S105 - of the sample connection
ONBOARDING_TOKEN = f"{CONNECTION_ID}.{'A' * 43}"
WEBHOOK_URL = "https://shop.example/hooks/quickbooks"
INSERTED_AT = datetime(2026, 3, 14, 12, 0, 0, tzinfo=UTC)
"""The time in the events."""

REQUEST_XML = (
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="1">'
    "<MaxReturned>10</MaxReturned></CustomerQueryRq></QBXMLMsgsRq></QBXML>"
)
DELETION_XML = (
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><ListDelRq requestID="1"><ListDelType>Vendor</ListDelType>'
    "<ListID>80000001-1</ListID></ListDelRq></QBXMLMsgsRq></QBXML>"
)
RESPONSE_XML = (
    '<?xml version="1.0" ?>\n<QBXML>\n<QBXMLMsgsRs>\n<CustomerQueryRs requestID="1" statusCode="0" '
    'statusSeverity="Info" statusMessage="Status OK">\n<CustomerRet>\n<ListID>80000001-1</ListID>\n'
    "<Name>Ann</Name>\n</CustomerRet>\n</CustomerQueryRs>\n</QBXMLMsgsRs>\n</QBXML>\n"
)

ATTEMPTS = {
    "redeliver_queued_request": 0,
    "redeliver_webhooks": 1,
    "deliver_webhook": 0,
    "retry_webhook": 1,
    "log_and_forget": 1,
}
"""The events whose request has ended, and the number of webhook attempts that were made then."""

MOVED_FILE = {
    "code": "company_file_moved",
    "message": "The company file is open at another path.",
    "path": "D:\\acme.qbw",
}
"""The connection's last error: the event of accepting a company file needs it."""

FAR_FUTURE = 4_102_444_800
"""Until when the sample request waits for approval, in Unix seconds: the functions use the real clock."""

ADMIN_ID = "d0000000-0000-4000-8000-000000000001"
MEMBER_ID = "d0000000-0000-4000-8000-000000000002"
INVITATION_ID = "d0000000-0000-4000-8000-000000000003"
SESSION_COOKIE = f"{ADMIN_ID}.d0000000-0000-4000-8000-000000000004.{'ab' * 32}"
"""The people of the events of sign-ins and members."""

LINK_LIFETIME = timedelta(days=36_500)
"""Of the sample onboarding link: the functions use the real clock."""


def people() -> list[Change]:
    """Return the changes that store an admin who is signed in, a member and an invitation."""
    now = timestamp(INSERTED_AT)
    admin = Person(ADMIN_ID, identity_of("https://id.example.com", "ada"), now, now, "Ada Admin", "ada@example.com")
    member = Person(MEMBER_ID, identity_of("https://id.example.com", "maria"), now, now, "Maria", "maria@example.com")
    cookie = Cookie.of(SESSION_COOKIE)
    if not cookie:
        raise ValueError("SESSION_COOKIE is not a cookie")
    sign_in = SignIn(ADMIN_ID, cookie.sign_in_id, secret_hash(cookie.secret), "0" * 64, now, now, FAR_FUTURE)
    return [
        *(Put(None, person) for person in (admin, member)),
        *(Put(None, PersonIdentity(person.identity, person.id)) for person in (admin, member)),
        Put(None, Membership(ADMIN_ID, APP_ID, Role.ADMIN, now)),
        Put(None, Membership(MEMBER_ID, APP_ID, Role.SUPPORT, now)),
        Put(None, sign_in),
        Put(None, Invitation(INVITATION_ID, APP_ID, "sam@example.com", Role.VIEWER, now, FAR_FUTURE, ADMIN_ID)),
    ]


def subscriptions(event: str) -> list[Change]:
    """Return the changes that store a subscription whose object was read. It is paused if the event resumes it."""
    now = timestamp(INSERTED_AT)
    paused_at = now if event == "resume_subscription" else None
    one = Subscription(
        SUBSCRIPTION_ID, CONNECTION_ID, APP_ID, now, now, ("Invoice",), 15, "all", now, paused_at=paused_at
    )
    return [Put(None, one), Put(None, ObjectCopy(CONNECTION_ID, "Invoice", CopyPhase.CHANGES, now))]


def write(store: Database, event: str = "", *, webhook_url: str = WEBHOOK_URL) -> None:
    """Write the records that an event needs into empty tables. `event` is the name of its file, such as `sweep`."""
    now = timestamp(INSERTED_AT)
    record = QueuedRequest(
        id=REQUEST_ID,
        connection_id=CONNECTION_ID,
        app_id=APP_ID,
        request_name="CustomerQueryRq",
        request_label="1",
        qbxml_version="13.0",
        inserted_at=now,
        updated_at=now,
        webhook=Webhook.to(webhook_url),
    )
    if event.startswith(("approve_", "reject_")):
        approval = Approval("key_0000000000000001")
        record = replace(record, request_name="CustomerAddRq", approval=approval, send_by=FAR_FUTURE)
    connection = Connection(
        id=CONNECTION_ID,
        app_id=APP_ID,
        name="Sample company",
        owner_id="57F3B9B1-86F1-4FCC-B1EE-566DE1813D20",
        file_id="90A44FB5-33D9-4815-AC85-BC87A7E7D1EB",
        inserted_at=now,
        updated_at=now,
        password_hash=hash_password(PASSWORD, bytes(16)),
        last_error=MOVED_FILE,
        simulated="simulator" in event,
        onboarding=OnboardingLink(
            sha256(ONBOARDING_TOKEN.encode()).hexdigest(), now, timestamp(INSERTED_AT + LINK_LIFETIME)
        ),
    )
    store.commit(
        Put(None, App(APP_ID, "Shop", now, (WEBHOOK_SECRET,))),
        Put(None, ApiKey(api_key_hash(API_KEY), APP_ID, Scope.FULL, API_KEY[:11], now)),
        Put(None, connection),
    )
    store.commit(*people())
    if "subscription" in event:
        store.commit(*subscriptions(event))
    if event == "settle_queued_request":
        error = RequestError("outcome_unknown", "…")
        record = replace(record, request_name="ListDelRq", state=State.ERROR, error=error, sent_at=now)
        store.commit(AddRequest(record, DELETION_XML, "vendor"))
        return
    store.commit(AddRequest(record, REQUEST_XML, "ann"))
    if event in {"queue_request_again", "queue_requests_again"}:
        store.commit(ChangeRequest(record, record.moved(State.DISCARDED, INSERTED_AT)))
    if event == "continue_batch":
        failed = replace(record, id=new_batch_id(REQUEST_ID), request_name="CustomerAddRq", state=State.DISCARDED)
        store.commit(AddRequest(failed, REQUEST_XML, "ann"))
    if event in ATTEMPTS:
        for state in (State.TICKETED, State.SENT):
            store.commit(ChangeRequest(record, record := record.moved(state, INSERTED_AT)))
        webhook = replace(record.webhook, attempts_in_round=ATTEMPTS[event])
        if event == "redeliver_webhooks":
            webhook = replace(webhook, state=WebhookState.FAILED)
        ended = replace(record, webhook=webhook).moved(State.RESPONSE_RECEIVED, INSERTED_AT)
        store.commit(ChangeRequest(record, ended, response_xml=RESPONSE_XML))
