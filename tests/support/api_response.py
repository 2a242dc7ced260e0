"""A response of the REST API, for the tests of the functions and of a running stack."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """The response that the caller receives."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body, parsed as JSON."""
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """The error's code. Checks the shape of the error."""
        error = self.json["error"]
        assert error["message"]
        assert set(error) <= {"code", "message", "details"}
        return str(error["code"])

    @property
    def problem(self) -> dict[str, Any]:
        """The first problem of an invalid request."""
        problem: dict[str, Any] = self.json["error"]["details"]["problems"][0]
        return problem
