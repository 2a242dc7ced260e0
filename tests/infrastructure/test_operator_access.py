"""Who can call the operator's function of a stack on this machine: programs that know its secret, and nobody else."""

from __future__ import annotations

import http.client
import json
import stat
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from local import first_steps, stack
from local.command import CommandError, invoke, local_client, operator_of
from local.gateway import Request
from local.lambda_api import ACCESS_KEY_ID, MAX_CLOCK_DIFFERENCE, Operator, is_signed
from local.run import Options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TUNNEL = "queue.example.com"

PATH = "/2015-03-31/functions/OperateFunction/invocations"

LIST_APPS = b'{"operation": "list_apps"}'

PORTS = st.integers(0, 65535).map(lambda port: f":{port}")

APPS = b'{"apps":'
"""The beginning of the operator's result."""

NAMES = st.one_of(
    st.sampled_from(
        [TUNNEL, TUNNEL.upper(), "127.0.0.1", "localhost", "LocalHost", "[::1]", "127.1", "169.254.169.254"]
    ),
    st.from_regex(r"[a-z0-9-]{1,10}(\.[a-z]{2,5}){0,2}", fullmatch=True),
)

HOSTS = st.builds(str.__add__, NAMES, st.one_of(st.just(""), PORTS))

PATHS = st.sampled_from(
    [
        PATH,
        PATH + "/",
        "/" + PATH,
        PATH.replace("Operate", "%4Fperate"),
        PATH.replace("/functions", "/x/../functions"),
        PATH.upper(),
        "/live" + PATH,
        "/app" + PATH,
        "/app/.." + PATH,
        "/api/v1" + PATH,
        PATH.replace("OperateFunction", "arn:aws:lambda:us-east-1:123456789012:function:OperateFunction"),
        PATH.replace("OperateFunction", "SweepFunction"),
        PATH.replace("invocations", "response-streaming-invocations"),
        f"http://127.0.0.1{PATH}",
    ]
)

METHODS = st.sampled_from(["POST", "POST", "GET", "PUT"])


def signed_headers(url: str, secret: str, body: bytes = LIST_APPS, method: str = "POST") -> dict[str, str]:
    """Return the headers with which a client of AWS calls Lambda now."""
    host = urlsplit(url).netloc
    request = AWSRequest(method, url, headers={"Host": host}, data=body)
    SigV4Auth(Credentials(ACCESS_KEY_ID, secret), "lambda", "us-east-1").add_auth(request)
    return dict(request.headers.items())


def answer(base_url: str, method: str, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """Send a call to a server with exactly these headers; return its status and body."""
    address = urlsplit(base_url)
    assert address.hostname is not None
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {**headers, "Content-Length": str(len(LIST_APPS))}.items():
            connection.putheader(name, value)
        connection.endheaders(LIST_APPS)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class Published:
    """A stack whose gateway, at `base_url`, a tunnel publishes."""

    base_url: str
    operator: Operator


@pytest.fixture(scope="module")
def published() -> Iterator[Published]:
    with stack.running(public_url=f"https://{TUNNEL}") as service:
        yield Published(service.base_url, service.operator)


@settings(max_examples=150, deadline=None)
@given(host=HOSTS, path=PATHS, method=METHODS, signs=st.booleans())
def test_the_published_port_never_leads_to_the_operator(
    published: Published, host: str, path: str, method: str, signs: bool
) -> None:
    """This also holds for a call that is signed with the secret, and for any host name that the tunnel passes on."""
    headers = {"Host": host, "Authorization": "AWS4-HMAC-SHA256 Credential=x"}
    if signs:
        headers = signed_headers(f"http://{host}{PATH}", published.operator.secret, method=method)

    status, body = answer(published.base_url, method, path, headers)

    assert status < 500
    assert not body.startswith(APPS)


@settings(max_examples=150, deadline=None)
@given(host=HOSTS, path=PATHS, secret=st.one_of(st.none(), st.text(max_size=50)))
def test_the_port_of_the_operator_refuses_every_call_without_the_secret(
    published: Published, host: str, path: str, secret: str | None
) -> None:
    headers = {"Host": host, "Authorization": "AWS4-HMAC-SHA256 Credential=x"}
    if secret is not None:
        headers = signed_headers(f"http://{host}{PATH}", secret)

    status, body = answer(published.operator.endpoint, "POST", path, headers)

    assert status in {403, 404, 421}
    assert not body.startswith(APPS)


@pytest.mark.parametrize("host", [TUNNEL, "evil.example", "evil.example:3000"])
def test_a_tunnel_to_the_port_of_the_operator_does_not_give_operator_power(published: Published, host: str) -> None:
    headers = signed_headers(f"http://{host}{PATH}", published.operator.secret)

    assert answer(published.operator.endpoint, "POST", PATH, headers)[0] == 421


def test_a_program_of_this_machine_with_the_secret_is_the_operator(published: Published) -> None:
    operator = published.operator

    result = invoke(local_client(operator), operator.function, {"operation": "list_apps"})

    assert set(result) == {"apps"}


def test_a_client_with_another_secret_is_refused_with_the_way_to_the_right_one(published: Published) -> None:
    operator = Operator(published.operator.function, published.operator.endpoint, "guessed")

    with pytest.raises(ClientError, match=r"InvalidSignatureException.*operate_secret of \.local/credentials\.json"):
        invoke(local_client(operator), operator.function, {"operation": "list_apps"})


NOW = datetime.now(UTC)

HOST = "127.0.0.1:3001"

SIGNED = signed_headers(f"http://{HOST}{PATH}", "secret")


def a_call(body: bytes = LIST_APPS, target: str = PATH, **changes: str | None) -> Request:
    """Return a signed call, with headers changed or (None) left out."""
    headers: dict[str, Any] = {**SIGNED, **{name.replace("_", "-"): value for name, value in changes.items()}}
    return Request("POST", target, [(name, value) for name, value in headers.items() if value is not None], body)


def test_a_signature_covers_secret_body_path_query_host_and_date() -> None:
    assert is_signed(a_call(), "secret", NOW)

    assert not is_signed(a_call(), "Secret", NOW)
    assert not is_signed(a_call(body=LIST_APPS.replace(b"list", b"show")), "secret", NOW)
    assert not is_signed(a_call(target=PATH.replace("Operate", "Sweep")), "secret", NOW)
    assert not is_signed(a_call(target=f"{PATH}?Qualifier=1"), "secret", NOW)
    assert not is_signed(a_call(Host="127.0.0.1:3002"), "secret", NOW)
    assert not is_signed(a_call(X_Amz_Date=f"{NOW:%Y%m%dT%H%M}59Z"), "secret", NOW) or NOW.second == 59
    assert not is_signed(a_call(Authorization=None), "secret", NOW)


@pytest.mark.parametrize("change", [MAX_CLOCK_DIFFERENCE + timedelta(minutes=1), -2 * MAX_CLOCK_DIFFERENCE])
def test_a_signature_expires(change: timedelta) -> None:
    assert not is_signed(a_call(), "secret", NOW + change)


@pytest.mark.parametrize("header", ["host", "x-amz-date"])
def test_a_signature_that_leaves_out_the_host_or_the_date_is_refused(header: str) -> None:
    without = SIGNED["Authorization"].replace(f"{header};", "").replace(f";{header}", "")

    assert not is_signed(a_call(Authorization=without), "secret", NOW)


@given(text=st.text(alphabet=st.characters(max_codepoint=255), max_size=200))
def test_any_malformed_authorization_header_is_refused(text: str) -> None:
    assert not is_signed(a_call(Authorization=text), "secret", NOW)
    assert not is_signed(a_call(X_Amz_Date=text), "secret", NOW)


def test_only_the_owner_can_read_the_files_with_credentials(published: Published, tmp_path: Path) -> None:
    folder = tmp_path / ".local"

    credentials = first_steps.prepare(published.base_url, published.operator, folder)
    first_steps.write(credentials, folder)

    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} == {"credentials.json", "env", "quickbooks.qwc"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert operator_of(json.loads((folder / "credentials.json").read_text(encoding="utf-8"))) == published.operator


def test_credentials_of_an_earlier_version_are_refused_with_the_way_to_new_ones() -> None:
    with pytest.raises(CommandError, match="Start `make run` again"):
        operator_of({"operate_function": "OperateFunction", "operate_endpoint": "http://127.0.0.1:3000"})


@pytest.mark.parametrize(
    ("environment", "allowed"),
    [
        ({}, True),
        ({"ALLOW_LOOPBACK_WEBHOOKS": "off"}, False),
        ({"BASE_URL": "http://127.0.0.1:3000"}, True),
        ({"BASE_URL": f"https://{TUNNEL}"}, False),
        ({"BASE_URL": f"https://{TUNNEL}", "ALLOW_LOOPBACK_WEBHOOKS": "on"}, True),
    ],
)
def test_behind_a_tunnel_webhooks_to_this_machine_are_off_unless_they_are_asked_for(
    environment: dict[str, str], allowed: bool
) -> None:
    assert Options.of(environment).allow_loopback_webhooks is allowed
