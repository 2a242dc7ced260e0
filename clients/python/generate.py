"""Writes `src/qbxml_queue/schema`: the types of all requests, responses and records.

    python3 generate.py

The sources are the schema of QBXML (`src/domain/qbxml/schema/data` in the repository) and `docs/openapi.json`; for the
MCP server also documents and the samples of the console. The build runs this, so nothing that it writes is in version
control. A source distribution contains the result instead of the sources.

docs/decisions/0084-typed-clients.md says why the types are TypedDicts and what the clients promise.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
FACTS = REPOSITORY / "src" / "domain" / "qbxml" / "schema" / "data"
DOCS = REPOSITORY / "docs"
OPENAPI = DOCS / "openapi.json"
SAMPLES = REPOSITORY / "src" / "console" / "reference" / "samples.json"
OUTPUT = HERE / "src" / "qbxml_queue" / "schema"

WRITTEN = {
    "AMTTYPE": "Amount",
    "PRICETYPE": "Amount",
    "QUANTYPE": "Amount",
    "PERCENTTYPE": "Amount",
    "FLOATTYPE": "Amount",
    "INTTYPE": "Whole",
    "BOOLTYPE": "Flag",
    "DATETYPE": "Day",
    "DATETIMETYPE": "Moment",
    "TIMEINTERVALTYPE": "Interval",
}
"""The type in a request of each base type. Any other one is `Text`."""

READ = {
    **dict.fromkeys(("AMTTYPE", "PRICETYPE", "QUANTYPE", "PERCENTTYPE", "FLOATTYPE"), "Decimal"),
    "INTTYPE": "int",
    "BOOLTYPE": "bool",
    "DATETYPE": "date",
    "DATETIMETYPE": "datetime",
    "TIMEINTERVALTYPE": "timedelta",
}
"""The type in a response of each base type. Any other one is `str`."""

PAGES = (
    *("errors", "events", "limits", "qbxml", "support", "troubleshooting", "webhooks", "what-is-lost"),
    *("reference/qbxml-rules", "guides/first-sync", "guides/after-the-first-sync"),
)
"""The documents that an assistant searches."""

NUMBERS = {"@rowNumber"}
"""Attributes of responses that are numbers in JSON."""

IDENTITY = frozenset(
    {"ListID", "TxnID", "TxnLineID", "TimeCreated", "TimeModified", "EditSequence", "Name", "FullName"}
)
"""Members that QuickBooks returns with each object, unless IncludeRetElement leaves them out."""

SHORT_REFERENCE = frozenset({"ListID", "FullName"})


@dataclass(frozen=True)
class Member:
    """A member of a structure. `kind` is a type expression, or the structure of its children; `form` wraps it."""

    name: str
    kind: str | Structure
    form: str = "{}"
    required: bool = False
    note: str = ""


@dataclass(frozen=True)
class Structure:
    """A TypedDict: its attributes, which begin with @, and its members."""

    members: tuple[Member, ...]
    note: str = ""


@dataclass
class Names:
    """Names the structures of one module. A name that different structures would have begins with that of a parent."""

    uses: dict[str, dict[Structure, str]] = field(default_factory=lambda: defaultdict(dict))
    order: dict[Structure, str] = field(default_factory=dict)

    def add(self, element: str, structure: Structure, parent: str) -> None:
        """Collect a structure, and those in it, children first."""
        for member in structure.members:
            if isinstance(member.kind, Structure):
                self.add(member.name, member.kind, element)
        if structure not in self.order:
            self.order[structure] = element
            self.uses[element][structure] = parent

    def named(self) -> dict[Structure, str]:
        """Return the name of each structure."""
        taken: set[str] = {name for name, structures in self.uses.items() if len(structures) == 1}
        names: dict[Structure, str] = {}
        for structure, element in self.order.items():
            parent = self.uses[element][structure]
            name = element
            if len(self.uses[element]) > 1:
                base = name = f"{parent}{element}"
                number = 2
                while name in taken:
                    name = f"{base}{number}"
                    number += 1
            taken.add(name)
            names[structure] = name
        return names


def main(output: Path = OUTPUT) -> None:
    """Write the package `schema`."""
    sys.path.append(str(HERE))  # The build runs this file without its folder.
    import generate_api  # noqa: PLC0415
    import generate_reports  # noqa: PLC0415
    import generate_resources  # noqa: PLC0415

    output.mkdir(exist_ok=True)
    names = json.loads((FACTS / "index.json").read_bytes())
    requests = {name: json.loads((FACTS / "requests" / f"{name}.json").read_bytes()) for name in names}
    responses = {name: json.loads((FACTS / "responses" / f"{_stem(name)}Rs.json").read_bytes()) for name in names}
    types = json.loads((FACTS / "returned_types.json").read_bytes())
    since = json.loads((FACTS / "returned_since.json").read_bytes())
    missing = json.loads((FACTS / "missing_in_editions.json").read_bytes())["messages"]
    document = json.loads(OPENAPI.read_bytes())
    resources = generate_resources.resources(requests, responses)
    reports = generate_reports.reports(requests)
    routes = generate_api.routes(document, openapi_type)
    files = {
        "__init__.py": '"""Types that are generated from the schema of QBXML and from the description of the API."""\n',
        "requests.py": requests_module(requests),
        "responses.py": responses_module(responses, types, since),
        "records.py": records_module(document["components"]["schemas"]),
        "calls.py": calls_module(requests),
        "resources.py": generate_resources.types_module(resources),
        "report_names.py": generate_reports.table_module(reports),
        "reports.py": generate_reports.types_module(reports),
        "routes.py": generate_api.table_module(routes),
        "api.py": generate_api.types_module(routes, document["components"]["schemas"]),
        "changes.py": generate_resources.changes_module(resources),
        "kinds.py": generate_resources.table_module(requests, resources),
        "facts.py": facts_module(requests, responses, types),
        "returned.py": returned_module(requests, responses, types, missing),
        "samples.json": SAMPLES.read_text(encoding="utf-8"),
        "documents.json": json.dumps(list(sections()), ensure_ascii=False),
        "version.py": f'"""The version of the client, which its calls name."""\n\nVERSION = "{version()}"\n',
    }
    for name, text in files.items():
        (output / name).write_text(text, encoding="utf-8")


def version() -> str:
    """Return the version in pyproject.toml."""
    text = Path(__file__).with_name("pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def sections() -> Iterator[dict[str, str]]:
    """Yield the sections of the documents: the page, the heading and the text of each."""
    for page in PAGES:
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        for section in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
            heading, _, body = section.partition("\n")
            yield {"page": page, "heading": heading.strip(), "text": body.strip()}


def _stem(request_name: str) -> str:
    return request_name.removesuffix("Rq")


# Requests


def requests_module(requests: Mapping[str, Any]) -> str:
    """Return the module with a TypedDict for each request and each element in it."""
    names = Names()
    roots = {name: RequestReader(facts["types"]).root(name, facts) for name, facts in requests.items()}
    for name, structure in roots.items():
        names.add(name, structure, "")
        if change := change_in(structure):
            names.add(f"{_stem(name).removesuffix('Mod')}Change", change, "")
        if name.endswith("ReportQueryRq"):
            names.add(f"{name.removesuffix('QueryRq')}Filters", report_filters(structure), "")
    names.add("Line", added_line(roots.values()), "")
    named = names.named()
    lines = [
        '"""The requests of QBXML: the elements of each, with their limits and the version that added them."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict",
        "",
        "if TYPE_CHECKING:",
        "    from collections.abc import Sequence",
        "",
        "    from qbxml_queue.schema import requests as q",
        "    from qbxml_queue.values import Amount, Day, Flag, Interval, Macro, Moment, Object, Text, Whole",
        "",
        *written_structures(named, "q"),
    ]
    for name in requests:
        lines += ["", f'{_stem(name)}Request = TypedDict("{_stem(name)}Request", {{"{name}": "{name}"}})']
    lines += aliases(roots.values(), named)
    return "\n".join(lines) + "\n"


class RequestReader:
    """Reads the facts of one request."""

    def __init__(self, types: Sequence[Any]) -> None:
        self._types = types

    def root(self, name: str, facts: Mapping[str, Any]) -> Structure:
        """Return the structure of the request itself."""
        attributes = tuple(self._attributes(facts["attributes"]))
        note = "" if facts["since"] == "1.0" else f"Since QBXML {facts['since']}."
        return Structure((*attributes, *self._members(facts["content"])), f"{name}. {note}".strip())

    def _attributes(self, attributes: Mapping[str, str | int]) -> Iterator[Member]:
        for name, key in attributes.items():
            yield Member(f"@{name}", "str" if isinstance(key, str) else literal(self._types[key]))

    def _members(self, group: Mapping[str, Any]) -> tuple[Member, ...]:
        return tuple(self._group(group, certain=True, repeats=False))

    def _group(self, group: Mapping[str, Any], *, certain: bool, repeats: bool) -> Iterator[Member]:
        least, most = bounds(group.get("times", "1"))
        certain = certain and least > 0 and ("sequence" in group or len(group["choice"]) == 1)
        repeats = repeats or most != 1
        for particle in group["choice"] if "choice" in group else group["sequence"]:
            if isinstance(particle, list):
                yield self._member(particle, certain=certain, repeats=repeats)
            else:
                yield from self._group(particle, certain=certain, repeats=repeats)

    def _member(self, particle: Sequence[Any], *, certain: bool, repeats: bool) -> Member:
        name, times, key, *rest = particle
        facts: Mapping[str, Any] = rest[0] if rest else {}
        least, most = bounds(times)
        required = certain and least > 0
        repeats = repeats or most != 1
        note = notes(facts, most)
        entry = None if isinstance(key, str) else self._types[key]
        if isinstance(entry, dict):
            members = (*self._attributes(facts.get("attributes", {})), *self._members(entry))
            if name.endswith("Ref") and {member.name for member in members} <= SHORT_REFERENCE:
                limits = [f"{member.name}: {member.note}" for member in members if member.note]
                members = tuple(Member(member.name, "Text") for member in members)
                note = " ".join([note, *limits]).strip()
                form = "Sequence[{} | Object]" if repeats else "{} | Object"
                return Member(name, Structure(members), form, required, note)
            return Member(name, Structure(members), "Sequence[{}]" if repeats else "{}", required, note)
        kind = literal(entry) if entry is not None else WRITTEN.get(key, "Text")
        if "useMacro" in facts.get("attributes", {}):
            kind = f"{kind} | Macro"
        return Member(name, kind, "{0} | Sequence[{0}]" if repeats else "{}", required, note)


def change_in(request: Structure) -> Structure | None:
    """Return the fields that a Mod can change, or None for a request that is not a Mod of a version of an object."""
    for subject in request.members:
        fields = subject.kind.members if isinstance(subject.kind, Structure) else ()
        if any(member.name == "EditSequence" for member in fields):
            changing = tuple(member for member in fields if member.name not in {"ListID", "TxnID", "EditSequence"})
            return Structure(changing, f"The fields of {subject.name} that change.")
    return None


def added_line(requests: Iterable[Structure]) -> Structure:
    """Return the elements of all lines with an item in additions. An element is of one type in all of them."""
    found: dict[str, Member] = {}
    for request in requests:
        for subject in request.members:
            for line in subject.kind.members if isinstance(subject.kind, Structure) else ():
                if line.name.endswith("LineAdd") and isinstance(line.kind, Structure) and _has_item(line.kind):
                    found |= {member.name: member for member in line.kind.members if member.name not in found}
    return Structure(tuple(found.values()), "The elements of a line with an item, in any addition.")


def _has_item(line: Structure) -> bool:
    return {"ItemRef", "Quantity"} <= {member.name for member in line.members}


def report_filters(request: Structure) -> Structure:
    """Return the filters of a report: the elements behind its type, with the dates of its period in place of it."""
    members: list[Member] = []
    for member in request.members:
        if member.name == "ReportPeriod" and isinstance(member.kind, Structure):
            members += member.kind.members
        elif not member.name.startswith("@") and not member.name.endswith("ReportType"):
            members.append(member)
    return Structure(tuple(members), f"The filters of {request.note}")


def bounds(times: str) -> tuple[int, int | None]:
    """Return the least and the greatest number of occurrences."""
    short: Mapping[str, tuple[int, int | None]] = {"1": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}
    if times in short:
        return short[times]
    least, most = times.split("..")
    return int(least), int(most)


def notes(facts: Mapping[str, Any], most: int | None) -> str:
    """Return what a caller should know of an element."""
    found = []
    if "length" in facts:
        abroad = f" ({facts['length_abroad']} outside the US)" if "length_abroad" in facts else ""
        found.append(f"At most {facts['length']} characters{abroad}.")
    if "least" in facts or "most" in facts:
        found.append(f"From {facts.get('least', '…')} to {facts.get('most', '…')}.")
    if most not in {1, None}:
        found.append(f"At most {most} of them.")
    if facts.get("default"):
        found.append(f"An empty text means {facts['default']}.")
    found += [f"{value} since QBXML {version}." for value, version in facts.get("added", {}).items()]
    if "since" in facts:
        found.append(f"Since QBXML {facts['since']}.")
    return " ".join(found)


def literal(values: Iterable[str]) -> str:
    """Return the type of an enumeration."""
    return f"Literal[{', '.join(json.dumps(value) for value in values)}]"


# Responses


def responses_module(responses: Mapping[str, Any], types: Mapping[str, Any], since: Mapping[str, Any]) -> str:
    """Return the module with a TypedDict for each response and each object in it."""
    names = Names()
    reader = ResponseReader(types, since)
    roots = {name: reader.root(name, facts) for name, facts in responses.items()}
    for name, structure in roots.items():
        names.add(f"{_stem(name)}Rs", structure, "")
    named = names.named()
    lines = [
        '"""The responses of QBXML: the elements of each.',
        "",
        "Amounts, prices, quantities, percentages and rates are Decimals. An object has all members that are not",
        "NotRequired, unless IncludeRetElement left them out.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, NotRequired, TypedDict",
        "",
        "if TYPE_CHECKING:",
        "    from datetime import date, datetime, timedelta",
        "    from decimal import Decimal",
        "",
        "    from qbxml_queue.schema import responses as r",
        "",
        *written_structures(named, "r"),
        *aliases(roots.values(), named),
    ]
    return "\n".join(lines) + "\n"


class ResponseReader:
    """Reads the facts of responses."""

    def __init__(self, types: Mapping[str, Any], since: Mapping[str, Any]) -> None:
        self._values: Mapping[str, str] = types["values"]
        self._attributes: Mapping[str, Mapping[str, str]] = types["attributes"]
        self._since = since

    def root(self, request_name: str, facts: Mapping[str, Any]) -> Structure:
        """Return the structure of a result. It has a list, which may be empty, for each element that can repeat."""
        members = tuple(self._member(name, value, required=True, note="") for name, value in facts.items())
        return Structure(members, f"The result of {request_name}.")

    def _member(self, name: str, value: Any, *, required: bool, note: str) -> Member:
        form = "{}"
        if isinstance(value, list):
            (value,) = value
            form = "list[{}]"
        if not isinstance(value, dict) and name not in self._attributes:
            return Member(name, READ.get(self._values.get(name, ""), "str"), form, required, note)
        children = value if isinstance(value, dict) else {}
        attributes = (
            Member(f"@{attribute}", "int" if f"@{attribute}" in NUMBERS else "str")
            for attribute in self._attributes.get(name, ())
        )
        since = self._since.get(name, {})
        members = (
            self._member(
                child,
                inner,
                required=name.endswith("Ret") and child in IDENTITY,
                note=f"Since QBXML {since[child]}." if child in since else "",
            )
            for child, inner in children.items()
        )
        return Member(name, Structure((*attributes, *members)), form, required, note)


# Both


def written_structures(named: Mapping[Structure, str], module: str) -> Iterator[str]:
    """Yield the lines of a TypedDict for each structure. Members refer to each other through the module's own name."""
    bases: dict[tuple[tuple[str, str], ...], str] = {}
    for structure, name in named.items():
        attributes = tuple(
            (member.name, str(member.kind)) for member in structure.members if not member.name.isidentifier()
        )
        if attributes and attributes not in bases:
            bases[attributes] = base = f"_Attributes{len(bases) + 1}"
            pairs = ", ".join(
                f'"{attribute}": "{kind}"' if '"' not in kind else f'"{attribute}": {kind}'
                for attribute, kind in attributes
            )
            yield from ("", f'{base} = TypedDict("{base}", {{{pairs}}}, total=False)')
        yield from ("", f"class {name}({bases[attributes] if attributes else 'TypedDict'}):")
        yield f'    """{structure.note or name}"""'
        for member in structure.members:
            if not member.name.isidentifier():
                continue
            kind = member.form.format(
                f"{module}.{named[member.kind]}" if isinstance(member.kind, Structure) else member.kind
            )
            yield f"    {member.name}: {kind if member.required else f'NotRequired[{kind}]'}"
            if member.note:
                yield f'    """{member.note}"""'


def aliases(roots: Iterable[Structure], named: Mapping[Structure, str]) -> Iterator[str]:
    """Yield the names of objects that have the structure of another one: `VendorTypeAdd` is `CustomerTypeAdd`."""
    members = (member for root in roots for member in root.members)
    found = {member.name: named[member.kind] for member in members if isinstance(member.kind, Structure)}
    for name, alias in found.items():
        if name not in named.values():
            yield from ("", f"{name} = {alias}")


# Calls


def calls_module(requests: Mapping[str, Any]) -> str:
    """Return the protocols of the methods whose result depends on the request."""
    queries = [name for name, facts in requests.items() if is_iterable(facts)]
    lines = [
        '"""The types of the methods whose result depends on the request."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Protocol, Unpack, overload",
        "",
        "if TYPE_CHECKING:",
        "    from collections.abc import AsyncIterator, Iterator",
        "",
        "    from qbxml_queue.batches import AddOptions, Entry",
        "    from qbxml_queue.options import ExecuteOptions, IterateOptions",
        "    from qbxml_queue.schema import requests as q",
        "    from qbxml_queue.schema import responses as r",
    ]
    for protocol, method, options, result, members in (
        ("Execute", "def", "ExecuteOptions", "r.{}Rs", requests),
        ("ExecuteAsync", "async def", "ExecuteOptions", "r.{}Rs", requests),
        ("Iterate", "def", "IterateOptions", "Iterator[r.{}Rs]", queries),
        ("Add", "def", "AddOptions", "Entry[r.{}Rs]", requests),
        ("IterateAsync", "def", "IterateOptions", "AsyncIterator[r.{}Rs]", queries),
    ):
        lines += [
            "",
            f"class {protocol}(Protocol):",
            f'    """The method `{protocol.removesuffix("Async").lower()}`."""',
        ]
        for name in members:
            stem = _stem(name)
            lines.append("    @overload")
            lines.append(
                f"    {method} __call__(self, request: q.{stem}Request, /, **options: Unpack[{options}])"
                f" -> {result.format(stem)}: ..."
            )
    return "\n".join(lines) + "\n"


# Facts


def facts_module(requests: Mapping[str, Any], responses: Mapping[str, Any], types: Mapping[str, Any]) -> str:
    """Return what the client needs to know at run time."""
    single = {name: single_members(facts["content"]) for name, facts in requests.items() if is_iterable(facts)}
    values = {name: READ[kind] for name, kind in types["values"].items() if READ.get(kind, "bool") != "bool"}
    lists = {
        name: tuple(member for member, value in facts.items() if isinstance(value, list))
        for name, facts in responses.items()
    }
    return "\n".join(
        [
            '"""What the client knows of the schema at run time."""',
            "",
            "VALUES: dict[str, str] = {",
            *(f'    "{name}": "{kind}",' for name, kind in sorted(values.items())),
            "}",
            '"""The elements of responses that are not texts or booleans, and the Python type of each."""',
            "",
            "LISTS: dict[str, tuple[str, ...]] = {",
            *(f'    "{name}": {members!r},' for name, members in lists.items() if members),
            "}",
            '"""The elements that may repeat in the result of each request."""',
            "",
            "SINGLE: dict[str, frozenset[str]] = {",
            *(f'    "{name}": frozenset({members!r}),' for name, members in single.items() if members),
            "}",
            '"""The queries that can be sent in pages, and the elements with which each cannot."""',
            "",
        ]
    )


def returned_module(
    requests: Mapping[str, Any], responses: Mapping[str, Any], types: Mapping[str, Any], missing: Mapping[str, str]
) -> str:
    """Return what `qbxml_queue.check` compares responses with: their elements in the order of the schema."""
    trees = {f"{_stem(name)}Rs": _tree(facts) for name, facts in responses.items()}
    editions = {name: tuple(countries.split()) for name, countries in missing.items()}
    return "\n".join(
        [
            '"""The elements of responses in the order of the schema."""',
            "",
            "from typing import Any",
            "",
            "RETURNED: dict[str, dict[str, Any]] = {",
            *(f'    "{name}": {tree!r},' for name, tree in trees.items()),
            "}",
            '"""The elements in each response, in their order, each with those in it. A value has none."""',
            "",
            "TYPES: dict[str, str] = {",
            *(f'    "{name}": "{kind}",' for name, kind in types["values"].items()),
            "}",
            '"""The type in QBXML of each element that is a value."""',
            "",
            "IDENTITY = frozenset(",
            f"    {sorted(IDENTITY)!r}",
            ")",
            '"""The elements that QuickBooks returns with each object that has them."""',
            "",
            "SINCE: dict[str, str] = {",
            *(f'    "{name}": "{facts["since"]}",' for name, facts in requests.items()),
            "}",
            '"""The version of QBXML that added each request."""',
            "",
            "NOT_IN: dict[str, tuple[str, ...]] = {",
            *(f'    "{name}": {countries!r},' for name, countries in editions.items()),
            "}",
            '"""The editions, by country, that do not have a request."""',
            "",
        ]
    )


def _tree(value: Any) -> dict[str, Any]:
    """Return the elements of an object, each with those in it."""
    if isinstance(value, list):
        return _tree(value[0])
    return {name: _tree(inner) for name, inner in value.items()} if isinstance(value, dict) else {}


def is_iterable(facts: Mapping[str, Any]) -> bool:
    """Whether a request can return its objects page by page."""
    return "iterator" in facts["attributes"]


def single_members(group: Mapping[str, Any]) -> list[str]:
    """Return the elements with which a query cannot be sent in pages: MaxReturned, and its alternatives."""
    particles = group.get("choice") or group["sequence"]
    groups = [particle for particle in particles if isinstance(particle, dict)]
    if any(particle[0] == "MaxReturned" for particle in particles if isinstance(particle, list)):
        return ["MaxReturned"]
    for inner in groups:
        if found := single_members(inner):
            siblings = (
                [particle[0] for particle in particles if isinstance(particle, list)] if "choice" in group else []
            )
            return found + siblings
    return []


# Records


def records_module(schemas: Mapping[str, Any]) -> str:
    """Return the module with a TypedDict for each object of the API."""
    lines = [
        '"""The objects of the API, as its OpenAPI document describes them."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict",
    ]
    aliases = []
    for name, schema in schemas.items():
        properties = schema.get("properties")
        if properties is None or isinstance(schema.get("additionalProperties"), dict):
            # A TypedDict has no members of any name, such as that of a request.
            aliases += ["", f"{name}: TypeAlias = {openapi_type(schema)!r}"]
            continue
        required = schema.get("required", ())
        kinds = {
            member: openapi_type(value) if member in required else f"NotRequired[{openapi_type(value)}]"
            for member, value in properties.items()
        }
        if any(keyword.iskeyword(member) or not member.isidentifier() for member in properties):
            pairs = ", ".join(f"{json.dumps(member)}: {json.dumps(kind)}" for member, kind in kinds.items())
            lines += ["", f'{name} = TypedDict("{name}", {{{pairs}}})']
            continue
        lines += ["", f"class {name}(TypedDict):", f"    {docstring(schema.get('description', name))}"]
        for member, value in properties.items():
            lines.append(f"    {member}: {kinds[member]}")
            if "description" in value:
                lines.append(f"    {docstring(value['description'])}")
    return "\n".join(lines + aliases) + "\n"


def docstring(text: str) -> str:
    """Return a text as a docstring."""
    sentence = text.rstrip(".").replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{sentence}."""'


def openapi_type(schema: Mapping[str, Any]) -> str:  # noqa: PLR0911 - one return for each kind
    """Return the type of a JSON schema."""
    if "$ref" in schema:
        name: str = schema["$ref"].rpartition("/")[2]
        return "Any" if name == "ResponseElement" else name
    if "anyOf" in schema or "oneOf" in schema:
        kinds = dict.fromkeys(openapi_type(part) for part in schema.get("anyOf") or schema["oneOf"])
        return "Any" if "Any" in kinds else " | ".join(kinds)
    if "const" in schema:
        return literal([schema["const"]])
    if "enum" in schema:
        return literal(schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return openapi_type({"anyOf": [{**schema, "type": part} for part in kind]})
    if kind == "array":
        return f"list[{openapi_type(schema['items'])}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        if not isinstance(values, dict):
            return "dict[str, Any]"
        members = [values, *schema.get("properties", {}).values()]
        return f"dict[str, {openapi_type({'anyOf': members})}]"
    simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
    return simple.get(kind or "", "Any")


if __name__ == "__main__":
    main()
