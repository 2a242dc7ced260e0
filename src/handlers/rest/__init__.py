"""The edge of the REST API, shared by its functions: what comes in is checked, what goes out is shaped.

Only the API's functions import it: resolver and pydantic cost a cold start what the Web Connector
endpoint, the authorizer and the consumers of stream and queue need not pay.
"""

from handlers.rest.endpoint import ConnectionId, Endpoint, RequestId
from handlers.rest.responses import list_answer, no_content, record_answer, resource_answer

__all__ = [
    "ConnectionId",
    "Endpoint",
    "RequestId",
    "list_answer",
    "no_content",
    "record_answer",
    "resource_answer",
]
