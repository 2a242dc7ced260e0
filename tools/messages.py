"""List every text that callers and users of the service can see: `python -m tools.messages`.

Errors, hints, waiting reasons and Web Connector replies are the string literals in `src/domain`, `src/handlers` and the
adapter that calls webhook receivers. Responses of API Gateway come from the template, and descriptions from OpenAPI.
Placeholders are shown as `{…}`. Read the list aloud.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.template import Template
from tools.openapi import document

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("src/domain", "src/handlers", "src/adapters/webhook_http.py")
_MESSAGE = re.compile(r"[A-Za-z]\S* \S*[a-z]")
"""A message has at least two words. Names, paths, formats and markup do not match."""
_CODE = re.compile(r"<\?xml|<!--|<xs:|xmlns|^\s*<|%[YmdHS]|charset=|max-age=|-src |\\d|\w\[|-Disposition|filename=")


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each message in a module, with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        text = _text(node)
        inner = id(node) in parts and not isinstance(node, ast.JoinedStr)
        if text is None or inner or id(node) in documentation:
            continue
        if _MESSAGE.search(text) and not _CODE.search(text):
            yield node.lineno, text  # type: ignore[attr-defined]  # a literal is an expression, which has a line


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values)  # type: ignore[misc]
    return None


def descriptions(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield each summary and description of the OpenAPI document, with its place."""
    if isinstance(value, list):
        value = {
            member.get("name", number) if isinstance(member, dict) else number: member
            for number, member in enumerate(value)
        }
    if isinstance(value, dict):
        for name, member in value.items():
            if name in {"summary", "description"} and isinstance(member, str):
                yield place, member
            else:
                yield from descriptions(member, f"{place} {name}")


def main() -> None:
    """Print the list, one message per line."""
    for source in SOURCES:
        path = ROOT / source
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            for line, text in sorted(literals(module)):
                print(f"{module.relative_to(ROOT)}:{line}: {' '.join(text.split())}")
    for name, response in Template.load(ROOT / "template.yaml").api()["GatewayResponses"].items():
        error = json.loads(response["ResponseTemplates"]["application/json"])["error"]
        print(f"template.yaml {name}: {error['message']}")
    for place, text in descriptions(document()):
        print(f"openapi{place}: {text}")


if __name__ == "__main__":
    main()
