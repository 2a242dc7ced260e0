"""The permissions of the roles in `template.yaml`, enforced for the functions of the local stack.

A call that the role of its function does not allow fails with the error of AWS. Otherwise, a missing permission would
be found only after a deployment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from botocore.exceptions import ClientError

from local.emulated_dynamodb.partiql import UpdateStatement
from local.template import PSEUDO_PARAMETERS, TemplateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from local.template import Function, Template

Permission: TypeAlias = tuple[str, str]
"""An action, such as `dynamodb:GetItem`, and the logical ID of a resource. An index is `TableId/index/name`."""

TRANSACTED = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
"""IAM: a transaction needs the permissions of its writes."""

ERROR_CODES = {
    "dynamodb": "AccessDeniedException",
    "lambda": "AccessDeniedException",
    "secretsmanager": "AccessDeniedException",
    "sqs": "AccessDenied",
}

FIFO = ".fifo"
"""SQS: the end of the name of a FIFO queue."""

RESOURCE_PREFIXES = {"dynamodb": "table/", "lambda": "function:", "sqs": ""}


def permissions_of(template: Template, function: Function) -> frozenset[Permission]:
    """Return the permissions of a function's role on resources of the template."""
    resolved = template.with_references({f"{name}.Arn": name for name in template.document["Resources"]})
    policies = resolved.resources("AWS::IAM::Role")[_role(function)].get("Policies", [])
    return frozenset(
        (action, resource)
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    )


def permissions_for(service: str, operation: str, parameters: Mapping[str, Any]) -> set[Permission]:
    """Return the permissions that a call of AWS needs."""
    calls: Iterable[Permission]
    match service, operation:
        case "dynamodb", "TransactWriteItems":
            calls = [
                (TRANSACTED[kind], entry["TableName"])
                for item in parameters["TransactItems"]
                for kind, entry in item.items()
            ]
        case "dynamodb", "BatchExecuteStatement":
            calls = [("PartiQLUpdate", UpdateStatement.of(entry).table) for entry in parameters["Statements"]]
        case "dynamodb", "BatchGetItem" | "BatchWriteItem":
            calls = [(operation, table) for table in parameters["RequestItems"]]
        case "dynamodb", "Query" if "IndexName" in parameters:
            calls = [(operation, f"{parameters['TableName']}/index/{parameters['IndexName']}")]
        case "dynamodb", _:
            calls = [(operation, parameters["TableName"])]
        case "sqs", _:
            # IAM: the permission for one message includes batches.
            queue = parameters["QueueUrl"].rpartition("/")[2].removesuffix(FIFO)
            calls = [(operation.removesuffix("Batch"), queue)]
        case "secretsmanager", "GetSecretValue":
            return {("secretsmanager:GetSecretValue", parameters["SecretId"])}
        case "lambda", "Invoke":
            calls = [("InvokeFunction", parameters["FunctionName"])]
        case _:
            raise TemplateError(f"permissions for {service} are not supported by local/permissions.py")
    return {(f"{service}:{action}", resource) for action, resource in calls}


@dataclass(frozen=True, slots=True)
class PermittedClient:
    """A client of an AWS service that makes only the calls that the role of a function allows.

    All functions share one botocore client, because creating one takes a tenth of a second.
    """

    client: Any
    function: Function
    permissions: frozenset[Permission]

    def __getattr__(self, name: str) -> Any:
        """Return a method of the client that checks the permissions first, or another attribute of the client."""
        operation = self.client.meta.method_to_api_mapping.get(name)
        return (
            _PermittedMethod(self, operation, getattr(self.client, name)) if operation else getattr(self.client, name)
        )


@dataclass(frozen=True, slots=True)
class _PermittedMethod:
    of: PermittedClient
    operation: str
    call: Any

    def __call__(self, **parameters: Any) -> Any:
        service = self.of.client.meta.service_model.service_name
        missing = permissions_for(service, self.operation, parameters) - self.of.permissions
        if missing:
            raise _access_denied(self.of.function, service, self.operation, *min(missing))
        return self.call(**parameters)


def _access_denied(function: Function, service: str, operation: str, action: str, resource: str) -> ClientError:
    account, region = PSEUDO_PARAMETERS["AWS::AccountId"], PSEUDO_PARAMETERS["AWS::Region"]
    user = f"arn:aws:sts::{account}:assumed-role/{_role(function)}/{function.logical_id}"
    arn = f"arn:aws:{service}:{region}:{account}:{RESOURCE_PREFIXES[service]}{resource}"
    message = (
        f"User: {user} is not authorized to perform: {action} on resource: {arn} "
        f"because no identity-based policy allows the {action} action"
    )
    error: Any = {"Error": {"Code": ERROR_CODES[service], "Message": message}}
    return ClientError(error, operation)


def _role(function: Function) -> str:
    return str(function.properties["Role"]).removesuffix(".Arn")


def as_list(value: str | list[str]) -> list[str]:
    """Return the actions or resources of a statement, which may name one without a list."""
    return [value] if isinstance(value, str) else value
