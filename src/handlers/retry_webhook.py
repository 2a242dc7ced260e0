"""Make the planned webhook attempts that are due. The messages of the retry queue trigger it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.sqs import planned_attempt_of
from domain.webhooks.ports import PlannedAttempt
from handlers.common.bootstrap import end_init, services
from handlers.common.webhook_batch import attempt_all, batch_response

if TYPE_CHECKING:
    from domain.webhooks.delivery import Attempted
    from domain.webhooks.unrecorded_events import EventAttempted

end_init(lambda services: (services.deliverer, services.event_deliverer))


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Make the attempts of a batch of messages. Return the ids of those that failed, which SQS delivers again."""

    def attempt(message: dict[str, Any]) -> Attempted | EventAttempted | None:
        planned = planned_attempt_of(message["body"])
        if isinstance(planned, PlannedAttempt):
            return services().deliverer.attempt(planned)
        return services().event_deliverer.attempt(planned)

    return batch_response(attempt_all(event["Records"], lambda message: str(message["messageId"]), attempt))
