"""Makes the types and the table of the resources: `books.customers.create(…)`, for each object of QuickBooks.

`generate.py` writes what this module returns. A resource is an object that a query finds by its ListID or TxnID. Its
methods follow from the requests that the object has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PLURALS = {"Terms": "Terms", "StandardTerms": "StandardTerms", "DateDrivenTerms": "DateDrivenTerms"}
"""Names that are plural already."""

OWNERS = ("CustomerRef", "VendorRef", "AccountRef", "BankAccountRef", "CreditCardAccountRef")
"""The elements that own the number of a transaction. `if_exists` finds a transaction by its number and one of them."""

NUMBERED_OTHERWISE = {"JournalEntry", "TransferInventory", "BuildAssembly"}
"""Transactions with a number that has no owner, so `if_exists` cannot find them."""

WITHOUT_CUSTOM_FIELDS = {"Account", "OtherName"}
"""Objects whose data extensions are private data of programs only: users define fields for the others of the schema."""

CHANGES = (
    "RecordOmitted",
    "Deleted",
    "Derived",
    "SnapshotStarted",
    "SnapshotCompleted",
    "ResyncRequired",
    "ReadingFailed",
    "ReadingRecovered",
)
"""What `changes` yields beside a record that has changed: the classes of `qbxml_queue.changes`."""

METHODS = ("create", "ensure", "get", "find", "list", "update", "delete", "void")


@dataclass(frozen=True)
class Resource:
    """What the client knows of a resource at run time. The members are those of `qbxml_queue.resources.Kind`."""

    name: str
    returns: tuple[str, ...]
    methods: tuple[str, ...]
    key: str
    sought: str | None
    modified: tuple[str, ...]
    has_lines: bool
    added_line: str | None
    changed_lines: tuple[str, ...]
    if_exists: str
    custom_fields: str | None

    @property
    def attribute(self) -> str:
        """Return the name of the resource at the client, such as `sales_receipts`."""
        return snake_case(self.plural)

    @property
    def plural(self) -> str:
        """Return the name of the types, such as `SalesReceipts`."""
        return PLURALS.get(self.name) or _plural(self.name)


def resources(requests: Mapping[str, Any], responses: Mapping[str, Any]) -> list[Resource]:
    """Return the resource of each object that a query finds by its id."""
    found = []
    for query, facts in requests.items():
        elements = names_in(facts["content"])
        key = next((name for name in ("ListID", "TxnID") if name in elements), None)
        returned = responses[query]
        if query.endswith("QueryRq") and key and all(isinstance(value, list) for value in returned.values()):
            found.append(_resource(query.removesuffix("QueryRq"), key, requests, tuple(returned), elements))
    return sorted(found, key=lambda resource: resource.attribute)


def _resource(
    name: str, key: str, requests: Mapping[str, Any], returns: tuple[str, ...], sought_by: Sequence[str]
) -> Resource:
    kind = "List" if key == "ListID" else "Txn"
    added = members_of(requests.get(f"{name}AddRq"))
    changed = members_of(requests.get(f"{name}ModRq"))
    sought = next((one for one in ("FullName", "RefNumber", "Name") if one in sought_by), None)
    is_owned = sought == "RefNumber" and name not in NUMBERED_OTHERWISE and any(owner in added for owner in OWNERS)
    has = {
        "create": bool(added),
        "ensure": bool(added) and (sought == "FullName" or is_owned),
        "get": True,
        "find": sought is not None,
        "list": True,
        "update": "EditSequence" in changed,
        "delete": name in _types_in(requests[f"{kind}DelRq"]),
        "void": kind == "Txn" and name in _types_in(requests["TxnVoidRq"]),
    }
    ranges = [("FromModifiedDate",), ("ModifiedDateRangeFilter", "FromModifiedDate")]
    return Resource(
        name=name,
        returns=returns,
        methods=tuple(method for method in METHODS if has[method]),
        key=key,
        sought=sought,
        modified=next((path for path in ranges if path[0] in sought_by), ()),
        has_lines="IncludeLineItems" in sought_by,
        added_line=f"{name}LineAdd" if f"{name}LineAdd" in added else None,
        changed_lines=tuple(line for line in changed if line.endswith(("LineMod", "LineGroupMod"))),
        if_exists="update" if kind == "List" and "EditSequence" in changed else "return",
        custom_fields=_custom_fields(name, requests) if "OwnerID" in sought_by else None,
    )


def _custom_fields(name: str, requests: Mapping[str, Any]) -> str | None:
    """Return the type of an object in DataExtMod, or None if it cannot have custom fields."""
    kind = "Item" if name.startswith("Item") and name != "ItemReceipt" else name
    known = [one for types in requests["DataExtModRq"]["types"] if isinstance(types, list) for one in types]
    return kind if kind in known and kind not in WITHOUT_CUSTOM_FIELDS else None


def members_of(facts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the elements of the object in an Add or a Mod: the type of each."""
    if facts is None:
        return {}
    [subject, *_] = particles(facts["content"])
    types = facts["types"]
    return {
        particle[0]: types[particle[2]] if isinstance(particle[2], int) else particle[2]
        for particle in particles(types[subject[2]])
    }


def particles(group: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    """Yield the elements of a content model."""
    for particle in group.get("choice") or group["sequence"]:
        if isinstance(particle, list):
            yield particle
        else:
            yield from particles(particle)


def names_in(group: Mapping[str, Any]) -> list[str]:
    """Return the names of the elements of a content model."""
    return [particle[0] for particle in particles(group)]


def _types_in(facts: Mapping[str, Any]) -> Sequence[str]:
    """Return the types of objects that a deletion, or a voiding, has."""
    types: Sequence[str] = facts["types"][next(particles(facts["content"]))[2]]
    return types


def _plural(name: str) -> str:
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x")) else f"{name}s"


def snake_case(name: str) -> str:
    """Return a name of QBXML as Python writes it: `ARRefundCreditCards` is `ar_refund_credit_cards`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# The table


def table_module(requests: Mapping[str, Any], found: Sequence[Resource]) -> str:
    """Return the module with what the client knows of each resource at run time."""
    lines = [
        '"""What the client knows of the resources at run time."""',
        "",
        "from qbxml_queue.kinds import Kind",
        "",
        "KINDS: dict[str, Kind] = {",
        *(f'    "{one.attribute}": {_constructor(one)},' for one in found),
        "}",
        '"""The resources by their names."""',
        "",
        "PARTS: dict[str, tuple[str, ...]] = {",
        *(f'    "{name}": {parts!r},' for name, parts in sorted(_parts(requests, found).items())),
        "}",
        '"""The parts of each address."""',
        "",
    ]
    return "\n".join(lines)


def _constructor(resource: Resource) -> str:
    values = ", ".join(f"{name}={value!r}" for name, value in vars(resource).items())
    return f"Kind({values})"


def _parts(requests: Mapping[str, Any], found: Sequence[Resource]) -> dict[str, tuple[str, ...]]:
    """Return the addresses in Mods, and the lines of each."""
    changed = [members_of(requests[f"{one.name}ModRq"]) for one in found if "update" in one.methods]
    return {
        member: tuple(names_in(kind))
        for members in changed
        for member, kind in members.items()
        if member.endswith("Address") and isinstance(kind, dict)
    }


# Types


def types_module(found: Sequence[Resource]) -> str:
    """Return the module with the type of each resource, for the synchronous client, the asyncio client and a batch."""
    lines = [
        '"""The types of the resources. Only type checkers and editors read them."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import AsyncIterator, Iterator, Mapping, Sequence",
        "from datetime import date, datetime",
        "from typing import Protocol, Unpack",
        "",
        "from qbxml_queue.batches import AddOptions, Entry, StepOptions",
        "from qbxml_queue.kinds import CustomFields, Outcome",
        "from qbxml_queue.options import CallOptions, CreateOptions, ListOptions, ObjectOptions, ReadOptions",
        "from qbxml_queue.options import UpdateOptions",
        "from qbxml_queue.schema import requests as q",
        "from qbxml_queue.schema import responses as r",
        "from qbxml_queue.schema.reports import Reports, ReportsAsync",
        "from qbxml_queue.values import Text",
    ]
    for resource in found:
        lines += _arguments(resource)
        lines += _methods(resource, resource.plural, "def", "{}", "Iterator")
        lines += _methods(resource, f"{resource.plural}Async", "async def", "{}", "AsyncIterator")
        lines += _steps(resource)
    for suffix, subject in (("", "client"), ("Async", "asyncio client"), ("InBatch", "batch")):
        members = [one for one in found if suffix != "InBatch" or _in_batch(one)]
        lines += [
            "",
            f"class Resources{suffix}:",
            f'    """The resources of a{"n" if subject.startswith("a") else ""} {subject}."""',
            *(f"    {one.attribute}: {one.plural}{suffix}" for one in members),
            *([] if suffix == "InBatch" else [f"    reports: Reports{suffix}"]),
        ]
    return "\n".join(lines) + "\n"


def _arguments(resource: Resource) -> Iterator[str]:
    """Yield the TypedDicts of the arguments of a resource, and those of its results."""
    name = resource.name
    if resource.custom_fields and resource.returns == (f"{name}Ret",):
        yield from ("", f"class {name}Read(r.{name}Ret, CustomFields):")
        yield f'    """{name}Ret, and its custom fields, if they were asked for or written."""'
    if "create" in resource.methods:
        yield from _additions(resource)
    if "update" in resource.methods:
        yield from _changes(resource)
    yield from ("", f"class {name}Filters(q.{name}QueryRq, ListOptions, total=False):")
    yield f'    """The filters of {name}Query, and how it is queued."""'
    if resource.modified:
        yield "    modified_since: datetime | date | str"
        yield f'    """The same as {"/".join(resource.modified)}."""'
    if resource.custom_fields:
        yield "    custom_fields: bool"
        yield '    """True also reads the custom fields, as `custom_fields` of each object."""'


def _additions(resource: Resource) -> Iterator[str]:
    """Yield the TypedDicts of the arguments of `create` and `ensure`, and that of their result."""
    name, line = resource.name, resource.added_line
    options = {"Create": "CreateOptions", "CreateStep": "AddOptions"}
    if "ensure" in resource.methods:
        options |= {"Ensure": "CallOptions", "EnsureStep": "StepOptions"}
    for suffix, base in options.items():
        yield from ("", f"class {name}{suffix}(q.{name}Add, {base}, total=False):")
        yield f'    """The fields of {name}Add, and how the request is queued."""'
        if line:
            yield f"    lines: Sequence[q.{line}]"
            yield f'    """The same as {line}."""'
        if resource.custom_fields:
            yield "    custom_fields: Mapping[str, str]"
            yield '    """Custom fields by their names, as QuickBooks defines them. At most 255 characters each."""'
    yield from ("", f"class {name}Written({_read(resource)}, Outcome):", f'    """{name}Ret, and its outcome."""')


def _changes(resource: Resource) -> Iterator[str]:
    """Yield the TypedDict of the arguments of `update`."""
    name, changed = resource.name, f"{resource.name}LineMod"
    yield from ("", f"class {name}Update(q.{name}Change, UpdateOptions, total=False):")
    yield f'    """The fields of {name}Mod that change, and how the request is queued."""'
    if changed in resource.changed_lines:
        yield f"    lines: Sequence[q.{changed}]"
        yield f'    """The same as {changed}."""'
    if resource.changed_lines:
        yield "    remove_lines: Sequence[str]"
        yield '    """The TxnLineIDs of the lines to remove."""'
    if resource.custom_fields:
        yield "    custom_fields: Mapping[str, str | None]"
        yield '    """Custom fields by their names, as they are defined in QuickBooks. None clears one."""'


def _read(resource: Resource) -> str:
    """Return the type of an object as it is read."""
    form = "{}Read" if resource.custom_fields else "r.{}Ret"
    return " | ".join(form.format(one.removesuffix("Ret")) for one in resource.returns)


def _methods(resource: Resource, title: str, definition: str, form: str, iterator: str) -> Iterator[str]:
    """Yield the type of a resource of a client."""
    name, key, sought = resource.name, resource.key, resource.sought
    returned = _read(resource)
    reading = "ObjectOptions" if resource.custom_fields else "ReadOptions"
    deleted = "List" if key == "ListID" else "Txn"
    called = {
        "create": (f"**fields: Unpack[{name}Create]", f"{name}Written", f"Add one with {name}Add."),
        "ensure": (f"**fields: Unpack[{name}Ensure]", f"{name}Written", _ensured(resource)),
        "get": (f"{key}: str, /, **options: Unpack[{reading}]", returned, "Return the one with an id."),
        "find": (
            f"{sought}: str, /, **options: Unpack[{reading}]",
            f"{returned} | None",
            f"Return the one with a {sought}, or None. Raises Ambiguous.",
        ),
        "update": (f"{key}: str, /, **fields: Unpack[{name}Update]", returned, f"Change fields with {name}Mod."),
        "delete": (f"{key}: str, /, **options: Unpack[CallOptions]", f"r.{deleted}DelRs", "Delete the one with an id."),
        "void": (f"{key}: str, /, **options: Unpack[CallOptions]", "r.TxnVoidRs", "Void the one with an id."),
    }
    yield from ("", f"class {title}(Protocol):", f'    """{resource.plural} in the books."""')
    for method in resource.methods:
        if method != "list":
            arguments, result, note = called[method]
            yield f"    {definition} {method}(self, {arguments}) -> {form.format(result)}:"
            yield f'        """{note}"""'
    yield f"    def list(self, **filters: Unpack[{name}Filters]) -> {iterator}[{returned}]:"
    yield '        """Yield those that a query finds, page by page."""'


def _ensured(resource: Resource) -> str:
    if resource.if_exists == "update":
        return "Add it if its name is new. Otherwise change what differs."
    return f"Add it if its {'name' if resource.key == 'ListID' else 'number'} is new. Otherwise return it."


def _in_batch(resource: Resource) -> bool:
    return bool({"create", "delete", "void"} & set(resource.methods))


def _steps(resource: Resource) -> Iterator[str]:
    """Yield the type of a resource of a batch."""
    name, key = resource.name, resource.key
    deleted = "List" if key == "ListID" else "Txn"
    called = {
        "create": (f"**fields: Unpack[{name}CreateStep]", f"{name}AddRs", f"Add one with {name}Add."),
        "ensure": (f"**fields: Unpack[{name}EnsureStep]", f"{name}AddRs", _ensured(resource)),
        "delete": (f"{key}: Text, /, **options: Unpack[StepOptions]", f"{deleted}DelRs", "Delete one."),
        "void": (f"{key}: Text, /, **options: Unpack[StepOptions]", "TxnVoidRs", "Void one."),
    }
    if not _in_batch(resource):
        return
    yield from ("", f"class {resource.plural}InBatch(Protocol):", f'    """{resource.plural} in a batch."""')
    for method in resource.methods:
        if method in called:
            arguments, result, note = called[method]
            yield f"    def {method}(self, {arguments}) -> Entry[r.{result}]:"
            yield f'        """{note}"""'


# Changes


def changes_module(found: Sequence[Resource]) -> str:
    """Return the module with the type of a change of each object that a subscription can name."""
    names = sorted(one.name for one in found if one.modified and one.returns == (f"{one.name}Ret",))
    return "\n".join(
        [
            '"""The types of the changes of the books."""',
            "",
            "from typing import Literal, TypeAlias, Union",
            "",
            "from qbxml_queue import changes as c",
            "from qbxml_queue.schema import responses as r",
            "",
            "RecordChanged: TypeAlias = Union[",
            *(f'    "c.Changed[Literal[{name!r}], r.{name}Ret]",' for name in names),
            "]",
            '"""A record has changed. Its `object` tells the type of its `record`."""',
            "",
            "BooksChange: TypeAlias = Union[",
            "    RecordChanged,",
            *(f"    c.{name}," for name in CHANGES),
            "]",
            '"""What `changes` yields."""',
            "",
        ]
    )
