"""What `make build` adds to the artifact."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from local import bytecode

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

HERE = f"python{sys.version_info.major}.{sys.version_info.minor}"
UNCHECKED_HASH = b"\x01\x00\x00\x00"
"""The flags of a `.pyc` file that Python does not compare with its source (PEP 552)."""


def a_build(folder: Path, runtime: str = HERE) -> Path:
    """Make what SAM builds: two functions with the same code, one with another. Return the build folder."""
    (folder / "build.toml").write_text(
        "[function_build_definitions.a]\n"
        f'runtime = "{runtime}"\nfunctions = ["One", "Two"]\n'
        "[function_build_definitions.b]\n"
        f'runtime = "{runtime}"\nfunctions = ["Three"]\n',
        encoding="utf-8",
    )
    for name, code in {"One": "answer = 42\n", "Two": "answer = 42\n", "Three": "answer = 43\n"}.items():
        package = folder / "build" / name / "package"
        package.mkdir(parents=True)
        (package / "module.py").write_text(code, encoding="utf-8")
        (package / "broken.py").write_text("this is no Python\n", encoding="utf-8")
    return folder / "build"


def test_every_module_gets_bytecode_that_is_taken_without_a_check(tmp_path: Path) -> None:
    assert bytecode.add(a_build(tmp_path)) == 3

    for name in ("One", "Two", "Three"):
        (compiled,) = (tmp_path / "build" / name / "package" / "__pycache__").glob("module.*.pyc")
        assert compiled.read_bytes()[4:8] == UNCHECKED_HASH


def test_functions_with_the_same_code_stay_the_same_to_the_byte(tmp_path: Path) -> None:
    bytecode.add(a_build(tmp_path))

    found = [next((tmp_path / "build" / name).rglob("module.*.pyc")).read_bytes() for name in ("One", "Two", "Three")]
    assert found[0] == found[1] != found[2]


def test_a_traceback_names_where_lambda_has_the_code(tmp_path: Path) -> None:
    bytecode.add(a_build(tmp_path))

    assert b"/var/task/package/module.py" in next((tmp_path / "build" / "One").rglob("module.*.pyc")).read_bytes()


def test_the_bytecode_is_what_python_imports(tmp_path: Path) -> None:
    """The source is changed behind its back: only who does not read it still says 42."""
    bytecode.add(a_build(tmp_path))
    (tmp_path / "build" / "One" / "package" / "module.py").write_text("answer = 0\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-B", "-c", "from package.module import answer; print(answer)"],
        cwd=tmp_path / "build" / "One",
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == "42\n"


def test_without_the_runtimes_python_nothing_is_added_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = a_build(tmp_path, "python3.99")

    assert bytecode.main(str(build)) == 0

    assert "python3.99 is not on this machine" in capsys.readouterr().out
    assert not list(build.rglob("*.pyc"))


def test_without_a_build_it_is_said_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bytecode.main(str(tmp_path / "build")) == 1

    assert "sam build" in capsys.readouterr().err
