"""Code that the endpoints of the REST API share: checks of calls, models of bodies and parameters, and responses.

Only these endpoints import it. The resolver and pydantic would slow down the cold start of the other functions.
"""

from handlers.common.bootstrap import services
from handlers.rest.endpoint import Endpoint, endpoint
from handlers.rest.request_checks import ApiCall
from handlers.views.schema import Data, Page

__all__ = ["ApiCall", "Data", "Endpoint", "Page", "endpoint", "services"]
