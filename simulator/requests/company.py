"""Requests about QuickBooks itself and the company file: host, company, preferences, tax lines, the 1099 form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books import KINDS
from simulator.requests import facts
from simulator.requests.query import NO_MATCH
from simulator.requests.reading import Reader
from simulator.requests.responses import Response
from simulator.rules.lists import TAX_LINES
from simulator.rules.preferences import is_on
from simulator.schema.values import is_true

if TYPE_CHECKING:
    from simulator.books import Fields
    from simulator.requests.context import Context

FORM_1099 = "form_1099"
"""The key of the mapping of the form 1099 in the preferences of the books."""


def host(context: Context) -> Response:
    """Answer HostQueryRq."""
    sizes = is_true(context.node.findtext("IncludeListMetaData/IncludeMaxCapacity"))
    mode = "SingleUser" if is_on(context.books, "single_user_mode") else "MultiUser"
    return _with_fields(context, "HostRet", facts.host(context.facts.product, list_sizes=sizes, file_mode=mode))


def company(context: Context) -> Response:
    """Answer CompanyQueryRq."""
    return _with_fields(context, "CompanyRet", facts.company(context.facts))


def preferences(context: Context) -> Response:
    """Answer PreferencesQueryRq."""
    return _with_fields(context, "PreferencesRet", facts.preferences(context.facts, context.books))


def activity(context: Context) -> Response:
    """Answer CompanyActivityQueryRq: when the file was restored from a backup. It was never condensed."""
    books = context.books
    is_reported = books.last_restore and books.does("restore_is_reported")
    fields = {"LastRestoreTime": books.clock.text(books.last_restore)} if is_reported else {}
    return _with_fields(context, "CompanyActivityRet", fields)


def tax_lines(_context: Context) -> Response:
    """Answer AccountTaxLineInfoQueryRq: the lines of the income tax form that accounts can name."""
    lines = [{"TaxLineID": str(number), "TaxLineName": name} for number, name in TAX_LINES.items()]
    return Response(rows=[("AccountTaxLineInfoRet", line) for line in lines])


def form_1099(context: Context) -> Response:
    """Answer Form1099CategoryAccountMappingQueryRq: which accounts belong to which box of the form 1099."""
    boxes = [child.text or "" for child in context.node.findall("MappingCategory")]
    return _form_1099(context, boxes)


def change_form_1099(context: Context) -> Response:
    """Answer Form1099CategoryAccountMappingModRq. An account belongs to one box. ForceMapping moves it."""
    content, books = context.node[0], context.books
    mapping = books.preferences.setdefault(FORM_1099, {"IsFiling1099Misc": "false", "Boxes": {}})
    for box in content.findall("CategoryAccountMappingMod"):
        category = box.findtext("MappingCategory", "")
        accounts = []
        for account in box.findall("MappingAccount"):
            reference = Reader(books, KINDS["Check"]).reference_in(account, "AccountRef")
            for other, former in mapping["Boxes"].items():
                if other != category and reference in former["AccountRef"]:
                    if not is_true(account.findtext("ForceMapping")):
                        raise RequestError(3210, f'The "AccountRef" field has an invalid value: it belongs to {other}.')
                    former["AccountRef"].remove(reference)
            accounts.append(reference)
        mapping["Boxes"][category] = {"AccountRef": accounts, "Threshold": box.findtext("Threshold") or "600.00"}
    filing = content.findtext("IsFiling1099Misc")
    if filing is not None:
        mapping["IsFiling1099Misc"] = "true" if is_true(filing) else "false"
    return _form_1099(context, [])


def _form_1099(context: Context, boxes: list[str]) -> Response:
    mapping = context.books.preferences.get(FORM_1099, {"IsFiling1099Misc": "false", "Boxes": {}})
    rows = [
        {"MappingCategory": category, **box}
        for category, box in mapping["Boxes"].items()
        if not boxes or category in boxes
    ]
    fields = {"IsFiling1099Misc": mapping["IsFiling1099Misc"], "CategoryAccountMapping": rows}
    return Response(rows=[("Form1099CategoryAccountMappingRet", fields)])


def nothing_recorded(_context: Context) -> Response:
    """Answer a query for objects that no company here has: lost data events, tax returns, payroll periods."""
    return Response(1, message=NO_MATCH)


def nothing_to_do(_context: Context) -> Response:
    """Answer a request that has no effect, because there is no lost data event to forget."""
    return Response()


def needs_user_interface(context: Context) -> Response:
    """Refuse a request that opens a form in QuickBooks: the simulated one has no user interface."""
    raise RequestError(3250, f"{NOT_AVAILABLE}: {context.name} needs the user interface.")


def _with_fields(context: Context, name: str, fields: Fields) -> Response:
    included = {child.text for child in context.node.findall("IncludeRetElement")}
    owners = {child.text for child in context.node.findall("OwnerID")}
    selected = {
        key: [member for member in value if member["OwnerID"] in owners] if key == "DataExtRet" else value
        for key, value in fields.items()
        if not included or key in included
    }
    return Response(rows=[(name, selected)])
