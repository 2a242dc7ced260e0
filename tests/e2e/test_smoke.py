"""The checks of `make smoke` pass on a stack that works."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from local import deploy, deploy_local
from local.command import local_client
from local.smoke import CHECKS, NotCheckedError, Smoke
from local.stack import CONNECTOR_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.support import Service

OF_AWS = {
    "format and level of log lines",
    "state of the alarms",
    "protection and recovery of the tables",
    # The gateway of `make run` does not unpack bodies, and does not decode letters in a path.
    "a compressed request",
    "escaped characters in a path",
}


@pytest.fixture(scope="module")
def smoke(service: Service) -> Iterator[Smoke]:
    """Return the checks of the stack, with an app, a key and a connection of their own."""
    operator = service.operator
    # A Web Connector refuses http with an address, so `make run` names itself localhost in .qwc files.
    is_local = service.applies_gateway_responses
    base_url = service.base_url.replace("127.0.0.1", "localhost") if is_local else service.base_url
    checks = Smoke(
        clients=lambda _: local_client(operator),
        stack="local",
        base_url=base_url,
        operate_function=operator.function,
        log_group="",
        is_emulator=not is_local,
        web_connector_url=f"{base_url}{CONNECTOR_PATH}/qbwc" if is_local else _deployed_url(),
    )
    checks.prepare()
    yield checks
    checks.remove()


def _deployed_url() -> str:
    """Return the AppURL of the stack in the emulator of `make deploy-local`."""
    cloudformation = deploy_local.client("cloudformation", os.environ["EMULATOR"])
    return str(deploy.outputs(cloudformation, deploy.STACK_NAME)["WebConnectorUrl"])


@pytest.mark.parametrize("name", sorted(CHECKS.keys() - OF_AWS))
def test_a_check_passes(smoke: Smoke, name: str) -> None:
    try:
        assert CHECKS[name](smoke)
    except NotCheckedError as reason:
        pytest.skip(str(reason))


def test_the_app_of_an_earlier_run_is_used_again_and_nothing_else_remains(service: Service, smoke: Smoke) -> None:
    before = {app["app_id"] for app in smoke.operate("list_apps")["apps"]}
    second = Smoke(smoke.clients, "local", service.base_url, smoke.operate_function, "", is_emulator=smoke.is_emulator)

    second.prepare()
    connection, key = second.connection, second.key_hash
    second.remove()

    assert {app["app_id"] for app in smoke.operate("list_apps")["apps"]} == before
    assert smoke.api.request("GET", connection).status == 404
    keys = {key["key_hash"]: key["revoked_at"] for key in smoke.operate("list_keys", app_id=second.app_id)["keys"]}
    assert keys[key]
