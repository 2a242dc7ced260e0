"""The OpenAPI document of endpoints that are being added: what they can return, and the steps that are missing."""

from typing import Any

import pytest

from domain.errors import ServiceError
from handlers.rest import ApiCall, Data, Endpoint
from handlers.views.connections import SyncWindowView
from tools.openapi import MissingStep, document
from tools.openapi_examples import EXAMPLES


def endpoint(function: Any, **options: Any) -> Endpoint:
    """Return an endpoint that is not in the template."""
    return Endpoint("Connections", ["GET /connections/{connection_id}/new"], function, **options)


def with_optional_data(_call: ApiCall, connection_id: str) -> Data[SyncWindowView | None]:
    """Get the sync window."""
    raise AssertionError(f"it is described, not called: {connection_id}")


def with_a_text(_call: ApiCall, connection_id: str) -> Data[str]:
    """Get a text."""
    raise AssertionError(f"it is described, not called: {connection_id}")


def test_data_can_be_null() -> None:
    examples = {**EXAMPLES, "OptionalSyncWindowResponse": {"none": {"data": None}}}

    schemas = document([endpoint(with_optional_data)], examples)["components"]["schemas"]

    schema = schemas["OptionalSyncWindowResponse"]
    assert schema["properties"]["data"] == {"anyOf": [{"$ref": "#/components/schemas/SyncWindow"}, {"type": "null"}]}
    assert schema["required"] == ["data"]


def test_a_body_without_an_example_is_named() -> None:
    with pytest.raises(MissingStep, match=r"example of OptionalSyncWindowResponse to EXAMPLES in tools/openapi_exam"):
        document([endpoint(with_optional_data)])


def test_the_error_names_a_response_type_without_a_name_for_clients() -> None:
    with pytest.raises(MissingStep, match=r"type Data_str_\. .* src/handlers/views whose name ends in View"):
        document([endpoint(with_a_text)])


def test_an_error_without_a_status_is_named() -> None:
    with pytest.raises(MissingStep, match=r"Add ServiceError to STATUSES in src/handlers/rest/errors\.py"):
        document([endpoint(with_optional_data, errors=(ServiceError,))])
