"""The settings of a function: the environment variables that `template.yaml` gives it.

Each function has only the variables that it uses, so each variable is read only when needed. A missing variable
raises a KeyError with its name. `tests/integration/api/test_permissions.py` runs each function with its variables only.
"""

from collections.abc import Mapping


class Settings:
    """Reads environment variables."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def table(self, name: str) -> str:
        """Return the deployed name of a table, such as `queued_requests`."""
        return self._environment[f"{name.upper()}_TABLE"]

    @property
    def webhook_retry_queue_url(self) -> str:
        """The URL of the SQS queue of planned webhook attempts."""
        return self._environment["WEBHOOK_RETRY_QUEUE_URL"]

    @property
    def test_connection_queue_url(self) -> str:
        """The URL of the SQS queue that wakes test connections. Empty: this deployment has none."""
        return self._environment["TEST_CONNECTION_QUEUE_URL"]

    @property
    def test_connection_function(self) -> str:
        """The name of the function of test connections. Empty: this deployment has none."""
        return self._environment["TEST_CONNECTION_FUNCTION"]

    @property
    def allow_loopback_webhooks(self) -> bool:
        """Whether webhooks may go to loopback addresses, over http and to any port."""
        return self._switch("ALLOW_LOOPBACK_WEBHOOKS")

    @property
    def allow_http_webhooks(self) -> bool:
        """Whether webhooks may go over plain http."""
        return self._switch("ALLOW_HTTP_WEBHOOKS")

    @property
    def webhook_ports(self) -> frozenset[int]:
        """The ports to which webhooks may go."""
        return frozenset(int(port) for port in self._environment["WEBHOOK_PORTS"].split(","))

    @property
    def base_url(self) -> str | None:
        """The URL under which clients reach the API, without a slash at the end. None means the URL of the call."""
        return self._environment["BASE_URL"].rstrip("/") or None

    @property
    def oidc_issuer(self) -> str:
        """The issuer of the identity provider with which people sign in. Empty: they use API keys."""
        return self._environment["OIDC_ISSUER"]

    @property
    def oidc_client_id(self) -> str:
        """The id of this service at the identity provider."""
        return self._environment["OIDC_CLIENT_ID"]

    @property
    def oidc_client_secret_arn(self) -> str:
        """The secret in Secrets Manager with the client secret. Empty: the client is public."""
        return self._environment["OIDC_CLIENT_SECRET_ARN"]

    @property
    def web_connector_base_url(self) -> str | None:
        """The URL in `.qwc` files, without a slash at the end. None means the URL of the call."""
        return self._environment["WEB_CONNECTOR_BASE_URL"].rstrip("/") or None

    @property
    def retention_days(self) -> int:
        """The number of days for which an ended request is kept. 0 means forever."""
        return int(self._environment["RETENTION_DAYS"])

    @property
    def execution_seconds(self) -> int:
        """How long QuickBooks may execute one request."""
        return int(self._environment["EXECUTION_SECONDS"])

    @property
    def dormant_poll_seconds(self) -> int:
        """How often the Web Connector of a connection polls after a day without work."""
        return int(self._environment["DORMANT_POLL_SECONDS"])

    @property
    def max_waiting_calls(self) -> int:
        """The number of calls that may wait at once until their request has ended. 0 means none."""
        return int(self._environment["MAX_WAITING_CALLS"])

    @property
    def max_sessions(self) -> int:
        """The number of Web Connector sessions that may run at once. 0 derives it from the two limits below."""
        return int(self._environment["MAX_SESSIONS"])

    @property
    def web_connector_calls_per_second(self) -> int:
        """The rate limit of all Web Connectors."""
        return int(self._environment["WEB_CONNECTOR_CALLS_PER_SECOND"])

    @property
    def concurrency_alarm_at(self) -> int:
        """The number of functions that run at once above which an alarm fires."""
        return int(self._environment["CONCURRENCY_ALARM_AT"])

    def _switch(self, name: str) -> bool:
        value = self._environment[name].lower()
        if value not in {"", "0", "1", "false", "true"}:
            raise ValueError(f"{name} must be true or false, not {value!r}")
        return value in {"1", "true"}
