"""Code that the endpoints of subscriptions share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.webhooks.addresses import check_url
from handlers.common.bootstrap import services
from handlers.views.schema import Data
from handlers.views.subscriptions import SubscriptionView, subscription_view

if TYPE_CHECKING:
    from domain.records.subscription import Subscription
    from domain.subscriptions.progress import Progress
    from handlers.rest.models import ChangedSubscription, NewSubscription

SubscriptionResponse = Data[SubscriptionView]


def checked_settings(body: NewSubscription | ChangedSubscription) -> dict[str, Any]:
    """Return the settings in a body as members of a subscription. Raises InvalidRequest."""
    if body.webhook_url is not None:
        check_url(body.webhook_url, services().url_rules)
    return body.settings()


def subscription_response(found: tuple[Progress, Subscription]) -> SubscriptionResponse:
    """Return the response with a subscription."""
    return {"data": subscription_view(*found)}
