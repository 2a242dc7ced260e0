"""At log level DEBUG too, logs contain no secret, no password hash and no content of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml
from handlers.common.bootstrap import Services, aws_client
from handlers.common.settings import Settings
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.support.builders import AN_ACTOR, REQUEST_XML
from tests.support.queueing import command
from tests.support.services import ENVIRONMENT

if TYPE_CHECKING:
    import pytest

VARIABLES = {
    name for function in Template.load().functions() for name in function.environment if name.endswith("_TABLE")
}
TABLES = {name: name.title().replace("_", "") for name in VARIABLES}


def test_debug_logs_have_no_secrets(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    caplog.set_level("DEBUG")
    with emulated_dynamodb():
        services = Services(Settings(ENVIRONMENT | TABLES | {"RETENTION_DAYS": "0"}))
        make_tables(aws_client("dynamodb"), "")

        app = services.administration.create_app("Shop")
        connection = services.connections.create(app.id, actor=AN_ACTOR)
        password = services.connections.set_password(app.id, connection.id, actor=AN_ACTOR)
        stored_connection = services.store.connection(connection.id)
        request = qbxml.parse_request_xml(REQUEST_XML)
        services.queueing.queue(command(app.id, connection.id, request))

    assert stored_connection
    for secret in (*app.webhook_secrets, password, stored_connection.password_hash, "MaxReturned"):
        assert secret
        assert secret not in caplog.text
