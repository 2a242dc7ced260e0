"""GET /app, /app/connections/{connection_id}, /app/queued_requests/{request_id}: where `links.ui` leads to."""

from __future__ import annotations

from typing import Any

from handlers._page import page


def handler(_event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answer with a plain page: nothing of what is stored, because nobody has signed in."""
    return page("qbxml-queue", "The console is not there yet. The same is to be had from the REST API under /api/v1.")
