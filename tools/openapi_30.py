"""The OpenAPI document in version 3.0.3, which more generators of clients understand than 3.1.

It is derived from the document of `openapi.py`, and has the same operations and members:

* Schemas of bodies are named `ConnectionInput` instead of `NewConnection`, because in Go `NewConnection` is the
  constructor of `Connection`.
* A union of objects is one object with the members of all. Members that not all of them require are optional. A union
  of other types is any value. So each value that the document in 3.1 allows is allowed here too.
* A union whose objects have a `type` stays one. It has one object more, for the types that later versions add, and the
  members that all its objects require.
* What the service sends is open: objects may have more members, and most enumerations are texts. A client therefore
  goes on after a change that docs/api-changes.md calls additive.
* Webhooks, which 3.0 cannot describe as such, are callbacks of the calls that take a `webhook_url`.
"""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SCHEMAS = "#/components/schemas/"
LICENSE_URL = "https://www.apache.org/licenses/LICENSE-2.0"
CLOSED = {"State", "WebhookState"}
"""The enumerations of responses that grow only with a new version of the API (docs/api-changes.md)."""

CALLBACKS = {
    "queued_request": "create_queued_request",
    "connection": "create_connection",
    "subscription": "create_subscription",
}
"""The operation whose `webhook_url` receives the events, by the first part of their names."""

_UNKNOWN_KEYWORDS = {"propertyNames", "const", "exclusiveMinimum", "examples", "anyOf", "oneOf", "type"}
"""Keywords of 3.1 that 3.0 does not have, or that have another form there."""

Schema = dict[str, Any]


def in_version_30(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of version 3.1 in version 3.0.3."""
    components = document["components"]
    schemas = components["schemas"]
    paths = _with_callbacks(document)
    converted = dict(document) | {"openapi": "3.0.3", "info": _info(document["info"])}
    del converted["webhooks"]
    converted["paths"] = _elsewhere(paths, schemas)
    others = {name: part for name, part in components.items() if name != "schemas"}
    converted["components"] = _elsewhere(others, schemas) | {
        "schemas": _with_tagged_unions(
            {name: _Conversion(schemas, is_sent=not is_body(name)).named(name) for name in schemas}, schemas
        )
    }
    return _with_other_names(_with_used_schemas(converted), set(schemas))


def is_body(name: str) -> bool:
    """Return whether clients send a value with this schema of the document in 3.1."""
    return name.startswith(("New", "Changed"))


def name_in_30(name: str) -> str:
    """Return the name of a schema of the document in 3.1."""
    return re.sub(r"^New(\w+)$", r"\1Input", name)


def references(part: Any) -> Iterator[str]:
    """Yield the names of the schemas to which a part of a document refers."""
    if isinstance(part, dict):
        if isinstance(name := part.get("$ref"), str) and name.startswith(SCHEMAS):
            yield name.removeprefix(SCHEMAS)
        yield from chain.from_iterable(map(references, part.values()))
    elif isinstance(part, list):
        yield from chain.from_iterable(map(references, part))


class _Conversion:
    """Converts schemas. `is_sent`: the service sends the values, so that they may get more members and names."""

    def __init__(self, schemas: Mapping[str, Schema], *, is_sent: bool) -> None:
        self._schemas = schemas
        self._is_sent = is_sent

    def named(self, name: str) -> Schema:
        """Return a component."""
        return self.schema(self._schemas[name], is_open=self._is_sent and name not in CLOSED)

    def schema(self, schema: Schema, *, is_open: bool | None = None) -> Schema:
        """Return a schema in 3.0."""
        is_open = self._is_sent if is_open is None else is_open
        if "$ref" in schema and _is_free(self._target(schema)):
            return self.schema(self._target(schema) | {name: value for name, value in schema.items() if name != "$ref"})
        if "$ref" in schema:
            rest = {name: value for name, value in schema.items() if name != "$ref"}
            reference = {"$ref": schema["$ref"]}
            return {"allOf": [reference]} | self._kept(rest) if rest else reference
        alternatives = [part for part in _alternatives(schema) if part != {"type": "null"}]
        is_nullable = len(alternatives) < len(_alternatives(schema))
        result, kept = self._union(alternatives, is_open=is_open), self._kept(schema)
        if "$ref" in result and (kept or is_nullable):
            result = {"allOf": [result]}
        return _described(kept | result, schema) | ({"nullable": True} if is_nullable else {})

    def _union(self, alternatives: Sequence[Schema], *, is_open: bool) -> Schema:
        """Return the schema of several, without null."""
        distinct = [part for number, part in enumerate(alternatives) if part not in alternatives[:number]]
        if len(distinct) == 1:
            (only,) = distinct
            if "$ref" in only:
                return self.schema(only)
            return self._simple(only, is_open=is_open)
        targets = [self._target(part) for part in distinct]
        if targets and all("properties" in target and _is_closed(target) for target in targets):
            return self._merged(targets)
        types = {target.get("type") for target in targets}
        if types == {"string"}:
            return self._text(targets, is_open=is_open)
        if types == {"object"}:
            return {"type": "object", "additionalProperties": True}
        return {}

    def _simple(self, schema: Schema, *, is_open: bool) -> Schema:
        """Return a schema that has one type."""
        if "enum" in schema or "const" in schema:
            return self._kept(schema) | self._text([schema], is_open=is_open)
        result = self._kept(schema) | ({"type": schema["type"]} if "type" in schema else {})
        if "exclusiveMinimum" in schema:
            result |= {"minimum": schema["exclusiveMinimum"], "exclusiveMinimum": True}
        if "items" in schema:
            result["items"] = self.schema(schema["items"])
        if isinstance(schema.get("additionalProperties"), dict):
            result["additionalProperties"] = self.schema(schema["additionalProperties"]) or True
        if "properties" in schema:
            result["properties"] = {name: self.schema(member) for name, member in schema["properties"].items()}
            result["additionalProperties"] = self._is_sent
        return result

    def _merged(self, objects: Sequence[Schema]) -> Schema:
        """Return one object with the members of several."""
        members: dict[str, list[Schema]] = {}
        for name, member in chain.from_iterable(each["properties"].items() for each in objects):
            members.setdefault(name, []).append(member)
        required = [name for name in members if all(name in each["required"] for each in objects)]
        return {
            "type": "object",
            "properties": {name: self._member(alternatives) for name, alternatives in members.items()},
            "additionalProperties": self._is_sent,
        } | ({"required": required} if required else {})

    def _member(self, alternatives: Sequence[Schema]) -> Schema:
        """Return the schema of a member of several objects. It has their description if they agree."""
        words = list(dict.fromkeys(part.get("description") for part in alternatives if part != {"type": "null"}))
        parts = [{name: value for name, value in part.items() if name != "description"} for part in alternatives]
        either = {"anyOf": list(chain.from_iterable(_alternatives(part) for part in parts))}
        return self.schema(either | ({"description": words[0]} if len(words) == 1 and words[0] else {}))

    def _text(self, texts: Sequence[Schema], *, is_open: bool) -> Schema:
        """Return the schema of a text of several kinds."""
        named = [text.get("enum") or [text["const"]] for text in texts if "enum" in text or "const" in text]
        values = list(dict.fromkeys(chain.from_iterable(named)))
        if not is_open and len(named) < len(texts):
            return {"type": "string"}
        return {"type": "string"} | ({"x-extensible-enum" if is_open else "enum": values} if values else {})

    def _target(self, schema: Schema) -> Schema:
        return self._schemas[schema["$ref"].removeprefix(SCHEMAS)] if "$ref" in schema else schema

    def _kept(self, schema: Schema) -> Schema:
        """Return the keywords that mean the same in 3.0."""
        kept = {name: value for name, value in schema.items() if name not in _UNKNOWN_KEYWORDS | {"enum"}}
        return kept | ({"example": schema["examples"][0]} if schema.get("examples") else {})


def _with_tagged_unions(converted: Mapping[str, Schema], schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the schemas of 3.0 with the unions whose objects `type` tells apart, such as `FeedEvent`."""
    result = dict(converted)
    for name, union in schemas.items():
        if "discriminator" not in union:
            continue
        mapping: Mapping[str, str] = union["discriminator"]["mapping"]
        parts = {
            path.removeprefix(SCHEMAS): [one for one in mapping if mapping[one] == path] for path in mapping.values()
        }
        for part, types in parts.items():
            result[part] = _with_type(converted[part], {"type": "string", "enum": types})
        known = "|".join(map(re.escape, mapping))
        others = _common([converted[part] for part in parts])
        other = f"Other{name.removeprefix('Feed')}"
        result[other] = _with_type(others, {"type": "string", "pattern": f"^(?!({known})$)"}) | {
            "description": "An event whose type a later version has added. Ignore it"
        }
        result[name] = union | others | {"oneOf": [*union["oneOf"], {"$ref": SCHEMAS + other}]}
    return result


def _with_type(schema: Schema, of_type: Schema) -> Schema:
    return schema | {"properties": schema["properties"] | {"type": of_type}}


def _common(objects: Sequence[Schema]) -> Schema:
    """Return one object with the members that all of several objects require and that have the same type in all.

    A member has a description if they agree on it.
    """
    *others, last = objects
    common = {
        name: member if all(each["properties"][name] == member for each in others) else _type(member)
        for name, member in last["properties"].items()
        if all(name in each["required"] and _type(each["properties"][name]) == _type(member) for each in others)
    }
    properties = {"type": {"type": "string"}} | common
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": True}


def _type(schema: Schema) -> Schema:
    return {keyword: value for keyword, value in schema.items() if keyword not in {"description", "example"}}


def _alternatives(schema: Schema) -> list[Schema]:
    """Return what a schema allows: one or more schemas, each with one type."""
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return list(chain.from_iterable(map(_alternatives, schema[keyword])))
    if isinstance(schema.get("type"), list):
        return [{"type": "null"} if name == "null" else schema | {"type": name} for name in schema["type"]]
    return [schema]


def _is_free(schema: Schema) -> bool:
    """Return whether a schema is an object of any members. Generators for Ruby and C# misread a reference to it."""
    return schema.get("type") == "object" and "properties" not in schema


def _is_closed(schema: Schema) -> bool:
    return not isinstance(schema.get("additionalProperties"), dict)


def _described(result: Schema, schema: Schema) -> Schema:
    """Return a schema whose description has the known values of an open enumeration."""
    if "x-extensible-enum" not in result:
        return result
    values = ", ".join(f"`{value}`" for value in result["x-extensible-enum"])
    words = [schema["description"].rstrip(".")] if "description" in schema else []
    return result | {"description": ". ".join([*words, f"Known values: {values}. Others may be added"])}


def _info(info: Mapping[str, Any]) -> dict[str, Any]:
    return dict(info) | {"license": {"name": info["license"]["name"], "url": LICENSE_URL}}


def _with_callbacks(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the paths, whose operations have the webhooks as callbacks."""
    callbacks: dict[str, dict[str, Any]] = {operation: {} for operation in CALLBACKS.values()}
    for event, path in document["webhooks"].items():
        callbacks[CALLBACKS[event.partition(".")[0]]][event] = {"{$request.body#/webhook_url}": path}
    return {
        path: {
            method: operation | ({"callbacks": found} if (found := callbacks.get(operation["operationId"])) else {})
            for method, operation in operations.items()
        }
        for path, operations in document["paths"].items()
    }


def _elsewhere(part: Any, schemas: Mapping[str, Schema]) -> Any:
    """Return a part of the document outside of `components.schemas`, with its schemas in 3.0."""
    if isinstance(part, list):
        return [_elsewhere(member, schemas) for member in part]
    if not isinstance(part, dict):
        return part
    return {
        name: _Conversion(schemas, is_sent=False).schema(value)
        if name == "schema"
        else value
        if name in {"example", "examples"}
        else _elsewhere(value, schemas)
        for name, value in part.items()
    }


def _with_used_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document without the schemas that only a union had, because generators write a class for each."""
    schemas = document["components"]["schemas"]
    rest = {name: part for name, part in document["components"].items() if name != "schemas"}
    found: set[str] = set()
    unions = [{"$ref": SCHEMAS + name} for name, schema in schemas.items() if "discriminator" in schema]
    names = set(references([document["paths"], rest, unions]))
    while names - found:
        found |= names
        names = set(references([schemas[name] for name in found]))
    document["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in found}
    return document


def _with_other_names(document: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return the document with the names of `name_in_30`, also in the names of examples."""
    changed = "|".join(sorted((name for name in names if name_in_30(name) != name), key=len, reverse=True))
    pattern = rf'(?<=["/])({changed})(?=[".])'
    result: dict[str, Any] = json.loads(re.sub(pattern, lambda match: name_in_30(match[1]), json.dumps(document)))
    result["components"]["schemas"] = dict(sorted(result["components"]["schemas"].items()))
    return result
