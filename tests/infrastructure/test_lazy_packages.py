"""Packages of the artifact that import their modules late: they have the same names as before."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import aws_lambda_powertools
import pytest

from local.lazy_packages import PACKAGES, lazy_source, make_lazy

POWERTOOLS = Path(aws_lambda_powertools.__file__).parent

NAMES = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
package = importlib.import_module(sys.argv[2])
assert package.__file__.startswith(sys.argv[1])
early = len(sys.modules)
values = {name: getattr(package, name) for name in package.__all__}
names = {name: f"{value.__module__}.{value.__qualname__}" for name, value in values.items()}
print(json.dumps([early, names]))
"""


def names_of(folder: Path, package: str) -> tuple[int, dict[str, str]]:
    """Return the number of modules that the import of a package loads, and its names with their values."""
    command = [sys.executable, "-c", NAMES, str(folder), package.replace("/", ".")]
    process = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own arguments
    modules, names = json.loads(process.stdout)
    return modules, names


@pytest.mark.parametrize("package", PACKAGES)
def test_a_lazy_package_has_the_same_names_and_loads_fewer_modules(package: str, tmp_path: Path) -> None:
    shutil.copytree(POWERTOOLS, tmp_path / "whole" / POWERTOOLS.name)
    shutil.copytree(POWERTOOLS, tmp_path / "lazy" / POWERTOOLS.name)
    make_lazy(tmp_path / "lazy")

    (modules, names), (fewer, same) = (names_of(tmp_path / folder, package) for folder in ("whole", "lazy"))

    assert same == names
    assert fewer < modules


def package_of(folder: Path, source: str, **modules: str) -> Path:
    for name, text in {"__init__": lazy_source(source), **modules}.items():
        path = folder / "package" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, program: str) -> str:
    process = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    return process.stdout + process.stderr


def test_a_module_is_imported_when_one_of_its_names_is_used(tmp_path: Path) -> None:
    folder = package_of(
        tmp_path, "from .one import a as b\nfrom .two import c\n", one="print('one'); a = 1", two="c = 2"
    )

    assert run(folder, "import package; print('package'); print(package.b, package.b)") == "package\none\n1 1\n"


def test_an_unknown_name_is_an_attribute_error_and_a_module_can_still_be_imported_from_the_package(
    tmp_path: Path,
) -> None:
    folder = package_of(tmp_path, "from .one import a\n", one="a = 1", two="")

    assert "module 'package' has no attribute 'nothing'" in run(folder, "import package; package.nothing")
    assert run(folder, "from package import two; print(two.__name__)") == "package.two\n"


def test_a_name_that_equals_its_module_is_not_hidden_by_the_module(tmp_path: Path) -> None:
    folder = package_of(tmp_path, "from .one import one\n", one="one = 'the name'", two="import package.one")

    assert run(folder, "import package.two; print(package.one)") == "the name\n"


@pytest.mark.parametrize("source", ["import os\n", "x = 1\n", "if True:\n    from .a import b\n", "print('x')\n"])
def test_a_package_that_does_more_than_import_names_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="line 1 does more than import names"):
        lazy_source(source)
