"""Suggests the request that is meant by a name that no request of QBXML has."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from domain.qbxml.schema.content_models import request_model
from domain.qbxml.schema.facts import request_names, response_facts
from domain.suggestions import AFFIXES, MAX_COMPARED_CHARACTERS, MIN_SIMILARITY, did_you_mean, letters, words

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERBS: Mapping[str, str] = {
    **dict.fromkeys(("add", "create", "new", "insert", "post"), "add"),
    **dict.fromkeys(("mod", "modify", "update", "edit", "change", "patch", "put"), "mod"),
    **dict.fromkeys(("query", "get", "list", "read", "find", "search", "fetch"), "query"),
    **dict.fromkeys(("del", "delete", "remove"), "del"),
    "void": "void",
}
"""The verbs of QBXML by those that other APIs use."""

_NOUNS: Mapping[str, str] = {
    "product": "item",
    "payment": "receivepayment",
    "taxcode": "salestaxcode",
    "companyinfo": "company",
    "journal": "journalentry",
    "quote": "estimate",
    "creditnote": "creditmemo",
    "po": "purchaseorder",
    "supplier": "vendor",
    "client": "customer",
    "job": "customer",
}
"""The objects of QBXML by the names that other APIs use."""

_REMOVALS = {"del": ("ListDel", "TxnDel"), "void": ("TxnVoid",)}


def suggested_request(name: str, min_similarity: float = MIN_SIMILARITY) -> str | None:
    """Return a suggestion with the requests that a name can mean, or None if there are none."""
    if len(name) > MAX_COMPARED_CHARACTERS:
        return None
    if letters(name) in _by_letters():
        return f"Did you mean {_by_letters()[letters(name)]}?"
    parts = [word for word in words(name) if word not in AFFIXES]
    verb = next((_VERBS[word] for word in (parts[-1:] + parts[:1]) if word in _VERBS), "")
    noun = "".join(word for word in parts if _VERBS.get(word) != verb or not verb)
    for meant in dict.fromkeys((noun, noun.removesuffix("s"), _NOUNS.get(noun, noun))):
        if meant and (suggestion := _of_object(meant, verb)):
            return suggestion
    return did_you_mean(name, request_names(), min_similarity)


def _of_object(noun: str, verb: str) -> str | None:
    """Return the requests with a verb for an object, or those with any verb if there is none."""
    requests = _by_letters()
    if verb in _REMOVALS:
        return _removal(noun, verb)
    verbs = [verb] if verb else ["add", "mod", "query"]
    if found := [requests[key] for each in verbs if (key := f"{noun}{each}rq") in requests]:
        return f"Did you mean {' or '.join(found)}?"
    found = [requests[key] for kind in _kinds(noun) if (key := f"{letters(kind)}{verb}rq") in requests]
    return f"Each kind has its own request: {', '.join(found)}." if found else None


def _kinds(noun: str) -> list[str]:
    """Return the kinds of an object that a query returns together, such as ItemService and ItemInventory."""
    query = _by_letters().get(f"{noun}queryrq", "")
    return [name.removesuffix("Ret") for name in response_facts(f"{query.removesuffix('Rq')}Rs")]


def _removal(noun: str, verb: str) -> str | None:
    """Return how to delete or void an object. One request does so for objects of lists, and one for transactions."""
    objects = {noun, *map(letters, _kinds(noun))}
    for name in _REMOVALS[verb]:
        model = request_model(f"{name}Rq")
        kinds = model and model.content.rules[f"{name}Type"].value_type
        if kinds and (found := [value for value in kinds.values if letters(value) in objects]):
            return f"Write {name}Rq with the {name}Type {' or '.join(found)}."
    return None


@cache
def _by_letters() -> Mapping[str, str]:
    return {letters(name): name for name in sorted(request_names())}
