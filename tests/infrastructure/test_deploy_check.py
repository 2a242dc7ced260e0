"""`make deploy-check` finds what would make a deployment fail, before anything is created."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.stub import Stubber

from local import deploy, deploy_check
from local.deploy_check import Deployment, Finding
from local.programs import ROOT
from local.template import Template
from tests.support import clients

if TYPE_CHECKING:
    from collections.abc import Mapping

REGION, ACCOUNT = "eu-central-1", "123456789012"
STACK_ID = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/queue/1"
DEFAULTS = {name: str(value) for name, value in Template.load(ROOT / "template.yaml").parameters.items()}
CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/1"
DOMAIN = {"DomainName": "queue.example.com", "CertificateArn": CERTIFICATE, "HostedZoneId": "Z1"}


class Aws:
    """AWS as the checks see it: prepared responses, and errors for everything else. botocore checks their shapes."""

    def __init__(self, **responses: dict[str, Any] | str) -> None:
        """Take the response of each call by name: a dictionary, or the code of an error."""
        self._responses = responses

    def __call__(self, service: str) -> Any:
        client = clients.client(service, region_name=REGION, aws_access_key_id="none", aws_secret_access_key="none")
        stubber = Stubber(client)
        for operation in client.meta.method_to_api_mapping:
            response = self._responses.get(operation)
            if isinstance(response, str):
                stubber.add_client_error(operation, response, f"{response}: no")
            elif response is not None:
                stubber.add_response(operation, response)
        stubber.activate()
        return client


def planned(
    aws: Aws,
    given: Mapping[str, str] | None = None,
    *,
    status: str | None = None,
    former: Mapping[str, str] | None = None,
) -> Deployment:
    """Return a deployment with `given` parameters over those of the stack."""
    former = former or {}
    return Deployment(
        clients=aws,
        stack="queue",
        region=REGION,
        account=ACCOUNT,
        status=status,
        former=former,
        parameters={**DEFAULTS, **former, **(given or {})},
        options=" --region eu-central-1",
    )


def only(findings: Any) -> Finding:
    (finding,) = findings
    assert isinstance(finding, Finding)
    return finding


def limits(concurrency: int, unreserved: int | None = None) -> Aws:
    """Return an account with a Lambda concurrency, of which some is reserved."""
    left = concurrency if unreserved is None else unreserved
    return Aws(
        get_account_settings={
            "AccountLimit": {"ConcurrentExecutions": concurrency, "UnreservedConcurrentExecutions": left}
        },
        list_stack_resources={"StackResourceSummaries": []},
    )


@pytest.mark.parametrize("status", [None, "REVIEW_IN_PROGRESS", "CREATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"])
def test_a_stack_that_can_be_deployed_is_accepted(status: str | None) -> None:
    assert only(deploy_check.state_of_stack(planned(Aws(), status=status))).level == "ok"


@pytest.mark.parametrize(
    ("status", "command"),
    [
        ("ROLLBACK_COMPLETE", "aws cloudformation delete-stack --stack-name queue --region eu-central-1"),
        ("ROLLBACK_FAILED", "aws cloudformation delete-stack --stack-name queue --region eu-central-1"),
        ("DELETE_FAILED", "aws cloudformation delete-stack --stack-name queue --region eu-central-1"),
        (
            "UPDATE_ROLLBACK_FAILED",
            "aws cloudformation continue-update-rollback --stack-name queue --region eu-central-1",
        ),
    ],
)
def test_a_stack_that_is_stuck_is_an_error_with_the_command_that_frees_it(status: str, command: str) -> None:
    finding = only(deploy_check.state_of_stack(planned(Aws(), status=status)))

    assert finding.level == "ERROR"
    assert command in finding.commands


def test_a_stack_that_changes_is_an_error() -> None:
    assert only(deploy_check.state_of_stack(planned(Aws(), status="UPDATE_IN_PROGRESS"))).level == "ERROR"


def tables(*names: str, own: tuple[str, ...] = ()) -> Aws:
    """Return an account with tables, of which some belong to the stack."""
    summaries = [
        {
            "LogicalResourceId": f"Table{number}",
            "PhysicalResourceId": name,
            "ResourceType": "AWS::DynamoDB::Table",
            "LastUpdatedTimestamp": "2026-11-22T00:00:00Z",
            "ResourceStatus": "CREATE_COMPLETE",
        }
        for number, name in enumerate(own)
    ]
    return Aws(list_tables={"TableNames": list(names)}, list_stack_resources={"StackResourceSummaries": summaries})


def test_tables_of_a_deleted_stack_are_listed_with_the_commands_that_remove_them() -> None:
    aws = tables(
        "queue-AppsTable-1A",
        "queue-test-AppsTable-2B",
        "queue-Other-3C",
        "queue-AppsTable-4D",
        own=("queue-AppsTable-4D",),
    )

    finding = only(deploy_check.retained_tables(planned(aws, status="CREATE_COMPLETE")))

    table = "--table-name queue-AppsTable-1A --region eu-central-1"
    assert finding.commands == (
        f"aws dynamodb update-table {table} --no-deletion-protection-enabled",
        f"aws dynamodb delete-table {table}",
    )
    assert finding.level == "note"


def test_the_stacks_own_tables_are_not_listed() -> None:
    aws = tables("queue-AppsTable-4D", own=("queue-AppsTable-4D",))

    assert list(deploy_check.retained_tables(planned(aws, status="CREATE_COMPLETE"))) == []


@pytest.mark.parametrize(("concurrency", "level"), [(10, "note"), (999, "note"), (1000, "ok"), (5000, "ok")])
def test_a_low_concurrency_is_shown_with_the_command_that_asks_for_more(concurrency: int, level: str) -> None:
    finding = only(deploy_check.concurrency(planned(limits(concurrency))))

    assert finding.level == level
    assert f"{concurrency:,} functions at once" in finding.text
    # Four shards of each table with 2 + 1, 1 + 1 and 1 consumers, 2 for planned webhook attempts, 3 jobs.
    assert "take up to 29," in finding.text
    assert [("request-service-quota-increase" in command) for command in finding.commands] == [True] * (level == "note")


class Streams(Aws):
    """A deployed stack whose tables have streams. Each page of a description has two shards."""

    def __init__(self, shards: int, ended: int) -> None:
        self._pages: list[dict[str, Any]] = []
        for first in range(0, shards + ended, 2):
            ranges = [{"EndingSequenceNumber": "9"} if n < ended else {} for n in range(first, first + 2)]
            ranges = ranges[: shards + ended - first]
            page = {"Shards": [{"ShardId": f"shard-{first:020}", "SequenceNumberRange": part} for part in ranges]}
            self._pages.append(page | {"LastEvaluatedShardId": f"shard-{first:020}"})
        del self._pages[-1]["LastEvaluatedShardId"]
        names = [{"LogicalResourceId": name, "PhysicalResourceId": name} for name in STREAM_TABLES]
        self._names = {"StackResourceSummaries": [name | {"ResourceStatus": "x"} for name in names]}

    def __call__(self, service: str) -> Any:
        """Return a client with answers for the tables of the template."""
        if service == "dynamodbstreams":
            return SimpleNamespace(describe_stream=self.describe_stream)
        if service == "dynamodb":
            return SimpleNamespace(describe_table=lambda TableName: {"Table": {"LatestStreamArn": TableName}})  # noqa: N803 - of AWS
        return SimpleNamespace(
            get_paginator=lambda _: SimpleNamespace(paginate=lambda **_: [self._names]),
            get_account_settings=lambda: {
                "AccountLimit": {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 1000}
            },
        )

    def describe_stream(self, **parameters: str) -> dict[str, Any]:
        """Return the page behind a shard."""
        assert parameters["StreamArn"] in STREAM_TABLES
        last = parameters.get("ExclusiveStartShardId", "shard--2")
        return {"StreamDescription": self._pages[(int(last.removeprefix("shard-")) + 2) // 2]}


STREAM_TABLES = ("QueuedRequestsTable", "ConnectionsTable", "ChangePagesTable")


@pytest.mark.parametrize(("shards", "ended"), [(1, 0), (3, 2), (8, 5)])
@pytest.mark.parametrize("factor", [1, 2, 10])
def test_consumers_of_a_stream_run_for_each_of_its_open_shards(shards: int, ended: int, factor: int) -> None:
    given = {"WebhookConcurrency": str(factor)}

    finding = only(deploy_check.concurrency(planned(Streams(shards, ended), given, status="UPDATE_COMPLETE")))

    assert f"take up to {shards * (factor + 1 + 1 + 1 + 1) + 2 + 3:,}," in finding.text


@pytest.mark.parametrize(("sessions", "is_noted"), [("0", False), ("1000", False), ("1001", True), ("5000", True)])
def test_more_sessions_than_calls_a_second_are_noted(sessions: str, *, is_noted: bool) -> None:
    found = list(deploy_check.sessions(planned(limits(1_000), {"MaxSessions": sessions})))

    assert [finding.level for finding in found] == ["note"] * is_noted


@pytest.mark.parametrize(
    ("concurrency", "unreserved", "former", "reserved", "is_possible"),
    [
        (10, 10, 0, 1, False),
        (1000, 1000, 0, 900, True),
        (1000, 1000, 0, 901, False),
        (1000, 150, 0, 51, False),
        (1000, 150, 850, 900, True),
        (1000, 100, 900, 10, True),
    ],
)
def test_only_what_the_account_has_left_can_be_reserved(
    concurrency: int, unreserved: int, former: int, reserved: int, *, is_possible: bool
) -> None:
    before = {"WebConnectorConcurrency": str(former)}
    aws = limits(concurrency, unreserved)

    findings = list(
        deploy_check.concurrency(
            planned(aws, {"WebConnectorConcurrency": str(reserved)}, status="CREATE_COMPLETE", former=before)
        )
    )

    assert ("ERROR" not in {finding.level for finding in findings}) is is_possible


ROLE = "arn:aws:iam::123456789012:role/theirs"


@pytest.mark.parametrize(
    ("account", "given", "expected"),
    [
        ({"cloudwatchRoleArn": ROLE}, {}, f"writes the access log with {ROLE}"),
        ({}, {}, "The stack creates one (SetLogRole=true)"),
        ({"cloudwatchRoleArn": ROLE}, {"SetLogRole": "true"}, f"SetLogRole replaces {ROLE}"),
    ],
)
def test_the_log_role_and_what_depends_on_it_are_shown(
    account: dict[str, Any], given: dict[str, str], expected: str
) -> None:
    assert expected in only(deploy_check.log_role(planned(Aws(get_account=account), given))).text


def test_without_an_access_log_the_log_role_does_not_matter() -> None:
    assert list(deploy_check.log_role(planned(Aws(get_account={}), {"AccessLog": "false"}))) == []


@pytest.mark.parametrize(
    ("account", "given", "expected"),
    [
        ({"cloudwatchRoleArn": ROLE}, {}, {}),
        ({}, {}, {"SetLogRole": "true"}),
        ({}, {"SetLogRole": "false"}, {}),
        ({}, {"AccessLog": "false"}, {}),
        ("AccessDeniedException", {}, {}),
    ],
)
def test_the_log_role_is_set_only_for_an_account_without_one(
    account: dict[str, Any] | str, given: dict[str, str], expected: dict[str, str]
) -> None:
    aws = Aws(get_account=account, get_account_settings="AccessDeniedException")

    assert deploy._derived(aws, {}, given) == expected  # noqa: SLF001 - the rule itself


@pytest.mark.parametrize(
    ("concurrency", "alarm", "waiting"),
    [(10, "8", "2"), (1_000, "800", "200"), (1, "1", "0"), (20_000, "16000", "1000")],
)
def test_the_alarm_about_concurrency_and_the_number_of_waiting_calls_follow_the_account(
    concurrency: int, alarm: str, waiting: str
) -> None:
    aws = limits(concurrency)
    derived = {"ConcurrencyAlarmAt": alarm, "MaxWaitingCalls": waiting}

    assert deploy._derived(aws, {}, {"AccessLog": "false"}) == derived  # noqa: SLF001 - the rule
    assert deploy._derived(aws, {}, {"AccessLog": "false"} | dict.fromkeys(derived, "5")) == {}  # noqa: SLF001


def certificate(status: str = "ISSUED", *names: str) -> Aws:
    details = {
        "CertificateArn": CERTIFICATE,
        "DomainName": names[0] if names else "queue.example.com",
        "Status": status,
    }
    further = {"SubjectAlternativeNames": list(names)} if names else {}
    return Aws(describe_certificate={"Certificate": {**details, **further}})


@pytest.mark.parametrize(
    ("aws", "given", "level"),
    [
        (certificate(), {}, "ok"),
        (certificate("ISSUED", "*.example.com"), {}, "ok"),
        (certificate("ISSUED", "example.com", "queue.example.com"), {}, "ok"),
        (certificate("ISSUED", "example.com"), {}, "ERROR"),
        (certificate("ISSUED", "*.com"), {}, "ERROR"),
        (certificate("PENDING_VALIDATION"), {}, "ERROR"),
        (Aws(describe_certificate="ResourceNotFoundException"), {}, "ERROR"),
        (Aws(), {"CertificateArn": CERTIFICATE.replace(REGION, "us-east-1")}, "ERROR"),
        (Aws(), {"CertificateArn": CERTIFICATE.replace(ACCOUNT, "210987654321")}, "ERROR"),
        (Aws(), {"CertificateArn": ""}, "ERROR"),
        (Aws(), {"CertificateArn": "nonsense"}, "ERROR"),
    ],
)
def test_the_certificate_has_to_be_valid_for_the_name_in_the_region_of_the_stack(
    aws: Aws, given: dict[str, str], level: str
) -> None:
    assert only(deploy_check.certificate(planned(aws, {**DOMAIN, **given}))).level == level


def test_a_domain_name_of_another_api_is_an_error() -> None:
    taken = Aws(get_domain_name={"domainName": "queue.example.com"})
    free = Aws(get_domain_name="NotFoundException")

    assert only(deploy_check.domain_name(planned(taken, DOMAIN))).level == "ERROR"
    assert list(deploy_check.domain_name(planned(free, DOMAIN))) == []


@pytest.mark.parametrize(
    ("zone", "is_private", "level"),
    [
        ("example.com.", False, "ok"),
        ("queue.example.com.", False, "ok"),
        ("example.com.", True, "ERROR"),
        ("ample.com.", False, "ERROR"),
        ("example.org.", False, "ERROR"),
    ],
)
def test_the_hosted_zone_has_to_be_public_and_to_contain_the_name(zone: str, level: str, *, is_private: bool) -> None:
    description = {"Id": "Z1", "Name": zone, "CallerReference": "1", "Config": {"PrivateZone": is_private}}

    finding = only(deploy_check.hosted_zone(planned(Aws(get_hosted_zone={"HostedZone": description}), DOMAIN)))

    assert finding.level == level


def test_a_hosted_zone_that_does_not_exist_is_an_error() -> None:
    assert only(deploy_check.hosted_zone(planned(Aws(get_hosted_zone="NoSuchHostedZone"), DOMAIN))).level == "ERROR"


def test_a_check_that_is_not_permitted_says_so_and_the_others_run() -> None:
    aws = Aws(
        list_tables="AccessDeniedException",
        get_account_settings="AccessDeniedException",
        get_account={"cloudwatchRoleArn": ROLE},
    )

    texts = [finding.text for finding in deploy_check.findings(planned(aws))]

    assert [text.partition(".")[0] for text in texts] == [
        "The stack queue does not exist yet",
        "Retained tables: not checked",
        "Concurrency: not checked",
        f"API Gateway writes the access log with {ROLE}, the account's role in {REGION}",
    ]


def test_parameters_of_the_last_deployment_apply_unless_the_command_names_others() -> None:
    stack = {
        "StackId": STACK_ID,
        "StackName": "queue",
        "CreationTime": "2026-11-22T00:00:00Z",
        "StackStatus": "CREATE_COMPLETE",
        "Parameters": [
            {"ParameterKey": "RetentionDays", "ParameterValue": "90"},
            {"ParameterKey": "LogLevel", "ParameterValue": "ERROR"},
        ],
    }

    result = deploy_check.deployment(
        Aws(describe_stacks={"Stacks": [stack]}), "queue", {"LogLevel": "DEBUG"}, region=REGION, account=ACCOUNT
    )

    values = {name: result.parameters[name] for name in ("RetentionDays", "LogLevel", "WebhookPorts")}
    assert values == {"RetentionDays": "90", "LogLevel": "DEBUG", "WebhookPorts": "443"}
