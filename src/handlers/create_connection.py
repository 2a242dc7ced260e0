"""POST /connections: create a connection."""

from domain.errors import Gone, IdempotencyKeyReused, InvalidRequest, TestConnectionsOff
from domain.records.connection import Connection
from domain.records.permissions import Permission
from handlers.common.http import web_connector_url
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, checked_settings
from handlers.rest.models import NewConnection
from handlers.rest.request_checks import idempotency_key
from handlers.views import connections as views


@endpoint(
    "Connections",
    "POST /connections",
    needs=(Permission.ADMINISTER,),
    status=201,
    repeated_status=200,
    errors=(Gone, IdempotencyKeyReused, TestConnectionsOff),
)
def handler(call: ApiCall, body: NewConnection | None = None) -> tuple[ConnectionResponse, bool]:
    """Create a connection.

    Set a password before a Web Connector uses it. With `simulated`, it is a test connection: a simulated QuickBooks has
    the password already, and executes what you queue. A call that is repeated with the same `Idempotency-Key` and the
    same settings returns the connection of the first one with status 200. The key does not expire, and is used up if
    the connection is deleted. A test connection takes no key.
    """
    new = body or NewConnection()
    settings = checked_settings(new)
    key = idempotency_key(call.event)
    if key and new.simulated:
        # Calls at the same time would each give the simulator a password, and the connection would have one of them.
        raise InvalidRequest.of("Idempotency-Key", "is not for test connections")
    if key and (made := services().connections.created_with(call.app_id, key, settings)):
        return _response(made), True
    services().quotas.check_connection(call.app_id, call.limits)
    if new.simulated:
        company, base_url = new.simulated.company, web_connector_url(call.event)
        settings["make_simulator"] = lambda made, password: _make(made, password, company, base_url)
    return _response(services().connections.create(call.app_id, actor=call.actor, key=key, **settings)), False


def _response(stored: Connection) -> ConnectionResponse:
    """Return the response with a connection. The queue is not read, because that of a new connection is empty."""
    return {"data": views.connection(stored, services().clock())}


def _make(connection: Connection, password: str, company: str, base_url: str) -> None:
    """Give the simulator its company and what a Web Connector gets: the .qwc file and the password."""
    # Few connections are simulated.
    from domain.web_connector.protocol import qwc  # noqa: PLC0415

    text = qwc.render(connection, base_url=base_url)
    services().simulators.call(connection.id, "create", company=company, qwc=text, password=password)
