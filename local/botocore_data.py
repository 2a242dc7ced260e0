"""Writes the part of botocore's data that the functions need, for the artifact (`local/build.py`).

botocore reads its data when it creates a client: a megabyte of endpoints of all services, and the model of the service
with its documentation. That takes longer than the rest of the creation. The part has the operations that the functions
call, without documentation, and the endpoints of their services in every partition and region.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

OPERATIONS: Mapping[str, frozenset[str]] = {
    "dynamodb": frozenset(
        {
            "BatchExecuteStatement",
            "BatchGetItem",
            "BatchWriteItem",
            "DeleteItem",
            "GetItem",
            "PutItem",
            "Query",
            "TransactWriteItems",
            "UpdateItem",
        }
    ),
    "lambda": frozenset({"Invoke"}),
    "secretsmanager": frozenset({"GetSecretValue"}),
    "sqs": frozenset({"SendMessage", "SendMessageBatch"}),
}
"""The services and operations that the functions call. `tests/infrastructure/test_botocore_data.py` compares them with
the code."""

OPERATIONS_OF_SIMULATOR: Mapping[str, frozenset[str]] = {
    "s3": frozenset({"DeleteObject", "GetObject", "PutObject"}),
}
"""Those that the function of test connections calls (`simulator/hosted`)."""

MODEL = "service-2"
ENDPOINT_RULES = "endpoint-rule-set-1"
SHARED = ("endpoints", "partitions", "_retry", "sdk-default-configuration")
"""The files of botocore's data folder that all services share."""

_DESCRIPTIONS = frozenset({"documentation", "documentationUrl"})


def write_pruned(source: Path, target: Path, operations_of: Mapping[str, frozenset[str]] = OPERATIONS) -> None:
    """Write the needed part of botocore's data folder `source` into the new folder `target`."""
    target.mkdir(parents=True)
    for name in SHARED:
        data = _read(source, name)
        _write(target, name, _pruned_endpoints(data, operations_of) if name == "endpoints" else data)
    for service, operations in operations_of.items():
        # botocore uses the latest version of an API.
        version = max(path.parent for path in (source / service).glob(f"*/{MODEL}.json*"))
        folder = target / service / version.name
        folder.mkdir(parents=True)
        _write(folder, MODEL, pruned_model(_read(version, MODEL), operations))
        _write(folder, ENDPOINT_RULES, _read(version, ENDPOINT_RULES))


def pruned_model(model: Mapping[str, Any], operations: frozenset[str]) -> dict[str, Any]:
    """Return a service's model with these operations and their shapes only. Raises KeyError for an unknown one."""
    kept = {name: model["operations"][name] for name in sorted(operations)}
    shapes = model["shapes"]
    needed: set[str] = set()
    found = set(_shape_names(kept))
    while found:
        needed |= found
        found = {name for shape in found for name in _shape_names(shapes[shape])} - needed
    pruned = {**model, "operations": kept, "shapes": {name: shapes[name] for name in sorted(needed)}}
    undocumented: dict[str, Any] = _without_descriptions(pruned)
    if parameters := model.get("clientContextParams"):
        undocumented["clientContextParams"] = parameters  # botocore reads their documentation
    return undocumented


def _shape_names(value: Any) -> Iterator[str]:
    """Yield the names of the shapes to which a part of a model refers."""
    if isinstance(value, dict):
        if isinstance(value.get("shape"), str):
            yield value["shape"]
        for member in value.values():
            yield from _shape_names(member)
    elif isinstance(value, list):
        for member in value:
            yield from _shape_names(member)


def _without_descriptions(value: Any) -> Any:
    """Leave out documentation, which is text. A member of a shape with such a name is an object."""
    if isinstance(value, dict):
        return {
            name: _without_descriptions(member)
            for name, member in value.items()
            if not (name in _DESCRIPTIONS and isinstance(member, str))
        }
    return [_without_descriptions(member) for member in value] if isinstance(value, list) else value


def _pruned_endpoints(endpoints: Mapping[str, Any], services: Collection[str]) -> dict[str, Any]:
    """Return the endpoints of these services, with all partitions and regions."""
    partitions = [
        {
            **partition,
            "services": {name: facts for name, facts in partition["services"].items() if name in services},
        }
        for partition in endpoints["partitions"]
    ]
    return {**endpoints, "partitions": partitions}


def _read(folder: Path, name: str) -> Any:
    path = folder / f"{name}.json"
    return json.loads(
        path.read_bytes() if path.exists() else gzip.decompress((folder / f"{name}.json.gz").read_bytes())
    )


def _write(folder: Path, name: str, data: Any) -> None:
    # Not compressed: the file is small, and the artifact is a zip file.
    (folder / f"{name}.json").write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
