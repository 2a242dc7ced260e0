"""A plain HTML page, for what has no pages of its own yet."""

from __future__ import annotations

from typing import Any

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


def page(title: str, text: str) -> dict[str, Any]:
    """Return API Gateway's answer with a page; `title` and `text` are plain text without `<` and `&`."""
    body = (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n"
        "<style>body { font: 1rem/1.5 sans-serif; margin: 3rem auto; max-width: 40rem }</style>\n"
        f"<h1>{title}</h1>\n<p>{text}</p>\n"
    )
    return {"statusCode": 200, "headers": HEADERS, "body": body, "isBase64Encoded": False}
