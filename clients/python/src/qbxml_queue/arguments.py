"""The arguments of the methods of resources and reports, and the read that the same call resumes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from qbxml_queue.errors import StillQueued, StillWaiting
from qbxml_queue.options import check_options
from qbxml_queue.protocol import WAIT_SECONDS
from qbxml_queue.values import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qbxml_queue.options import QueueOptions
    from qbxml_queue.protocol import Protocol, Steps
    from qbxml_queue.schema.records import QueuedRequest

_EXTRA = {
    "create": ("lines", "custom_fields"),
    "ensure": ("lines", "custom_fields"),
    "update": ("lines", "remove_lines", "custom_fields"),
    "list": ("modified_since", "custom_fields"),
}
"""Arguments of methods that are neither fields nor options."""


def separated(method: str, kind: type, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields among arguments, whose names QBXML writes with a capital, and the options.

    Raises TypeError for an option that a method does not have.
    """
    fields = {name: value for name, value in given.items() if not name[:1].islower()}
    options = {name: value for name, value in given.items() if name not in fields}
    check_options(method, kind, {name: value for name, value in options.items() if name not in _EXTRA.get(method, ())})
    return fields, options


def queue_options(options: Mapping[str, Any]) -> QueueOptions:
    """Return the options with which a call queues its request."""
    return cast("QueueOptions", {name: value for name, value in options.items() if name != "timeout"})


def same_call(method: str, content: dict[str, Any], options: Mapping[str, Any]) -> str:
    """Return what two calls have in common that are the same. Their timeouts may differ."""
    told = {name: value for name, value in options.items() if name != "timeout"}
    return json.dumps([method, to_json(content), told], sort_keys=True)


def read_once(
    protocol: Protocol, reads: dict[str, str], request: dict[str, Any], options: dict[str, Any], *, of: str = "get"
) -> Steps[QueuedRequest]:
    """Queue a query, unless the same call has, and return its record after its end. Raises StillQueued.

    `reads` has the ids of what was queued by calls that did not wait until its end. `of` is the call that needs it.
    """
    call, deadline = same_call(of, request, options), protocol.clock() + options.get("timeout", WAIT_SECONDS)
    waiting = reads.pop(call, None)
    if waiting is None:
        waiting = (yield from protocol.queue(request, queue_options(options)))["id"]
    try:
        return (yield from protocol.wait(waiting, deadline - protocol.clock()))
    except StillWaiting as error:
        reads[call] = waiting
        raise StillQueued(error.record) from None
