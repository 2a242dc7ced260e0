"""The output of `make build`. The packages are fakes, except for botocore's data: fetching needs a package index."""

from __future__ import annotations

import copy
import hashlib
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import botocore
import pytest

from local import build
from local.botocore_data import OPERATIONS, OPERATIONS_OF_SIMULATOR, SHARED
from local.lazy_packages import PACKAGES
from local.programs import ROOT
from local.template import Template

DATA = Path(botocore.__file__).parent / "data"

OTHER = build.Target("python3.13" if build.HERE.runtime != "python3.13" else "python3.12", "arm64")
UNCHECKED_HASH = b"\x01\x00\x00\x00"
"""The flags of a `.pyc` file that Python does not compare with its source (PEP 552)."""


def with_packages(folder: Path, target: build.Target) -> Path:
    """Put fake packages where an earlier build of `target` would have left them. Return the output folder."""
    requirements = ROOT / "src" / "requirements.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    packages = folder / "packages" / f"{target.runtime}-{target.architecture}-{digest}"
    for name in (
        "package/main.py",
        "bin/jp.py",
        "botocore/client.py",
        "botocore/data/ec2/x.json",
        *(f"{package}/module.py" for package in PACKAGES),
        *(package if package.endswith(".py") else f"{package}/main.py" for package in build.SIMULATOR_PACKAGES),
    ):
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("answer = 42\n", encoding="utf-8")
    for package in PACKAGES:
        (packages / package / "__init__.py").write_text("from .module import answer\n", encoding="utf-8")
    for name in SHARED:
        shutil.copy(DATA / f"{name}.json", packages / build.BOTOCORE_DATA)
    for service in (*OPERATIONS, *OPERATIONS_OF_SIMULATOR):
        shutil.copytree(DATA / service, packages / build.BOTOCORE_DATA / service)
    (packages / "broken.py").write_text("this is not Python\n", encoding="utf-8")
    return folder / "build"


@dataclass(frozen=True)
class Built:
    """The folder with the packages, and that with the output of a build of them. Tests that change nothing share it."""

    folder: Path
    output: Path


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build for this Python."""
    return _built(tmp_path_factory.mktemp("here"), build.HERE)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build for another Python."""
    return _built(tmp_path_factory.mktemp("other"), OTHER)


def _built(folder: Path, target: build.Target) -> Built:
    output = with_packages(folder, target)
    assert build.build(target, output) or target == OTHER, "there is bytecode for the Python that is here"
    return Built(folder, output)


def names(output: Path, artifact: str = build.ZIP) -> set[str]:
    with zipfile.ZipFile(output / artifact) as archive:
        return set(archive.namelist())


def test_the_artifact_has_the_source_and_the_packages_without_unused_files(here: Built) -> None:
    artifact = names(here.output)
    assert {"handlers/authorizer.py", "domain/errors.py", "package/main.py"} <= artifact
    assert {"botocore/client.py", "botocore/data/endpoints.json"} <= artifact
    assert {f"botocore/data/{service}" for service in OPERATIONS} <= {name.rsplit("/", 2)[0] for name in artifact}
    assert not {"bin/jp.py", "botocore/data/ec2/x.json", "requirements.txt"} & artifact


def test_the_artifact_of_test_connections_has_the_simulator_and_nothing_of_the_service(here: Built) -> None:
    artifact = names(here.output, build.SIMULATOR_ZIP)
    assert {"simulator/hosted/function.py", "simulator/schema/qbxml.json", "urllib3/main.py"} <= artifact
    assert {name.split("/")[0] for name in artifact} == {"simulator", *build.SIMULATOR_PACKAGES, "__pycache__"}
    services = {name.split("/")[2] for name in artifact if name.startswith("botocore/data/") and name.count("/") > 3}
    assert services == set(OPERATIONS_OF_SIMULATOR)
    assert not [name for name in artifact if name.startswith(("simulator/tests/", "simulator/corpus/"))]


def test_a_build_does_not_change_the_packages_that_the_next_one_uses(here: Built) -> None:
    (endpoints,) = here.folder.glob("packages/*/botocore/data/endpoints.json")
    assert endpoints.read_bytes() == (DATA / "endpoints.json").read_bytes()
    for package in PACKAGES:
        (source,) = here.folder.glob(f"packages/*/{package}/__init__.py")
        assert source.read_text(encoding="utf-8") == "from .module import answer\n"
        assert "__getattr__" in (here.output / build.CODE / package / "__init__.py").read_text(encoding="utf-8")


def test_a_package_that_cannot_be_made_lazy_stops_the_build_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = with_packages(tmp_path, build.HERE)
    (source,) = tmp_path.glob(f"packages/*/{PACKAGES[0]}/__init__.py")
    source.write_text("from .module import answer\nanswer += 1\n", encoding="utf-8")

    status = build.main(
        ["--runtime", build.HERE.runtime, "--architecture", build.HERE.architecture, "--output", str(output)]
    )

    assert status == 1
    assert f"{PACKAGES[0]}/__init__.py, line 2 does more than import names" in capsys.readouterr().err


def test_every_module_gets_bytecode_that_python_uses_without_a_check(here: Built) -> None:
    (compiled,) = (here.output / build.CODE / "package" / "__pycache__").glob("main.*.pyc")
    assert compiled.read_bytes()[4:8] == UNCHECKED_HASH
    assert b"/var/task/package/main.py" in compiled.read_bytes()
    assert f"package/__pycache__/{compiled.name}" in names(here.output)


def test_python_imports_the_bytecode(here: Built, tmp_path: Path) -> None:
    """The test changes the source afterwards: an import that read it would not print 42."""
    shutil.copytree(here.output / build.CODE / "package", tmp_path / "package")
    source = tmp_path / "package" / "main.py"
    source.write_text("answer = 0\n", encoding="utf-8")

    process = subprocess.run(
        [sys.executable, "-B", "-c", "import importlib; print(importlib.import_module('package.main').answer)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert process.stdout == "42\n"


def test_the_same_code_is_the_same_zip_file_to_the_byte(here: Built, tmp_path: Path) -> None:
    again = _built(tmp_path, build.HERE)

    assert (here.output / build.ZIP).read_bytes() == (again.output / build.ZIP).read_bytes()


def test_a_build_for_a_python_that_is_not_here_says_that_it_has_no_bytecode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = with_packages(tmp_path, OTHER)
    monkeypatch.setenv("PATH", "")

    status = build.main(["--runtime", OTHER.runtime, "--architecture", OTHER.architecture, "--output", str(output)])

    assert status == 0
    assert f"{OTHER.runtime} is not on this machine" in capsys.readouterr().out
    assert not [name for name in names(output) if name.endswith(".pyc")]


def test_the_built_template_names_the_zip_file_and_allows_no_other_target(other: Built) -> None:
    template = Template.load(other.output / build.TEMPLATE)
    assert {function.code_uri for function in template.functions()} == {build.ZIP, build.SIGN_IN_ZIP}
    assert template.document["Parameters"]["PythonRuntime"]["AllowedValues"] == [OTHER.runtime]
    assert build.target_of(other.output) == OTHER


def test_the_template_for_sam_local_differs_in_the_code_and_in_the_methods_that_paths_do_not_have(other: Built) -> None:
    deployed, local = (Template.load(other.output / name) for name in (build.TEMPLATE, build.SAM_LOCAL_TEMPLATE))
    expected = copy.deepcopy(deployed.document)
    expected["Globals"]["Function"]["CodeUri"] = build.CODE
    expected["Resources"]["TestConnectionFunction"]["Properties"]["CodeUri"] = build.SIMULATOR
    expected["Resources"]["SignInFunction"]["Properties"]["CodeUri"] = build.SIGN_IN
    del expected["Resources"]["MethodNotAllowedFunction"]["Properties"]["Events"]
    assert local.document == expected


@pytest.mark.parametrize("arguments", [["--runtime", "python3.10"], ["--architecture", "riscv"]])
def test_a_target_that_the_template_does_not_allow_is_refused(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build.main([*arguments, "--output", str(tmp_path / "build")]) == 1

    assert f"{arguments[1]} is not one of" in capsys.readouterr().err
    assert not (tmp_path / "build").exists()


def test_a_deployment_without_a_build_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(build.BuildError, match="Run make build first"):
        build.target_of(tmp_path)


def test_an_artifact_for_another_processor_is_not_run_here() -> None:
    here = build.HERE
    other = "arm64" if here.architecture == "x86_64" else "x86_64"

    with pytest.raises(build.BuildError, match=f"make build RUNTIME={here.runtime} ARCHITECTURE={here.architecture}"):
        build.check_machine(build.Target(build.HERE.runtime, other))
    build.check_machine(build.HERE)
