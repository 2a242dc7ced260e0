"""The command `qbxml-queue-mcp`: an assistant starts it and talks to it over standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from importlib.util import find_spec

import httpx

from qbxml_queue.async_client import AsyncClient
from qbxml_queue.errors import QbxmlQueueError

SAFE_SCOPES = frozenset({"propose", "read_only"})
_ANY_CONNECTION = "any"


class Refused(Exception):
    """The server does not start. The message says why, and what to do."""


def main() -> int:
    """Run the server until its input ends, and return the exit code."""
    options = parser().parse_args()
    try:
        asyncio.run(_serve(options))
    except Refused as refused:
        sys.stderr.write(f"{refused}\n")
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="qbxml-queue-mcp",
        description="Let an assistant read QuickBooks, and propose writes that a person approves (MCP over stdio).",
        epilog="Set BASE_URL, such as https://queue.example.com, and API_KEY, a key with the scope propose.",
    )
    made.add_argument(
        "--allow-writes",
        action="store_true",
        help="accept a key that could do more than propose; the tools still send nothing without approval",
    )
    made.add_argument(
        "--show-secret-numbers", action="store_true", help="do not mask numbers of taxes, banks and cards"
    )
    return made


async def _serve(options: argparse.Namespace) -> None:
    if find_spec("mcp") is None:
        raise Refused("The package mcp is not installed. Run: pip install 'qbxml-queue[mcp]'")
    from qbxml_queue.mcp.server import server_of  # noqa: PLC0415 - it needs the package mcp
    from qbxml_queue.mcp.tools import Tools  # noqa: PLC0415

    base_url, api_key = _variable("BASE_URL").rstrip("/"), _variable("API_KEY")
    async with AsyncClient(base_url, api_key, _ANY_CONNECTION) as client:  # each tool names its connection
        await check_scope(client, allows_writes=options.allow_writes)
        tools = Tools(client, base_url, reveals=options.show_secret_numbers)
        await server_of(tools).run_stdio_async()


async def check_scope(client: AsyncClient, *, allows_writes: bool) -> None:
    """Raise Refused if the key could do harm, or cannot be checked."""
    try:
        scope = (await client.call("GET", "/api/v1/api_key"))["data"]["scope"]
    except (QbxmlQueueError, httpx.HTTPError, httpx.InvalidURL) as error:
        raise Refused(f"No service at BASE_URL accepts API_KEY: {error}") from None
    except (ValueError, LookupError, TypeError):
        raise Refused(
            "BASE_URL is not the address of a service. Give it without a path, such as https://queue.example.com."
        ) from None
    if scope not in SAFE_SCOPES and not allows_writes:
        raise Refused(
            f"The key has the scope {scope}. Make one with the scope propose for the assistant: its reads run, and its"
            " writes wait for approval. If you want to use this key, add --allow-writes."
        )


def _variable(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise Refused(f"{name} is not set. Set BASE_URL and API_KEY in the configuration of the assistant.")
    return value


if __name__ == "__main__":
    sys.exit(main())
