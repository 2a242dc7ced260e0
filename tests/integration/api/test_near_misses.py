"""Nearly every name that is nearly right gets the right one as suggestion."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.qbxml.schema.content_models import ContentModel, request_model
from domain.qbxml.schema.facts import request_names
from tests.support.near_misses import near_misses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.api.conftest import Deployment

SHARE = 0.9
"""The smallest share of near misses, of each kind, whose first suggestion is the name that is meant."""

NAMES_OF_A_GROUP = 60
SEED = 33


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
