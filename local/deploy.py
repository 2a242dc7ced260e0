"""Deploy the built artifact to AWS and say what to do next.

Usage: `make deploy [STACK=qbxml-queue] [REGION=eu-central-1] [PROFILE=name] [PARAMS="LogLevel=DEBUG …"] [YES=on]`.
`make build` comes first and is part of it. Credentials are those of the AWS CLI: a profile, environment variables
or single sign-on.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError, ProfileNotFound
from botocore.session import Session

from local import build
from local.programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STACK_NAME = "qbxml-queue"

BEFORE = """\
Deploying {stack} to {account} in {region}.

1. SAM uploads the artifact to a bucket that it keeps for deployments.
2. It shows what will change and asks "Deploy this changeset? [y/N]". Nothing changes before you answer y.
3. CloudFormation creates or updates the stack: three to five minutes the first time.

Parameters keep the values of the last deployment. To change some: make deploy PARAMS="LogLevel=DEBUG RetentionDays=90"
A domain name of your own takes three: DomainName, CertificateArn and HostedZoneId (docs/operations.md).
"""

AFTER = """
{stack} is deployed. The API is at {base_url}

Create an app with an API key (the key is shown once):

  make command STACK={stack}{where} DO="create-app 'My shop'"

Then create a connection:

  curl -u "<api_key>:" {base_url}/api/v1/connections -H 'Content-Type: application/json' -d '{{"name": "My company"}}'

docs/operations.md says how to connect a Windows machine to it.
"""


DNS = """
{domain} works once its DNS record names {target}. With HostedZoneId the stack creates the record. Otherwise create a
CNAME record.
"""


class DeployError(Exception):
    """The deployment cannot be made; the message says what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Deploy and say what to do next; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        account, region = _account(options.profile, options.region)
        if options.check:
            return 0
        print(BEFORE.format(stack=options.stack, account=account, region=region), flush=True)
        built_for = build.target_of(build.FOLDER)
        where = ["--region", region, *(["--profile", options.profile] if options.profile else [])]
        command = sam_deploy(options.sam, build.FOLDER, options.stack, [*built_for.parameters, *options.parameters])
        if options.yes:
            command.append("--no-confirm-changeset")
        status = subprocess.run([*command, *where], cwd=ROOT, check=False).returncode  # noqa: S603 - our own arguments
        if status:
            print(f"make deploy: SAM ended with status {status}. Its message above says why.", file=sys.stderr)
            return status
        stack_outputs = outputs(client("cloudformation", region, options.profile), options.stack)
    except (DeployError, build.BuildError) as error:
        print(f"make deploy: {error}", file=sys.stderr)
        return 1
    options_to_repeat = f" REGION={region}" + (f" PROFILE={shlex.quote(options.profile)}" if options.profile else "")
    print(AFTER.format(stack=options.stack, base_url=stack_outputs["ApiUrl"], where=options_to_repeat))
    if target := stack_outputs.get("DomainNameTarget"):
        print(DNS.format(domain=stack_outputs["ApiUrl"].removeprefix("https://"), target=target))
    return 0


def sam_deploy(sam: Path, artifact: Path, stack: str, parameters: Sequence[str]) -> list[str]:
    """Return the SAM command that deploys a built artifact."""
    return [
        *(str(sam / "bin" / "sam"), "deploy", "--template-file", str(artifact / build.TEMPLATE), "--stack-name", stack),
        *("--resolve-s3", "--capabilities", "CAPABILITY_IAM", "--parameter-overrides", *parameters),
    ]


def outputs(cloudformation: Any, stack: str) -> Mapping[str, str]:
    """Return the outputs of a deployed stack by name. Raises DeployError when there is no such stack."""
    try:
        description = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    except ClientError as error:
        raise DeployError(f"the stack {stack} cannot be read: {error.response['Error']['Message']}") from error
    return {output["OutputKey"]: output["OutputValue"] for output in description.get("Outputs", [])}


def client(service: str, region: str | None, profile: str | None) -> Any:
    """Return a client of an AWS service, with the credentials of the AWS CLI."""
    return Session(profile=profile).create_client(service, region_name=region)


def _account(profile: str | None, region: str | None) -> tuple[str, str]:
    """Return the account and the region to deploy to. Raises DeployError when credentials or region are missing."""
    session = Session(profile=profile)
    try:
        credentials = session.get_credentials()
        region = region or session.get_config_variable("region")
    except ProfileNotFound as error:
        raise DeployError(f"{error}. `aws configure list-profiles` lists yours.") from error
    if credentials is None:
        raise DeployError(
            "there are no AWS credentials. Run `aws configure` or `aws sso login`, or name a profile: "
            "make deploy PROFILE=name"
        )
    if region is None:
        raise DeployError("there is no region. Name one: make deploy REGION=eu-central-1")
    try:
        identity = session.create_client("sts", region_name=region).get_caller_identity()
    except (BotoCoreError, ClientError) as error:
        raise DeployError(f"AWS does not accept the credentials: {error}") from error
    return f"account {identity['Account']}", region


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local.deploy", description=__doc__)
    parser.add_argument("sam", type=Path, help="the virtual environment of the SAM CLI")
    parser.add_argument("--stack", default=STACK_NAME, help="default: %(default)s")
    parser.add_argument("--region", default=os.environ.get("AWS_REGION"))
    parser.add_argument("--profile", default=os.environ.get("AWS_PROFILE"))
    parser.add_argument("--yes", action="store_true", help="do not ask before changing anything")
    parser.add_argument("--check", action="store_true", help="check credentials and region, and deploy nothing")
    parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE", help="parameters of template.yaml")
    return parser


if __name__ == "__main__":
    sys.exit(main())
