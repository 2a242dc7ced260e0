"""The answer to decisions about several requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from typing_extensions import TypedDict

from handlers.views.schema import Schema, Uuid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.queueing.many_approvals import DecidedRequest


class RefusalView(TypedDict):
    """The reason for which a request stays as it is."""

    code: Annotated[str, Schema("The code that the call for this request alone would return")]
    message: str
    details: NotRequired[dict[str, Any]]


class DecisionView(TypedDict):
    """The result for one request."""

    id: Uuid
    error: Annotated[RefusalView | None, Schema("Null if it is approved or rejected, now or by an earlier call")]


class DecisionsView(TypedDict):
    """The results for the requests of a call."""

    decided: Annotated[
        int, Schema("The number of requests that are approved or rejected, as the call asked", minimum=0)
    ]
    refused: Annotated[int, Schema("The number of requests that stay as they are", minimum=0)]
    requests: list[DecisionView]


def decisions(decided: Sequence[DecidedRequest]) -> DecisionsView:
    """Return the view of decisions."""
    requests: list[DecisionView] = [{"id": one.id, "error": _refusal(one)} for one in decided]
    refused = sum(one.refusal is not None for one in decided)
    return {"decided": len(decided) - refused, "refused": refused, "requests": requests}


def _refusal(decided: DecidedRequest) -> RefusalView | None:
    error = decided.refusal
    if error is None:
        return None
    view: RefusalView = {"code": error.code, "message": error.message}
    if error.details:
        view["details"] = dict(error.details)
    return view
