"""Make the planned webhook attempts that are due. The messages of the retry queue trigger it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.sqs import planned_attempt_of
from handlers.common.bootstrap import end_init, services
from handlers.common.webhook_batch import attempt_all, batch_response

if TYPE_CHECKING:
    from domain.webhooks.delivery import Attempted

end_init(lambda services: services.deliverer)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Make the attempts of a batch of messages. Return the ids of those that failed, which SQS delivers again."""
    deliverer = services().deliverer

    def attempt(message: dict[str, Any]) -> Attempted | None:
        return deliverer.attempt(planned_attempt_of(message["body"]))

    return batch_response(attempt_all(event["Records"], lambda message: str(message["messageId"]), attempt))
