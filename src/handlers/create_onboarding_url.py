"""POST /connections/{connection_id}/onboarding_url: a link with which a customer sets up the Web Connector."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from domain.connections.onboarding import check_redirect_url
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, resource_answer
from handlers.rest.connections import shown
from handlers.rest.models import NewOnboardingUrl
from handlers.rest.request_checks import base_url_of

handler = Endpoint(changes=True, body=NewOnboardingUrl)


@handler.post(
    "/api/v1/connections/<connection_id>/onboarding_url",
    operation_id="create_onboarding_url",
    summary="Create an onboarding link",
    description="A page that needs no account and leads through the setup on the Windows machine. The link, in "
    "`links.onboarding` of this response only, works for 48 hours; a new one revokes it.",
    response_description="The connection with the link",
    tags=["Connections"],
)
def create(connection_id: ConnectionId, body: Annotated[NewOnboardingUrl | None, Body()] = None) -> Response[Any]:
    """Return the connection with its new link."""
    redirect_url = body.redirect_url if body else None
    if redirect_url is not None:
        settings = services().settings
        check_redirect_url(redirect_url, allow_http=settings.allow_http_webhooks or settings.allow_loopback_webhooks)
    connection, token = services().onboarding.create_link(handler.app_id, connection_id, redirect_url)
    base_url = services().settings.base_url or base_url_of(handler.event)
    view = shown(connection)
    # After the #: browsers keep that part to themselves, so that the token stands in no log.
    return resource_answer(view | {"links": view["links"] | {"onboarding": f"{base_url}/onboarding#{token}"}})
