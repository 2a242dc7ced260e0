"""The image in which `sam local` runs a function, built without a container registry.

SAM pulls the image from a registry. Where none can be reached, this module makes it of Debian's packages and of the
runtime client from PyPI. SAM adds the runtime interface emulator itself.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from local import build, debian
from local.debian import RELEASES, ImageError, bootstrap, must, run
from local.programs import ROOT

if TYPE_CHECKING:
    from local.build import Target

RUNTIME_REQUIREMENTS = ROOT / "requirements" / "runtime.txt"

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


def bridge_address() -> str:
    """Return the address of this machine on Docker's bridge: containers reach it, other machines do not."""
    process = run("docker", "network", "inspect", "bridge", "-f", "{{(index .IPAM.Config 0).Gateway}}")
    return process.stdout.strip() or "172.17.0.1"


def image_name(target: Target) -> str:
    """Return the image that SAM wants for a runtime and an architecture."""
    return f"public.ecr.aws/lambda/python:{target.version}-{target.architecture}"


def provide(target: Target) -> str:
    """Return the name of the image after pulling or building it. Raises ImageError."""
    image = image_name(target)
    label = run("docker", "image", "inspect", "-f", '{{index .Config.Labels "made-from"}}', image)
    if label.returncode == 0 and label.stdout.strip() in {"", "<no value>", _digest()}:
        return image  # pulled earlier, or built from the same files
    if run("timeout", str(PULL_SECONDS), "docker", "pull", "--quiet", image).returncode == 0:
        return image
    print("No container registry can be reached. Building the image from Debian packages and PyPI …", flush=True)
    _build(target, image)
    return image


def _build(target: Target, image: str) -> None:
    if target.version not in RELEASES:
        raise ImageError(f"Debian has no {target.runtime}. Use one of {', '.join(RELEASES)}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        bootstrap(RELEASES[target.version], [target.runtime, "ca-certificates"], root)
        for directory in ("var/runtime", "var/task", "var/rapid", "var/lang/bin", "opt"):
            (root / directory).mkdir(parents=True, exist_ok=True)
        _install_runtime_client(target, root / "var/runtime")
        (root / "var/lang/bin" / target.runtime).symlink_to(f"/usr/bin/{target.runtime}")
        _write_program(root / "var/runtime/bootstrap", BOOTSTRAP.format(runtime=target.runtime))
        _write_program(root / "lambda-entrypoint.sh", ENTRYPOINT)
        archive = Path(folder) / "root.tar"
        must("tar", "-C", str(root), "-cf", str(archive), ".")
        # SAM derives its own image from this one, and would keep an old one.
        run("docker", "rmi", "--force", image.replace(f":{target.version}-", f":{target.version}-rapid-"))
        changes = [f"--change={line}" for line in (*CONFIGURATION, f"LABEL made-from={_digest()}")]
        platform = f"linux/{'amd64' if target.architecture == 'x86_64' else 'arm64'}"
        must("docker", "import", f"--platform={platform}", *changes, str(archive), image)


def _install_runtime_client(target: Target, folder: Path) -> None:
    machine = build.ARCHITECTURES[target.architecture]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command += ["--root-user-action=ignore", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command += ["--implementation", "cp", "--python-version", target.version, "--target", str(folder)]
    command += [f"--platform={tag}_{machine}" for tag in build.PLATFORMS]
    must(*command, "-r", str(RUNTIME_REQUIREMENTS))


def _digest() -> str:
    """Return a digest of everything that the image is made from."""
    sources = (Path(__file__), Path(debian.__file__), RUNTIME_REQUIREMENTS)
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def _write_program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
