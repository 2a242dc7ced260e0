"""Lets packages of the artifact import their modules when a name is used (`local/build.py`).

The `__init__.py` of some packages imports all of their modules, so that users can import every name from the package.
The functions use few of the names. The new `__init__.py` has the same names, and imports a module when one of its names
is used for the first time (PEP 562).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = ("aws_lambda_powertools/event_handler", "aws_lambda_powertools/utilities/data_classes")
"""Powertools: resolvers for other event sources, with asyncio, and classes for the events of all AWS services."""

LAZY = """\
{eager}
_MODULES = {modules!r}


def __getattr__(name):
    import importlib

    if name not in _MODULES:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    module, original = _MODULES[name]
    value = globals()[name] = getattr(importlib.import_module(module, __name__), original)
    return value
"""


def lazy_source(source: str) -> str:
    """Return an `__init__.py` that has the names of `source` and imports their modules late.

    Raises ValueError if `source` has anything but imports of names, text and `__all__`.
    """
    modules: dict[str, tuple[str, str]] = {}
    eager: list[ast.stmt] = []
    for statement in ast.parse(source).body:
        match statement:
            case ast.ImportFrom(module=str(module), names=names, level=level):
                found = {alias.asname or alias.name: ("." * level + module, alias.name) for alias in names}
                # Importing a module sets an attribute of its package, which would hide a name that is the same.
                if module.rpartition(".")[2] in found or "*" in found:
                    eager.append(statement)
                else:
                    modules |= found
            case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
                eager.append(statement)
            case _:
                raise ValueError(f"line {statement.lineno} does more than import names: {ast.unparse(statement)}")
    return LAZY.format(eager="\n".join(map(ast.unparse, eager)), modules=modules)


def make_lazy(folder: Path) -> None:
    """Rewrite the `PACKAGES` in a folder of code. Raises ValueError if one of them cannot be rewritten."""
    for package in PACKAGES:
        path = folder / package / "__init__.py"
        try:
            lazy = lazy_source(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{package}/__init__.py, {error}") from None
        path.unlink()  # it may be a hard link
        path.write_text(lazy, encoding="utf-8")
