"""The imports between the modules of this repository, as a graph of files and a graph of folders."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class ImportGraph:
    """The modules below a folder, by dotted name or by path, and the modules that each one imports.

    Imports under TYPE_CHECKING and inside functions count, and so do those for types in JavaScript. Imports of other
    packages do not.
    """

    folder_of: Mapping[str, str]
    imports: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, root: Path, packages: Iterable[str]) -> ImportGraph:
        """Return the graph of `packages`, which are folders of `root`."""
        files = modules_below(root, packages)
        folders = {module: ".".join(path.relative_to(root).parent.parts) for module, path in files.items()}
        return cls(folders, imports_between(files))

    @classmethod
    def read_javascript(cls, root: Path) -> ImportGraph:
        """Return the graph of the modules of JavaScript below a folder, without `vendor`."""
        files = {path for path in root.rglob("*.js") if "vendor" not in path.relative_to(root).parts}
        imports = {
            str(path.relative_to(root)): frozenset(
                str(imported.relative_to(root))
                for target in _JAVASCRIPT_IMPORT.findall(path.read_text(encoding="utf-8"))
                if (imported := (path.parent / target).resolve()) in files - {path}
            )
            for path in sorted(files)
        }
        return cls({module: str(Path(module).parent) for module in imports}, imports)

    def without(self, folder: str) -> ImportGraph:
        """Return the graph without the modules of a folder."""
        left = {module: of for module, of in self.folder_of.items() if of != folder}
        return ImportGraph(left, {module: self.imports[module] & left.keys() for module in left})

    def imports_between_folders(self) -> set[tuple[str, str]]:
        """Return (importing module, imported module) for each import that leaves its folder."""
        return {
            (module, imported)
            for module, modules in self.imports.items()
            for imported in modules
            if self.folder_of[module] != self.folder_of[imported]
        }

    def circle_of_files(self) -> list[str]:
        """Return modules that import each other in a circle, or an empty list if there is no circle."""
        return _circle(self.imports)

    def circle_of_folders(self) -> list[str]:
        """Return folders whose modules import each other in a circle, or an empty list if there is no circle."""
        folders: dict[str, set[str]] = {}
        for module, imported in self.imports_between_folders():
            folders.setdefault(self.folder_of[module], set()).add(self.folder_of[imported])
        return _circle(folders)


_JAVASCRIPT_IMPORT = re.compile(r"""(?:\bfrom|\bimport\(|^import)\s*["'](\.[^"']+)["']""", re.MULTILINE)
"""`import … from "…"`, `export … from "…"`, `import "…"`, `import("…")`, also in a comment that declares a type."""


def modules_below(root: Path, packages: Iterable[str]) -> dict[str, Path]:
    """Return the file of each module of `packages`, which are folders of `root`, by dotted name."""
    paths = (path for package in packages for path in sorted((root / package).rglob("*.py")))
    return {_module_name(path.relative_to(root)): path for path in paths}


def imports_between(files: Mapping[str, Path]) -> dict[str, frozenset[str]]:
    """Return the other modules of `files` that each one imports."""
    return {module: frozenset(_imports_of(path, files) - {module}) for module, path in files.items()}


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imports_of(path: Path, modules: Iterable[str]) -> set[str]:
    """Return those of `modules` that a file imports. `from package import module` imports the module."""
    known = set(modules)
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                names.add(submodule if submodule in known else node.module)
    return names & known


def _circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []
