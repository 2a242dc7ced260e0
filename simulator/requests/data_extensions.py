"""DataExtDef… and DataExt…: definitions of data extensions, and their values on list objects, transactions and lines.

Values are stored with their records, those of the company with the company file.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books import GROUPS
from simulator.books.custom_fields import carriers_of, check_assigned, definition_of, required_definition, value_of
from simulator.books.records import lines_of
from simulator.requests.query import included, rows_response
from simulator.requests.reading import not_found
from simulator.requests.responses import Response
from simulator.schema.values import is_true

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Fields, Kind, Record
    from simulator.requests.context import Context


def add_definition(context: Context) -> Response:
    """Answer DataExtDefAddRq. Raises `RequestError` 3180 when the owner has the definition already."""
    content, books = context.node[0], context.books
    owner, name = content.findtext("OwnerID", ""), content.findtext("DataExtName", "").strip()
    if not name:
        raise RequestError(3210, 'The "DataExtName" field has an invalid value "".')
    if definition_of(books, owner, name) is not None:
        raise _defined(name)
    definition = {
        "OwnerID": owner,
        "DataExtID": str(len(books.custom_fields)),
        "DataExtName": name,
        "DataExtType": content.findtext("DataExtType", ""),
        "AssignToObject": _unique(child.text or "" for child in content.findall("AssignToObject")),
        **_settings(content),
    }
    books.custom_fields.append(definition)
    return Response(rows=[("DataExtDefRet", included(context.node, definition))])


def change_definition(context: Context) -> Response:
    """Answer DataExtDefModRq: another name, more or fewer kinds of objects."""
    content, books = context.node[0], context.books
    definition = _required_definition(books, content)
    new_name = content.findtext("DataExtNewName", "").strip()
    if new_name and definition_of(books, definition["OwnerID"], new_name) not in (None, definition):
        raise _defined(new_name)
    removed = {child.text for child in content.findall("RemoveFromObject")}
    added = [child.text or "" for child in content.findall("AssignToObject")]
    former_name = definition["DataExtName"]
    definition["AssignToObject"] = [
        object_kind for object_kind in _unique([*definition["AssignToObject"], *added]) if object_kind not in removed
    ]
    definition |= {name: value for name, value in _settings(content).items() if content.find(name) is not None}
    if new_name:
        definition["DataExtName"] = new_name
        _replace_values(books, definition["OwnerID"], former_name, new_name)
    return Response(rows=[("DataExtDefRet", included(context.node, definition))])


def delete_definition(context: Context) -> Response:
    """Answer DataExtDefDelRq: delete the definition and all its values."""
    books = context.books
    definition = _required_definition(books, context.node)
    books.custom_fields.remove(definition)
    _replace_values(books, definition["OwnerID"], definition["DataExtName"], None)
    return Response(
        rows=[
            (
                "DataExtDefDelRet",
                {
                    "OwnerID": definition["OwnerID"],
                    "DataExtName": definition["DataExtName"],
                    "TimeDeleted": books.clock.text(books.clock.seconds()),
                },
            )
        ]
    )


def query_definitions(context: Context) -> Response:
    """Answer DataExtDefQueryRq: all definitions, those of some owners, or those for some kinds of objects."""
    request = context.node
    owners = {child.text for child in request.findall("OwnerID")}
    objects = {child.text for child in request.findall("AssignToObject")}
    matching = [
        definition
        for definition in context.books.custom_fields
        if (not owners or definition["OwnerID"] in owners)
        and (not objects or objects.intersection(definition["AssignToObject"]))
    ]
    return rows_response(context, matching, lambda definition: ("DataExtDefRet", included(request, definition)))


def set_value(context: Context) -> Response:
    """Answer DataExtAddRq and DataExtModRq. Both set a value, even if there is one or none yet."""
    content = context.node[0]
    definition, text = _required_definition(context.books, content), content.findtext("DataExtValue", "")
    _store(context, content, definition, text)
    return Response(rows=[("DataExtRet", value_of(definition, text, tuple(definition["AssignToObject"])))])


def delete_value(context: Context) -> Response:
    """Answer DataExtDelRq. Raises `RequestError` 3120 when the object has no value."""
    content, books = context.node[0], context.books
    _store(context, content, _required_definition(books, content), None)
    fields: Fields = {child.tag: child.text or "" for child in content if not len(child)}
    reference = content.find("ListObjRef")
    if reference is not None:
        fields["ListObjRef"] = _list_object(books, content).reference()
    fields["TimeDeleted"] = books.clock.text(books.clock.seconds())
    return Response(rows=[("DataExtDelRet", fields)])


def _store(context: Context, content: Node, definition: Fields, text: str | None) -> None:
    """Set or delete (None) the value of a data extension at the place that a request names."""
    books, line_id = context.books, content.findtext("TxnLineID")
    if content.find("OtherDataExtType") is not None:
        _store_company_value(context, definition, text)
        return
    record = _list_object(books, content) if content.find("ListObjRef") is not None else _transaction(books, content)
    fields = deepcopy(record.fields)
    holder: Fields | None = fields
    if line_id:
        holder = next((line for _, line in lines_of(record.kind, fields) if line.get("TxnLineID") == line_id), None)
    if holder is None:
        raise not_found(line_id or record.id)
    former = holder.get("DataExtRet", [])
    check_assigned(definition, carriers_of(record.kind))
    rows = [row for row in former if not _is_value_of(row, definition)]
    if text is None and len(rows) == len(former):
        raise not_found(definition["DataExtName"])
    holder["DataExtRet"] = [*rows, value_of(definition, text, carriers_of(record.kind))] if text else rows
    store = books.change if books.does("custom_field_touches_record") else books.rewrite
    store(record, fields)


def _store_company_value(context: Context, definition: Fields, text: str | None) -> None:
    check_assigned(definition, ("Company",))
    owner, name = definition["OwnerID"], definition["DataExtName"]
    values = context.facts.private_fields.setdefault(owner, {})
    if text is None and name not in values:
        raise not_found(name)
    if text is None:
        del values[name]
    else:
        values[name] = value_of(definition, text, ("Company",))["DataExtValue"]


def _list_object(books: Books, content: Node) -> Record:
    kinds = GROUPS[content.findtext("ListDataExtType", "")]
    list_id, full_name = content.findtext("ListObjRef/ListID"), content.findtext("ListObjRef/FullName", "")
    record = books.list_object(list_id, kinds) if list_id else books.named(full_name, kinds)
    if record is None:
        raise not_found(list_id or full_name)
    return record


def _transaction(books: Books, content: Node) -> Record:
    txn_id = content.findtext("TxnID", "")
    record = books.transaction(txn_id, GROUPS.get(content.findtext("TxnDataExtType", ""), ("",)))
    if record is None:
        raise not_found(txn_id)
    return record


def _replace_values(books: Books, owner: str, name: str, new_name: str | None) -> None:
    """Rename the values of a definition everywhere, or delete them (None). The records keep their EditSequence."""

    def is_value(custom_field: Fields) -> bool:
        return (custom_field["OwnerID"], custom_field["DataExtName"]) == (owner, name)

    for record in (*books.lists.values(), *books.transactions.values()):
        if not any(is_value(custom_field) for custom_field in _custom_fields(record.kind, record.fields)):
            continue
        fields = deepcopy(record.fields)
        for custom_field in _custom_fields(record.kind, fields):
            if new_name and is_value(custom_field):
                custom_field["DataExtName"] = new_name
        for holder in _holders(record.kind, fields):
            if "DataExtRet" in holder:
                holder["DataExtRet"] = [value for value in holder["DataExtRet"] if not is_value(value)]
        books.rewrite(record, fields)


def _holders(kind: Kind, fields: Fields) -> Iterator[Fields]:
    """Yield the parts of a record that can have data extensions: the whole and its lines."""
    yield fields
    yield from (line for _, line in lines_of(kind, fields))


def _custom_fields(kind: Kind, fields: Fields) -> Iterator[Fields]:
    return (value for holder in _holders(kind, fields) for value in holder.get("DataExtRet", ()))


def _settings(content: Node) -> Fields:
    """Return the fields that definitions have since qbXML 12.0."""
    return {
        "DataExtListRequire": "true" if is_true(content.findtext("DataExtListRequire")) else "false",
        "DataExtTxnRequire": "true" if is_true(content.findtext("DataExtTxnRequire")) else "false",
        "DataExtFormatString": content.findtext("DataExtFormatString", ""),
    }


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _defined(name: str) -> RequestError:
    return RequestError(
        3180, f'There was an error when saving a DataExtDef.  QuickBooks error message: "{name}" is already defined.'
    )


def _required_definition(books: Books, content: Node) -> Fields:
    return required_definition(books, content.findtext("OwnerID", ""), content.findtext("DataExtName", ""))


def _is_value_of(value: Fields, definition: Fields) -> bool:
    return all(value[name] == definition[name] for name in ("OwnerID", "DataExtName"))
