"""What the commands of the documents need, and which of them are not simply run: each with its reason.

A command that no row names is run as the page has it. It must succeed, and print what the page shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.documents.pages import Command


@dataclass(frozen=True, slots=True)
class Row:
    """Commands that are treated differently: on the pages `page` (`*` stands for any), those that match `pattern`."""

    page: str
    pattern: str
    reason: str
    tools: tuple[str, ...] = field(default=(), kw_only=True)
    """Programs without which the command is left out."""

    def applies_to(self, command: Command) -> bool:
        """Return whether it is about a command, whose comment at the end does not count."""
        text = re.sub(r"\s+#\s.*", "", command.text).removesuffix(" &")
        return fnmatch(command.page, self.page) and re.fullmatch(self.pattern, text, re.DOTALL) is not None


def row_of(rows: Iterable[Row], command: Command) -> Row | None:
    """Return the first row that is about a command."""
    return next((row for row in rows if row.applies_to(command)), None)


@dataclass(frozen=True, slots=True)
class UntilStopped(Row):
    """A program that runs until Ctrl-C.

    It is ready when the command `ready` succeeds, or else when it has printed what the page shows, or a line with
    `prints`. Another command of the same `kind` ends it, and so does the end of its block with `ends_with_block`,
    otherwise that of the page.
    """

    kind: str
    ready: str = ""
    prints: str = ""
    ends_with_block: bool = False


@dataclass(frozen=True, slots=True)
class NeedsAws(Row):
    """A command for an AWS account. Without credentials it has to fail within seconds, with the remedy."""

    message: str = r"REGION=|`aws configure`"


@dataclass(frozen=True, slots=True)
class Fails(Row):
    """A command that has to fail here within seconds, with this message."""

    message: str


@dataclass(frozen=True, slots=True)
class Instead(Row):
    """A command in place of which another one is run: with a small size, or without what nobody has here."""

    command: str


@dataclass(frozen=True, slots=True)
class CheckedBy(Row):
    """A command that is not run, because a test checks it. `test` is the path of its file."""

    test: str


@dataclass(frozen=True, slots=True)
class Reader:
    """What the reader of a page has and does before its first command.

    `before` are commands, `replace` has texts of the page and what the reader types in place of them, and `leaves` the
    names of files of their own. With `in_own_folder` they are in an empty folder beside the clone.
    """

    page: str
    reason: str
    before: tuple[str, ...] = ()
    replace: tuple[tuple[str, str], ...] = ()
    leaves: tuple[str, ...] = ()
    in_own_folder: bool = False


SERVICE = ("make run", "make wait", "set -a; . .local/env; set +a")
"""How a reader starts the service, and learns its address and a key."""

QUEUE = """\
curl -u "$API_KEY:" "$BASE_URL/api/v1/connections/$CONNECTION_ID/queued_requests" \\
  -H 'Content-Type: application/json' -d '{"request_json": {"%sRq": {"%s": %s}}}'"""

CUSTOMER = QUEUE % ("CustomerAdd", "CustomerAdd", '{"Name": "Blue Door Bakery"}')

INVOICE = QUEUE % ("InvoiceAdd", "InvoiceAdd", '{"CustomerRef": {"FullName": "Nobody"}, "RefNumber": "INV-1042"}')

PROGRAM = """\
cat >{name} <<'END'
#!/bin/sh
for name in Ada Grace Katherine; do
  curl -u "$API_KEY:" "$BASE_URL/api/v1/connections/$CONNECTION_ID/queued_requests" \\
    -H 'Content-Type: application/json' \\
    -d '{{"request_json": {{"CustomerAddRq": {{"CustomerAdd": {{"Name": "'"$name"'"}}}}}}}}'
done
END
chmod +x {name}"""
"""A program of the reader: it queues three customers."""

PROGRAMS = ("run-my-tests", "queue-my-requests", "check-the-state-of-my-program")

READERS = (
    Reader("docs/events.md", "reads the events of a service that runs", before=SERVICE),
    Reader("docs/webhooks.md", "lets a service that runs send webhooks", before=SERVICE),
    Reader("examples/README.md", "starts examples beside a service that runs", before=SERVICE[:2]),
    Reader(
        "docs/testing-your-integration.md",
        "has programs, the script of the page, and a .qwc file",
        before=(
            *(PROGRAM.format(name=name) for name in PROGRAMS),
            "sed -n '/^```json/,/^```/{//!p}' docs/testing-your-integration.md >lost-answer.json",
        ),
        replace=(("--qwc my.qwc", '--qwc "$QWC_FILE"'),),
        leaves=(*PROGRAMS, "lost-answer.json", "happened.json"),
    ),
    Reader(
        "simulator/README.md",
        "has a service with two requests, its .qwc file and password, and QBXML documents",
        before=(
            "make run QUICKBOOKS=off",
            "make wait",
            "set -a; . .local/env; set +a",
            CUSTOMER,
            INVOICE,
            """cat >request.xml <<'END'
<?xml version="1.0"?><?qbxml version="13.0"?>
<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq/></QBXMLMsgsRq></QBXML>
END""",
            """cat >response.xml <<'END'
<?xml version="1.0"?>
<QBXML><QBXMLMsgsRs><CustomerQueryRs statusCode="1" statusSeverity="Info" statusMessage="none"/></QBXMLMsgsRs></QBXML>
END""",
        ),
        replace=(
            ("QBWC_PASSWORD=…", "QBWC_PASSWORD=$QBWC_PASSWORD"),
            ("my.qwc", "$QWC_FILE"),
            ("c.qwc --every 5", "$QWC_FILE --once"),
            ("c.qwc", "$QWC_FILE"),
        ),
        leaves=("request.xml", "response.xml", "pair.xml", "happened.json"),
    ),
    Reader("clients/typescript/README.md", "has a project beside this one", in_own_folder=True),
)

BENCHMARK = r"(?!.*pip install).*\.venv/bin/python -m (local\.dynamodb_local .*)?benchmarks\..*"

TABLE: tuple[Row, ...] = (
    UntilStopped("*", r"make run( [A-Z_]+=\S+)*", "runs until Ctrl-C", kind="make run", ready="make wait"),
    UntilStopped("*", r"python3 receiver\.py", "runs until Ctrl-C", kind="receiver", prints="."),
    UntilStopped(
        "*", r"make dynamodb", "runs until Ctrl-C", kind="make dynamodb", prints="127.0.0.1", tools=("java", "mvn")
    ),
    UntilStopped("*", r"make sam-local", "runs until Ctrl-C", kind="make sam-local", prints="sam-local-seed"),
    UntilStopped(
        "*",
        r"qbxml-simulator (?!.*--script|.*--fault).*(--every|--inspect) .*",
        "runs until Ctrl-C",
        kind="qbxml-simulator",
        ends_with_block=True,
        prints=".",
    ),
    NeedsAws("*", r"make (deploy|deploy-check|smoke|restore|event-sources)( .*)?", "needs an AWS account"),
    NeedsAws("*", r"make command STACK=.*", "needs an AWS account"),
    NeedsAws("*", r'make sam DO="list .*', "needs an AWS account", message="Unable to locate credentials"),
    CheckedBy(
        "*", r".*\baws [a-z-]+ .*", "needs an AWS account", test="tests/infrastructure/test_documented_commands.py"
    ),
    Fails("*", r'make sam DO="local .*', "needs Docker", message="Do you have Docker"),
    CheckedBy("*", r"curl .*http://localhost:3001/.*", "needs Docker", test="tests/sam_local/test_sam_local.py"),
    CheckedBy("docs/releasing.md", r"sed .*", "changes files", test="tests/releases/test_releases.py"),
    CheckedBy("*", BENCHMARK, "takes minutes", test="tests/benchmarks/test_benchmarks.py"),
    Fails(
        "simulator/README.md",
        r"qbxml-simulator .*--script bad-day .*",
        "needs the requests that the script expects",
        message="CustomerAddRq was to be executed 5 times",
    ),
    Instead("*", r"python3 \.\./shop/shop\.py \. 300", "takes a minute", command="python3 ../shop/shop.py . 20"),
    Instead(
        "README.md",
        r"git clone https://github\.com/…/qbxml-queue && cd qbxml-queue",
        "needs the address of a repository",
        command="git clone --quiet . qbxml-queue && rm -r qbxml-queue",
    ),
    Instead("*", r"git checkout --detach .*", "leaves the tested commit", command="git checkout --detach HEAD"),
)
