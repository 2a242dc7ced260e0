"""The two handlers: API Gateway's events in, its answers out."""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from handlers import sweep, web_connector
from handlers.common.bootstrap import Services
from handlers.common.settings import Settings
from tests.support.services import ENVIRONMENT, services_with, using
from tests.support.web_connector.connector import PASSWORD, Connector
from tests.support.webhooks import PlannedAttempts
from tests.unit.web_connector.test_soap import CLOSE, envelope

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(web_connector.__file__).parent.parent


@pytest.fixture
def qbwc() -> Iterator[Connector]:
    """Return a Web Connector. The handlers use its endpoint and its sweep."""
    qbwc = Connector()
    qbwc.connect()
    services = services_with(qbwc.store, qbwc.clock)
    services.web_connector, services.retry_queue = qbwc.endpoint, PlannedAttempts([])
    with using(services):
        yield qbwc


def event(method: str, body: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a REST API proxy event."""
    return {
        "httpMethod": method,
        "path": "/qbwc",
        "headers": {"Host": "api.example.com", "X-Forwarded-Proto": "https"},
        "queryStringParameters": None,
        "requestContext": {"path": "/live/qbwc", "domainName": "api.example.com"},
        "body": body,
        "isBase64Encoded": False,
    } | fields


def test_get_returns_200_with_a_text(qbwc: Connector) -> None:  # noqa: ARG001 - it sets the parts up
    response = web_connector.handler(event("GET"), None)

    assert response["statusCode"] == 200
    assert response["headers"]["Content-Type"].startswith("text/plain")
    assert response["body"]


@pytest.mark.parametrize("name", ["wsdl", "WSDL", "Wsdl"])
def test_the_wsdl_names_the_address_of_the_call(qbwc: Connector, name: str) -> None:  # noqa: ARG001 - it sets the parts up
    response = web_connector.handler(event("GET", queryStringParameters={name: ""}), None)

    assert response["statusCode"] == 200
    assert response["headers"]["Content-Type"] == "text/xml; charset=utf-8"
    assert '<soap:address location="https://api.example.com/live/qbwc"/>' in response["body"]


def test_the_wsdl_names_the_configured_address(qbwc: Connector) -> None:  # noqa: ARG001 - it sets the parts up
    Services.current.settings = Settings(ENVIRONMENT | {"WEB_CONNECTOR_BASE_URL": "https://qb.example.com"})

    response = web_connector.handler(event("GET", queryStringParameters={"wsdl": ""}), None)

    assert 'location="https://qb.example.com/qbwc"' in response["body"]


@pytest.mark.parametrize("encode", [False, True])
def test_a_body_may_be_in_base64(qbwc: Connector, encode: bool) -> None:  # noqa: ARG001 - it sets the parts up
    body = envelope(CLOSE)
    if encode:
        body = base64.b64encode(body.encode()).decode()

    response = web_connector.handler(event("POST", body, isBase64Encoded=encode), None)

    assert response["statusCode"] == 200
    assert "<closeConnectionResult>OK</closeConnectionResult>" in response["body"]
    assert response["isBase64Encoded"] is False


@pytest.mark.parametrize(("body", "encoded"), [(None, False), ("", False), ("???", True), ("{}", False), (None, True)])
def test_a_body_that_is_not_a_call_gets_a_fault(qbwc: Connector, body: str | None, encoded: bool) -> None:  # noqa: ARG001 - it sets the parts up
    response = web_connector.handler(event("POST", body, isBase64Encoded=encoded), None)

    assert response["statusCode"] == 400
    assert "Fault" in response["body"]


def test_a_call_logs_one_line_without_password_or_ticket(qbwc: Connector, caplog: pytest.LogCaptureFixture) -> None:
    qbwc.queue()
    namespace = "http://developer.intuit.com/"
    body = envelope(
        f'<authenticate xmlns="{namespace}"><strUserName>{qbwc.connection.id}</strUserName>'
        f"<strPassword>{PASSWORD}</strPassword></authenticate>"
    )

    response = web_connector.handler(event("POST", body), None)

    (record,) = caplog.records
    logged = vars(record)
    assert (record.message, logged["method"], logged["status"]) == ("web_connector.called", "authenticate", 200)
    assert (logged["login"], logged["connection_id"]) == ("work", qbwc.connection.id)
    line = str(logged)
    ticket = response["body"].partition("<string>")[2].partition("<")[0]
    assert ticket
    assert ticket not in line
    assert PASSWORD not in line


def test_the_sweep_uses_the_remaining_time_of_the_function(qbwc: Connector, caplog: pytest.LogCaptureFixture) -> None:
    class Context:
        remaining_ms = 5_000

        def get_remaining_time_in_millis(self) -> int:
            return self.remaining_ms

    qbwc.queue()
    qbwc.authenticate()
    qbwc.clock.advance(hours=1)

    sweep.handler({}, Context())
    assert not qbwc.session.ended
    Context.remaining_ms = 300_000
    sweep.handler({}, Context())

    assert qbwc.session.ended
    first, second = (vars(record) for record in caplog.records)
    assert (first["sessions_released"], first["finished"]) == (0, False)
    assert (second["sessions_released"], second["finished"]) == (1, True)


@pytest.mark.parametrize("name", ["web_connector", "sweep", "pack_search_texts"])
def test_a_handler_imports_neither_the_resolver_nor_pydantic(name: str) -> None:
    """They would cost every cold start of the functions that matter most for speed."""
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import handlers.{name}; "
        "sys.exit(str({'pydantic', 'aws_lambda_powertools.event_handler'} & set(sys.modules) or '') or None)"
    )

    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - our own code

    assert process.returncode == 0, process.stderr
