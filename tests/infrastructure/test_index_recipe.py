"""The recipe "Add an index" of CONTRIBUTING.md is complete: each message names the file of the step that is missing."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import adapters.dynamodb
from adapters.dynamodb import DynamoDBStore, TableNames
from adapters.dynamodb.client import Index
from domain.storage.ports import Database
from local.template import Template
from tests.support.cases import for_each
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]

DECLARED = [
    pytest.param(table, index, id=index["IndexName"])
    for table in Template.load(ROOT / "template.yaml").table_definitions()
    for index in table.get("GlobalSecondaryIndexes") or []
]
METHODS = sorted(name for name in dir(Database) if name[0] != "_")
CALLED_BY_USE_CASES = {"days_to_pack", "remove_from_queue", "remove_late_responses", "settle_days"}
"""The contract suite runs the use cases that call these: packing, logins after a restore, and the sweep."""


def indexes_in_code() -> Iterator[Index]:
    """Yield the indexes that the modules of the adapter name."""
    for module in pkgutil.iter_modules(adapters.dynamodb.__path__, "adapters.dynamodb."):
        yield from (value for value in vars(import_module(module.name)).values() if isinstance(value, Index))


def documented_indexes() -> dict[tuple[str, str], tuple[str, str]]:
    """Return the partition and the sort key of each index in docs/data-model.md, by table and index."""
    text = (ROOT / "docs" / "data-model.md").read_text(encoding="utf-8")
    section = text.partition("\n## Indexes\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"(?m)^\|.*\|$", section)[2:]]
    documented, table = {}, ""
    for named_table, names, partition, sort, *_ in rows:
        table = named_table.strip("`") or table
        documented.update({(table, name): (partition, sort) for name in re.findall(r"`(\w+)`", names)})
    return documented


@pytest.mark.parametrize(("table", "index"), DECLARED)
def test_the_keys_of_an_index_are_attributes_of_its_table(table: dict[str, Any], index: dict[str, Any]) -> None:
    keys = {key["AttributeName"] for key in index["KeySchema"]}
    attributes = {attribute["AttributeName"] for attribute in table["AttributeDefinitions"]}

    assert keys <= attributes, f"template.yaml: add {keys - attributes} to AttributeDefinitions of {table['TableName']}"


@pytest.mark.parametrize(("table", "index"), DECLARED)
def test_a_role_allows_the_query_of_an_index(table: dict[str, Any], index: dict[str, Any]) -> None:
    resource = f"${{{table['TableName']}.Arn}}/index/{index['IndexName']}"

    is_allowed = f'"{resource}"' in (ROOT / "template.yaml").read_text(encoding="utf-8")
    assert is_allowed, f"template.yaml: allow dynamodb:Query on {resource} in the role of each reader"


@pytest.mark.parametrize(("table", "index"), DECLARED)
def test_an_index_of_the_template_is_named_in_code(table: dict[str, Any], index: dict[str, Any]) -> None:
    name = index["IndexName"]

    assert name in set(indexes_in_code()), f'src/adapters/dynamodb: name Index("{name}") of {table["TableName"]}'


@pytest.mark.parametrize("name", sorted(set(indexes_in_code())))
def test_an_index_in_code_is_declared_in_the_template(name: str) -> None:
    assert name in {parameters.id for parameters in DECLARED}, f"template.yaml: declare the index {name}"


@pytest.mark.parametrize(("table", "index"), DECLARED)
def test_an_index_is_documented_with_its_keys(table: dict[str, Any], index: dict[str, Any]) -> None:
    name = index["IndexName"]
    row = documented_indexes().get((table["TableName"].removesuffix("Table"), name))
    assert row, f"docs/data-model.md (Indexes): add {name} of {table['TableName']}"

    for key_type, cell in zip(("HASH", "RANGE"), row, strict=True):
        keys = [f"`{key['AttributeName']}`" for key in index["KeySchema"] if key["KeyType"] == key_type]
        assert cell == ", ".join(keys), f"docs/data-model.md (Indexes): correct the keys of {name}"


def test_no_index_is_documented_that_does_not_exist() -> None:
    documented = {name for _, name in documented_indexes()}

    assert documented == {parameters.id for parameters in DECLARED}, "docs/data-model.md (Indexes): remove the row"


@for_each("name", METHODS)
def test_a_method_of_the_port_is_in_the_store_and_in_the_fake_store(name: str) -> None:
    store = DynamoDBStore(None, TableNames(str))

    assert callable(getattr(store, name, None)), f"src/adapters/dynamodb/store.py: add self.{name} = …"
    assert callable(getattr(FakeStore, name, None)), f"tests/support/fake_store.py: add {name}"


@for_each("name", sorted(set(METHODS) - CALLED_BY_USE_CASES))
def test_a_method_of_the_port_is_in_the_contract_suite(name: str) -> None:
    suite = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests" / "contract").glob("test_*.py"))

    is_called = f".{name}(" in suite
    assert is_called, f"tests/contract: test {name} on every store"
