"""`if_exists`: the messages of a request that looks for its object, by its step, and the responses to them.

Each query has a label of its own, so that a late answer to an earlier one is not taken for the answer to this one. So
has each Mod: its label names its message set, whose ID follows from its text. QuickBooks executes each text once, and a
Mod never gets the response to another one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid5
from xml.etree.ElementTree import Element, SubElement, tostring

from domain.existing.identity import holder_query, holder_query_name, identity_query
from domain.existing.queries import query_name
from domain.records.lookup import LookupStep
from domain.records.request import Recovery, message_set_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain import qbxml
    from domain.records.request import QueuedRequest

_MODIFICATIONS = UUID("6f1e0b52-2c0c-4d0e-9a55-0f6f3b0f7c1d")
"""Makes the IDs of Mods differ from those of additions. It must not change, or a text is executed under two IDs."""


def in_flight(record: QueuedRequest) -> QueuedRequest:
    """Return a record as what it has in flight: the query for its object, or the Mod in place of its addition."""
    if record.lookup is None or record.lookup.step is LookupStep.ADD:
        return record
    if record.lookup.step is LookupStep.MOD:
        label = record.modification_label or ""
        return replace(record, request_name=f"{subject_of(record)}ModRq", request_label=label)
    name, lookup = _query_name(record, record.lookup.step), record.lookup
    attempts = replace(record.attempts, sessions=lookup.sessions)
    label = _label_of_query(record)
    return replace(record, request_name=name, request_label=label, attempts=attempts, recovery=Recovery(), lookup=None)


def after_write(record: QueuedRequest, after: QueuedRequest) -> QueuedRequest:
    """Return a record that adds or changes, after what it had in flight became `after`."""
    error = after.error
    if error and "request_id" in error.details:
        error = replace(error, details={**error.details, "request_id": record.request_label})
    return replace(after, request_name=record.request_name, request_label=record.request_label, error=error)


def query_of(record: QueuedRequest, addition: qbxml.Request) -> qbxml.Request:
    """Return the query that a record sends at its step. Raises InvalidRequest."""
    elsewhere = record.lookup is not None and record.lookup.step is LookupStep.LOOK_ELSEWHERE
    query = (holder_query(addition) if elsewhere else None) or identity_query(addition)
    return query.with_request_label(_label_of_query(record))


def modification_id(record: QueuedRequest, modification: qbxml.Request) -> str:
    """Return the ID of the message set of a Mod. The same Mod of the same request has the same ID."""
    return message_set_id(str(uuid5(_MODIFICATIONS, f"{record.id} {modification.to_xml()}")))


def as_added(record: QueuedRequest, rows: Sequence[Element], status: qbxml.ResponseStatus | None = None) -> str:
    """Return an object in the form of the response to its addition, with the status of the response to its Mod."""
    code, severity, message = (status.code, status.severity, status.message) if status else (0, "Info", "Status OK")
    root = Element("QBXML")
    attributes = {"requestID": record.request_label, "statusCode": str(code), "statusSeverity": severity}
    response = SubElement(
        SubElement(root, "QBXMLMsgsRs"), f"{subject_of(record)}AddRs", {**attributes, "statusMessage": message}
    )
    response.extend(rows[:1])
    return f'<?xml version="1.0" ?>\n{tostring(root, encoding="unicode")}\n'


def subject_of(record: QueuedRequest) -> str:
    """Return the type of the object, such as `Customer`."""
    return record.request_name.removesuffix("AddRq")


def _label_of_query(record: QueuedRequest) -> str:
    return f"look-{record.lookup.number if record.lookup else 0}-{record.id}"


def _query_name(record: QueuedRequest, step: LookupStep) -> str:
    subject = subject_of(record)
    return (holder_query_name(subject) if step is LookupStep.LOOK_ELSEWHERE else None) or query_name(subject)
