"""GET /audit_log, also below a connection: who did what, and when."""

from domain.errors import NotFound
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import AuditLogParameters
from handlers.rest.people import names_of_people
from handlers.views.audit_log import AuditLogView, audit_entry_view

MAX_LOOKED_AT = 1_000
"""The entries of which a call with an action returns those that have it. They are at most some 400 KB."""


@endpoint("Audit log", "GET /audit_log", errors=(NotFound,))
def handler(call: ApiCall, parameters: AuditLogParameters, connection_id: str | None = None) -> AuditLogView:
    """List who did what, newest first.

    The log of the app has the actions on all its connections, also on deleted ones, and those of the operator. An entry
    is stored together with its change and kept for a year. It names the person, the API key, the onboarding link or the
    operator, and has no content of requests. Queueing requests and the sessions of Web Connectors are not actions. A
    record shows who queued it.

    With `action`, a call looks at up to 1,000 entries. `data` can then be empty although `next` is not null.
    """
    if connection_id:
        services().connections.get(call.app_id, connection_id)
    limit, action = parameters.limit, parameters.action
    entries, following = services().store.audit_entries(
        call.app_id,
        connection_id,
        parameters.cursor,
        MAX_LOOKED_AT if action else limit,
        action=action,
        within=parameters.within(),
    )
    if len(entries) > limit:
        entries = entries[:limit]
        following = entries[-1].position
    names = names_of_people([entry.actor for entry in entries])
    return {"data": [audit_entry_view(entry, names) for entry in entries], "next": following}
