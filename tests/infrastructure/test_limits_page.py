"""Every figure in `docs/limits.md` is that of the code, and every limit of an app is there."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from adapters.dynamodb.records import TOMBSTONE_DAYS
from domain import labels, send_by
from domain.apps import administration, api_keys, contacts, key_uses, quotas
from domain.batches import dependencies
from domain.connections import onboarding, sessions, simulators, turns
from domain.connections import service as connections
from domain.errors import MAX_PROBLEMS, MAX_TEXT_LENGTH
from domain.events import feed, log
from domain.listing import causes, filters, lists, overview, search, usage, value_search
from domain.maintenance import unsettled_writes
from domain.people import members, sign_ins, tokens
from domain.qbxml import references
from domain.qbxml.codes.statuses import EDIT_SEQUENCE_OUT_OF_DATE
from domain.qbxml.request import iteration
from domain.qbxml.request import limits as requests
from domain.qbxml.xml import parser
from domain.queueing import continuation, many, new_request, waiting_calls, waiting_reason
from domain.records import approval, audit, batch, lookup, person, request, session, subscription
from domain.records.app import AppLimits
from domain.records.connection import MAX_BATCH_SIZE
from domain.records.search_text import MAX_TEXT_BYTES
from domain.settling import books_clock
from domain.settling import queries as settling_queries
from domain.settling import service as settling_service
from domain.storage.statistics import KEPT_DAYS
from domain.subscriptions import asking, derived, entry_counts, history, open_transactions, run, stored
from domain.web_connector.outcomes import looking, lost_response, pages, processor_exception
from domain.web_connector.protocol import soap
from domain.web_connector.session import admission, backoff, receiving, runs, sending, sets
from domain.webhooks import defaults as webhooks
from domain.webhooks.trial import TRIAL_REDELIVERIES
from handlers.list_audit_log import MAX_LOOKED_AT
from handlers.list_events import MAX_ANSWER_BYTES
from handlers.rest import models, request_checks, responses
from handlers.rest.new_queued_request import NewBatchRequest
from handlers.views import failures
from local.programs import ROOT
from local.template import Template
from simulator.hosted import kept, operations
from simulator.inspection import inspector
from tools.highest_costs import ACCOUNT_EXECUTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    from pydantic import BaseModel

SECONDS_A_YEAR = 366 * 86_400
PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
PARAMETERS = Template.load().parameters

# The package exports functions with the names of these modules.
subject, search_text = (import_module(f"domain.qbxml.{name}") for name in ("subject", "search_text"))


def size(number: int) -> str:
    """Return a number of bytes as the page writes it."""
    for unit, name in ((1024 * 1024, "MiB"), (1024, "KiB")):
        if number % unit == 0:
            return f"{number // unit} {name}"
    return f"{number:,} bytes"


def hours(time: timedelta) -> str:
    return f"{time.total_seconds() / 3600:g} hours"


def seconds(number: float) -> str:
    return f"{number:g} seconds"


def allowed(model: type[BaseModel], field: str) -> str:
    """Return the range of a parameter, with its default if it has one: `1 to 100, default 20`."""
    schema = model.model_json_schema()["properties"][field]
    bounds = {name: value for variant in (schema, *schema.get("anyOf", ())) for name, value in variant.items()}
    values = f"{bounds['minimum']} to {bounds['maximum']:,}"
    return f"{values}, default {schema['default']}" if schema.get("default") is not None else values


def longest(model: type[BaseModel], field: str) -> str:
    """Return the maximum number of characters of a parameter or of a member of a body."""
    schema = model.model_json_schema()["properties"][field]
    return str(next(variant["maxLength"] for variant in (schema, *schema.get("anyOf", ())) if "maxLength" in variant))


def parameter(name: str) -> int:
    return int(PARAMETERS[name])


APP = AppLimits()
SEARCHES_AT_ONCE = APP.search_seconds_per_minute // search.MAX_SEARCH_SECONDS
SESSIONS = admission.budget(parameter("WebConnectorCallsPerSecond"), parameter("ConcurrencyAlarmAt")).sessions

FIGURES: Mapping[str, Sequence[str]] = {
    "body of a call": [size(request_checks.MAX_BODY_BYTES)],
    "`Idempotency-Key`": [f"1 to {request_checks.MAX_IDEMPOTENCY_KEY_CHARACTERS} visible"],
    "`wait`": [allowed(models.EventParameters, "wait")],
    "problems in one error": [str(MAX_PROBLEMS), str(MAX_TEXT_LENGTH)],
    "work of one [call on many requests]": [
        f"{many.USUAL_BOUNDS.changed} changed",
        f"{many.USUAL_BOUNDS.looked_at:,} read",
        seconds(many.USUAL_BOUNDS.seconds),
    ],
    "[test of a webhook]": [seconds(webhooks.ATTEMPT_TIMEOUT_SECONDS), f"{TRIAL_REDELIVERIES} redeliveries"],
    "requests in a batch": [f"1 to {batch.MAX_REQUESTS}", f"{requests.MAX_BATCH_BYTES:,} bytes"],
    "a request as it is sent": [size(requests.MAX_WIRE_BYTES)],
    "nesting of elements": [f"{requests.MAX_DEPTH} levels"],
    "elements": [f"{requests.MAX_ELEMENTS:,}"],
    "digits of a whole number": [str(requests.MAX_DIGITS)],
    "request label": [str(requests.MAX_REQUEST_LABEL_CHARACTERS)],
    "`label`": [f"1 to {labels.MAX_LABEL_CHARACTERS} characters"],
    "reason of a rejection": [f"1 to {models.MAX_REASON_CHARACTERS} characters"],
    "wait for [approval]": [f"{approval.MAX_SECONDS // 86_400} days"],
    "`send_by`, `send_within`": [f"{send_by.MIN_SECONDS} seconds to {send_by.MAX_SECONDS // 86_400} days"],
    "`metadata`": [f"{labels.MAX_METADATA_PAIRS} strings", f"{labels.MAX_METADATA_BYTES:,} bytes"],
    "`ref` in a batch": [longest(NewBatchRequest, "ref")],
    "references of a request": [str(references.MAX_REFERENCES), size(references.MAX_VALUES_BYTES)],
    "requests that depend on one directly": [str(batch.MAX_DEPENDANTS)],
    "requests outside a batch that it names": [str(dependencies.MAX_OUTSIDE), size(dependencies.MAX_OUTSIDE_BYTES)],
    "failed successors in a row that a continuation of a batch follows": [str(continuation.MAX_GENERATIONS)],
    "message of QuickBooks in an error": [f"{request.MAX_MESSAGE_CHARACTERS:,} characters"],
    "requests ahead that a waiting reason counts": [str(waiting_reason.MAX_COUNTED_AHEAD)] * 2,
    "missed calls that a waiting reason counts": [str(waiting_reason.MAX_COUNTED_MISSED)] * 2,
    "pages of an iterated query": [f"{pages.MAX_PAGES:,}"],
    "objects on a page of a query": [str(iteration.PAGE_SIZE)],
    "HTTP response": [size(responses.MAX_RESPONSE_BYTES)],
    "`page_size`": [allowed(models.PageParameters, "page_size")],
    "response in a list item": [size(lists.MAX_LISTED_RESPONSE_BYTES)],
    "requests and responses on a page of a list": [size(lists.MAX_PAGE_BYTES)],
    "`search_phrase`": [longest(models.ListParameters, "search_phrase")],
    "time of a search": [seconds(search.MAX_SEARCH_SECONDS)],
    "searched text of a request": [
        f"{MAX_TEXT_BYTES:,} characters",
        f"{size(search_text.MAX_REQUEST_BYTES)} of distinct request text",
        f"{size(search_text.MAX_RESPONSE_BYTES)} of distinct response text",
    ],
    "`subject`": [f"{subject.MAX_SUBJECT_BYTES} bytes"],
    "events in an answer of the feed": [allowed(models.EventParameters, "limit"), size(MAX_ANSWER_BYTES)],
    "stored groups of events": [f"{feed.MAX_GROUPS:,}"],
    "responses in the answer to a repeated batch": [size(new_request.MAX_RESPONSES_BYTES)],
    "entries in an answer of the audit log": [allowed(models.AuditLogParameters, "limit")],
    "entries that a call of the audit log": [f"{MAX_LOOKED_AT:,}"],
    "`ids` in the `filter`": [f"1 to {filters.MAX_IDS}"],
    "requests of a call that approves or rejects several": [f"1 to {filters.MAX_IDS}"],
    "`days` of statistics": [allowed(models.StatisticsParameters, "days")],
    "failures of a connection in `GET /failures`": [f"{causes.MAX_RECORDS:,} that"],
    "causes in `GET /failures`": [f"{causes.MAX_GROUPS:,} largest", f"{failures.MAX_TEXT} characters"],
    "connections in `GET /failures`": [f"{overview.MAX_CONNECTIONS:,} oldest", seconds(overview.MAX_SECONDS)],
    "`value` of `GET /search`": [longest(models.SearchParameters, "value")],
    "`limit` of `GET /search`": [
        f"1 to {value_search.MAX_HITS}, default {models.SearchParameters.model_fields['limit'].default}"
    ],
    "connections in `GET /search`": [f"{overview.MAX_CONNECTIONS:,} oldest", seconds(overview.MAX_SECONDS)],
    "months of `GET /usage`": [f"{usage.MAX_MONTHS}"],
    "usage by month": ["as long as the connection"],
    "connections in `GET /usage`": [f"{overview.MAX_CONNECTIONS:,} oldest", seconds(overview.MAX_SECONDS)],
    "connections in `GET /statistics`": [f"{overview.MAX_CONNECTIONS:,} oldest", seconds(overview.MAX_SECONDS)],
    "entries that a list": [f"{lists.MAX_UNCOUNTED_ENTRIES:,}"],
    "requests that a list with a filter that no index has reads": [f"{search.BOUNDS.records:,}"],
    "requests that a list by the time of sending spans": [f"{search.BOUNDS.spanned:,}", f"{search.BOUNDS.undecided}"],
    "`name`, `company_file`": [
        f"{longest(models.NewConnection, 'name')} and {longest(models.NewConnection, 'company_file')} characters"
    ],
    "`name`, `phone`, `email`, `logo_url` of the [contact]": [
        f"{contacts.MAX_NAME_CHARACTERS}, {contacts.MAX_PHONE_CHARACTERS}, {contacts.MAX_EMAIL_CHARACTERS} and",
        f"{webhooks.MAX_URL_LENGTH:,} characters",
    ],
    "password that the caller chooses": [
        f"{connections.MIN_PASSWORD_LENGTH} to {connections.MAX_PASSWORD_LENGTH} characters"
    ],
    "`linger_seconds`": [f"0 to {session.MAX_LINGER_SECONDS:,}, default 0"],
    "`batch_size`": [f"1 to {MAX_BATCH_SIZE}, default 1"],
    "`read_batch_size`": [f"1 to {MAX_BATCH_SIZE}, default {MAX_BATCH_SIZE}"],
    "`webhook_events`": [],
    "accepted paths of the company file": [str(connections.MAX_PATHS)],
    "company of a [test connection]": [f"{kept.MAX_COMPANY_BYTES // 1_000_000} MB compressed"],
    "sessions of a test connection": [f"{kept.MAX_SECONDS_A_DAY} seconds a day"],
    "days that a test connection is ahead": [f"{simulators.MAX_DAYS:,}"],
    "`steps` and `expect`": ["100 steps", f"{operations.MAX_SCRIPT_BYTES:,} bytes in all"],
    "answer of `…/simulator/books`": [
        f"{inspector.MAX_LIMIT} records, default {inspector.DEFAULT_LIMIT}",
        f"{operations.MAX_ANSWER_BYTES // 1_000_000} MB",
    ],
    "onboarding link": [hours(onboarding.LIFETIME)],
    "passwords set through one onboarding link": [str(onboarding.MAX_PASSWORDS)],
    "recorded login failures": [],
    "a call with a response": [size(soap.MAX_BODY_BYTES), "4.3 MB of QBXML"],
    "a call without a response": [size(soap.MAX_SMALL_BODY_BYTES)],
    "elements in a SOAP envelope": [
        f"{soap.MAX_ELEMENTS:,}",
        f"{soap.MAX_ATTRIBUTES} attributes",
        f"{soap.MAX_NAME_CHARACTERS} characters",
    ],
    "elements and attributes in a response": [
        f"{parser.MAX_ELEMENTS:,}",
        f"{parser.MAX_ATTRIBUTES:,}",
        f"{parser.MAX_ATTRIBUTES_OF_ELEMENT:,} attributes of one element",
    ],
    "sessions of a connection at once": ["1"],
    "listed sessions of a connection": [f"{sessions.MAX_SESSIONS}, of {session.KEPT_SECONDS // 86_400} days"],
    "time without a call in a session": [f"{session.SILENCE_SECONDS // 60} minutes"],
    "sessions in which a read is sent": [str(lost_response.MAX_SESSIONS)],
    "messages of a request with `if_exists`": [str(lookup.MAX_MESSAGES)],
    "times that an update reads its object again": [str(lost_response.MAX_SESSIONS), str(EDIT_SEQUENCE_OUT_OF_DATE)],
    "ids in the error `ambiguous_match`": [str(looking.MAX_IDS)],
    "sessions that ask for the stored response": [str(lost_response.MAX_RECOVERY_SESSIONS)],
    "queries that settle a write": [
        str(settling_service.MAX_QUERIES),
        f"{settling_queries.MAX_OBJECTS} objects with lines",
        f"{settling_queries.MAX_CHANGES} without",
    ],
    "queries of a connection that wait behind all other requests": [str(settling_service.MAX_WAITING)],
    "unsettled writes that a run of the sweep looks at": [f"{unsettled_writes.WRITES_A_SWEEP:,}"],
    "time around the sending of a write": [f"{books_clock.CALIBRATED_WITHIN.total_seconds() / 3600:g} hours"],
    "sessions in which QuickBooks may fail for a request": [str(request.MAX_FAILED_SESSIONS_IN_TURN)],
    "pause of a connection for which QuickBooks fails": [
        f"{backoff.MAX_PAUSE.total_seconds() / 60:g} minutes",
        f"{backoff.MAX_PAUSE_WHILE_UNAVAILABLE.total_seconds() / 60:g} while",
    ],
    "time in which failed attempts do not count": [f"{processor_exception.MAX_UNCOUNTED.days} days"],
    "company name, version and path of QuickBooks": [f"{request.MAX_FACT_CHARACTERS} characters"],
    "message set of several requests": [size(sets.MAX_REQUEST_BYTES), f"ask for {sets.MAX_OBJECTS} objects"],
    "additions and Mods after a set of queries": [f"{receiving.MAX_AGE_OF_ANSWERS.total_seconds() / 60:g} minutes"],
    "subscriptions of a connection": [str(subscription.MAX_SUBSCRIPTIONS), f"{subscription.MAX_OBJECTS} objects"],
    "`every_minutes` of a subscription": [allowed(models.NewSubscription, "every_minutes")],
    "`verify_days` of a subscription": [allowed(models.NewSubscription, "verify_days")],
    "record of a change": [
        f"{stored.MAX_RECORD_BYTES // 1_000_000} MB",
        f"{stored.MAX_PACKED_BYTES // 1_000} KB compressed",
    ],
    "new entries of a list": [f"{asking.OVERLAP.total_seconds() / 60:g} minutes", f"{entry_counts.MAX_CREATED:,}"],
    "open transactions of an object": [f"{open_transactions.MAX_OPEN:,}"],
    "entries of a list whose derived fields": [f"{derived.MAX_DERIVED:,}"],
    "run of subscriptions": [f"{runs.MAX_SECONDS // 60} minutes", f"{runs.MAX_RECEIVED_BYTES // 10**6} MB"],
    "changes of records in one call": [f"{history.MAX_PAGES} pages", f"{history.MAX_BYTES // 10**6} MB"],
    "changes of an object": [f"{asking.OVERLAP.total_seconds() / 60:g} minutes", f"{run.MAX_TOKENS:,}"],
    "delay of a page": [seconds(sending.MAX_PAGE_DELAY.total_seconds())],
    "interval between two calls": [
        f"{turns.MIN_USER_INTERVAL_SECONDS // 60} to {turns.MAX_POSTPONEMENT_SECONDS // 60} minutes",
        f"up to {backoff.MAX_PAUSE.total_seconds() * (1 + turns.SPREAD) / 60:g} after a backoff",
    ],
    "`webhook_url`": [f"{webhooks.MAX_URL_LENGTH:,} characters"],
    "valid webhook secrets of an app": [str(administration.MAX_ACTIVE_SECRETS)],
    "active API keys of an app": [str(api_keys.MAX_ACTIVE_KEYS), str(api_keys.MAX_ACTIVE_OF_FAMILY)],
    "keys in a list that were revoked": [str(api_keys.MAX_LISTED_INACTIVE)],
    "API key with an expiry": [f"{administration.MAX_KEY_LIFETIME.days // 365} years"],
    "time of an attempt": [
        seconds(webhooks.ATTEMPT_TIMEOUT_SECONDS),
        f"{webhooks.FIRST_ATTEMPT_TIMEOUT_SECONDS:g} second",
    ],
    "attempts of a webhook": [str(len(webhooks.RETRY_DELAYS) + 1)],
    "`Retry-After` of a receiver": [hours(webhooks.MAX_RETRY_AFTER)] * 2,
    "body of an event": [size(webhooks.MAX_BODY_BYTES)],
    "changes in a webhook of a subscription": [
        f"{stored.MAX_PAGE_CHANGES:,} of one object",
        f"{stored.MAX_PAGE_BYTES // 1_000} KB",
    ],
    "a failure at the webhook of a subscription": [f"{subscription.REPEATED_WITHIN.total_seconds() / 60:g} minute"],
    "stored response of the receiver": [
        size(webhooks.MAX_RESPONSE_BYTES),
        f"{webhooks.MAX_OLDER_RESPONSE_BYTES} bytes",
    ],
    "attempts in a record": [f"latest {webhooks.MAX_ATTEMPTS_KEPT}"],
    "first attempts of one app at once": [f"{webhooks.MAX_FIRST_ATTEMPTS_PER_APP} in each batch"],
    "requests and responses": [],
    "the fact that a request was deleted": [f"{TOMBSTONE_DAYS} days"],
    "idempotency key": [
        f"{new_request.IDEMPOTENCY_SECONDS // 3600} hours",
        f"{new_request.MAX_SECONDS_WITH_APPROVAL // SECONDS_A_YEAR} years",
    ],
    "events in the feed": [f"{log.KEPT.days} days"],
    "statistics": [f"{KEPT_DAYS} days"],
    "an invitation of a person": [f"{person.INVITED.days} days"],
    "a sign-in of a person": [f"{person.IDLE.seconds // 3600} hours", f"{person.LASTS.days} days"],
    "a session token": [f"{tokens.TOKEN_SECONDS} seconds"],
    "members of an app and invitations": [str(members.MAX_MEMBERS)],
    "browsers with which": [str(sign_ins.MAX_SIGN_INS)],
    "audit log": [f"{audit.KEPT.days} days"],
    "last use of an API key": [f"{key_uses.LIFETIME.days} days"],
    "log lines": [f"{parameter('LogRetentionDays')} days"],
    "`creates_per_second`": [str(APP.creates_per_second)],
    "`waiting`": [f"{APP.waiting:,}", f"{quotas.RECOUNT_SECONDS} seconds"],
    "`redeliveries_per_minute`": [
        f"counts as {TRIAL_REDELIVERIES}",
        f"{APP.redeliveries_per_minute // TRIAL_REDELIVERIES} tests a minute",
        f"{APP.redeliveries_per_minute // TRIAL_REDELIVERIES * 10 // 60} functions",
        f"{APP.redeliveries_per_minute:,}",
    ],
    "`written_bytes_per_minute`": [f"{APP.creates_per_second} a second", f"{APP.written_bytes_per_minute:,}"],
    "`reads_per_second`": [
        f"{many.USUAL_BOUNDS.part_size} requests",
        f"{60 * APP.reads_per_second:,} requests",
        str(APP.reads_per_second),
    ],
    "`searches_per_minute`": [f"{lists.MAX_UNCOUNTED_ENTRIES:,}"] * 2 + [str(APP.searches_per_minute)],
    "`search_seconds_per_minute`": [
        "search of 100,000 requests",
        str(APP.search_seconds_per_minute),
        seconds(search.MAX_SEARCH_SECONDS),
        f"{SEARCHES_AT_ONCE} searches",
        str(2 * SEARCHES_AT_ONCE),
        f"{ACCOUNT_EXECUTIONS:,} concurrent executions",
    ],
    "`connections`": [f"{APP.connections:,}", f"every {quotas.RECOUNT_SECONDS} seconds"],
    "calls of each method of the API": [f"{parameter('CallsPerSecond')} a second"],
    "calls of each method that needs no key": [f"{parameter('AnonymousCallsPerSecond')} a second"],
    "calls of all Web Connectors": [
        f"{parameter('WebConnectorCallsPerSecond'):,} a second",
        f"{parameter('WebConnectorBurst'):,} at the same moment",
    ],
    "sessions of all Web Connectors": [f"{SESSIONS} at once", f"{admission.share_of(SESSIONS)} of one app"],
    "calls that wait": [
        f"{parameter('MaxWaitingCalls')} at once",
        seconds(waiting_calls.MAX_WAIT_SECONDS),
        f"From {waiting_calls.MIN_SHARED_LIMIT} places",
    ],
    "cached credentials": [seconds(parameter("AuthorizerCacheSeconds"))],
    "execution of one request": [f"{parameter('ExecutionSeconds') // 60} minutes"],
    "reserved concurrency": [],
}
"""The figures of each row in their order. A row is named by the beginning of its first cell."""

NOT_ON_THE_PAGE: Mapping[str, set[str]] = {
    "bounds the memory or the parallel work of a function": {
        *("handlers.common.bootstrap.MAX_CONNECTIONS", "handlers.rest.responses.MAX_TEXT_BYTES"),
        *("handlers.rest.responses.MAX_GROWTH", "handlers.common.http.MIN_COMPRESSED_CHARACTERS"),
        *("handlers.list_events.MAX_DATA_BYTES", "domain.listing.page_range.MAX_PARALLEL_READS"),
        *("domain.listing.page_range.MIN_PART_RECORDS", "domain.listing.connection_counts.MAX_PARALLEL_CONNECTIONS"),
        *("domain.apps.quotas.MAX_PARALLEL_COUNTS", "domain.apps.quotas.MAX_CACHED_PORTIONS"),
        "domain.apps.key_uses.MAX_REMEMBERED",
        *("domain.connections.cache.MAX_AGE", "domain.connections.cache.MAX_CACHED_CONNECTIONS"),
        *("domain.webhooks.defaults.MAX_PARALLEL_ATTEMPTS", "domain.webhooks.defaults.MAX_PARALLEL_READS"),
        *("domain.webhooks.defaults.MAX_REMEMBERED_HOSTS", "domain.webhooks.defaults.MAX_REMEMBERED_APPS"),
        *("domain.webhooks.defaults.MAX_EVENT_WAIT_SECONDS", "domain.webhooks.defaults.MAX_INTERIM_RESPONSES"),
        *("domain.qbxml.subject.MAX_VALUE_CHARACTERS", "domain.qbxml.response.host_facts.MAX_CHARACTERS"),
        *("domain.settling.service.MAX_SAMPLES", "domain.settling.service.MAX_ENTRIES"),
        *("domain.settling.books_clock.MAX_UNCERTAINTY",),
        *("domain.batches.dependants.MAX_READ_BYTES", "handlers.sweep.MAX_LOGGED_CONNECTIONS"),
        *("domain.web_connector.session.sets.MAX_RESPONSE_BYTES", "domain.web_connector.session.sets.MAX_SECONDS"),
        *("domain.storage.commit_size.MAX_ENTRIES", "domain.storage.commit_size.MIN_REQUEST_BYTES_OF_A_CHUNK"),
        *("domain.storage.commit_size.MAX_DELETED_CHUNKS", "handlers.sweep.MAX_LOGGED_FAILURES"),
        *("domain.qbxml.xml.parser.MAX_TAGS", "domain.queueing.many_approvals.MAX_SECONDS"),
    },
    "decides when a session is written": {"domain.web_connector.session.sending.MAX_UNRECORDED"},
    "bounds how often something is tried again": {
        "domain.web_connector.session.runs.MAX_TRIES",
        *("domain.storage.retry.MAX_ATTEMPTS", "domain.events.log.MAX_TRIES", "domain.queueing.many.MAX_CONFLICTS"),
        *("domain.queueing.waiting_calls.MAX_READS", "domain.queueing.waiting_calls.MAX_TRIES"),
        *("domain.webhooks.delivery.MAX_COMMITS", "domain.web_connector.session.claims.MAX_CLAIMS"),
        *("domain.web_connector.session.service.MAX_UNWRITABLE", "domain.web_connector.session.backoff.MIN_FAILURES"),
        *("domain.web_connector.session.backoff.MAX_FAILURES", "domain.web_connector.session.backoff.MAX_DOUBLINGS"),
        "domain.web_connector.session.backoff.MAX_FAILED_CHECKS",
        "domain.web_connector.session.backoff.MAX_REPEATED_FAILURES",
        *(
            "domain.web_connector.outcomes.lost_response.MAX_SESSIONS_OF_ONE_SIZE",
            "domain.web_connector.outcomes.lost_response.MAX_IGNORED",
        ),
    },
    "decides how much a message of a run asks for, or how its changes are stored": {
        *(f"domain.subscriptions.asking.{name}" for name in ("MAX_RANGE", "MAX_SWEPT", "MAX_SWEPT_RECORDS")),
        *("domain.subscriptions.run.MAX_PAGES", "domain.subscriptions.asking.MIN_PAGE_SIZE"),
        *("domain.subscriptions.open_transactions.MAX_ACTIVITY", "domain.subscriptions.open_transactions.MAX_AGAIN"),
        *("domain.subscriptions.remembered.MAX_PART", "domain.subscriptions.derived.MAX_PAGE"),
        "domain.subscriptions.stored.MAX_MOVED",
    },
    "is part of another limit, or follows from it": {
        *(f"domain.records.subscription.{name}" for name in ("MIN_MINUTES", "MAX_MINUTES", "MAX_VERIFY_DAYS")),
        *("domain.qbxml.request.limits.MAX_PROBLEMS", "domain.labels.MAX_METADATA_TEXT"),
        *("domain.subscriptions.history.MAX_ANSWER_BYTES", "domain.records.subscription.MAX_SEQUENCE"),
        "domain.web_connector.session.said_versions.MAX_ADDRESSES",
        *("domain.records.session.MAX_EXECUTION_SECONDS", "domain.records.sync_window.MAX_HORIZON"),
        *("domain.connections.passwords.MIN_DISTINCT_CHARACTERS", "domain.connections.passwords.MIN_OTHER_CHARACTERS"),
        *(
            "domain.web_connector.session.polling.MIN_INTERVAL_SECONDS",
            "domain.connections.turns.MAX_DELAY",
            "domain.web_connector.session.pacing.MAX_AHEAD",
        ),
        *("domain.web_connector.session.login.MIN_INTERVAL", "domain.queueing.selection.MAX_CURSOR_LENGTH"),
        "domain.web_connector.session.admission.MIN_SESSIONS_OF_A_SHARD",
        "domain.web_connector.session.admission.MAX_READING_SECONDS",
        "domain.web_connector.outcomes.error_reasons.MAX_HRESULT_CHARACTERS",
        "domain.web_connector.protocol.qwc.MAX_DESCRIPTION_CHARACTERS",
    },
    "decides how a problem is worded": {
        *("domain.suggestions.MAX_COMPARED_CHARACTERS", "domain.suggestions.MIN_SIMILARITY"),
        "domain.qbxml.request.diagnosis.MIN_SIMILARITY_IN_NEWER",
    },
    "bounds what a sign-in takes": {
        "domain.people.sign_ins.MAX_REDEEMED",
    },
    "is a limit of the operator's commands": {
        *("handlers.operate.MAX_LIMIT", "handlers.operate.MAX_LISTED_WEBHOOKS", "handlers.operate.MAX_LOOKING"),
        *("handlers.operate.MAX_LISTED_CONNECTIONS", "handlers.operate.MAX_LISTED_ENTRIES"),
    },
}
"""Bounds that are of no interest to a user of the API, by reason."""

_ROW = re.compile(r"(?m)^\| (?!what|limit|---)(.+) \|$")
_LINK_TARGET = re.compile(r"(?<=\])\([^)]*\)")
_NOT_A_LIMIT = re.compile(r"\b4\d\d (?=`)|UTF-8")


def wrong_figure(row: str, figures: Sequence[str]) -> str | None:
    """Return the first figure that the row does not have, or the text with a figure too many, or None."""
    rest = _NOT_A_LIMIT.sub("", _LINK_TARGET.sub("", row))
    for figure in figures:
        before, found, rest = rest.partition(figure)
        if not found or any(character.isdigit() for character in before):
            return figure
    return rest if any(character.isdigit() for character in rest) else None


def name_of(row: str) -> str:
    """Return the longest name in FIGURES with which a row begins, or the whole row."""
    return max((name for name in FIGURES if row.startswith(name)), key=len, default=row)


def test_every_figure_of_the_page_is_that_of_the_code() -> None:
    rows = [(name_of(row), row) for row in _ROW.findall(PAGE)]

    assert sorted(name for name, _ in rows) == sorted(FIGURES), "add the row to FIGURES, or mend its name"
    assert {name: figure for name, row in rows if (figure := wrong_figure(row, FIGURES[name]))} == {}


def bounds() -> set[str]:
    """Return the names of all constants MAX_… and MIN_… of the domain and the handlers, with their modules."""
    found = set()
    for path in [*(ROOT / "src" / "domain").rglob("*.py"), *(ROOT / "src" / "handlers").rglob("*.py")]:
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        names = re.findall(r"(?m)^((?:MAX|MIN)_[A-Z_]+)\b[^=\n]*=", path.read_text(encoding="utf-8"))
        found |= {f"{module}.{name}" for name in names}
    return found


def compared() -> set[str]:
    """Return the constants that this file names, with their modules."""
    found = set()
    for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module)):
                found |= {f"{module}.{alias.name}" for alias in node.names}
            case ast.Attribute(value=ast.Name(id=name)) if isinstance(owner := globals().get(name), ModuleType):
                found.add(f"{owner.__name__}.{node.attr}")
    return found


def test_every_bound_of_the_code_is_on_the_page_or_of_no_interest_to_a_user() -> None:
    left_out = {name for names in NOT_ON_THE_PAGE.values() for name in names}

    assert bounds() - compared() - left_out == set(), "add a row to docs/limits.md, or a name to NOT_ON_THE_PAGE"
    assert left_out - bounds() == set(), "these do not exist any more"
    assert left_out & compared() == set(), "these are on the page"


def test_every_limit_of_an_app_is_on_the_page() -> None:
    assert [field.name for field in fields(AppLimits) if f"| `{field.name}`: " not in PAGE] == []


def test_limits_are_in_tables_of_this_page_alone() -> None:
    for name in ("security.md", "reference/service-contract.md"):
        page = (ROOT / "docs" / name).read_text(encoding="utf-8")
        section = page.partition("\n## Limits\n")[2].partition("\n## ")[0]

        assert "limits.md)" in section
        assert "|" not in section
