"""GET /api_key: what the API key of the call may do."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from handlers.rest import Endpoint, resource_answer
from handlers.rest.request_checks import caller_of

handler = Endpoint()


@handler.get(
    "/api/v1/api_key",
    operation_id="get_api_key",
    summary="Get the scope of the API key",
    description="For clients that offer only what the key allows. The key itself is never returned.",
    response_description="The app and the scope of the key",
    tags=["API keys"],
)
def get() -> Response[Any]:
    """Return the app and the scope that the authorizer found."""
    caller = caller_of(handler.event)
    return resource_answer({"app_id": caller.app_id, "scope": caller.scope.value})
