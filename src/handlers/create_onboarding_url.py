"""POST /connections/{connection_id}/onboarding_url: a link with which a customer sets up the Web Connector."""

from domain.connections.onboarding import check_redirect_url
from domain.errors import InvalidState
from domain.records.permissions import Permission
from handlers.common.http import public_url
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response
from handlers.rest.models import NewOnboardingUrl


@endpoint(
    "Connections",
    "POST /connections/{connection_id}/onboarding_url",
    needs=(Permission.OPERATE,),
    errors=(InvalidState,),
)
def handler(call: ApiCall, connection_id: str, body: NewOnboardingUrl | None = None) -> ConnectionResponse:
    """Create an onboarding link.

    It leads to a page that needs no account and guides the customer through the setup on the Windows machine. The link,
    in `links.onboarding` of this response only, works for 48 hours; a new one revokes it.
    """
    redirect_url = body.redirect_url if body else None
    if redirect_url is not None:
        settings = services().settings
        check_redirect_url(redirect_url, allow_http=settings.allow_http_webhooks or settings.allow_loopback_webhooks)
    stored, token = services().onboarding.create_link(call.app_id, connection_id, redirect_url, actor=call.actor)
    # Browsers do not send the part after the #, so the token does not appear in any log.
    url = f"{public_url(call.event)}/onboarding#{token}"
    return connection_response(stored, url)
