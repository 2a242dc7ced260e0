"""The metric filters of the template, applied to log lines. Source: "Filter pattern syntax" in the CloudWatch guide."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TERM = re.compile(r'\$\.(\w+) (=|!=|>|IS) (?:"([^"]*)"|(\d+)|(TRUE|FALSE))')


def counted(metric: str, lines: Iterable[Mapping[str, Any]]) -> int:
    """Return the sum that a filter's metric gets from log lines."""
    properties = Template.load().resources("AWS::Logs::MetricFilter")[metric]
    pattern = properties["FilterPattern"]
    parts = [part.strip() for part in pattern.removeprefix("{").removesuffix("}").split("&&")]
    for part in parts:
        assert "||" not in part or len(parts) == 1 or part[0] + part[-1] == "()", f"{pattern} needs parentheses"
        terms = len(part.split("||"))
        assert len(_TERM.findall(part)) == terms, f"{pattern} has a term that this module does not know"
    (transformation,) = properties["MetricTransformations"]
    value = str(transformation["MetricValue"])
    return sum(
        int(line[value.removeprefix("$.")]) if value.startswith("$.") else int(value)
        for line in lines
        if all(any(_matches(line, *term) for term in _TERM.findall(part)) for part in parts)
    )


def _matches(line: Mapping[str, Any], name: str, operator: str, text: str, number: str, truth: str) -> bool:  # noqa: PLR0917 - the groups of _TERM
    found = line.get(name)
    if operator == "IS":
        return found is (truth == "TRUE")
    if operator == ">":
        return isinstance(found, int) and found > int(number)
    return (found == text) is (operator == "=")
