"""Checks of AWS that take seconds and show, before anything is built or created, what would make a deployment fail.

Usage: `make deploy-check [STACK=…] [REGION=…] [PROFILE=…] [PARAMS="…"]`; `make deploy` runs it first. Each check
returns findings. An error would make the deployment fail; a note is worth knowing.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from botocore.exceptions import ClientError

from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Clients: TypeAlias = Callable[[str], Any]
    """Returns a client of an AWS service by name, in the region of the stack."""

USUAL_CONCURRENCY = 1000
"""Lambda: the default of an account. New accounts begin with 10."""

UNRESERVED_CONCURRENCY = 100
"""Lambda: the concurrency of an account that cannot be reserved. An account with less cannot reserve any."""

CONCURRENCY_QUOTA = "L-B99A9384"
"""Service Quotas: concurrent executions of Lambda."""

BACKGROUND_FUNCTIONS = 3
"""Functions that run beside streams, the retry queue and calls: the sweep and two runs of the packer."""

NEW_TABLE_SHARDS = 4
"""DynamoDB: a new table takes 4,000 writes a second, a partition 1,000, and a stream has a shard for each partition."""

INDENT = 9
WIDTH = 100
"""The width of the column that says whether a finding is an error, and the width of a line."""

STUCK = {
    "ROLLBACK_COMPLETE": "Its creation failed. Nothing can be deployed to it; delete it:",
    "ROLLBACK_FAILED": "Its creation failed, and so did cleaning up. Delete it:",
    "DELETE_FAILED": "It could not be deleted completely. Delete it again:",
    "UPDATE_ROLLBACK_FAILED": "An update failed, and so did going back. Continue:",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of a check, with commands that the operator can paste."""

    text: str
    level: Literal["ok", "note", "ERROR"] = "ok"
    commands: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the finding as lines for people."""
        text = textwrap.fill(self.text, WIDTH, initial_indent=" " * INDENT, subsequent_indent=" " * INDENT)
        commands = "".join(f"\n{'':{INDENT}}  {command}" for command in self.commands)
        return f"{self.level:>{INDENT - 2}}{text[INDENT - 2 :]}{commands}"


@dataclass(frozen=True, slots=True)
class Deployment:
    """A deployment that is about to be made.

    `former` has the parameters of the deployed stack and is empty if there is none; `parameters` has the values that
    the stack will have. `options` are the options of the AWS CLI for region and profile.
    """

    clients: Clients
    stack: str
    region: str
    account: str
    status: str | None
    former: Mapping[str, str]
    parameters: Mapping[str, str]
    options: str


def deployment(
    clients: Clients, stack: str, given: Mapping[str, str], *, region: str, account: str, profile: str | None = None
) -> Deployment:
    """Return the deployment of `given` parameters over those that the stack has."""
    description = stack_description(clients("cloudformation"), stack)
    former = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in description.get("Parameters", [])}
    defaults = {name: str(value) for name, value in Template.load(ROOT / "template.yaml").parameters.items()}
    options = f" --region {region}" + (f" --profile {profile}" if profile else "")
    return Deployment(
        clients,
        stack,
        region,
        account,
        description.get("StackStatus"),
        former,
        {**defaults, **former, **given},
        options,
    )


def stack_description(cloudformation: Any, stack: str) -> dict[str, Any]:
    """Return CloudFormation's description of a stack, empty if it does not exist."""
    try:
        description: dict[str, Any] = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return {}
        raise
    return description


def findings(planned: Deployment) -> Iterator[Finding]:
    """Yield the findings of every check. A check that is not permitted yields a note that says so."""
    for check in (
        state_of_stack,
        retained_tables,
        concurrency,
        sessions,
        log_role,
        certificate,
        domain_name,
        hosted_zone,
    ):
        try:
            yield from check(planned)
        except ClientError as error:
            code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
            if not code.startswith("AccessDenied"):
                raise
            yield Finding(f"{check.__name__.replace('_', ' ').capitalize()}: not checked. {message}", "note")


def state_of_stack(planned: Deployment) -> Iterator[Finding]:
    """Check that CloudFormation can create or update the stack."""
    status, name = planned.status, f"--stack-name {planned.stack}{planned.options}"
    match status:
        case None | "REVIEW_IN_PROGRESS":
            yield Finding(f"The stack {planned.stack} does not exist yet.")
        case "UPDATE_ROLLBACK_FAILED":
            command = f"aws cloudformation continue-update-rollback {name}"
            yield Finding(
                f"The stack {planned.stack} is in {status}. {STUCK[status]}", level="ERROR", commands=(command,)
            )
        case _ if status in STUCK:
            commands = (
                f"aws cloudformation delete-stack {name}",
                f"aws cloudformation wait stack-delete-complete {name}",
            )
            yield Finding(
                f"The stack {planned.stack} is in {status}. {STUCK[status]}", level="ERROR", commands=commands
            )
        case _ if status.endswith("_IN_PROGRESS"):
            yield Finding(f"The stack {planned.stack} is in {status}. Wait until that has ended.", level="ERROR")
        case _:
            yield Finding(f"The stack {planned.stack} exists ({status}) and will be updated.")


def retained_tables(planned: Deployment) -> Iterator[Finding]:
    """Show the tables of a deleted stack of this name, which the deployment does not use."""
    tables = "|".join(Template.load(ROOT / "template.yaml").resources("AWS::DynamoDB::Table"))
    pattern = re.compile(rf"{re.escape(planned.stack)}-({tables})-[A-Z0-9]+")
    pages = planned.clients("dynamodb").get_paginator("list_tables").paginate()
    names = [name for page in pages for name in page["TableNames"] if pattern.fullmatch(name)]
    own = set(_physical_ids(planned).values()) if names else set()
    retained = sorted(set(names) - own)
    if retained:
        commands = [
            f"aws dynamodb {command} --table-name {name}{planned.options}{option}"
            for name in retained
            for command, option in (("update-table", " --no-deletion-protection-enabled"), ("delete-table", ""))
        ]
        yield Finding(
            f"{len(retained)} tables of a deleted stack {planned.stack} still exist, with their data. This deployment "
            "does not use them. If nobody needs the data:",
            "note",
            commands=tuple(commands),
        )


def concurrency(planned: Deployment) -> Iterator[Finding]:
    """Check that Lambda runs enough functions at once, and that the parameters do not reserve too many of them."""
    limits = planned.clients("lambda").get_account_settings()["AccountLimit"]
    limit, unreserved = limits["ConcurrentExecutions"], limits["UnreservedConcurrentExecutions"]
    retries = int(planned.parameters["WebhookRetryConcurrency"])
    behind = stream_functions(planned) + retries + BACKGROUND_FUNCTIONS
    text = (
        f"Lambda runs up to {limit:,} functions at once in this account and region. Webhooks, events and scheduled "
        f"jobs take up to {behind:,}, and the others serve API calls and Web Connectors."
    )
    if limit < USUAL_CONCURRENCY:
        command = (
            "aws service-quotas request-service-quota-increase --service-code lambda"
            f" --quota-code {CONCURRENCY_QUOTA} --desired-value {USUAL_CONCURRENCY}{planned.options}"
        )
        yield Finding(
            f"{text} A call over the limit fails. This is enough to try the service, but not for customers. Ask AWS "
            f"for {USUAL_CONCURRENCY:,}, which takes a day or two:",
            "note",
            (command,),
        )
    else:
        yield Finding(text)
    names = ("WebConnectorConcurrency", "AuthorizerConcurrency")
    more = sum(int(planned.parameters[name]) - int(planned.former.get(name, 0)) for name in names)
    reservable = max(0, unreserved - min(UNRESERVED_CONCURRENCY, limit))
    if more > reservable:
        yield Finding(
            f"{' and '.join(names)} would reserve {more} more, but only {reservable} can be reserved in this account. "
            "Lower them, or set them to 0.",
            level="ERROR",
        )


def stream_functions(planned: Deployment) -> int:
    """Return how many functions may process the streams at once: of each consumer, so many for each shard."""
    template = Template.load(ROOT / "template.yaml", {"WebhookConcurrency": planned.parameters["WebhookConcurrency"]})
    names = _physical_ids(planned)
    streams = [
        (event.properties["Stream"].partition(".")[0], int(event.properties["ParallelizationFactor"]))
        for function in template.functions()
        for event in function.events
        if event.type == "DynamoDB"
    ]
    shards = {table: _open_shards(planned.clients, names.get(table)) for table in {table for table, _ in streams}}
    return sum(factor * shards[table] for table, factor in streams)


def _open_shards(clients: Clients, table: str | None) -> int:
    """Return the number of shards to which the stream of a table adds records. `table` is None if it is not created."""
    if table is None:
        return NEW_TABLE_SHARDS
    arn = clients("dynamodb").describe_table(TableName=table)["Table"]["LatestStreamArn"]
    streams, found = clients("dynamodbstreams"), 0
    last: dict[str, str] = {}
    while True:
        page = streams.describe_stream(StreamArn=arn, **last)["StreamDescription"]
        found += sum("EndingSequenceNumber" not in shard["SequenceNumberRange"] for shard in page["Shards"])
        if "LastEvaluatedShardId" not in page:
            return found
        last = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}


def sessions(planned: Deployment) -> Iterator[Finding]:
    """Check that the sessions of Web Connectors stay below the rate limit if all of them are fast."""
    given, calls = int(planned.parameters["MaxSessions"]), int(planned.parameters["WebConnectorCallsPerSecond"])
    if given > calls:
        yield Finding(
            f"MaxSessions is {given:,}. If that many sessions are fast, they make more than the {calls:,} calls a "
            "second of WebConnectorCallsPerSecond, although they are paced, and lose responses. Raise it, or lower "
            "MaxSessions.",
            "note",
        )


def log_role(planned: Deployment) -> Iterator[Finding]:
    """Say with which role API Gateway writes the access log, and what depends on it."""
    role = planned.clients("apigateway").get_account().get("cloudwatchRoleArn")
    if planned.parameters["AccessLog"] == "false":
        return
    if planned.parameters["SetLogRole"] == "true" and planned.former.get("SetLogRole") != "true" and role:
        yield Finding(
            f"SetLogRole replaces {role}, with which API Gateway writes the logs of all APIs of this account in "
            f"{planned.region}. Without SetLogRole the stack uses that role.",
            "note",
        )
    elif role:
        yield Finding(f"API Gateway writes the access log with {role}, the account's role in {planned.region}.")
    else:
        yield Finding(
            f"API Gateway has no role for writing logs in {planned.region}. The stack creates one (SetLogRole=true), "
            "which serves all APIs of this account. With AccessLog=false there is no access log and no role.",
            "note",
        )


def certificate(planned: Deployment) -> Iterator[Finding]:
    """Check that the certificate is in the region of the stack, valid, and made for the domain name."""
    domain, arn = planned.parameters["DomainName"], planned.parameters["CertificateArn"]
    if not domain:
        return
    if not arn:
        yield Finding("DomainName needs CertificateArn.", level="ERROR")
        return
    parts = dict(enumerate(arn.split(":")))
    place = f"{parts.get(3)} of account {parts.get(4)}"
    if (parts.get(3), parts.get(4)) != (planned.region, planned.account):
        yield Finding(
            f"The certificate is in {place}. It has to be in {planned.region} of account {planned.account}:",
            level="ERROR",
            commands=(f"aws acm request-certificate --domain-name {domain} --validation-method DNS{planned.options}",),
        )
        return
    try:
        details = planned.clients("acm").describe_certificate(CertificateArn=arn)["Certificate"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
        yield Finding(f"There is no certificate {arn}.", level="ERROR")
        return
    names = {details["DomainName"], *details.get("SubjectAlternativeNames", [])}
    if details["Status"] != "ISSUED":
        yield Finding(
            f"The certificate is {details['Status']}. Validate it and wait until it is ISSUED.", level="ERROR"
        )
    elif names.isdisjoint({domain, f"*.{domain.partition('.')[2]}"}):
        yield Finding(f"The certificate is for {', '.join(sorted(names))}, not for {domain}.", level="ERROR")
    else:
        yield Finding(f"The certificate is valid for {domain}.")


def domain_name(planned: Deployment) -> Iterator[Finding]:
    """Check that the domain name does not belong to another API."""
    domain = planned.parameters["DomainName"]
    if not domain or _physical_ids(planned).get("ApiDomainName") == domain:
        return
    try:
        planned.clients("apigateway").get_domain_name(domainName=domain)
    except ClientError as error:
        if error.response["Error"]["Code"] != "NotFoundException":
            raise
        return
    yield Finding(
        f"{domain} belongs to another API in {planned.region}. Choose another name, or delete it there:",
        level="ERROR",
        commands=(f"aws apigateway delete-domain-name --domain-name {domain}{planned.options}",),
    )


def hosted_zone(planned: Deployment) -> Iterator[Finding]:
    """Check that the hosted zone is public and contains the domain name."""
    domain, zone_id = planned.parameters["DomainName"], planned.parameters["HostedZoneId"]
    if not domain or not zone_id:
        return
    try:
        zone = planned.clients("route53").get_hosted_zone(Id=zone_id)["HostedZone"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchHostedZone":
            raise
        yield Finding(f"There is no hosted zone {zone_id} in this account.", level="ERROR")
        return
    name = zone["Name"].rstrip(".")
    if zone.get("Config", {}).get("PrivateZone"):
        yield Finding(f"The hosted zone {name} is private. Web Connectors could not find {domain}.", level="ERROR")
    elif domain != name and not domain.endswith(f".{name}"):
        yield Finding(f"{domain} is not in the hosted zone {name}.", level="ERROR")
    else:
        yield Finding(f"{domain} is in the hosted zone {name}.")


def _physical_ids(planned: Deployment) -> dict[str, str]:
    """Return the names in AWS of the stack's resources, by logical ID."""
    if planned.status is None:
        return {}
    pages = planned.clients("cloudformation").get_paginator("list_stack_resources").paginate(StackName=planned.stack)
    return {
        resource["LogicalResourceId"]: resource["PhysicalResourceId"]
        for page in pages
        for resource in page["StackResourceSummaries"]
        if "PhysicalResourceId" in resource
    }
