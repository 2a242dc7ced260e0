"""GET /events: the events of an app, in the order in which they entered its feed."""

import json
from typing import Any

from aws_lambda_powertools.event_handler import Response

from domain.errors import CursorExpired, NotFound
from domain.events.feed import Feed, FeedFilter, FeedPage
from domain.records.request import StoredRequest
from handlers.common.http import NO_STORE
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.models import EventParameters
from handlers.rest.responses import CONTENT_TYPE
from handlers.views.feed_event import FeedView, feed_event, too_large_event

MAX_ANSWER_BYTES = 4 * 1024 * 1024
MAX_DATA_BYTES = MAX_ANSWER_BYTES - 1024
"""The maximum size of an answer, and of its `data`. Lambda returns at most 6 MB, counted as a JSON string, so the
events are counted in this form too."""


@endpoint("Events", "GET /events", errors=(CursorExpired, NotFound))
def handler(call: ApiCall, parameters: EventParameters) -> FeedView | Response[Any]:
    """List the events of requests, connections and subscriptions, oldest first.

    Store `next` after you have processed `data`, and pass it as `after`. Events are kept for seven days. Each is listed
    at least once, with and without a webhook. An answer has at most 4 MiB, so it can have fewer events than `limit`
    although `has_more` is true; with a filter it can also have none.
    """
    feed = Feed(services().store, services().clock)
    wanted = FeedFilter(
        parameters.connection_id, frozenset((parameters.types or "").split(",")) - {""}, parameters.subscription_id
    )
    page = feed.page(call.app_id, parameters.after, wanted, parameters.limit)
    if parameters.wait and not page.events and not page.has_more:
        waiting_calls = services().waiting_calls
        until = waiting_calls.end_of(parameters.wait)
        with waiting_calls.lease(call.app_id) as lease:
            if lease:
                page = feed.next_page(
                    call.app_id,
                    page,
                    wanted,
                    parameters.limit,
                    until=until,
                    pause=services().pause,
                )
    return Response(200, CONTENT_TYPE, _answer(feed, page), headers=dict(NO_STORE))


def _answer(feed: Feed, page: FeedPage) -> str:
    """Return the answer with the first events of a page that fit, at least one."""
    after, has_more = page.after, page.has_more
    data: list[str] = []
    size, last = 0, after
    for event, stored in feed.contents(page.events):
        text = feed_event(event, stored)
        if isinstance(stored, StoredRequest) and _wire_size(text) > MAX_DATA_BYTES:
            text = too_large_event(event, stored)
        size += _wire_size(text) + 1
        if size > MAX_DATA_BYTES:
            after, has_more = last, True
            break
        data.append(text)
        last = event.cursor
    return f'{{"data":[{",".join(data)}],"next":{json.dumps(str(after))},"has_more":{json.dumps(has_more)}}}'


def _wire_size(text: str) -> int:
    """Return the size of JSON in ASCII as a JSON string, in bytes. It has a backslash for each of these characters."""
    return len(text) + text.count('"') + text.count("\\")
