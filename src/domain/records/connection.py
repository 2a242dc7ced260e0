"""The connection: one company file of one app, with the credentials of its Web Connector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from domain.records.audit import public_id
from domain.records.sync_window import SyncWindow
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from datetime import datetime

COMPANY_FILE_MISMATCH = "company_file_mismatch"
"""The code of `last_error` while another company file is open. Nothing is sent."""

COMPANY_FILE_MOVED = "company_file_moved"
"""The code of `last_error` while a file with the connection's mark is open at a path that nobody has accepted. It may
be a copy or a restored backup, so nothing is sent."""

MAX_BATCH_SIZE = 20
"""The largest `batch_size` and `read_batch_size`."""

STOPPED_AFTER = timedelta(days=1)
"""The longest polling interval is 15 minutes, so such a Web Connector has missed a hundred calls."""

PROVED_BY = 2
"""So many failed logins between good ones prove a second Web Connector."""

HELD_BY_COMPANY_FILE = frozenset({COMPANY_FILE_MISMATCH, COMPANY_FILE_MOVED})

VERSION_OF_KEYS = 5
"""The version of the UUIDs that `id_of_key` returns. Other ids are random, which is version 4."""

_NAMESPACE = UUID("3f5f2f7e-6a52-4c0e-9a5b-6d1f0c4a7b19")


def id_of_key(app_id: str, key: str) -> str:
    """Return the id of the connection that an app creates with an `Idempotency-Key`. So the key needs no item."""
    return str(uuid5(_NAMESPACE, f"{app_id} {key}"))


@dataclass(frozen=True, slots=True)
class OnboardingLink:
    """The live link of a connection. The page leads to `redirect_url` when the setup is complete.

    `passwords_set`: how many passwords were set through the link.
    """

    token_hash: str
    created_at: str
    expires_at: str
    redirect_url: str | None = None
    passwords_set: int = 0

    @property
    def id(self) -> str:
        """The public id of the link, which the audit log shows."""
        return link_id(self.token_hash)


def link_id(token_hash: str) -> str:
    """Return the public id of the link whose token has this hash."""
    return public_id("link", token_hash)


@dataclass(frozen=True, slots=True)
class Backoff:
    """A pause after sessions in which QuickBooks failed for several requests in a row, and their number."""

    sessions: int
    until: str


@dataclass(frozen=True, slots=True)
class FailedLogins:
    """Logins that failed although the current password had worked: when the last one was, and from which address.

    `times` counts them, one for each time that a good login and a failed one followed each other within a day.
    `since`: when the first one after the last good login was.
    """

    at: str
    since: str
    times: int
    address: str | None = None

    @property
    def prove_second(self) -> bool:
        """Whether they prove a second Web Connector: good logins continue between them."""
        return self.times >= PROVED_BY


QWC_NAME = "qbxml-queue"
"""The beginning of the AppName of a connection whose app had no contact with a name."""


@dataclass(frozen=True, slots=True)
class Connection:
    """One company file of one app. `id` is also the user name of the Web Connector.

    `qwc_name`: the beginning of the AppName in the `.qwc` file. It never changes.
    `owner_id`, `file_id`: the GUIDs of the `.qwc` file, in upper case without braces. `file_id` is the FileID mark
    of the pinned company file. If no file is pinned (`file_pinned` is false), the next file with a mark is pinned.
    `file_id_seen` is the mark that the last session found. `company_file_paths` are the paths at which
    that file is accepted: the first one that was found, and those that somebody accepted.

    `password_hash`: a scrypt string, or None until a password is set.
    `password_changed_at`: when the password was last set.
    `session_id`: the id of the live session, or None.
    `message_set_to_forget`: the message set that the next session tells QuickBooks to forget.
    `webhook_events`: the events of the connection that its `webhook_url` gets, as types and groups
    (`domain.records.event_types`).
    `last_error`: the last problem that the Web Connector reported, as `{"code", "message", "at", …}`.
    `login_failed_at`: when a login last failed, to the minute. None after a successful login and a new password.
    `failed_beside`: logins that failed beside good ones. None until the first, after a new password, and after a good
    login a day after the last one.

    `sync_window`: None means that requests are sent at any time.
    `batch_size`: the largest number of writes that are sent in one message set.
    `read_batch_size`: the largest number of reads that are sent in one message set.
    `read_set_size`: how many reads the first message set of the next session may have.
    `approval`: "required" if all writes need approval that are queued from now on.
    `linger_seconds`: how long a session waits for more requests after its last one.
    `settles_on_call_only`: whether the service does not ask QuickBooks by itself about writes whose outcome is unknown.
    `paused_at`: None if the connection is not paused.
    `stalled_at`: when the sweep found that requests wait and the Web Connector has not called for a day. None after its
    next call.
    `backoff`: None if the last session got a response from QuickBooks.
    `last_worked_at`: when a session last had a request.
    `session_ended_at`: when the last session ended. QuickBooks may have worked in it for long without any call.
    `quickbooks_answered_at`: when QuickBooks first answered, with the right company file open. It is counted again from
    a new onboarding link, and after the company file was reset.
    `company_name`, `quickbooks_product_name`, `quickbooks_version`: from QuickBooks' last answer.
    `last_connected_at`: when the Web Connector last logged in. Calls without work are recorded every ten minutes.
    `turned_away`: how many logins in a row opened no session because too many were running.
    `reserved_at`: from when a login is admitted, however many sessions run. None if none was turned away since then.
    `simulated`: whether it is a test connection, behind which a simulated QuickBooks works. It never changes.
    `has_low_lane`: whether a request of the low lane was ever queued.
    `sends`: how many message sets were sent since the last one of the low lane, modulo SENDS_OF_A_CYCLE.
    `run_due_at`: when its subscriptions are read next, or None without a subscription.
    `copied_at`: when the last of their objects was read to the end, or None if one of them was not yet.
    `postponed_seconds`: after how many seconds that login asked for the next one. 0 means the user's own interval.
    """

    id: str
    app_id: str
    owner_id: str
    file_id: str
    inserted_at: str
    updated_at: str
    name: str | None = None
    company_file: str | None = None
    webhook_url: str | None = None
    webhook_events: tuple[str, ...] = ()
    password_hash: str | None = None
    password_changed_at: str | None = None
    session_id: str | None = None
    message_set_to_forget: str | None = None
    last_connected_at: str | None = None
    qbxml_version: str | None = None
    quickbooks_product_name: str | None = None
    quickbooks_version: str | None = None
    company_name: str | None = None
    quickbooks_answered_at: str | None = None
    country: str | None = None
    company_file_paths: tuple[str, ...] = ()
    file_id_seen: str | None = None
    file_pinned: bool = True
    last_error: dict[str, Any] | None = None
    login_failed_at: str | None = None
    failed_beside: FailedLogins | None = None
    sync_window: SyncWindow | None = None
    approval: str | None = None
    linger_seconds: int = 0
    batch_size: int = 1
    read_batch_size: int = MAX_BATCH_SIZE
    read_set_size: int = 1
    settles_on_call_only: bool = False
    qwc_name: str = QWC_NAME
    paused_at: str | None = None
    stalled_at: str | None = None
    backoff: Backoff | None = None
    onboarding: OnboardingLink | None = None
    last_worked_at: str | None = None
    session_ended_at: str | None = None
    postponed_seconds: int = 0
    turned_away: int = 0
    reserved_at: str | None = None
    simulated: bool = False
    has_low_lane: bool = False
    sends: int = 0
    run_due_at: str | None = None
    copied_at: str | None = None
    deleted_at: str | None = None
    revision: int = 1

    @property
    def username(self) -> str:
        """The user name of the Web Connector."""
        return self.id

    @property
    def status(self) -> str:
        """`never_connected`, `connected` or `error` (docs/reference/service-contract.md, Connection record)."""
        if self.last_error is not None:
            return "error"
        return "connected" if self.last_connected_at else "never_connected"

    @property
    def quickbooks_status(self) -> str:
        """`never_connected`, `testing`, `connected` or `error`.

        It is `testing` from the first login until QuickBooks answers. `status` is `connected` then already.
        """
        if self.status != "connected":
            return self.status
        return "connected" if self.quickbooks_answered_at else "testing"

    @property
    def is_onboarded(self) -> bool:
        """Whether QuickBooks has answered since the onboarding link was created, if there is one."""
        answered_at, link = self.quickbooks_answered_at, self.onboarding
        return answered_at is not None and (link is None or answered_at > link.created_at)

    @property
    def last_call_at(self) -> str | None:
        """When the Web Connector last called, or None. Calls without work are recorded every ten minutes."""
        return max(self.last_connected_at or "", self.last_worked_at or "") or None

    @property
    def password_works(self) -> bool:
        """Whether a Web Connector has logged in with the current password."""
        return (self.last_connected_at or "") > (self.password_changed_at or "")

    def has_stopped_calling(self, now: datetime) -> bool:
        """Return whether the Web Connector has called, but not for a day, although the connection is not paused."""
        if self.paused_at is not None or self.last_call_at is None:
            return False
        return self.last_call_at < timestamp(now - STOPPED_AFTER)

    def changed(self, now: str) -> Connection:
        """Return the connection after a change of its fields, with a new `updated_at` and the next `revision`."""
        return replace(self, updated_at=now, revision=self.revision + 1)

    def removed(self, now: str) -> Connection:
        """Return the deleted connection. It has no password, no session and no name of the contact."""
        gone = replace(self, deleted_at=now, password_hash=None, session_id=None, qwc_name=QWC_NAME)
        return gone.changed(now)

    @property
    def is_of_key(self) -> bool:
        """Whether an `Idempotency-Key` made the id, so that the same key would make it again."""
        return UUID(self.id).version == VERSION_OF_KEYS

    def without_data(self) -> Connection:
        """Return what stays of a deleted connection whose id must not be used again: its ids and times."""
        return Connection(self.id, self.app_id, "", "", self.inserted_at, self.updated_at, deleted_at=self.deleted_at)
