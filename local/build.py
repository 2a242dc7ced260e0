"""Build the artifact that AWS runs: code, dependencies for the target, and bytecode.

Usage: `make build [RUNTIME=python3.13] [ARCHITECTURE=arm64]`. The target may differ from this machine: pip fetches
wheels for it. The result is in `.aws-sam/build`: `code/`, the same as `code.zip`, and `template.yaml`, which names the
zip file. Every function of the service shares this artifact. `simulator/` and `simulator.zip` are the same for the
function of test connections, which has nothing of the service. `sign_in/` and `sign_in.zip` are the service with the
libraries that check the token of an identity provider, for the function of the sign-in. `sam-local.yaml` is the
template for `sam local`.

Lambda's code folder is read-only. Without bytecode in it, Python compiles every module at each cold start
(docs/decisions/0028-the-project-builds-its-artifact.md).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.botocore_data import OPERATIONS_OF_SIMULATOR, write_pruned
from local.lazy_packages import make_lazy
from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FOLDER = ROOT / ".aws-sam" / "build"
CODE = "code"
ZIP = "code.zip"
SIGN_IN = "sign_in"
SIGN_IN_ZIP = "sign_in.zip"
SIMULATOR = "simulator"
SIMULATOR_ZIP = "simulator.zip"
TEMPLATE = "template.yaml"
SAM_LOCAL_TEMPLATE = "sam-local.yaml"

REQUIREMENTS = ROOT / "src" / "requirements.txt"
SIGN_IN_REQUIREMENTS = ROOT / "requirements" / "sign_in.txt"
"""What the function of the sign-in has beside the packages of the others."""

TASK_ROOT = "/var/task"
"""Lambda: the folder of a function's code. Tracebacks show it."""

ARCHITECTURES = {"arm64": "aarch64", "x86_64": "x86_64"}
"""Lambda's name of each architecture, and the one in a wheel's file name."""

PLATFORMS = ("manylinux_2_17", "manylinux2014")
"""Wheels for glibc 2.17 and later: Lambda's Amazon Linux 2 (python3.11) has 2.26, Amazon Linux 2023 has 2.34."""

SIMULATOR_PACKAGES = ("botocore", "dateutil", "defusedxml", "jmespath", "six.py", "urllib3")
"""What the function of test connections needs of the packages: botocore with its own, and the simulator's."""

NOT_DEPLOYED = shutil.ignore_patterns("__pycache__", "tests", "build", "corpus", "*.egg-info")
"""Parts of the simulator that no function needs."""

BOTOCORE_DATA = Path("botocore", "data")

ZIP_DATE = (1980, 1, 1, 0, 0, 0)
"""One date for every file, so the same code gives the same bytes and is uploaded once."""


class BuildError(Exception):
    """The build cannot be made; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """A Lambda runtime (`python3.13`) and an architecture (`arm64` or `x86_64`)."""

    runtime: str
    architecture: str

    @property
    def version(self) -> str:
        """The Python version: `3.13`."""
        return self.runtime.removeprefix("python")

    @property
    def parameters(self) -> tuple[str, str]:
        """The template's parameters for this target, as `sam deploy --parameter-overrides` takes them."""
        return f"PythonRuntime={self.runtime}", f"Architecture={self.architecture}"


HERE = Target(
    f"python{sys.version_info.major}.{sys.version_info.minor}",
    "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64",
)
"""The Python and the processor of this machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, print the result and return the exit status."""
    options = _parser().parse_args(arguments)
    start = time.monotonic()
    try:
        if options.check_machine:
            check_machine(target_of(options.output))
            return 0
        bytecode = build(Target(options.runtime, options.architecture), options.output)
    except BuildError as error:
        print(f"make build: {error}", file=sys.stderr)
        return 1
    size = (options.output / ZIP).stat().st_size / 1e6
    print(
        f"Built {options.output / ZIP} for {options.runtime} on {options.architecture}: "
        f"{size:.1f} MB, {time.monotonic() - start:.0f} s."
    )
    if not bytecode:
        print(
            f"It has no bytecode: {options.runtime} is not on this machine. The functions work, but take about twice "
            f"as long to start. Install {options.runtime}, or build for this Python: make build RUNTIME={HERE.runtime}"
        )
    return 0


def build(target: Target, output: Path) -> bool:
    """Build the artifact in `output`; return whether it has bytecode. Raises BuildError.

    Dependencies are kept beside the code and fetched again only when the target or the requirements change.
    """
    _check(target)
    packages = _packages(target, output.parent / "packages")
    code = output / CODE
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(packages, code, ignore=_unused, copy_function=os.link)
    write_pruned(packages / BOTOCORE_DATA, code / BOTOCORE_DATA)
    try:
        make_lazy(code)
    except ValueError as error:
        raise BuildError(f"{error}. Remove the package from PACKAGES in local/lazy_packages.py") from None
    shutil.copytree(
        ROOT / "src", code, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "requirements*")
    )
    bytecode = compile_code(code, target.runtime)
    _zip(code, output / ZIP)
    sign_in = output / SIGN_IN
    shutil.copytree(code, sign_in, copy_function=os.link)
    shutil.copytree(
        _packages(target, output.parent / "sign_in_packages", SIGN_IN_REQUIREMENTS), sign_in, dirs_exist_ok=True
    )
    compile_code(sign_in, target.runtime)
    _zip(sign_in, output / SIGN_IN_ZIP)
    simulator = output / SIMULATOR
    _copy_simulator(packages, simulator)
    compile_code(simulator, target.runtime)
    _zip(simulator, output / SIMULATOR_ZIP)
    template = _built_template(target)
    (output / TEMPLATE).write_text(template, encoding="utf-8")
    (output / SAM_LOCAL_TEMPLATE).write_text(_for_sam_local(template), encoding="utf-8")
    return bytecode


def _copy_simulator(packages: Path, folder: Path) -> None:
    """Copy the simulator and its packages to a new folder."""
    folder.mkdir()
    for name in SIMULATOR_PACKAGES:
        if (packages / name).is_dir():
            shutil.copytree(packages / name, folder / name, ignore=_unused, copy_function=os.link)
        else:
            os.link(packages / name, folder / name)
    write_pruned(packages / BOTOCORE_DATA, folder / BOTOCORE_DATA, OPERATIONS_OF_SIMULATOR)
    shutil.copytree(ROOT / "simulator", folder / "simulator", ignore=NOT_DEPLOYED)


def check_machine(target: Target) -> None:
    """Check that this machine can run an artifact, for `sam local`. Raises BuildError with the command that helps."""
    if target.architecture != HERE.architecture:
        raise BuildError(
            f"the artifact was built for {target.architecture}, and this machine is {HERE.architecture}. "
            f"Build it again: make build RUNTIME={HERE.runtime} ARCHITECTURE={HERE.architecture}"
        )


def target_of(output: Path) -> Target:
    """Return the target of an earlier build. Raises BuildError when there is none."""
    try:
        parameters = Template.load(output / TEMPLATE).parameters
    except FileNotFoundError:
        raise BuildError(f"{output / TEMPLATE} does not exist. Run make build first") from None
    return Target(parameters["PythonRuntime"], parameters["Architecture"])


def _check(target: Target) -> None:
    parameters = _parameters()
    for name, value in zip(("PythonRuntime", "Architecture"), (target.runtime, target.architecture), strict=True):
        values = parameters[name]["AllowedValues"]
        if value not in values:
            raise BuildError(f"{value} is not one of {', '.join(values)}, which template.yaml allows")


def _parameters() -> Mapping[str, Any]:
    """Return the declarations of the template's parameters."""
    parameters: Mapping[str, Any] = Template.load(ROOT / TEMPLATE).document["Parameters"]
    return parameters


def _packages(target: Target, cache: Path, requirements: Path = REQUIREMENTS) -> Path:
    """Return a folder with the dependencies for a target. Install them unless an earlier build did."""
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    folder = cache / f"{target.runtime}-{target.architecture}-{digest}"
    if folder.exists():
        return folder
    print(f"Fetching the dependencies for {target.runtime} on {target.architecture} …", flush=True)
    shutil.rmtree(cache, ignore_errors=True)
    machine = ARCHITECTURES[target.architecture]
    unfinished = cache / "unfinished"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command += ["--target", str(unfinished), "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command += ["--implementation", "cp", "--python-version", target.version]
    command += [f"--platform={tag}_{machine}" for tag in PLATFORMS]
    process = subprocess.run([*command, "-r", str(requirements)], capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments
    if process.returncode:
        reason = process.stderr.strip() or "pip failed"
        name = f"{target.runtime} on {target.architecture}"
        raise BuildError(f"the dependencies for {name} cannot be installed.\n{reason}")
    unfinished.rename(folder)
    return folder


def _unused(folder: str, _names: list[str]) -> set[str]:
    """Return what is not copied: programs, which no function needs, and botocore's data (`write_pruned`)."""
    match Path(folder).parts[-2:]:
        case ("packages", _):
            return {"bin"}
        case (_, "botocore"):
            return {"data"}
    return set()


def compile_code(folder: Path, runtime: str) -> bool:
    """Add bytecode for a runtime to a folder of code; return False when that Python is not on this machine.

    The bytecode is hash-based and unchecked: Python uses it if the version is the same.
    """
    interpreter = _interpreter(runtime)
    if interpreter is None:
        return False
    options = ["-q", "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", TASK_ROOT]
    # Some modules of packages do not compile everywhere. Nothing imports those.
    command = [interpreter, "-m", "compileall", *options, str(folder)]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)  # noqa: S603 - an interpreter found by name
    return True


def _interpreter(runtime: str) -> str | None:
    if runtime == HERE.runtime:
        return sys.executable
    path = shutil.which(runtime)
    # A version manager puts names on the path of versions that are not installed.
    works = path and subprocess.run([path, "-c", ""], check=False, capture_output=True).returncode == 0  # noqa: S603 - as above
    return path if works else None


def _zip(code: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _files(code):
            entry = zipfile.ZipInfo(str(file.relative_to(code)), ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes())


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _built_template(target: Target) -> str:
    """Return the template with the artifact in place of the source, and with this target as the only one allowed."""
    text = (ROOT / TEMPLATE).read_text(encoding="utf-8")
    for source, artifact in (("src/", ZIP), ("src", SIGN_IN_ZIP), (".", SIMULATOR_ZIP)):
        text, count = re.subn(rf"(?m)^( +CodeUri: ){re.escape(source)}$", rf"\g<1>{artifact}", text)
        if count != 1:
            raise BuildError(f"template.yaml names CodeUri: {source} {count} times; the build expects it once")
    for parameter in target.parameters:
        name, value = parameter.split("=")
        block = rf"(?ms)^(  {name}:\n    Type: String\n    Default: )\S+(\n    AllowedValues: )\[[^\]]*\]"
        text, count = re.subn(block, rf"\g<1>{value}\g<2>[{value}]", text)
        if count != 1:
            raise BuildError(f"the parameter {name} of template.yaml is not written as the build expects it")
    return text


def _for_sam_local(template: str) -> str:
    """Return a built template for `sam local`.

    It names the folder of the code, because SAM would unpack the zip file at every start of a container. No function
    serves any method of a path: `sam local start-api` may call it instead of the function of a method.
    """
    events = r"(?m)(?<=^  MethodNotAllowedFunction:\n)((?:   .*\n)*?)      Events:\n(?:       .*\n)+"
    text, count = re.subn(events, r"\1", template)
    if count != 1:
        raise BuildError("MethodNotAllowedFunction of template.yaml is not written as the build expects it")
    for artifact, folder in ((ZIP, CODE), (SIGN_IN_ZIP, SIGN_IN), (SIMULATOR_ZIP, SIMULATOR)):
        text = text.replace(f"CodeUri: {artifact}\n", f"CodeUri: {folder}\n")
    return text


def _parser() -> argparse.ArgumentParser:
    parameters = _parameters()
    parser = argparse.ArgumentParser(prog="python -m local.build", description=__doc__)
    parser.add_argument("--runtime", default=parameters["PythonRuntime"]["Default"], help="default: %(default)s")
    parser.add_argument("--architecture", default=parameters["Architecture"]["Default"], help="default: %(default)s")
    parser.add_argument(
        "--check-machine", action="store_true", help="only check that this machine can run the artifact"
    )
    parser.add_argument("--output", type=Path, default=FOLDER, help="default: .aws-sam/build")
    return parser


if __name__ == "__main__":
    sys.exit(main())
