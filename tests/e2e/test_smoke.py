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
    "event sources of streams and of the retry queue",
    "webhooks that wait for hours",
    "protection and recovery of the tables",
    # The gateway of `make run` does not unpack bodies, and does not decode letters in a path.
    "a compressed request",
    "escaped characters in a path",
}


def checks_of(service: Service) -> Smoke:
    """Return the checks of the stack."""
    operator = service.operator
    # A Web Connector refuses http with an address, so `make run` names itself localhost in .qwc files.
    is_local = service.applies_gateway_responses
    base_url = service.base_url.replace("127.0.0.1", "localhost") if is_local else service.base_url
    return Smoke(
        clients=lambda _: local_client(operator),
        stack="local",
        base_url=base_url,
        operate_function=operator.function,
        log_group="",
        is_emulator=not is_local,
        web_connector_url=f"{base_url}{CONNECTOR_PATH}/qbwc" if is_local else _deployed_url(),
    )


@pytest.fixture
def smoke(service: Service) -> Iterator[Smoke]:
    """Return the checks of the stack, with an app, a key and a connection of their own."""
    checks = checks_of(service)
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


def test_a_run_uses_the_app_of_one_that_was_stopped_and_leaves_nothing_behind(service: Service) -> None:
    stopped, second = checks_of(service), checks_of(service)
    stopped.prepare()

    second.prepare()
    second.remove()

    assert second.app_id == stopped.app_id
    assert second.app_id not in {app["app_id"] for app in second.operate("list_apps")["apps"]}
