"""The queue of planned webhook attempts → one delivery attempt for each message that is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.sqs import ticket_of
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS
from handlers._delivery_batch import attempt_all
from handlers.bootstrap import services

if TYPE_CHECKING:
    from domain.webhooks.delivery import Result


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Attempt the webhooks of a batch of messages; failures are named by message id and come again."""
    deliverer = services().deliverer

    def attempt(message: dict[str, Any]) -> Result:
        return deliverer.attempt(ticket_of(message["body"]), ATTEMPT_TIMEOUT_SECONDS)

    return attempt_all(event["Records"], lambda message: str(message["messageId"]), attempt)
