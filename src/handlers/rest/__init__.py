"""Code that the endpoints of the REST API share: checks of calls, models of bodies and parameters, and responses.

Only these endpoints import it. The resolver and pydantic would slow down the cold start of the other functions.
"""

from handlers.rest.endpoint import REQUEST, REQUEST_OF_CONNECTION, ConnectionId, Endpoint, RequestId
from handlers.views.schema import Data, Page

__all__ = ["REQUEST", "REQUEST_OF_CONNECTION", "ConnectionId", "Data", "Endpoint", "Page", "RequestId"]
