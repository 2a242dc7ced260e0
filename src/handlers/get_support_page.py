"""GET /support: what the `.qwc` file's AppSupport leads to. The Web Connector asks for it and wants status 200."""

from __future__ import annotations

from typing import Any

from handlers._page import page


def handler(_event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answer with a plain page."""
    return page(
        "qbxml-queue support",
        "This service passes requests to QuickBooks through the QuickBooks Web Connector. "
        "If a connection shows an error, open the Web Connector, select the application and choose Update Selected. "
        "If the error stays, send the text below Show Log to whoever gave you the .qwc file.",
    )
