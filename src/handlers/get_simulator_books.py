"""GET /connections/{connection_id}/simulator/books: look at the books of a test connection."""

from handlers.rest import ApiCall, Data, endpoint
from handlers.rest.models import BooksParameters
from handlers.rest.simulators import ERRORS, simulator_data
from handlers.views.simulators import BooksView


@endpoint("Test connections", "GET /connections/{connection_id}/simulator/books", errors=ERRORS)
def handler(call: ApiCall, connection_id: str, parameters: BooksParameters) -> Data[BooksView]:
    """Look at the books of a test connection, as the inspection API of the simulator shows them. It changes nothing."""
    shown = simulator_data(call, connection_id, "books", path=parameters.path, parameters=parameters.texts())
    return {"data": {"path": parameters.path, "shown": shown}}
