"""The part of botocore's data in the artifact: what the functions call, and nothing that they call is missing."""

from __future__ import annotations

import ast
import itertools
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore
import pytest
from botocore import xform_name
from botocore.exceptions import EndpointConnectionError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.regions import EndpointResolver
from botocore.session import Session

from local.botocore_data import MODEL, OPERATIONS, OPERATIONS_OF_SIMULATOR, SHARED, pruned_model, write_pruned
from local.emulated_dynamodb import emulated_dynamodb
from local.programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = Path(botocore.__file__).parent / "data"
FUTURE_REGIONS = ("us-east-77", "eu-nowhere-1", "cn-west-9", "us-gov-south-3", "local")
"""Regions that AWS may open. botocore derives their endpoints from the rules of their partition."""


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("botocore") / "data"
    write_pruned(WHOLE, folder)
    return folder


def loader_of(folder: Path) -> Loader:
    return Loader(extra_search_paths=[str(folder)], include_default_search_paths=False)


def model_of(folder: Path, service: str) -> ServiceModel:
    return ServiceModel(loader_of(folder).load_service_model(service, MODEL), service)


@cache
def called_names() -> frozenset[str]:
    """Return the names of all methods that the source calls."""
    return frozenset(
        node.func.attr
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    )


@pytest.mark.parametrize("service", OPERATIONS)
def test_the_artifact_has_exactly_the_operations_that_the_source_calls(service: str) -> None:
    called = {name for name in model_of(WHOLE, service).operation_names if xform_name(name) in called_names()}

    assert called == OPERATIONS[service]


def test_the_artifact_of_test_connections_has_exactly_the_operations_that_it_calls() -> None:
    source = (ROOT / "simulator" / "hosted" / "objects.py").read_text(encoding="utf-8")
    names = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}

    called = {name for name in model_of(WHOLE, "s3").operation_names if xform_name(name) in names}
    assert called == OPERATIONS_OF_SIMULATOR["s3"]


def test_a_client_of_s3_makes_calls_with_the_data_of_the_artifact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It resolves the endpoint of each call with parts of the model that others do not have."""
    write_pruned(WHOLE, tmp_path / "data", OPERATIONS_OF_SIMULATOR)
    session = Session()
    session.register_component("data_loader", loader_of(tmp_path / "data"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    client = session.create_client("s3", region_name="us-east-1", endpoint_url="http://127.0.0.1:9")

    for operation, parameters in (("get_object", {}), ("delete_object", {}), ("put_object", {"IfMatch": '"1"'})):
        with pytest.raises(EndpointConnectionError):
            getattr(client, operation)(Bucket="bucket", Key="key", **parameters)


def test_the_source_uses_no_paginators_and_no_waiters_because_the_artifact_has_none() -> None:
    assert not called_names() & {"get_paginator", "get_waiter", "can_paginate"}


@pytest.mark.parametrize(("service", "operation"), [(s, o) for s, names in OPERATIONS.items() for o in names])
def test_each_operation_has_every_shape_and_every_trait_of_the_whole_model(
    service: str, operation: str, pruned: Path
) -> None:
    whole, part = (dict(facts(model_of(folder, service), operation)) for folder in (WHOLE, pruned))

    assert part == whole


def facts(model: ServiceModel, operation: str) -> Iterator[tuple[str, Any]]:
    """Yield everything in the model that concerns an operation, without documentation."""
    definition = model._service_description["operations"][operation]  # noqa: SLF001 - there is no public access to all traits
    yield "metadata", model.metadata
    yield "operation", without_documentation(definition)
    open_names = [shape.name for shape in (model.operation_model(operation).input_shape,) if shape]
    open_names += [shape.name for shape in (model.operation_model(operation).output_shape,) if shape]
    open_names += [shape.name for shape in model.operation_model(operation).error_shapes]
    seen: set[str] = set()
    while open_names:
        name = open_names.pop()
        if name in seen:
            continue
        seen.add(name)
        shape = model._service_description["shapes"][name]  # noqa: SLF001 - as above
        yield name, without_documentation(shape)
        parts = [*shape.get("members", {}).values()] if shape["type"] == "structure" else []
        parts += [shape[part] for part in ("member", "key", "value") if part in shape]
        open_names += [part["shape"] for part in parts]


def without_documentation(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_documentation(part) for name, part in value.items() if name != "documentation"}
    return [without_documentation(part) for part in value] if isinstance(value, list) else value


def test_the_part_has_no_documentation(pruned: Path) -> None:
    for path in pruned.rglob(f"{MODEL}.json"):
        assert '"documentation":"' not in path.read_text(encoding="utf-8")


def test_a_member_named_documentation_is_kept() -> None:
    model = {
        "operations": {"Do": {"input": {"shape": "Input"}, "documentation": "x"}, "Other": {}},
        "shapes": {
            "Input": {"type": "structure", "members": {"documentation": {"shape": "Text", "documentation": "x"}}},
            "Text": {"type": "string"},
            "Unused": {"type": "string"},
        },
    }

    assert pruned_model(model, frozenset({"Do"})) == {
        "operations": {"Do": {"input": {"shape": "Input"}}},
        "shapes": {
            "Input": {"type": "structure", "members": {"documentation": {"shape": "Text"}}},
            "Text": {"type": "string"},
        },
    }


@pytest.mark.parametrize("service", OPERATIONS)
def test_no_partition_region_or_endpoint_is_lost(service: str, pruned: Path) -> None:
    whole, part = (EndpointResolver(loader_of(folder).load_data("endpoints")) for folder in (WHOLE, pruned))

    partitions = whole.get_available_partitions()
    assert part.get_available_partitions() == partitions
    regions = [*FUTURE_REGIONS]
    for partition in partitions:
        in_partition = whole.get_available_endpoints(service, partition, allow_non_regional=True)
        assert part.get_available_endpoints(service, partition, allow_non_regional=True) == in_partition
        regions += in_partition
    assert len(regions) > 30
    for region, dual_stack, fips in itertools.product(regions, (False, True), (False, True)):
        endpoints = [endpoint_of(resolver, service, region, dual_stack, fips) for resolver in (whole, part)]
        assert endpoints[0] == endpoints[1], region


def endpoint_of(resolver: EndpointResolver, service: str, region: str, dual_stack: bool, fips: bool) -> Any:
    try:
        return resolver.construct_endpoint(service, region, use_dualstack_endpoint=dual_stack, use_fips_endpoint=fips)
    except botocore.exceptions.BotoCoreError as error:
        return str(error)


@pytest.mark.parametrize("name", [name for name in SHARED if name != "endpoints"])
def test_other_files_have_the_same_content(name: str, pruned: Path) -> None:
    assert loader_of(pruned).load_data(name) == loader_of(WHOLE).load_data(name)


@pytest.mark.parametrize("service", OPERATIONS)
def test_the_rules_for_endpoints_are_the_same(service: str, pruned: Path) -> None:
    whole, part = (loader_of(folder).load_service_model(service, "endpoint-rule-set-1") for folder in (WHOLE, pruned))

    assert json.loads(json.dumps(part)) == json.loads(json.dumps(whole))


def test_a_client_of_the_part_makes_calls(pruned: Path) -> None:
    session = Session()
    session.register_component("data_loader", loader_of(pruned))
    whole = Session().create_client(
        "dynamodb", region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    client = session.create_client(
        "dynamodb", region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    item = {"id": {"S": "1"}, "data": {"B": b"\x00\xff"}, "numbers": {"L": [{"N": "1"}]}}

    with emulated_dynamodb():
        whole.create_table(
            TableName="t",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
        client.put_item(TableName="t", Item=item)
        assert client.get_item(TableName="t", Key={"id": {"S": "1"}})["Item"] == item
        with pytest.raises(client.exceptions.ConditionalCheckFailedException):
            client.put_item(TableName="t", Item=item, ConditionExpression="attribute_not_exists(id)")
    assert client.meta.endpoint_url == whole.meta.endpoint_url
