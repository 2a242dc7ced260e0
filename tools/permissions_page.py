"""Write `docs/permissions.md`: which function may do what to which table. Run `make generate`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from local.permissions import permissions_of
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "permissions.md"

LETTERS: Mapping[str, str] = {
    "GetItem": "r",
    "BatchGetItem": "r",
    "Query": "q",
    "ConditionCheckItem": "c",
    "PutItem": "p",
    "UpdateItem": "u",
    "PartiQLUpdate": "u",
    "DeleteItem": "d",
    "BatchWriteItem": "b",
    "SendMessage": "s",
}
"""The letters of actions, in the order in which a cell shows them."""
LEFT_OUT = frozenset(
    {"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams", "ReceiveMessage", "DeleteMessage"}
    | {"ChangeMessageVisibility", "GetQueueAttributes"}
)
"""Actions with which Lambda reads the event sources of a function."""

HEAD = """# What each function may do

Each row is a role of `template.yaml` with its functions. A function can do nothing else to a table, in AWS and in the
local stack. `make generate` writes this page from the template.

`r` reads items by key, `q` queries a table or an index, `c` checks a condition in a transaction, `p` puts, `u` updates,
`d` deletes, `b` writes batches, `s` sends messages. Reading streams and receiving messages are left out.
"""


def page() -> str:
    """Return the text of the page."""
    template = Template.load(ROOT / "template.yaml")
    functions: dict[str, list[str]] = defaultdict(list)
    letters: dict[str, dict[str, set[str]]] = {}
    for function in template.functions():
        role = str(function.properties["Role"]).removesuffix(".Arn")
        functions[role].append(function.handler.split(".")[1])
        letters[role] = _letters(permissions_of(template, function))
    tables = sorted({resource for role in letters.values() for resource in role})
    names = [table.removesuffix("Table").removesuffix("sQueue") for table in tables]
    rows = [["functions", *names], ["---"] * (len(tables) + 1)]
    for role, members in sorted(functions.items(), key=lambda item: min(item[1])):
        order = dict.fromkeys(LETTERS.values())
        cells = ["".join(letter for letter in order if letter in letters[role].get(table, ())) for table in tables]
        rows.append([", ".join(f"`{member}`" for member in sorted(members)), *cells])
    return HEAD + "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _letters(permissions: frozenset[tuple[str, str]]) -> dict[str, set[str]]:
    """Return the letters of a role's actions by table or queue."""
    found: dict[str, set[str]] = defaultdict(set)
    for action, resource in permissions:
        service, _, name = action.partition(":")
        if service in {"dynamodb", "sqs"} and name not in LEFT_OUT:
            found[resource.partition("/")[0]].add(LETTERS[name])
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
