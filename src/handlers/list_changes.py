"""GET /connections/{connection_id}/changes: the changes of records that the feed still has, newest first."""

from domain.events.log import KEPT
from domain.subscriptions.history import HistoryFilter, history
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import ChangeParameters
from handlers.views.subscriptions import ChangesView, changes_view


@endpoint("Subscriptions", "GET /connections/{connection_id}/changes")
def handler(call: ApiCall, connection_id: str, parameters: ChangeParameters) -> ChangesView:
    """List the changes of records that subscriptions have found, newest first, of all records or of one.

    It is for people who ask what happened to a record. A program that keeps a copy reads `GET /events`, which has the
    same changes for the same seven days. A call looks at up to 100 pages of changes, so `data` can be empty although
    `next` is not null. `read_from` says how far back it has looked.
    """
    wanted = HistoryFilter(parameters.object, parameters.id, parameters.before, parameters.value)
    since = services().clock() - KEPT
    return changes_view(history(services().store, call.app_id, connection_id, wanted, parameters.limit, since=since))
