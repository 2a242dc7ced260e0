"""Reads `template.yaml` as SAM and CloudFormation do.

The local stack and the tests use exactly the tables, routes and event sources that are deployed, so this module
resolves the intrinsic functions of the template. A reference to a resource becomes its logical ID (`!Ref AppsTable` →
`AppsTable`), an attribute becomes `LogicalId.Attribute` (`!GetAtt RetryQueue.Arn` → `RetryQueue.Arn`), unless
`references` has another value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

try:  # the same in C, which is five times as fast
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Mapping

PSEUDO_PARAMETERS: Mapping[str, str] = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::Region": "us-east-1",
    "AWS::StackId": "arn:aws:cloudformation:us-east-1:123456789012:stack/local/0",
    "AWS::StackName": "local",
    "AWS::URLSuffix": "amazonaws.com",
}

_NO_VALUE = object()
_SUBSTITUTION = re.compile(r"\$\{(!?)([A-Za-z0-9:._]+)\}")


class TemplateError(Exception):
    """The template uses a feature that this module does not support."""


class _Loader(SafeLoader):
    """Reads YAML with the short forms of CloudFormation: `!Ref x`, `!Sub …`, `!GetAtt a.b`, `!If […]`."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = str(value).split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    else:
        raise TemplateError(f"!{suffix} of an unknown kind")
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)


@lru_cache(maxsize=8)
def _parsed(text: str) -> Mapping[str, Any]:
    """Return the document of a template. It is cached, because parsing is slow, and must not be changed."""
    # The loader derives from SafeLoader, which creates plain values only.
    document: dict[str, Any] = yaml.load(text, Loader=_Loader)  # noqa: S506 - see above
    return document


@dataclass(frozen=True, slots=True)
class Event:
    """A trigger of a function: the event `type` of SAM (`Api`, `DynamoDB`, `SQS`, `Schedule`…) and its properties."""

    name: str
    type: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Function:
    """A Lambda function; `environment` and `timeout_seconds` have the template's Globals merged in."""

    logical_id: str
    handler: str
    code_uri: str
    timeout_seconds: int
    environment: Mapping[str, str]
    events: tuple[Event, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """A template with the values of its parameters."""

    document: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path = "template.yaml", parameters: Mapping[str, Any] | None = None) -> Template:
        """Read the template at `path`; `parameters` override the declared defaults."""
        document = _parsed(Path(path).read_text(encoding="utf-8"))
        overrides = dict(parameters or {})
        definitions = document.get("Parameters", {})
        unknown = sorted(set(overrides) - set(definitions))
        if unknown:
            raise TemplateError(f"{path} has no parameter {', '.join(unknown)}")
        values = {name: overrides.get(name, facts.get("Default")) for name, facts in definitions.items()}
        missing = sorted(name for name, value in values.items() if value is None)
        if missing:
            raise TemplateError(f"{path} needs a value for {', '.join(missing)}")
        return cls(document, values)

    def with_references(self, references: Mapping[str, str]) -> Template:
        """Return the template with values for `LogicalId` or `LogicalId.Attribute`."""
        return replace(self, references={**self.references, **references})

    def resources(self, resource_type: str) -> dict[str, dict[str, Any]]:
        """Return the resolved properties of all resources of a type whose condition holds, by logical ID."""
        return {
            logical_id: self.resolve(resource.get("Properties", {}))
            for logical_id, resource in self.document["Resources"].items()
            if resource["Type"] == resource_type and self._is_created(resource)
        }

    def table_definitions(self) -> list[dict[str, Any]]:
        """Return keyword arguments of `create_table`, one set per table, named by logical ID."""
        names = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "BillingMode")
        definitions = []
        for logical_id, properties in self.resources("AWS::DynamoDB::Table").items():
            definition = {"TableName": logical_id, **{name: properties[name] for name in names if name in properties}}
            if "StreamSpecification" in properties:
                # CloudFormation has no StreamEnabled: naming the view type enables the stream.
                definition["StreamSpecification"] = {"StreamEnabled": True, **properties["StreamSpecification"]}
            definitions.append(definition)
        return definitions

    def time_to_live_attributes(self) -> dict[str, str]:
        """Return the time-to-live attribute (Unix seconds) of each table that has one."""
        return {
            logical_id: properties["TimeToLiveSpecification"]["AttributeName"]
            for logical_id, properties in self.resources("AWS::DynamoDB::Table").items()
            if properties.get("TimeToLiveSpecification", {}).get("Enabled")
        }

    def functions(self) -> list[Function]:
        """Return the functions that the template deploys."""
        defaults = self.resolve(self.document.get("Globals", {}).get("Function", {}))
        functions = []
        for logical_id, own in self.resources("AWS::Serverless::Function").items():
            properties = _merged(defaults, own)
            events = properties.get("Events", {})
            functions.append(
                Function(
                    logical_id=logical_id,
                    handler=properties["Handler"],
                    code_uri=properties["CodeUri"],
                    timeout_seconds=int(properties.get("Timeout", 3)),  # Lambda's default
                    environment={
                        name: str(value)
                        for name, value in properties.get("Environment", {}).get("Variables", {}).items()
                    },
                    events=tuple(
                        Event(name, event["Type"], event.get("Properties", {})) for name, event in events.items()
                    ),
                    properties=properties,
                )
            )
        return functions

    def api(self) -> dict[str, Any]:
        """Return the properties of the one `AWS::Serverless::Api`, Globals merged in."""
        apis = self.resources("AWS::Serverless::Api")
        if len(apis) != 1:
            raise TemplateError(f"expected one AWS::Serverless::Api, found {len(apis)}")
        (own,) = apis.values()
        properties: dict[str, Any] = _merged(self.resolve(self.document.get("Globals", {}).get("Api", {})), own)
        return properties

    def resolve(self, value: Any) -> Any:
        """Return `value` with every intrinsic function replaced by its value.

        Raises TemplateError for an unsupported function.
        """
        if isinstance(value, list):
            return [resolved for item in value if (resolved := self.resolve(item)) is not _NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, argument) = next(iter(value.items()))
            if name == "Ref":
                return self._reference(argument)
            if name.startswith("Fn::"):
                return self._call(name.removeprefix("Fn::"), argument)
        return {name: resolved for name, item in value.items() if (resolved := self.resolve(item)) is not _NO_VALUE}

    def condition(self, name: str) -> bool:
        """Return whether a condition of the template holds."""
        return self._truth(self.document["Conditions"][name])

    def _is_created(self, resource: Mapping[str, Any]) -> bool:
        return "Condition" not in resource or self.condition(resource["Condition"])

    def _reference(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return _NO_VALUE
        for values in (self.references, PSEUDO_PARAMETERS):
            if name in values:
                return values[name]
        if name in self.parameters:
            value = self.parameters[name]
            is_list = "List" in self.document["Parameters"][name]["Type"] and isinstance(value, str)
            return value.split(",") if is_list else value
        # SAM generates further resources (`Api` + `ProdStage`). Their logical IDs resolve to themselves too.
        return name

    def _call(self, function: str, argument: Any) -> Any:  # noqa: PLR0911 - one return per function
        match function:
            case "GetAtt":
                name = argument if isinstance(argument, str) else ".".join(argument)
                return self.references.get(name, name)
            case "Sub":
                return self._substituted(argument)
            case "Join":
                separator, parts = argument
                return separator.join(str(part) for part in self.resolve(parts))
            case "Select":
                position, items = argument
                return self.resolve(items)[int(position)]
            case "Split":
                separator, text = argument
                return self.resolve(text).split(separator)
            case "If":
                condition, then, otherwise = argument
                return self.resolve(then if self.condition(condition) else otherwise)
            case "FindInMap":
                mapping, first, second = (self.resolve(part) for part in argument)
                return self.document["Mappings"][mapping][first][second]
            case "Equals" | "And" | "Or" | "Not":
                return self._truth({f"Fn::{function}": argument})
            case _:
                raise TemplateError(f"Fn::{function} is not supported by local/template.py")

    def _truth(self, condition: Any) -> bool:
        (name, argument) = next(iter(condition.items()))
        match name:
            case "Condition":
                return self.condition(argument)
            case "Fn::Equals":
                first, second = (self.resolve(part) for part in argument)
                return str(first) == str(second)
            case "Fn::Not":
                return not self._truth(argument[0])
            case "Fn::And":
                return all(self._truth(part) for part in argument)
            case "Fn::Or":
                return any(self._truth(part) for part in argument)
            case _:
                raise TemplateError(f"{name} is not a condition")

    def _substituted(self, argument: Any) -> str:
        text, values = (argument, {}) if isinstance(argument, str) else argument

        def value_of(match: re.Match[str]) -> str:
            literal, name = match.groups()
            if literal:
                return f"${{{name}}}"
            if name in values:
                return str(self.resolve(values[name]))
            return str(self._call("GetAtt", name) if "." in name else self._reference(name))

        return _SUBSTITUTION.sub(value_of, text)


def _merged(defaults: Any, own: Any) -> Any:
    """Merge Globals into a resource as SAM does: merge objects, append lists, else prefer the resource."""
    if isinstance(defaults, dict) and isinstance(own, dict):
        return {
            name: _merged(defaults[name], own[name])
            if name in defaults and name in own
            else own.get(name, defaults.get(name))
            for name in {**defaults, **own}
        }
    if isinstance(defaults, list) and isinstance(own, list):
        return [*defaults, *own]
    return own
