"""The first steps with a new stack: an app with a key, a connection with a password, and its `.qwc` file."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import urllib3

from local.command import invoke, local_client
from local.private_files import write_private

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from local.lambda_api import Operator
    from local.provider import LocalPerson

CREDENTIALS_FILE = "credentials.json"
QWC_FILE = "quickbooks.qwc"
LIMITS = {
    "creates_per_second": "10000",
    "redeliveries_per_minute": "10000",
    "written_bytes_per_minute": "10000000000",
    "reads_per_second": "10000",
    "searches_per_minute": "10000",
    "search_seconds_per_minute": "10000",
}


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of an API consumer, a Web Connector and the operator of a stack.

    `qwc_path` is the path of the `.qwc` file. `books_url` is the URL of the books of the simulated company, if there is
    one. The operator's function is `operate_function` at the Lambda API `operate_endpoint`, whose calls
    `operate_secret` signs.
    """

    base_url: str
    app_id: str
    api_key: str
    webhook_secret: str
    connection_id: str
    qbwc_username: str
    qbwc_password: str
    qwc_path: str
    operate_function: str
    operate_endpoint: str
    operate_secret: str
    webhook_url: str | None = None
    books_url: str | None = None
    provider_url: str | None = None


def prepare(base_url: str, operator: Operator, folder: Path) -> Credentials:
    """Create an app, a key and a connection, and write its `.qwc` file to `folder`.

    Raises RuntimeError when a step fails.
    """
    client, function = local_client(operator), operator.function
    app = invoke(client, function, {"operation": "create_app", "name": "First steps"})
    # No other app needs protection from this one, and benchmarks queue as fast as they can.
    limits = {"operation": "set_limits", "app_id": app["app_id"], **LIMITS}
    invoke(client, function, limits)
    key = invoke(client, function, {"operation": "create_key", "app_id": app["app_id"]})["api_key"]
    api = Api(base_url, key)
    connection = api.call("POST", "/api/v1/connections", {"name": "Sample company"})["data"]
    at = f"/api/v1/connections/{connection['id']}"
    password = api.call("POST", f"{at}/password")["data"]["password"]
    return Credentials(
        base_url=base_url,
        app_id=app["app_id"],
        api_key=key,
        webhook_secret=app["webhook_secret"],
        connection_id=connection["id"],
        qbwc_username=connection["username"],
        qbwc_password=password,
        qwc_path=str(write_qwc(api, connection["id"], folder)),
        **_operate(operator),
    )


def invite(people: Iterable[LocalPerson], app_id: str, operator: Operator) -> None:
    """Invite people to an app. Those who are members stay members."""
    client = local_client(operator)
    for person in people:
        event = {"operation": "invite", "email": person.email, "role": person.role, "app": app_id}
        invoke(client, operator.function, event)


def provider_of_last_run(folder: Path) -> str | None:
    """Return the URL of the identity provider of an earlier run, or None."""
    try:
        kept = json.loads((folder / CREDENTIALS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    url = kept.get("provider_url") if isinstance(kept, dict) else None
    return url if isinstance(url, str) else None


def of_this_run(credentials: Credentials, base_url: str, operator: Operator, folder: Path) -> Credentials:
    """Return the credentials of an earlier run with the current address and operator; write their `.qwc` file again."""
    path = write_qwc(Api(base_url, credentials.api_key), credentials.connection_id, folder)
    return replace(credentials, base_url=base_url, qwc_path=str(path), **_operate(operator))


def _operate(operator: Operator) -> dict[str, Any]:
    return {f"operate_{name}": value for name, value in asdict(operator).items()}


def write_qwc(api: Api, connection_id: str, folder: Path) -> Path:
    """Write a connection's `.qwc` file to `folder` and return its path."""
    path = folder / QWC_FILE
    write_private(path, api.call("GET", f"/api/v1/connections/{connection_id}/qwc")["qwc"])
    return path.resolve()


def write(credentials: Credentials, folder: Path) -> Path:
    """Write `credentials.json`, and `env` for a shell; only the owner can read them."""
    path = write_credentials(credentials, folder)
    variables = {
        "BASE_URL": credentials.base_url,
        "API_KEY": credentials.api_key,
        "CONNECTION_ID": credentials.connection_id,
        "WEBHOOK_URL": credentials.webhook_url or "",
        "WEBHOOK_SECRET": credentials.webhook_secret,
        "BOOKS_URL": credentials.books_url or "",
        "QWC_FILE": credentials.qwc_path,
        "QBWC_PASSWORD": credentials.qbwc_password,
    }
    write_private(folder / "env", "".join(f"{name}={shlex.quote(value)}\n" for name, value in variables.items()))
    return path


def write_credentials(credentials: Credentials, folder: Path) -> Path:
    """Write `credentials.json` alone."""
    path = folder / CREDENTIALS_FILE
    write_private(path, json.dumps(asdict(credentials), indent=2) + "\n")
    return path


class Api:
    """The REST API, called with a key."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base_url = base_url
        self._headers = urllib3.make_headers(basic_auth=f"{api_key}:")
        self._pool = urllib3.PoolManager(retries=urllib3.Retry(False), timeout=30)

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> urllib3.BaseHTTPResponse:
        """Send a request, with `body` as JSON unless it is bytes, and return the response."""
        all_headers = {**self._headers, **(headers or {})}
        data = body
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(body).encode()
        if data is not None and "content-type" not in {name.lower() for name in all_headers}:
            all_headers["Content-Type"] = "application/json"
        return self._pool.request(method, self._base_url + path, body=data, headers=all_headers)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the JSON of the response. Raises RuntimeError for an error status."""
        response = self.request(method, path, body)
        if response.status >= 400:  # noqa: PLR2004 - the HTTP status classes
            raise RuntimeError(f"{method} {path}: {response.status} {response.data.decode(errors='replace')}")
        return json.loads(response.data)
