"""The image in which `sam local` runs a function, built without a container registry.

SAM pulls the image from a registry. Where none can be reached, this module makes it of Debian's packages and of the
runtime client from PyPI. SAM adds the runtime interface emulator itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from local import build
from local.programs import ROOT

if TYPE_CHECKING:
    from local.build import Target

DEBIAN = {"python3.11": "bookworm", "python3.13": "trixie"}
"""The release of Debian that has the Python of a Lambda runtime."""

RUNTIME_REQUIREMENTS = ROOT / "requirements-runtime.txt"

PULL_SECONDS = 120

BOOTSTRAP = """\
#!/bin/sh
export AWS_EXECUTION_ENV=AWS_Lambda_{runtime}
export PYTHONPATH=${{LAMBDA_TASK_ROOT:-/var/task}}:/opt/python:/var/runtime
exec /usr/bin/{runtime} -m awslambdaric "$_HANDLER"
"""

ENTRYPOINT = "#!/bin/sh\nexec /var/rapid/aws-lambda-rie /var/runtime/bootstrap\n"

CONFIGURATION = (
    "ENV LANG=en_US.UTF-8 TZ=:/etc/localtime PATH=/var/lang/bin:/usr/local/bin:/usr/bin:/bin:/opt/bin",
    "ENV LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime",
    "WORKDIR /var/task",
    'ENTRYPOINT ["/lambda-entrypoint.sh"]',
)


class ImageError(Exception):
    """The image is missing and cannot be built. The message gives the reason."""


def has_engine() -> bool:
    """Return whether a Docker engine answers."""
    return shutil.which("docker") is not None and _run("docker", "info").returncode == 0


def bridge_address() -> str:
    """Return the address of this machine on Docker's bridge: containers reach it, other machines do not."""
    process = _run("docker", "network", "inspect", "bridge", "-f", "{{(index .IPAM.Config 0).Gateway}}")
    return process.stdout.strip() or "172.17.0.1"


def image_name(target: Target) -> str:
    """Return the image that SAM wants for a runtime and an architecture."""
    return f"public.ecr.aws/lambda/python:{target.version}-{target.architecture}"


def provide(target: Target) -> str:
    """Return the name of the image after pulling or building it. Raises ImageError."""
    image = image_name(target)
    label = _run("docker", "image", "inspect", "-f", '{{index .Config.Labels "made-from"}}', image)
    if label.returncode == 0 and label.stdout.strip() in {"", "<no value>", _digest()}:
        return image  # pulled earlier, or built from the same files
    if _run("timeout", str(PULL_SECONDS), "docker", "pull", "--quiet", image).returncode == 0:
        return image
    print("No container registry can be reached. Building the image from Debian packages and PyPI …", flush=True)
    _build(target, image)
    return image


def _build(target: Target, image: str) -> None:
    if target.runtime not in DEBIAN:
        raise ImageError(f"Debian has no {target.runtime}. Use one of {', '.join(DEBIAN)}")
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        raise ImageError("without a registry, the image is built by root with debootstrap: apt-get install debootstrap")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        include = f"--include={target.runtime},ca-certificates"
        _must("debootstrap", "--variant=minbase", include, DEBIAN[target.runtime], str(root), _mirror())
        for unused in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"):
            shutil.rmtree(root / unused, ignore_errors=True)
        for directory in ("var/runtime", "var/task", "var/rapid", "var/lang/bin", "opt"):
            (root / directory).mkdir(parents=True, exist_ok=True)
        _install_runtime_client(target, root / "var/runtime")
        (root / "var/lang/bin" / target.runtime).symlink_to(f"/usr/bin/{target.runtime}")
        _write_program(root / "var/runtime/bootstrap", BOOTSTRAP.format(runtime=target.runtime))
        _write_program(root / "lambda-entrypoint.sh", ENTRYPOINT)
        archive = Path(folder) / "root.tar"
        _must("tar", "-C", str(root), "-cf", str(archive), ".")
        # SAM derives its own image from this one, and would keep an old one.
        _run("docker", "rmi", "--force", image.replace(f":{target.version}-", f":{target.version}-rapid-"))
        changes = [f"--change={line}" for line in (*CONFIGURATION, f"LABEL made-from={_digest()}")]
        platform = f"linux/{'amd64' if target.architecture == 'x86_64' else 'arm64'}"
        _must("docker", "import", f"--platform={platform}", *changes, str(archive), image)


def _install_runtime_client(target: Target, folder: Path) -> None:
    machine = build.ARCHITECTURES[target.architecture]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command += ["--root-user-action=ignore", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command += ["--implementation", "cp", "--python-version", target.version, "--target", str(folder)]
    command += [f"--platform={tag}_{machine}" for tag in build.PLATFORMS]
    _must(*command, "-r", str(RUNTIME_REQUIREMENTS))


def _mirror() -> str:
    """Return the address from which apt of this machine fetches Debian's packages."""
    process = _run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)")
    for line in process.stdout.splitlines():
        address, _, release = line.partition(" ")
        if release in DEBIAN.values():
            return address
    raise ImageError("apt of this machine has no Debian mirror, so the image cannot be built")


def _digest() -> str:
    """Return a digest of everything that the image is made from."""
    return hashlib.sha256(Path(__file__).read_bytes() + RUNTIME_REQUIREMENTS.read_bytes()).hexdigest()[:16]


def _write_program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _must(*command: str) -> None:
    process = _run(*command)
    if process.returncode:
        raise ImageError(f"{command[0]} failed:\n{(process.stdout + process.stderr)[-2000:]}")


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments
