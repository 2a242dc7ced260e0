"""The metric filters of the template match the log lines of the functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from domain.errors import Unauthorized
from handlers import authorizer, web_connector
from local.template import Template
from tests.support.api_client import api_event
from tests.support.builders import CONNECTION_ID

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

ENVELOPE = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    f'<authenticate xmlns="http://developer.intuit.com/"><strUserName>{CONNECTION_ID}</strUserName>'
    "<strPassword>wrong</strPassword></authenticate></soap:Body></soap:Envelope>"
)


def matches(metric: str, records: list[dict[str, object]]) -> int:
    """Return the number of log lines that a filter matches."""
    (pattern,) = (
        one["FilterPattern"]
        for name, one in Template.load().resources("AWS::Logs::MetricFilter").items()
        if name == metric
    )
    terms = re.findall(r'\$\.(\w+) = "([^"]*)"', pattern)
    assert terms
    return sum(all(record.get(name) == value for name, value in terms) for record in records)


@pytest.mark.usefixtures("deployment")
def test_a_failed_login_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    response = web_connector.handler(api_event("POST", "/qbwc", body=ENVELOPE), None)

    assert "nvu" in response["body"]
    assert matches("FailedLogins", [vars(record) for record in caplog.records]) == 1


def test_a_refused_key_is_counted(deployment: Deployment, caplog: pytest.LogCaptureFixture) -> None:
    del deployment
    with pytest.raises(Unauthorized):
        authorizer.handler({"authorizationToken": "Basic nonsense", "methodArn": "a/b/c"}, None)

    assert matches("RefusedKeys", [vars(record) for record in caplog.records]) == 1
