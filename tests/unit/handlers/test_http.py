"""The public URL comes from the deployment, never from the caller."""

from __future__ import annotations

import pytest

from handlers.common.bootstrap import Services
from handlers.common.http import public_url
from handlers.common.settings import Settings
from tests.support.services import ENVIRONMENT, using


@pytest.mark.parametrize(
    ("context", "url"),
    [
        (
            {"domainName": "a1b2.execute-api.eu-west-1.amazonaws.com", "path": "/live/qbwc"},
            "https://a1b2.execute-api.eu-west-1.amazonaws.com/live",
        ),
        ({"domainName": "queue.example.com", "path": "/qbwc"}, "https://queue.example.com"),
        # `sam local` has the route's pattern in place of the path.
        ({"domainName": "queue.example.com", "path": "/{proxy+}"}, "https://queue.example.com"),
    ],
)
def test_without_a_base_url_it_is_the_gateways_domain_for_any_host_header(context: dict[str, str], url: str) -> None:
    event = {
        "path": "/qbwc",
        "requestContext": context,
        "headers": {"Host": "evil.example", "X-Forwarded-Proto": "http"},
    }

    with using(Services(Settings(ENVIRONMENT))):
        assert public_url(event) == url


def test_a_base_url_replaces_the_gateways_domain() -> None:
    event = {"path": "/qbwc", "requestContext": {"domainName": "a1b2.example", "path": "/live/qbwc"}}

    with using(Services(Settings(ENVIRONMENT | {"BASE_URL": "https://queue.example.com/"}))):
        assert public_url(event) == "https://queue.example.com"
