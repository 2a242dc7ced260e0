"""Who deploys with `examples/deployer.yaml` cannot give a role, or itself, more than its boundary allows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.permissions import as_list
from local.template import PSEUDO_PARAMETERS, Template
from tests.support.cases import for_each
from tests.support.iam import allows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
KEY = "arn:aws:kms:us-east-1:123456789012:key/1"
PLACE = f"{PSEUDO_PARAMETERS['AWS::Region']}:{PSEUDO_PARAMETERS['AWS::AccountId']}"
THROUGH_DYNAMODB = {"kms:ViaService": "dynamodb.us-east-1.amazonaws.com"}

API_GATEWAY_LOGS = "arn:aws:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"
ACTIONS_OF_API_GATEWAY = (
    "CreateLogGroup CreateLogStream DescribeLogGroups DescribeLogStreams FilterLogEvents GetLogEvents PutLogEvents"
)
"""Source: the page of that policy in the AWS managed policy reference."""

ROLE = "arn:aws:iam::123456789012:role/qbxml-queue-Role-1"
POLICY = "arn:aws:iam::123456789012:policy/qbxml-queue-Policy-1"
ADMINISTRATOR = "arn:aws:iam::aws:policy/AdministratorAccess"
GIVING = ("iam:CreateRole", "iam:PutRolePolicy", "iam:PutRolePermissionsBoundary", "iam:AttachRolePolicy")

ARNS = {
    "AWS::DynamoDB::Table": {
        "Arn": f"arn:aws:dynamodb:{PLACE}:table/qbxml-queue-{{}}-1",
        "StreamArn": f"arn:aws:dynamodb:{PLACE}:table/qbxml-queue-{{}}-1/stream/2026-11-23T00:00:00.000",
    },
    "AWS::S3::Bucket": {"Arn": "arn:aws:s3:::qbxml-queue-testconnectionbucket-1"},
    "AWS::Serverless::Function": {"Arn": f"arn:aws:lambda:{PLACE}:function:qbxml-queue-{{}}-1"},
    "AWS::SQS::Queue": {"Arn": f"arn:aws:sqs:{PLACE}:qbxml-queue-{{}}-1"},
    "AWS::Logs::LogGroup": {"Arn": f"arn:aws:logs:{PLACE}:log-group:qbxml-queue-{{}}-1:*"},
}
"""The names that CloudFormation gives to the resources that roles name."""


def deployer(stack: str = "qbxml-queue") -> Template:
    parameters = {"StackName": stack, "TableKeyArn": KEY, "HostedZoneId": "Z1"}
    return Template.load(ROOT / "examples" / "deployer.yaml", parameters)


def statements(name: str, template: Template) -> list[dict[str, Any]]:
    policy = template.resources("AWS::IAM::ManagedPolicy")[name]["PolicyDocument"]
    return list(policy["Statement"])


def of_deployer(template: Template) -> list[dict[str, Any]]:
    """Return the statements of the policies that are attached to whoever deploys."""
    return [*statements("DeployFunctions", template), *statements("DeployData", template)]


def actions_on_roles_and_policies(template: Template) -> set[str]:
    """Return the actions of IAM that the policies of a deployer name."""
    actions = {action for statement in of_deployer(template) for action in as_list(statement["Action"])}
    return {action for action in actions if action.startswith("iam:")}


def permissions() -> Iterator[tuple[str, str]]:
    """Yield every action and resource that the policies of a role of the template allow."""
    template = Template.load(
        ROOT / "template.yaml", {"SetLogRole": "true", "TableKeyArn": KEY, "TestConnections": "on"}
    )
    references = {
        f"{name}.{attribute}": arn.format(name)
        for resource_type, arns in ARNS.items()
        for name in template.resources(resource_type)
        for attribute, arn in arns.items()
    }
    template = template.with_references(references)
    managed = template.resources("AWS::IAM::ManagedPolicy")
    documents = [policy["PolicyDocument"] for policy in managed.values()]
    for role in template.resources("AWS::IAM::Role").values():
        documents += [policy["PolicyDocument"] for policy in role.get("Policies", [])]
        foreign = set(role.get("ManagedPolicyArns", [])) - managed.keys()
        assert foreign <= {API_GATEWAY_LOGS}
        yield from ((f"logs:{name}", "*") for name in ACTIONS_OF_API_GATEWAY.split() if foreign)
    for statement in (statement for document in documents for statement in document["Statement"]):
        for action in as_list(statement["Action"]):
            yield from ((action, resource) for resource in as_list(statement["Resource"]))


def test_the_boundary_allows_everything_that_a_role_of_the_template_allows() -> None:
    boundary = statements("Boundary", deployer())

    assert [call for call in permissions() if not allows(boundary, *call, THROUGH_DYNAMODB)] == []


def test_the_boundary_allows_no_action_that_no_role_has_and_no_resource_of_others() -> None:
    boundary = statements("Boundary", deployer())

    assert {action for statement in boundary for action in as_list(statement["Action"])} == {
        action for action, _ in permissions()
    }
    for action, resource in permissions():
        if "qbxml-queue-" in resource and not action.startswith("logs:"):
            assert not allows(boundary, action, resource.replace("qbxml-queue-", "payroll-")), action


@for_each("action", GIVING)
@for_each(
    ("boundary", "allowed"),
    [("Boundary", True), (None, False), (ADMINISTRATOR, False), (POLICY, False)],
)
def test_a_role_gets_permissions_only_with_the_boundary(action: str, boundary: str | None, *, allowed: bool) -> None:
    context = {"iam:PolicyARN": POLICY} | ({"iam:PermissionsBoundary": boundary} if boundary else {})

    assert allows(of_deployer(deployer()), action, ROLE, context) is allowed
    assert not allows(of_deployer(deployer()), action, ROLE.replace("qbxml-queue-", "payroll-"), context)


@pytest.mark.parametrize(("policy", "allowed"), [(POLICY, True), (API_GATEWAY_LOGS, True), (ADMINISTRATOR, False)])
def test_a_role_gets_policies_of_the_stack_only(policy: str, *, allowed: bool) -> None:
    context = {"iam:PermissionsBoundary": "Boundary", "iam:PolicyARN": policy}

    assert allows(of_deployer(deployer()), "iam:AttachRolePolicy", ROLE, context) is allowed


def test_no_role_loses_its_boundary() -> None:
    context = {"iam:PermissionsBoundary": "Boundary"}

    assert not allows(of_deployer(deployer()), "iam:DeleteRolePermissionsBoundary", ROLE, context)


@pytest.mark.parametrize("stack", ["qbxml-queue", "deployers", "d", "qbxml-queue-deployer"])
def test_the_policies_of_the_deployer_and_the_boundary_are_out_of_its_reach(stack: str) -> None:
    """Whatever the stacks are called: the path of a policy is part of its ARN."""
    template = deployer(stack)
    actions = actions_on_roles_and_policies(template)
    policies = template.resources("AWS::IAM::ManagedPolicy")
    assert policies.keys() == {"Boundary", "DeployFunctions", "DeployData"}
    for name, policy in policies.items():
        arn = f"arn:aws:iam::123456789012:policy{policy['Path']}{stack}-deployer-{name}-1"
        reached = {action for action in actions if allows(of_deployer(template), action, arn)}
        assert reached == set(), name


def test_only_lambda_and_api_gateway_get_roles_of_the_stack() -> None:
    def passed(service: str) -> bool:
        return allows(of_deployer(deployer()), "iam:PassRole", ROLE, {"iam:PassedToService": service})

    assert {name: passed(f"{name}.amazonaws.com") for name in ("lambda", "apigateway", "cloudformation", "ec2")} == {
        "lambda": True,
        "apigateway": True,
        "cloudformation": False,
        "ec2": False,
    }


def test_the_roles_of_the_workflow_are_out_of_reach_of_its_deployments() -> None:
    """A deployment that could change the trust of such a role could let anyone deploy."""
    text = (ROOT / "examples" / "github_actions" / "deploy.yml").read_text(encoding="utf-8")
    roles = [line.partition("role-to-assume: ")[2] for line in text.splitlines() if "role-to-assume: " in line]
    actions = actions_on_roles_and_policies(deployer())

    assert len(roles) == 2
    for role in roles:
        context: Mapping[str, str] = {"iam:PermissionsBoundary": "Boundary", "iam:PolicyARN": POLICY}
        assert {action for action in actions if allows(of_deployer(deployer()), action, role, context)} == set()
