"""Web Connectors work at the HTTP API, which new `.qwc` files name, and at the REST API, which older ones name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import urllib3

from simulator.runs.scheduler import Simulator
from tests.e2e.support import QUERY

if TYPE_CHECKING:
    from tests.e2e.support import Connection, Service


def qwc_of(connection: Connection) -> str:
    return str(connection.service.call("GET", f"{connection.path}/qwc").json["qwc"])


def app_url(qwc: str) -> str:
    (url,) = re.findall(r"<AppURL>(.*?)</AppURL>", qwc)
    return str(url)


def at_the_rest_api(qwc: str, service: Service) -> str:
    """Return a `.qwc` file with the URLs of the REST API."""
    rest = service.base_url.replace("127.0.0.1", "localhost")
    return qwc.replace(app_url(qwc).removesuffix("/qbwc"), rest)


def test_the_two_apis_have_different_urls(service: Service) -> None:
    qwc = qwc_of(service.connection())

    assert app_url(qwc) != app_url(at_the_rest_api(qwc, service))


@pytest.mark.parametrize("api", ["HTTP API", "REST API"])
def test_a_session_at_either_api_executes_the_queue(service: Service, api: str) -> None:
    connection = service.connection()
    request = connection.queue({"request_json": QUERY})
    qwc = qwc_of(connection)
    qwc = at_the_rest_api(qwc, service) if api == "REST API" else qwc

    result = Simulator(qwc, connection.password, connection.company).run_once()

    assert (result.error, result.requests) == (None, 1)
    assert connection.record(request["id"])["state"] == "response_received"


def test_a_connection_can_move_from_one_api_to_the_other(service: Service) -> None:
    connection = service.connection()
    qwc = qwc_of(connection)

    for file in (at_the_rest_api(qwc, service), qwc):
        request = connection.queue({"request_json": QUERY})
        assert Simulator(file, connection.password, connection.company).run_once().requests == 1
        assert connection.record(request["id"])["state"] == "response_received"


def test_the_support_page_has_the_host_of_the_endpoint_and_its_files(service: Service) -> None:
    qwc = qwc_of(service.connection())
    (support,) = re.findall(r"<AppSupport>(.*?)</AppSupport>", qwc)

    assert support == app_url(qwc).removesuffix("/qbwc") + "/support"
    page = urllib3.request("GET", support).data.decode()
    files = re.findall(r'(?:src|href)="(app/assets/[^"]+)"', page)
    assert len(files) > 2
    for file in files:
        assert urllib3.request("GET", support.removesuffix("support") + file).status == 200, file
