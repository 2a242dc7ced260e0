"""Code that the endpoints of subscriptions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handlers.views.schema import Data
from handlers.views.subscriptions import SubscriptionView, subscription_view

if TYPE_CHECKING:
    from domain.records.subscription import CopyState, Subscription

SubscriptionResponse = Data[SubscriptionView]


def subscription_response(found: tuple[CopyState, Subscription]) -> SubscriptionResponse:
    """Return the response with a subscription."""
    return {"data": subscription_view(*found)}
