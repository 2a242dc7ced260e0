"""POST /connections/{connection_id}/test_webhook: send a test event, and return what the receiver answered."""

from domain.errors import InvalidState
from domain.records.permissions import Permission
from domain.webhooks.trial import TRIAL_REDELIVERIES, Trials
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import NewWebhookTest
from handlers.rest.request_checks import require_proposal
from handlers.views.many import WebhookTestView, webhook_test


@endpoint(
    "Connections",
    "POST /connections/{connection_id}/test_webhook",
    needs=(Permission.OPERATE,),
    errors=(InvalidState,),
)
def handler(call: ApiCall, connection_id: str, body: NewWebhookTest) -> Data[WebhookTestView]:
    """Send a signed test event to a webhook URL, and return what the receiver answered within 10 seconds.

    The event has the type `webhook.test`. A test counts as ten redeliveries towards `redeliveries_per_minute`.
    """
    require_proposal(call, webhook_url=body.webhook_url)
    quotas, limits = services().quotas, call.limits
    trials = Trials(
        services().store, services().webhook_sender, services().clock, services().new_id, services().url_rules
    )
    receiver = trials.receiver(call.app_id, connection_id, body.webhook_url)
    quotas.check_redelivery(call.app_id, limits, min(TRIAL_REDELIVERIES, limits.redeliveries_per_minute))
    return {"data": webhook_test(trials.send(receiver))}
