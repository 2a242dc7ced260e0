"""`examples/deployer.yaml` allows the calls that deploying the template needs, and few others."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.permissions import as_list
from local.template import Template
from tools.transformed_template import transformed_template

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
DEPLOYER = Template.load(
    ROOT / "examples" / "deployer.yaml",
    {"HostedZoneId": "Z1", "TableKeyArn": "arn:aws:kms:us-east-1:123456789012:key/1"},
)
TEMPLATE = Template.load(ROOT / "template.yaml")
ACCOUNT = "us-east-1:123456789012"
REST_API = "arn:aws:apigateway:us-east-1::/restapis/abc"
HTTP_API = "arn:aws:apigateway:us-east-1::/apis/abc"
DOMAIN_NAME = "arn:aws:apigateway:us-east-1::/domainnames/queue.example.com"
FUNCTION = f"arn:aws:lambda:{ACCOUNT}:function:qbxml-queue-Function-1"
LOG_GROUP = f"arn:aws:logs:{ACCOUNT}:log-group:qbxml-queue-Logs-1"

NEEDED: dict[str, tuple[str, str]] = {
    "AWS::ApiGateway::Account": ("arn:aws:apigateway:us-east-1::/account", "apigateway: GET PATCH"),
    "AWS::ApiGateway::BasePathMapping": (f"{DOMAIN_NAME}/basepathmappings", "apigateway: POST GET PATCH DELETE"),
    "AWS::ApiGateway::Deployment": (f"{REST_API}/deployments", "apigateway: POST GET PATCH DELETE"),
    "AWS::ApiGateway::DomainName": (
        DOMAIN_NAME,
        "apigateway: POST GET PATCH DELETE PUT AddCertificateToDomain RemoveCertificateFromDomain",
    ),
    "AWS::ApiGateway::RestApi": (REST_API, "apigateway: POST GET PUT PATCH DELETE"),
    "AWS::ApiGateway::Stage": (f"{REST_API}/stages/live", "apigateway: POST GET PUT PATCH DELETE"),
    "AWS::ApiGatewayV2::Api": (HTTP_API, "apigateway: POST GET PATCH DELETE PUT"),
    "AWS::ApiGatewayV2::ApiMapping": (f"{DOMAIN_NAME}/apimappings", "apigateway: POST GET PATCH DELETE"),
    "AWS::ApiGatewayV2::Integration": (f"{HTTP_API}/integrations", "apigateway: POST GET PATCH DELETE"),
    "AWS::ApiGatewayV2::Route": (f"{HTTP_API}/routes", "apigateway: POST GET PATCH DELETE"),
    # API Gateway delivers the access log of an HTTP API with the rights of the caller.
    "AWS::ApiGatewayV2::Stage": (f"{HTTP_API}/stages", "apigateway: POST GET PATCH DELETE"),
    "AWS::CloudWatch::Alarm": (
        f"arn:aws:cloudwatch:{ACCOUNT}:alarm:qbxml-queue-Alarm-1",
        "cloudwatch: PutMetricAlarm DeleteAlarms DescribeAlarms ListTagsForResource TagResource UntagResource",
    ),
    "AWS::CloudWatch::Dashboard": (
        "arn:aws:cloudwatch::123456789012:dashboard/qbxml-queue-Dashboard-1",
        "cloudwatch: PutDashboard GetDashboard DeleteDashboards",
    ),
    "AWS::DynamoDB::Table": (
        f"arn:aws:dynamodb:{ACCOUNT}:table/qbxml-queue-Table-1",
        (
            "dynamodb: CreateTable UpdateTable DeleteTable DescribeTable DescribeTimeToLive UpdateTimeToLive "
            "DescribeContinuousBackups UpdateContinuousBackups ListTagsOfResource TagResource"
        ),
    ),
    "AWS::Events::Rule": (
        f"arn:aws:events:{ACCOUNT}:rule/qbxml-queue-Rule-1",
        "events: PutRule DeleteRule DescribeRule PutTargets RemoveTargets ListTargetsByRule",
    ),
    "AWS::IAM::ManagedPolicy": (
        "arn:aws:iam::123456789012:policy/qbxml-queue-Policy-1",
        (
            "iam: CreatePolicy DeletePolicy GetPolicy GetPolicyVersion CreatePolicyVersion DeletePolicyVersion "
            "ListPolicyVersions ListEntitiesForPolicy"
        ),
    ),
    "AWS::IAM::Role": (
        "arn:aws:iam::123456789012:role/qbxml-queue-Role-1",
        (
            "iam: CreateRole DeleteRole GetRole UpdateAssumeRolePolicy PutRolePolicy GetRolePolicy DeleteRolePolicy "
            "AttachRolePolicy DetachRolePolicy ListRolePolicies ListAttachedRolePolicies PassRole "
            "PutRolePermissionsBoundary"
        ),
    ),
    "AWS::Lambda::EventInvokeConfig": (
        FUNCTION,
        (
            "lambda: PutFunctionEventInvokeConfig UpdateFunctionEventInvokeConfig DeleteFunctionEventInvokeConfig "
            "GetFunctionEventInvokeConfig"
        ),
    ),
    "AWS::Lambda::EventSourceMapping": (
        f"arn:aws:lambda:{ACCOUNT}:event-source-mapping:1",
        "lambda: CreateEventSourceMapping UpdateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping",
    ),
    "AWS::Lambda::Function": (
        FUNCTION,
        (
            "lambda: CreateFunction DeleteFunction GetFunction UpdateFunctionCode UpdateFunctionConfiguration "
            "PutFunctionConcurrency DeleteFunctionConcurrency TagResource ListTags InvokeFunction "
            "PutFunctionRecursionConfig GetFunctionRecursionConfig"
        ),
    ),
    "AWS::Lambda::Permission": (FUNCTION, "lambda: AddPermission RemovePermission GetPolicy"),
    "AWS::Logs::LogGroup": (
        LOG_GROUP,
        "logs: CreateLogGroup DeleteLogGroup PutRetentionPolicy DescribeLogGroups TagResource ListTagsForResource",
    ),
    "AWS::Logs::MetricFilter": (LOG_GROUP, "logs: PutMetricFilter DeleteMetricFilter DescribeMetricFilters"),
    "AWS::Logs::QueryDefinition": ("*", "logs: PutQueryDefinition DeleteQueryDefinition DescribeQueryDefinitions"),
    "AWS::Route53::RecordSetGroup": (
        "arn:aws:route53:::hostedzone/Z1",
        "route53: ChangeResourceRecordSets GetHostedZone ListResourceRecordSets",
    ),
    "AWS::S3::Bucket": (
        "arn:aws:s3:::qbxml-queue-testconnectionbucket-1",
        (
            "s3: CreateBucket DeleteBucket PutEncryptionConfiguration GetEncryptionConfiguration "
            "PutBucketPublicAccessBlock GetBucketPublicAccessBlock PutBucketOwnershipControls "
            "GetBucketOwnershipControls PutBucketTagging GetBucketTagging"
        ),
    ),
    "AWS::S3::BucketPolicy": (
        "arn:aws:s3:::qbxml-queue-testconnectionbucket-1",
        "s3: PutBucketPolicy GetBucketPolicy DeleteBucketPolicy",
    ),
    "AWS::SNS::Topic": (
        f"arn:aws:sns:{ACCOUNT}:qbxml-queue-AlarmTopic-1",
        (
            "sns: CreateTopic DeleteTopic GetTopicAttributes SetTopicAttributes Subscribe Unsubscribe "
            "ListSubscriptionsByTopic GetSubscriptionAttributes ListTagsForResource TagResource"
        ),
    ),
    "AWS::SQS::Queue": (
        f"arn:aws:sqs:{ACCOUNT}:qbxml-queue-Queue-1",
        "sqs: CreateQueue DeleteQueue GetQueueAttributes SetQueueAttributes GetQueueUrl TagQueue ListQueueTags",
    ),
    "AWS::WAFv2::WebACLAssociation": (
        f"{REST_API}/stages/live",
        "wafv2: AssociateWebACL DisassociateWebACL GetWebACLForResource",
    ),
}
"""Each resource type of the template: the name of one resource, and the calls with which CloudFormation manages it."""

UNUSED = {
    "services that the template does not name": (
        "amplify:* apprunner:* appsync:* bedrock-agentcore:* cognito-idp:* ec2:* elasticfilesystem:* "
        "elasticloadbalancing:* firehose:* kinesis:* s3files:*"
    ),
    "replicas, imports, resource policies, insights and Kinesis streams of tables": (
        "dynamodb:AssociateTableReplica dynamodb:CreateTableReplica dynamodb:*Import* dynamodb:PutResourcePolicy "
        "dynamodb:DeleteResourcePolicy dynamodb:*KinesisStreamingDestination dynamodb:UpdateContributorInsights "
        # CloudFormation copies items when it replaces a table with replicas.
        "dynamodb:BatchWriteItem dynamodb:DeleteItem dynamodb:GetItem dynamodb:PutItem dynamodb:Query dynamodb:Scan "
        "dynamodb:UpdateItem logs:CreateLogStream logs:DescribeLogStreams logs:PutLogEvents s3:GetObjectMetadata "
        "kms:ListAliases kms:RevokeGrant iam:CreateServiceLinkedRole"
    ),
    "signed code, layers, versions, scaling and runtime settings of functions": (
        "lambda:*CodeSigningConfig lambda:GetLayerVersion lambda:PublishVersion lambda:PutFunctionScalingConfig "
        "lambda:PassCapacityProvider lambda:AssociateRuntimeAlias lambda:PutRuntimeManagementConfig"
    ),
    "keys, policies and protection of log groups": (
        "logs:*KmsKey logs:DeleteDataProtectionPolicy logs:PutDataProtectionPolicy logs:DeleteIndexPolicy "
        "logs:PutIndexPolicy logs:DeleteResourcePolicy logs:PutBearerTokenAuthentication "
        "logs:PutLogGroupDeletionProtection"
    ),
    "everything of buckets but encryption, ownership, public access, tags and a policy": (
        "s3:*Accelerate* s3:*Analytics* s3:*Abac s3:*Acl s3:*CORS s3:*Cors s3:*Logging s3:*Metadata*Configuration "
        "s3:*Notification s3:*ObjectLock* s3:GetBucketVersioning s3:*Website s3:*Tiering* s3:*Inventory* "
        "s3:*Lifecycle* s3:*Metrics* s3:*Replication* s3:*TagResource s3:*TagsForResource s3:UntagResource s3tables:* "
        "s3:DeleteBucketEncryption s3:DeleteObject"
    ),
    "users and groups": "iam:*GroupPolicy iam:*UserPolicy",
    "a description of a role": "iam:UpdateRoleDescription",
    "the removal of a boundary, which a deployer must not do": "iam:DeleteRolePermissionsBoundary",
    "policies of APIs and topics, and of what AWS WAF shares": (
        "apigateway:UpdateRestApiPolicy sns:PutDataProtectionPolicy wafv2:GetPermissionPolicy wafv2:PutPermissionPolicy"
    ),
    "not actions of IAM": (
        "s3:getObject s3:REST.PUT.OBJECT "
        # The tags of an API are the resource /tags, which is changed with PUT and DELETE.
        "apigateway:TagResource apigateway:UntagResource"
    ),
}
"""What CloudFormation declares for a resource type, but needs only for properties that the template does not have."""

OF_OTHER_SERVICES = {
    "iam": "arn:aws:iam::123456789012:role/qbxml-queue-Role-1",
    "kms": "arn:aws:kms:us-east-1:123456789012:key/1",
    "logs": LOG_GROUP,
    "s3": "arn:aws:s3:::aws-sam-cli-managed-default-1/qbxml-queue/1",
}

LOG_DELIVERY = {
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
}
"""What API Gateway does with the rights of the caller when a stage of an HTTP API gets an access log."""

WITHOUT_RESOURCE = {
    *LOG_DELIVERY,
    "cloudformation:GetTemplateSummary",
    "cloudformation:ValidateTemplate",
    "cloudwatch:DescribeAlarms",
    "dynamodb:ListTables",
    "lambda:CreateEventSourceMapping",
    "lambda:DeleteEventSourceMapping",
    "lambda:GetAccountSettings",
    "lambda:GetEventSourceMapping",
    "lambda:ListEventSourceMappings",
    "lambda:UpdateEventSourceMapping",
    "logs:DeleteQueryDefinition",
    "logs:DescribeLogGroups",
    "logs:DescribeQueryDefinitions",
    "logs:PutQueryDefinition",
}
"""Actions that IAM cannot limit to a resource, or that a condition limits."""


def policies() -> dict[str, dict[str, Any]]:
    """Return the policies of a deployer by logical ID. The boundary is not one of them (`test_boundary.py`)."""
    resources = DEPLOYER.resources("AWS::IAM::ManagedPolicy")
    del resources["Boundary"]
    return {name: policy["PolicyDocument"] for name, policy in resources.items()}


def statements() -> list[dict[str, Any]]:
    return [statement for policy in policies().values() for statement in policy["Statement"]]


CHECKS = [
    ("cloudformation:UpdateTerminationProtection", f"arn:aws:cloudformation:{ACCOUNT}:stack/qbxml-queue/1"),
    ("lambda:GetAccountSettings", "*"),
    ("lambda:ListEventSourceMappings", "*"),
    ("dynamodb:ListTables", "*"),
    ("dynamodb:DescribeStream", f"arn:aws:dynamodb:{ACCOUNT}:table/qbxml-queue-ConnectionsTable-1/stream/2026"),
    ("acm:DescribeCertificate", f"arn:aws:acm:{ACCOUNT}:certificate/1"),
    ("apigateway:GET", "arn:aws:apigateway:us-east-1::/account"),
    ("apigateway:GET", DOMAIN_NAME),
    ("route53:GetHostedZone", "arn:aws:route53:::hostedzone/Z1"),
]
"""Calls that `make deploy` and `make deploy-check` make themselves."""


def needed_calls() -> Iterator[tuple[str, str]]:
    """Yield the resource and the action of each needed call."""
    for resource, actions in NEEDED.values():
        service, _, names = actions.partition(": ")
        for name in names.split():
            yield resource, f"{service}:{name}"


def is_allowed(action: str, resource: str) -> bool:
    """Return whether a statement allows this call."""
    return any(
        action in as_list(statement["Action"])
        and any(fnmatchcase(resource, pattern) for pattern in as_list(statement["Resource"]))
        for statement in statements()
    )


@pytest.fixture(scope="module")
def resource_types() -> set[str]:
    """Return the types of all resources that SAM makes of the template."""
    return {resource["Type"] for resource in transformed_template()["Resources"].values()}


def test_every_resource_type_of_the_template_can_be_created_updated_and_deleted(resource_types: set[str]) -> None:
    assert resource_types == NEEDED.keys()
    denied = [(action, resource) for resource, action in needed_calls() if not is_allowed(action, resource)]
    assert denied == []


def declared_actions() -> Iterator[tuple[str, str]]:
    """Yield each type of the template with the actions that CloudFormation declares for it."""
    found = find_spec("cfnlint")  # which does not import it
    assert found
    assert found.origin
    for path in (Path(found.origin).parent / "data" / "schemas" / "resources").glob("*.json"):
        schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if schema["typeName"] in NEEDED:
            for name, handler in (schema.get("handlers") or {}).items():
                yield from ((schema["typeName"], action) for action in handler["permissions"] if name != "list")


def resources_of(action: str, resource_type: str) -> tuple[str, ...]:
    """Return what an action for a resource type changes: a resource of this type, or one that it names."""
    own, _ = NEEDED[resource_type]
    return own, OF_OTHER_SERVICES.get(action.partition(":")[0], own), "*"


def test_every_action_that_cloudformation_declares_is_allowed_or_has_its_reason() -> None:
    unused = [pattern for patterns in UNUSED.values() for pattern in patterns.split()]
    actions = set(declared_actions())
    denied = {
        (resource_type, action)
        for resource_type, action in actions
        if not any(is_allowed(action, resource) for resource in resources_of(action, resource_type))
        and not any(fnmatchcase(action, pattern) for pattern in unused)
    }

    assert {resource_type for resource_type, _ in actions} == NEEDED.keys() - {"AWS::Route53::RecordSetGroup"}
    assert denied == set()
    assert [pattern for pattern in unused if not any(fnmatchcase(action, pattern) for _, action in actions)] == []


def test_the_access_log_of_an_http_api_can_be_set_up() -> None:
    assert [action for action in sorted(LOG_DELIVERY) if not is_allowed(action, "*")] == []


def test_every_log_group_of_the_template_can_be_created() -> None:
    """Those with a name of their own are below the name of the stack, which others cannot have."""
    template = TEMPLATE.with_references({"AWS::StackName": "qbxml-queue"})
    names = [
        group.get("LogGroupName", f"qbxml-queue-{name}-1")
        for name, group in template.resources("AWS::Logs::LogGroup").items()
    ]

    for name in names:
        arn = f"arn:aws:logs:{ACCOUNT}:log-group:{name}"
        assert is_allowed("logs:CreateLogGroup", arn), name
        assert not is_allowed("logs:CreateLogGroup", arn.replace("qbxml-queue", "payroll")), name


def test_the_checks_and_the_protection_of_a_deployment_are_allowed() -> None:
    assert [call for call in CHECKS if not is_allowed(*call)] == []


def test_only_services_of_the_template_and_of_deploying_are_allowed() -> None:
    services = {action.partition(":")[0] for statement in statements() for action in as_list(statement["Action"])}
    of_template = {actions.partition(":")[0] for _, actions in NEEDED.values()}

    assert services - of_template == {"acm", "cloudformation", "kms"}


def test_no_action_is_a_wildcard_and_others_stacks_are_out_of_reach() -> None:
    for statement in statements():
        actions = as_list(statement["Action"])
        assert not any("*" in action for action in actions), statement["Sid"]
        if as_list(statement["Resource"]) == ["*"]:
            assert set(actions) <= WITHOUT_RESOURCE, statement["Sid"]
    for resource, action in needed_calls():
        if "qbxml-queue-" in resource and action not in WITHOUT_RESOURCE:
            assert not is_allowed(action, resource.replace("qbxml-queue-", "payroll-")), action


def test_each_policy_fits_into_iams_limit() -> None:
    for name, policy in DEPLOYER.resources("AWS::IAM::ManagedPolicy").items():
        assert len(json.dumps(policy["PolicyDocument"], separators=(",", ":"))) <= 6_144, name
