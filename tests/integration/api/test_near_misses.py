"""Nearly every name that is nearly right gets the right one as suggestion."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from domain.qbxml.schema.content_models import ContentModel, request_model
from domain.qbxml.schema.facts import request_names
from local.gateway import Gateway, Request
from local.template import Template
from tests.support.api_client import basic, load
from tests.support.builders import CONNECTION_ID
from tests.support.near_misses import near_misses
from tests.support.openapi import whole_document
from tools.openapi import JSON

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.api.conftest import Deployment

SHARE = 0.9
"""The smallest share of near misses, of each kind, whose first suggestion is the name that is meant."""

NAMES_OF_A_GROUP = 60
SEED = 33


BEGINNING = "The paths of the API begin with /api/v1"


@dataclass
class Score:
    """How many near misses there were, and how many of them got the right suggestion, by kind of mistake."""

    all: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, str, str | None]] = field(default_factory=list)

    def count(self, kind: str, name: str, missed: str, suggestion: str | None) -> None:
        """Count a near miss of a name. Its suggestion is right if the first name in it is the one that is meant."""
        self.all[kind] += 1
        if first_name(suggestion) == name:
            self.right[kind] += 1
        else:
            self.wrong.append((name, missed, suggestion))

    def __str__(self) -> str:
        rows = [f"{kind}: {self.right[kind]} of {self.all[kind]}" for kind in self.all]
        return "\n".join([f"all: {self.right.total()} of {self.all.total()}", *rows, *map(str, self.wrong)])

    def check(self) -> None:
        """Fail if too few near misses of one kind got the right suggestion."""
        print(self)  # noqa: T201 - pytest -s shows the figures
        assert self.all.total() >= NAMES_OF_A_GROUP
        assert all(self.right[kind] >= SHARE * count for kind, count in self.all.items()), self


def first_name(suggestion: str | None) -> str | None:
    """Return the first name in `Did you mean …?`."""
    words = (suggestion or "").removeprefix("Did you mean ").partition(" or ")[0].partition("?")
    return words[0] if (suggestion or "").startswith("Did you mean ") else None


def suggestion_about(response: Any, missed: str) -> str | None:
    """Return the suggestion of the problem with the name `missed`."""
    assert response.status == 400, response.text
    problems = response.json["error"]["details"]["problems"]
    return next(
        (
            problem.get("suggestion")
            for problem in problems
            if missed in {problem["field"].rpartition(".")[2], problem.get("path", "").rpartition("/")[2]}
        ),
        None,
    )


def sampled(values: list[Any], chance: random.Random) -> list[Any]:
    return chance.sample(values, min(NAMES_OF_A_GROUP, len(values)))


Named = tuple[tuple[str, ...], str]
"""A name with the steps that lead to the object which has it. `[]` is the step into an array."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the method, the URL and the description of each operation of the API."""
    for path, methods in whole_document()["paths"].items():
        if path.startswith(("/api/v1/people", "/api/v1/api_keys")):
            continue  # no API key may make these calls
        url = re.sub(r"\{\w+}", CONNECTION_ID, path)
        for method in methods.keys() & {"get", "post", "put", "patch", "delete"}:
            yield method.upper(), url, methods[method]


def resolved(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of objects and arrays that a schema can be."""
    if "$ref" in schema:
        return resolved(whole_document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    choices = schema.get("anyOf", schema.get("oneOf", ()))
    return [found for choice in choices for found in resolved(choice)] or [schema]


def fields_of(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[Named]:
    """Yield the fields of a body at each level. What is inside a request of QBXML is not a field."""
    for found in resolved(schema):
        if "items" in found:
            yield from fields_of(found["items"], (*path, "[]"))
        for name, inner in found.get("properties", {}).items():
            yield path, name
            if name not in {"request_json", "metadata"}:
                yield from fields_of(inner, (*path, name))


def test_query_parameters(deployment: Deployment) -> None:
    chance, score = random.Random(SEED), Score()
    parameters = [
        (method, url, operation, [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"])
        for method, url, operation in sorted(operations(), key=itemgetter(0, 1))
    ]

    all_parameters = [(*called, name, names) for *called, names in parameters for name in names]
    for method, url, operation, name, others in sampled(all_parameters, chance):
        for kind, missed in near_misses(name, others, chance):
            body: Any = {} if "requestBody" in operation else None
            response = deployment.api.call(method, f"{url}?{quote(missed, safe='')}=x", body)
            score.count(kind, name, missed, suggestion_about(response, missed))

    score.check()


def test_fields_of_bodies(deployment: Deployment) -> None:
    """The filters of bulk actions are fields too."""
    chance, score = random.Random(SEED), Score()
    bodies = [
        (method, url, list(dict.fromkeys(fields_of(operation["requestBody"]["content"][JSON]["schema"]))))
        for method, url, operation in sorted(operations(), key=itemgetter(0, 1))
        if "requestBody" in operation
    ]

    all_fields = [(method, url, named, fields) for method, url, fields in bodies for named in fields]
    for method, url, (path, name), others in sampled(all_fields, chance):
        for kind, missed in near_misses(name, [own for at, own in others if at == path], chance):
            body: Any = {missed: "x"}
            for step in reversed(path):
                body = [body] if step == "[]" else {step: body}
            response = deployment.api.call(method, url, body)
            score.count(kind, name, missed, suggestion_about(response, missed))

    score.check()


def test_request_types(deployment: Deployment) -> None:
    chance, score, names = random.Random(SEED), Score(), sorted(request_names())

    for name in sampled(names, chance):
        for kind, missed in near_misses(name, names, chance):
            response = deployment.api.call("POST", deployment.requests_url, {"request_json": {missed: {}}})
            score.count(kind, name, missed, suggestion_about(response, missed))

    score.check()


def elements(model: ContentModel, path: tuple[str, ...], seen: set[int]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the elements of a request, each with the path of its parent. A content model is entered once."""
    for rule in model.rules.values():
        yield path, rule.name
        if rule.content is not None and id(rule.content) not in seen:
            seen.add(id(rule.content))
            yield from elements(rule.content, (*path, rule.name), seen)


def all_elements() -> list[tuple[tuple[str, ...], str]]:
    """Return every element of every request, each with the path of its parent."""
    models = [(name, request_model(name)) for name in sorted(request_names())]
    return [element for name, model in models if model for element in elements(model.content, (name,), set())]


def parent_of(path: tuple[str, ...]) -> ContentModel:
    """Return the content model at a path."""
    model = request_model(path[0])
    assert model
    content = model.content
    for name in path[1:]:
        inner = content.rules[name].content
        assert inner
        content = inner
    return content


def value_of(content: ContentModel | None) -> Any:
    """Return a value for an element: a text, or its first elements."""
    if content is None:
        return "1"
    name, rule = next(iter(content.rules.items()))
    return {name: value_of(rule.content)}


def test_elements_of_requests(deployment: Deployment) -> None:
    chance, score = random.Random(SEED), Score()

    for path, name in sampled(all_elements(), chance):
        rules = parent_of(path).rules
        for kind, missed in near_misses(name, rules, chance):
            request: Any = {missed: value_of(rules[name].content)}
            for parent in reversed(path):
                request = {parent: request}
            response = deployment.api.call("POST", deployment.requests_url, {"request_json": request})
            score.count(kind, name, missed, suggestion_about(response, missed))

    score.check()


class Called:
    """The functions of the template. Those of paths that exist return their names."""

    def __init__(self, template: Template) -> None:
        self.handlers = {function.logical_id: function.handler for function in template.functions()}

    def invoke(self, name: str, event: dict[str, Any], *, patience_seconds: float | None = None) -> Any:
        del patience_seconds
        if event.get("type") == "TOKEN":
            statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}
            return {"principalId": "ann", "policyDocument": {"Statement": [statement]}}
        if name == "MethodNotAllowedFunction":
            return load(self.handlers[name])(event, None)
        return {"statusCode": 200, "body": name}


def called(gateway: Gateway, method: str, path: str) -> str:
    """Return the name of the function that a path has, or the message of the error."""
    headers = [("Authorization", basic("sk_a")), ("Host", "queue.example.com")]
    response = gateway.handle(Request(method, quote(path), headers, b""))
    text = response.body.decode()
    return text if response.status == 200 else json.loads(text)["error"]["message"]


OTHER_ID = "d0000000-0000-4000-8000-00000000000d"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"/connections/{CONNECTION_ID}/bills", "followed by accept_company_file, audit_log, batches, changes, "),
        (
            f"/queued_requests/{OTHER_ID}/response",
            f"{OTHER_ID}/ can be followed by approve, discard, queue_again, redeliver, reject, settle.",
        ),
        ("/events/5", "/api/v1/events exists, but nothing can follow it."),
        (f"/queued_requests/{OTHER_ID}/cancel", f"Did you mean /api/v1/queued_requests/{OTHER_ID}/discard?"),
        (
            f"/connections/{CONNECTION_ID}/queued_requests/{OTHER_ID}/retry",
            f"Did you mean /api/v1/connections/{CONNECTION_ID}/queued_requests/{OTHER_ID}/queue_again?",
        ),
        (f"/queued_requests/{OTHER_ID}/retry", f"Did you mean /api/v1/queued_requests/{OTHER_ID}/queue_again?"),
    ],
)
def test_a_path_that_resembles_no_other_says_what_can_follow_its_beginning(path: str, message: str) -> None:
    template = Template.load()
    gateway = Gateway(template, Called(template))  # type: ignore[arg-type]

    assert message in called(gateway, "POST", f"/api/v1{path}")


def near_misses_of_path(path: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield each kind of mistake with a near miss of a path."""
    segments = path.removeprefix("/api/v1/").split("/")
    names = [place for place, segment in enumerate(segments) if segment != CONNECTION_ID]
    place = chance.choice(names)
    for kind, missed in near_misses(segments[place], {segments[place]}, chance):
        yield kind, "/".join(["/api/v1", *segments[:place], missed, *segments[place + 1 :]])
    below = "/".join(segments)
    yield "without /api/v1", f"/{below}"
    yield "/api/v1 twice", f"/api/v1{path}"
    yield "another version", f"/api/v2/{below}"
    yield "a trailing slash", f"{path}/"
    yield "a slash too many", f"/api/v1//{below}"
    yield "another separator", f"/api/v1/{below.replace('/', chance.choice(['.', ':', chr(92)]))}"


def test_paths() -> None:
    """An id in a path is the caller's. Outside of /api/v1, the answer says how paths begin."""
    chance, score, template = random.Random(SEED), Score(), Template.load()
    gateway = Gateway(template, Called(template))  # type: ignore[arg-type]

    for method, path, _ in sampled(sorted(operations(), key=itemgetter(0, 1)), chance):
        function = called(gateway, method, path)
        for kind, missed in near_misses_of_path(path, chance):
            answer = called(gateway, method, missed)
            is_right = f"Did you mean {path}?" in answer or answer == function
            if kind in {"without /api/v1", "another version"}:
                is_right = BEGINNING in answer
            score.count(kind, path, f"{method} {missed}", f"Did you mean {path}?" if is_right else answer)

    score.check()
