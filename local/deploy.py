"""Deploy the built artifact to AWS and say what to do next.

Usage: `make deploy [STACK=qbxml-queue] [REGION=eu-central-1] [PROFILE=name] [PARAMS="LogLevel=DEBUG …"]
[TAGS="team=books …"] [REMOVE="SessionsTable …"] [YES=on]`. `make deploy-check` and `make build` come first. Region and
credentials are those of `local/aws.py`.

SAM uploads the artifact and creates a change set. This program reads the change set, refuses it if it gives up a table,
asks, and executes it (docs/decisions/0050-deployments-that-are-read-first.md).
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from local import aws, build, change_sets, deploy_check
from local.programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

STACK_NAME = "qbxml-queue"

MAX_WAITING_CALLS = 1_000
"""The highest value of the parameter `MaxWaitingCalls`."""

BEFORE = """\
Deploying {stack} to account {account} in {region}.

1. SAM uploads the artifact to a bucket that it keeps for deployments, and creates a change set.
2. You see what will change. Nothing changes before you answer y.
3. CloudFormation creates or updates the stack, which takes minutes the first time.

Parameters keep the values of the last deployment. To change some: make deploy PARAMS="LogLevel=DEBUG RetentionDays=90"
A domain name of your own takes three: DomainName, CertificateArn and HostedZoneId (docs/operations.md).
"""

REFUSED = """\
Nothing was changed. If you want to give up {what}, name {it}: make deploy REMOVE="{names}"
docs/operations.md, Upgrading and rolling back, says what to do before."""

AFTER = """
{stack} is deployed. The API is at {base_url}

Check that it works:

  make smoke STACK={stack}{where}

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
    options = _parser().parse_intermixed_args(arguments)
    name = "deploy-check" if options.check else "deploy"
    try:
        given = _pairs(options.parameters)
        here = aws.resolved(options.region, options.profile)
        account = here.account()
        if options.check:
            return check(options, here, account, given)
        print(BEFORE.format(stack=options.stack, account=account, region=here.region), flush=True)
        is_deployed = deploy(options, here, given)
        stack_outputs = outputs(here.client("cloudformation"), options.stack) if is_deployed else {}
    except (DeployError, aws.AwsError, build.BuildError, change_sets.ChangeSetError) as error:
        print(f"make {name}: {error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"make {name}: {aws.explanation(error)}", file=sys.stderr)
        return 1
    if not is_deployed:
        return 1
    options_to_repeat = f" REGION={here.region}" + (f" PROFILE={shlex.quote(here.profile)}" if here.profile else "")
    print(AFTER.format(stack=options.stack, base_url=stack_outputs["ApiUrl"], where=options_to_repeat))
    if target := stack_outputs.get("DomainNameTarget"):
        print(DNS.format(domain=stack_outputs["ApiUrl"].removeprefix("https://"), target=target))
    return 0


def check(options: argparse.Namespace, here: aws.Aws, account: str, given: Mapping[str, str]) -> int:
    """Print the obstacles to the deployment. Return 1 if the deployment would fail."""
    print(f"Checking account {account} in {here.region} …", flush=True)
    failures = 0
    planned = deploy_check.deployment(
        here.client, options.stack, given, region=here.region, account=account, profile=here.profile
    )
    for finding in deploy_check.findings(planned):
        failures += finding.level == "ERROR"
        print(finding, flush=True)
    return 1 if failures else 0


def deploy(options: argparse.Namespace, here: aws.Aws, given: Mapping[str, str]) -> bool:
    """Deploy the stack, and protect it when it has been created. Return False if the operator declines.

    Raises DeployError or ChangeSetError.
    """
    cloudformation = here.client("cloudformation")
    former = deploy_check.stack_description(cloudformation, options.stack)
    is_new = former.get("StackStatus", change_sets.CREATING) == change_sets.CREATING
    target = build.target_of(options.artifact).parameters
    parameters = {**_pairs(target), **_derived(here.client, former, given), **given}
    if is_new:
        # A failed creation could not remove a protected table. It is protected afterwards.
        first = {**parameters, "ProtectTables": "false"}
    else:
        first = parameters = {"ProtectTables": "true", **parameters}
    tags = _pairs(options.tags.split()) or {tag["Key"]: tag["Value"] for tag in former.get("Tags", [])}
    command = sam_deploy(
        options.sam, options.artifact, options.stack, first, tags=tags, region=here.region, profile=here.profile
    )
    change_set = _create_change_set(command)
    if change_set is not None and not _execute(cloudformation, options, change_set):
        return False
    if parameters.get("ProtectTables", "true") == "true":
        protect(cloudformation, options.stack)
    return True


def sam_deploy(
    sam: Path,
    artifact: Path,
    stack: str,
    parameters: Mapping[str, str],
    *,
    tags: Mapping[str, str],
    region: str,
    profile: str | None = None,
) -> list[str]:
    """Return the SAM command that uploads a built artifact and creates a change set.

    It names every option, because SAM looks for `samconfig.toml` beside the built template and ignores ours.
    """
    command = [str(sam / "bin" / "sam"), "deploy", "--template-file", str(artifact / build.TEMPLATE)]
    command += ["--stack-name", stack, "--region", region, *(["--profile", profile] if profile else [])]
    command += ["--resolve-s3", "--s3-prefix", stack, "--capabilities", "CAPABILITY_IAM"]
    command += ["--no-execute-changeset", "--no-confirm-changeset", "--no-fail-on-empty-changeset"]
    command += ["--no-disable-rollback", "--no-progressbar", "--output", "json"]
    command += ["--parameter-overrides", *_assignments(parameters)]
    # Without tags SAM removes those that the stack has.
    return command + (["--tags", *_assignments(tags)] if tags else [])


def protect(cloudformation: Any, stack: str) -> None:
    """Protect the stack and its tables with data from being deleted, unless they are protected."""
    description = deploy_check.stack_description(cloudformation, stack)
    if not description.get("EnableTerminationProtection"):
        cloudformation.update_termination_protection(StackName=stack, EnableTerminationProtection=True)
    values = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in description["Parameters"]}
    if values["ProtectTables"] == "true":
        return
    print("\nProtecting the tables from being deleted …", flush=True)
    kept = [{"ParameterKey": name, "UsePreviousValue": True} for name in values if name != "ProtectTables"]
    name = f"protect-tables-{int(time.time())}"
    with suppress(cloudformation.exceptions.AlreadyExistsException):  # botocore repeats a call whose response is lost
        cloudformation.create_change_set(
            StackName=stack,
            ChangeSetName=name,
            UsePreviousTemplate=True,
            Parameters=[*kept, {"ParameterKey": "ProtectTables", "ParameterValue": "true"}],
            Capabilities=["CAPABILITY_IAM"],
        )
    change_set = cloudformation.describe_change_set(StackName=stack, ChangeSetName=name)["ChangeSetId"]
    try:
        waiter = cloudformation.get_waiter("change_set_create_complete")
        waiter.wait(ChangeSetName=change_set, WaiterConfig={"Delay": change_sets.POLL_SECONDS})
        change_sets.execute(cloudformation, change_set, lambda _: None)
    except (WaiterError, change_sets.ChangeSetError) as error:
        raise DeployError(f"the stack is deployed, but its tables are not protected. Run it again. {error}") from error


def outputs(cloudformation: Any, stack: str) -> Mapping[str, str]:
    """Return the outputs of a deployed stack by name. Raises DeployError when there is no such stack."""
    try:
        description = deploy_check.stack_description(cloudformation, stack)
    except ClientError as error:
        raise DeployError(f"the stack {stack} cannot be read: {aws.explanation(error)}") from error
    if not description:
        raise DeployError(
            f"there is no stack {stack} in {cloudformation.meta.region_name}. Name another STACK or REGION."
        )
    return {output["OutputKey"]: output["OutputValue"] for output in description.get("Outputs", [])}


def _derived(clients: Callable[[str], Any], former: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that follow from the account, unless the command names them.

    `SetLogRole` is true for an account in which API Gateway has no role to write the access log. An alarm fires above
    four fifths of the functions that Lambda runs at once, and waiting calls take at most a fifth of them.
    """
    values = {
        **{parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in former.get("Parameters", [])},
        **given,
    }
    derived = {}
    # A check that is not permitted changes nothing; make deploy-check says so.
    with suppress(ClientError):
        if values.get("AccessLog", "true") == "true" and not clients("apigateway").get_account().get(
            "cloudwatchRoleArn"
        ):
            derived["SetLogRole"] = "true"
    with suppress(ClientError):
        limits = clients("lambda").get_account_settings()["AccountLimit"]
        derived["ConcurrencyAlarmAt"] = str(max(1, limits["ConcurrentExecutions"] * 4 // 5))
        derived["MaxWaitingCalls"] = str(min(limits["ConcurrentExecutions"] // 5, MAX_WAITING_CALLS))
    return {name: value for name, value in derived.items() if name not in given}


def _create_change_set(command: Sequence[str]) -> str | None:
    """Run SAM and return the ARN of its change set, None if nothing changes. Raises DeployError."""
    environment = {**os.environ, "SAM_CLI_TELEMETRY": "0"}
    process = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own arguments
    result: dict[str, Any] = {}
    for line in process.stdout.splitlines():
        event = _json_object(line)
        if event.get("type") == "result":
            result = event
    match result.get("status"):
        case "changeset_created" if process.returncode == 0:
            return str(result["changeset_id"])
        case "no_changes" if process.returncode == 0:
            print("Nothing has changed since the last deployment.", flush=True)
            return None
    raise DeployError(f"SAM ended with status {process.returncode}. Its last words:\n{process.stdout.strip()[-4000:]}")


def _execute(cloudformation: Any, options: argparse.Namespace, change_set: str) -> bool:
    """Show a change set, ask, and execute it; return False if it is declined. Raises ChangeSetError."""
    found = change_sets.changes(cloudformation, change_set)
    print("\n".join(f"  {line}" for line in change_sets.summary(found)), flush=True)
    refused = change_sets.refused(found, options.remove.replace(",", " ").split())
    if refused:
        change_sets.discard(cloudformation, change_set, options.stack)
        names = [change.logical_id for change in refused]
        what, it = ("these resources", "them") if len(names) > 1 else ("this resource", "it")
        reasons = "\n".join(
            f"this change set {change.verb} {change.logical_id}, and {change.loss}." for change in refused
        )
        raise DeployError(f"{reasons}\n{REFUSED.format(what=what, it=it, names=' '.join(names))}")
    if not (options.yes or _agrees()):
        change_sets.discard(cloudformation, change_set, options.stack)
        print("Nothing was changed.")
        return False
    change_sets.execute(cloudformation, change_set, lambda line: print(f"  {line}", flush=True))
    return True


def _agrees() -> bool:
    try:
        return input("\nDeploy this changeset? [y/N]: ").strip().lower() in {"y", "yes"}
    except EOFError:
        print()
        return False


def _json_object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _pairs(assignments: Sequence[str]) -> dict[str, str]:
    """Return the values of `NAME=VALUE` arguments by name. Raises DeployError."""
    pairs = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise DeployError(f"{assignment} is not of the form NAME=VALUE")
        pairs[name] = value
    return pairs


def _assignments(values: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in values.items()]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local.deploy", description=__doc__)
    parser.add_argument("sam", type=Path, help="the virtual environment of the SAM CLI")
    parser.add_argument("--stack", default=STACK_NAME, help="default: %(default)s")
    aws.add_options(parser)
    parser.add_argument(
        "--artifact", type=Path, default=build.FOLDER, help="what make build built; default: %(default)s"
    )
    parser.add_argument("--tags", default="", help="NAME=VALUE, separated by spaces; default: those of the stack")
    parser.add_argument("--remove", default="", help="tables and other resources that may be given up, by logical ID")
    parser.add_argument("--yes", action="store_true", help="do not ask before changing anything")
    parser.add_argument("--check", action="store_true", help="only list what would make it fail")
    parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE", help="parameters of template.yaml")
    return parser


if __name__ == "__main__":
    sys.exit(main())
