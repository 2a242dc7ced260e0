"""The tables of a release, and what an update of a stack to other tables does.

Sources: AWS::DynamoDB::Table in the CloudFormation template reference (which changes replace a table), and UpdateTable
in the DynamoDB API reference (one index is created or deleted at a time).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from local.template import Template

Tables = dict[str, dict[str, Any]]

REPLACING = {
    "name": "its name",
    "keys": "its key",
    "local_indexes": "its local indexes",
}
"""The parts of a table that CloudFormation changes only by replacing it with an empty one."""


@dataclass(frozen=True, slots=True)
class Update:
    """What an update does. `problems` must not be. `steps` are the changes of indexes: each step takes an update."""

    problems: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]


def tables_of(template: Template) -> Tables:
    """Return the tables of a template, with everything that an update depends on."""
    roles = str(template.resources("AWS::IAM::Role"))
    tables = {}
    for logical_id, table in template.resources("AWS::DynamoDB::Table").items():
        resource = template.document["Resources"][logical_id]
        tables[logical_id] = {
            "name": table.get("TableName"),
            "keys": _keys(table),
            "types": {name["AttributeName"]: name["AttributeType"] for name in table["AttributeDefinitions"]},
            "indexes": {
                index["IndexName"]: {
                    "keys": _keys(index),
                    "projection": index["Projection"].get("NonKeyAttributes") or index["Projection"]["ProjectionType"],
                    "is_read": f"{logical_id}.Arn/index/{index['IndexName']}" in roles,
                }
                for index in table.get("GlobalSecondaryIndexes", [])
            },
            "local_indexes": table.get("LocalSecondaryIndexes", []),
            "stream": table.get("StreamSpecification", {}).get("StreamViewType"),
            "expires_by": table.get("TimeToLiveSpecification", {}).get("AttributeName"),
            "has_recovery": table.get("PointInTimeRecoverySpecification", {}).get("PointInTimeRecoveryEnabled", False),
            "policies": [resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy")],
        }
    return tables


def _keys(schema: Mapping[str, Any]) -> list[str]:
    return [f"{key['KeyType']} {key['AttributeName']}" for key in schema["KeySchema"]]


def update(before: Tables, after: Tables) -> Update:
    """Return what happens to the tables of a stack that is updated."""
    problems = [problem for name in before for problem in _problems(name, before[name], after.get(name))]
    changes = [list(_index_changes(name, before[name], after[name])) for name in before if name in after]
    number = max(map(len, changes), default=0)
    steps = (tuple(change for of_table in changes for change in of_table[step : step + 1]) for step in range(number))
    return Update(tuple(problems), tuple(steps))


def _problems(name: str, before: Mapping[str, Any], after: Mapping[str, Any] | None) -> Iterator[str]:
    if after is None:
        yield f"{name} is gone. Keep it: the former version reads it while the update runs, and after a rollback."
        return
    yield from _replacements(name, before, after)
    yield from _index_problems(name, before["indexes"], after["indexes"])
    if before["stream"] not in {None, after["stream"]}:
        yield f"The stream of {name} changes, so the records that no function has read yet are lost."
    if before["expires_by"] not in {None, after["expires_by"]}:
        yield f"The time to live of {name} changes. It has to be off for an hour before another attribute can be used."
    if before["has_recovery"] and not after["has_recovery"]:
        yield f"{name} has no point-in-time recovery any more."
    if any(before["policies"]) and before["policies"] != after["policies"]:
        yield f"{name} has other policies for its deletion, so it might not survive the stack."


def _replacements(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for part, words in REPLACING.items():
        if before[part] != after[part]:
            yield f"{name} is replaced by an empty table, because {words} changes. Add a table or an index instead."
    for attribute in before["types"].keys() & after["types"].keys():
        if before["types"][attribute] != after["types"][attribute]:
            yield f"{name} is replaced by an empty table, because the type of {attribute} changes. Use a new attribute."


def _index_problems(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for index in before:
        if index not in after and before[index]["is_read"]:
            yield (
                f"The index {index} of {name} is gone, but functions of the former version read it while the update "
                "runs, and after a rollback. First release a version whose roles do not read it."
            )
        if index in after and any(before[index][part] != after[index][part] for part in ("keys", "projection")):
            yield f"The index {index} of {name} changes, which is not possible. Add an index with a new name."


def _index_changes(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changes of the indexes of a table: first those that the new code needs."""
    for index in after["indexes"]:
        if index not in before["indexes"]:
            yield f"create the index {index} of {name}"
    for index in before["indexes"]:
        if index not in after["indexes"]:
            yield f"delete the index {index} of {name}"
