# ruff: noqa: T201 - it talks to a person at a terminal
"""Run the commands of the README in a minimal Debian with its own Python, as a newcomer does.

    make test-fresh
    make test-fresh ARGS="--python 3.14 --system"

The container has git, make, Python with venv, curl and CA certificates, a user without rights, and a process 1 that
collects no others. It clones the last commit, runs `make run` with the first request of the README, then `make test`.
`--system` runs the tests that depend on the version of Python or on the system in place of `make test`. The image is
made from one of a registry, or by root with debootstrap. A version is skipped without Docker, or if its image can be
made in neither way. Exits with 1 if a command fails. It needs packages from an index.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from local.debian import RELEASES, BuildError, ImageError, bootstrap, has_engine, must, run
from local.programs import ROOT, end_with_sigterm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSIONS = ("3.11", "3.14")
"""The oldest and the newest Python."""

PACKAGES = ("git", "make", "python3", "python{version}", "python{version}-venv", "curl", "ca-certificates")
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"

DOCKERFILE = """\
FROM debian:{release}-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends {packages} && useradd --create-home reader
"""

# Docker's own process 1 would be bash, which collects every process.
FIRST_PROCESS = "import subprocess, sys; sys.exit(subprocess.call(['bash', '-euo', 'pipefail', '-c', sys.argv[1]]))"

SCRIPT = """\
cd
git -c advice.detachedHead=false clone --quiet /fresh/source.bundle qbxml-queue
cd qbxml-queue
began=$SECONDS
set -m
make run >../run.log 2>&1 &
make wait || {{ cat ../run.log; exit 1; }}
.venv/bin/python --version
{request}
for _ in $(seq 60); do grep -q 'signatures verified' ../run.log && break; sleep 1; done
grep 'signatures verified' ../run.log || {{ cat ../run.log; exit 1; }}
echo "The first webhook arrived after $((SECONDS - began)) s."
kill -INT -- -$!
wait $! || true
{tests}
"""

# Only their files: each process would take half a minute to read all others.
SYSTEM_TESTS = """\
make .venv/.installed
.venv/bin/python -m pytest -q --numprocesses auto -m system $(grep -rlF --include='test_*.py' mark.system tests)"""


def request_of_the_readme() -> str:
    """Return the commands with which the README queues its first request."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [commands] = re.findall(r"```sh\n(\. \.local/env\ncurl .*?)```", text, re.DOTALL)
    return str(commands)


def script(*, system: bool) -> str:
    """Return what runs in the container."""
    return SCRIPT.format(request=request_of_the_readme(), tests=SYSTEM_TESTS if system else "make test")


def provide(version: str) -> str:
    """Return the name of the image after building it. Raises ImageError, or BuildError if it fails."""
    release, packages = RELEASES[version], [package.format(version=version) for package in PACKAGES]
    made_from = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    image = f"qbxml-queue-fresh:{release}-{made_from}"
    if run("docker", "image", "inspect", image).returncode == 0:
        return image
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Dockerfile"
        file.write_text(DOCKERFILE.format(release=release, packages=" ".join(packages)), encoding="utf-8")
        if run("docker", "pull", "--quiet", f"debian:{release}-slim").returncode == 0:
            must("docker", "build", "--quiet", "--tag", image, folder)
            return image
        print(f"No container registry can be reached. Building Debian {release} …", flush=True)
        root, archive = Path(folder) / "root", Path(folder) / "root.tar"
        bootstrap(release, packages, root)
        must("chroot", str(root), "useradd", "--create-home", "reader")
        must("tar", "-C", str(root), "-cf", str(archive), ".")
        must("docker", "import", str(archive), image)
    return image


def command(image: str, version: str, shared: Path, *, system: bool, environment: Mapping[str, str]) -> list[str]:
    """Return the command that runs everything. `shared` has the bundle of the last commit."""
    options = ["--rm", "--user", "reader", "--env", "HOME=/home/reader", "--volume", f"{shared}:/fresh:ro"]
    # What this machine needs to reach a package index, such as a proxy and its certificate.
    for name in sorted(environment):
        if re.fullmatch(r"PIP_(?!FIND_LINKS).*|.*_PROXY|.*_proxy|SSL_CERT_FILE", name):
            options += ["--env", name]
    if Path(CERTIFICATES).exists():
        options += ["--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro"]
    return ["docker", "run", *options, image, f"python{version}", "-c", FIRST_PROCESS, script(system=system)]


def try_version(version: str, shared: Path, *, system: bool) -> str:
    """Run everything with a version of Python. Return `passed`, `failed` or `skipped`."""
    began = time.monotonic()
    try:
        image = provide(version)
    except BuildError as error:
        print(f"Python {version}: failed: {error}", flush=True)
        return "failed"
    except ImageError as error:
        print(f"Python {version}: skipped: {error}", flush=True)
        return "skipped"
    built = time.monotonic()
    print(f"Python {version}, Debian {RELEASES[version]}: the image took {built - began:.0f} s.", flush=True)
    process = subprocess.run(command(image, version, shared, system=system, environment=os.environ), check=False)  # noqa: S603 - our own arguments
    result = "failed" if process.returncode else "passed"
    print(f"Python {version}: {result} after {time.monotonic() - built:.0f} s.", flush=True)
    return result


def main(arguments: Sequence[str]) -> int:
    """Run the versions that the command line names; return the exit status."""
    introduction, _, explanation = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tests.fresh",
        description=introduction,
        epilog=explanation,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--python", nargs="+", choices=sorted(RELEASES), default=VERSIONS, help="versions of Python")
    parser.add_argument("--system", action="store_true", help="only the tests that are marked `system`")
    options = parser.parse_args(arguments)
    if not has_engine():
        print("Skipped: no Docker engine answers.")
        return 0
    end_with_sigterm()
    with tempfile.TemporaryDirectory() as folder:
        shared = Path(folder)
        shared.chmod(0o755)
        must("git", "-C", str(ROOT), "bundle", "create", "--quiet", str(shared / "source.bundle"), "HEAD", "--tags")
        results = Counter(try_version(version, shared, system=options.system) for version in options.python)
    print(", ".join(f"{results[result]} {result}" for result in ("passed", "failed", "skipped")))
    return int(results["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
