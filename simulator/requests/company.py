"""HostQuery, CompanyQuery and PreferencesQuery: what QuickBooks tells about itself and the company file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.company_files import facts
from simulator.requests.answers import Answer
from simulator.schema.values import is_true

if TYPE_CHECKING:
    from simulator.books import Fields
    from simulator.requests.context import Context


def host(context: Context) -> Answer:
    """Answer HostQueryRq."""
    sizes = is_true(context.node.findtext("IncludeListMetaData/IncludeMaxCapacity"))
    return _answer(context, "HostRet", facts.host(context.facts.product, list_sizes=sizes))


def company(context: Context) -> Answer:
    """Answer CompanyQueryRq."""
    return _answer(context, "CompanyRet", facts.company(context.facts))


def preferences(context: Context) -> Answer:
    """Answer PreferencesQueryRq."""
    return _answer(context, "PreferencesRet", facts.preferences())


def _answer(context: Context, name: str, fields: Fields) -> Answer:
    included = {child.text for child in context.node.findall("IncludeRetElement")}
    owners = {child.text for child in context.node.findall("OwnerID")}
    selected = {
        key: [each for each in value if each["OwnerID"] in owners] if key == "DataExtRet" else value
        for key, value in fields.items()
        if not included or key in included
    }
    return Answer(rows=[(name, selected)])
