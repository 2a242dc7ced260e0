"""Lambda's Invoke call, for operator commands and `aws lambda invoke` on a local stack.

Source: Invoke in the Lambda API reference.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from local.functions import FunctionError, PayloadTooLarge
from local.gateway import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from local.functions import Functions

_PATH = re.compile(r"/2015-03-31/functions/([A-Za-z0-9]+)/invocations")


def with_lambda_api(functions: Functions, gateway: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Return a handler that carries out Lambda's Invoke itself and passes every other request to `gateway`.

    The call must carry a signature header. It is not checked, but a web page in a browser on this machine cannot send
    that header to another origin.
    """

    def handle(request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if match is None or not (request.header("Authorization") or "").startswith("AWS4-"):
            return gateway(request)
        if match[1] not in functions.names:
            return _json(404, {"Type": "User", "Message": f"Function not found: {match[1]}"})
        try:
            return _json(200, functions.invoke(match[1], json.loads(request.body or b"{}")))
        except (FunctionError, PayloadTooLarge) as error:
            response = _json(200, {"errorMessage": str(error), "errorType": type(error).__name__})
            return Response(200, [*response.headers, ("X-Amz-Function-Error", "Unhandled")], response.body)

    return handle


def _json(status: int, body: object) -> Response:
    return Response(status, [("Content-Type", "application/json")], json.dumps(body).encode())
