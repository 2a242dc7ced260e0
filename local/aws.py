"""Region, credentials and errors of AWS, the same for every program that works on a deployed stack.

Region: REGION, AWS_REGION, AWS_DEFAULT_REGION, the profile. Credentials: PROFILE, AWS_PROFILE, or those that the AWS
CLI would use. Every error says what to do next.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectionError,  # noqa: A004 - the name of botocore
    CredentialRetrievalError,
    HTTPClientError,
    InvalidRegionError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    ReadTimeoutError,
    SSOError,
    TokenRetrievalError,
)
from botocore.session import Session

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
UNKNOWN = {
    "AuthFailure",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
"""AWS: the error codes of credentials that have expired, and of those that it does not accept."""

NEW_CREDENTIALS = "`aws configure`, or `aws sso login` for single sign-on"


EXPLANATIONS: dict[tuple[type[BotoCoreError], ...], str] = {
    (ProfileNotFound,): "{error}. `aws configure list-profiles` lists yours.",
    (NoRegionError,): "there is no region. Name one: REGION=eu-central-1",
    (InvalidRegionError,): "{error} A region has a name like eu-central-1.",
    (NoCredentialsError, PartialCredentialsError): (
        f"there are no AWS credentials. Run {NEW_CREDENTIALS}, or name a profile: PROFILE=name"
    ),
    (SSOError, TokenRetrievalError, CredentialRetrievalError): (
        f"the credentials cannot be loaded: {{error}}. Run {NEW_CREDENTIALS}."
    ),
    (ReadTimeoutError, ConnectionClosedError): (
        "AWS did not answer: {error}. What was called may have been done, or may still run. Look at its effect before "
        "you repeat it."
    ),
    (HTTPClientError, ConnectionError): (
        "AWS cannot be reached: {error}. Check the network, the proxy (HTTPS_PROXY) and the name of the region. "
        "The credentials were not checked."
    ),
}
"""What each error means and what to do about it, for errors that botocore raises without an answer of AWS."""


MAX_FUNCTION_SECONDS = 900
"""Lambda: the longest that a function may run."""

CALLS = Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard"})

INVOCATIONS = Config(
    connect_timeout=5, read_timeout=MAX_FUNCTION_SECONDS + 30, retries={"total_max_attempts": 1}, tcp_keepalive=True
)
"""For calls of Lambda. An answer takes as long as the function runs, and a repeated call would run it a second time."""


class AwsError(Exception):
    """AWS cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Aws:
    """The credentials and the region for the calls of one program."""

    region: str
    profile: str | None = None

    def client(self, service: str) -> Any:
        """Return a client of a service."""
        config = INVOCATIONS if service == "lambda" else CALLS
        return Session(profile=self.profile).create_client(service, region_name=self.region, config=config)

    def account(self) -> str:
        """Return the number of the account, which shows that AWS accepts the credentials. Raises AwsError."""
        try:
            return str(self.client("sts").get_caller_identity()["Account"])
        except (BotoCoreError, ClientError) as error:
            raise AwsError(explanation(error)) from error


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options `--region` and `--profile`."""
    parser.add_argument("--region", help="default: AWS_REGION, AWS_DEFAULT_REGION, or that of the profile")
    parser.add_argument("--profile", help="a profile of the AWS CLI; default: AWS_PROFILE")


def resolved(region: str | None, profile: str | None, environment: Mapping[str, str] = os.environ) -> Aws:
    """Return the region and the profile to use. Raises AwsError if there is no region or there are no credentials."""
    profile = profile or environment.get("AWS_PROFILE") or None
    session = Session(profile=profile)
    try:
        region = (
            region
            or environment.get("AWS_REGION")
            or environment.get("AWS_DEFAULT_REGION")
            or session.get_config_variable("region")
        )
        has_credentials = session.get_credentials() is not None
    except BotoCoreError as error:
        raise AwsError(explanation(error)) from error
    if region is None:
        raise AwsError(explanation(NoRegionError()))
    if not has_credentials:
        raise AwsError(explanation(NoCredentialsError()))
    return Aws(region, profile)


def explanation(error: BotoCoreError | ClientError) -> str:
    """Return what went wrong and what to do about it."""
    if isinstance(error, ClientError):
        return _refusal(error)
    sentences = (text for types, text in EXPLANATIONS.items() if isinstance(error, types))
    return next(sentences, "AWS cannot be used: {error}").format(error=error)


def _refusal(error: ClientError) -> str:
    code, message = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
    if code in EXPIRED:
        return f"the AWS credentials have expired ({code}). Run {NEW_CREDENTIALS}."
    if code in UNKNOWN:
        return (
            f"AWS does not accept the credentials ({code}: {message}). Run {NEW_CREDENTIALS}, or name another PROFILE."
        )
    if code.startswith(("AccessDenied", "UnauthorizedOperation")):
        return (
            f"the credentials do not permit {error.operation_name}: {message}\n"
            "examples/deployer.yaml has the permissions that are needed (docs/operations.md, Who may deploy)."
        )
    return f"AWS refuses {error.operation_name}: {message or code}"
