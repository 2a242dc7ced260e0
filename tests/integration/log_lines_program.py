"""Calls of functions at a fresh start of Python, because Powertools reads the level once (`test_log_lines.py`)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse

from domain.errors import Unauthorized
from domain.records.app import App
from domain.records.request import State
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest, Put
from domain.timestamps import timestamp
from handlers import authorizer, pack_search_texts, sweep, web_connector
from handlers.common.bootstrap import aws_client, services
from handlers.common.settings import Settings
from tests.integration.api.test_events import LambdaContext
from tests.support.api_client import api_event
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record
from tests.support.fake_store import FakeStore
from tests.support.services import ENVIRONMENT
from tests.support.webhooks import PlannedAttempts

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVELOPE = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    '<{0} xmlns="http://developer.intuit.com/">{1}</{0}></soap:Body></soap:Envelope>'
)
LOGIN = f"<strUserName>{CONNECTION_ID}</strUserName><strPassword>wrong</strPassword>"


@dataclass
class Body:
    """The body of a response."""

    text: bytes

    def stream(self) -> Iterator[bytes]:
        """Yield it."""
        yield self.text


THROTTLED = b'{"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "Too fast"}'
CODES = (b"ThrottlingError", b"AccessDenied")
STATEMENTS = b'{"Responses": [{"TableName": "T"}, {"Error": {"Code": "ConditionalCheckFailed"}}%s]}'


class LateContext:
    """Lambda's, with no time left."""

    def get_remaining_time_in_millis(self) -> int:
        """Return it."""
        return 0


def throttle(request: Any, **_: Any) -> AWSResponse:
    """Answer like DynamoDB when a table is throttled."""
    if b"BatchExecuteStatement" in request.headers["X-Amz-Target"]:
        errors = [b', {"Error": {"Code": "%s"}}' % code for code in CODES if code in request.body]
        return AWSResponse(request.url, 200, {}, Body(STATEMENTS % b"".join(errors)))
    return AWSResponse(request.url, 400, {"x-amzn-errortype": "ThrottlingException"}, Body(THROTTLED))


def main() -> None:
    """Make calls that write every line that an alarm counts, and one line of each level."""
    services().settings, services().store = Settings(ENVIRONMENT), (store := FakeStore())
    services().clock, services().retry_queue = FixedClock(NOON + timedelta(hours=2)), PlannedAttempts([])
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), ("secret",))), Put(None, a_connection()))
    store.commit(AddRequest(a_record(state=State.ERROR, webhook=Webhook.to("https://shop.example")), REQUEST_XML, ""))

    web_connector.handler(api_event("POST", "/qbwc", body=ENVELOPE.format("authenticate", LOGIN)), None)
    web_connector.handler(api_event("POST", "/qbwc", body=ENVELOPE.format("serverVersion", "")), None)
    with suppress(Unauthorized):
        authorizer.handler({"authorizationToken": "Basic nonsense", "methodArn": "a/b/c"}, None)
    sweep.handler({}, LambdaContext())
    store.settle_days = lambda *_: iter([1])  # type: ignore[method-assign]
    pack_search_texts.handler({}, LateContext())
    client = aws_client("dynamodb")
    client.meta.events.register("before-send.dynamodb", throttle)
    with suppress(client.exceptions.ThrottlingException):
        client.get_item(TableName="QueueTable", Key={"id": {"S": "1"}})
    for statement in ("which only comes too late", *map(bytes.decode, CODES)):
        client.batch_execute_statement(Statements=[{"Statement": statement}])
    logger = web_connector.logger
    logger.debug("a.detail")
    logger.warning("a.warning")
    for message in ("fault", "delivery.not_processed", "retention.not_processed"):
        logger.error(message)


if __name__ == "__main__":
    main()
