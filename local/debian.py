"""A minimal Debian as a Docker image, built by debootstrap where no container registry can be reached."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

RELEASES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}
"""The release of Debian whose own Python has this version. forky is the testing release."""

VIRTUAL = {"bookworm": {"python3.11-venv": "python3-distutils"}}
"""A package that provides a virtual one on which another depends. debootstrap does not know what packages provide."""

SCRIPTS = Path("/usr/share/debootstrap/scripts")


class ImageError(Exception):
    """An image is missing and cannot be built. The message gives the reason."""


class BuildError(ImageError):
    """A command that builds an image has failed, although this machine has all that it needs."""


def has_engine() -> bool:
    """Return whether a Docker engine answers."""
    return shutil.which("docker") is not None and run("docker", "info").returncode == 0


def bootstrap(release: str, packages: Sequence[str], root: Path) -> None:
    """Write a minimal Debian with some packages into a folder. Raises ImageError, or BuildError if it fails."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        raise ImageError("without a registry, the image is built by root with debootstrap: apt-get install debootstrap")
    script = SCRIPTS / release
    providers = VIRTUAL.get(release, {})
    included = [*packages, *(providers[package] for package in packages if package in providers)]
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(included)}", release, str(root), _mirror()]
    # An older debootstrap does not have the releases that came later, which are built like the newest.
    must(*command, *([] if script.exists() else [str(SCRIPTS / "sid")]))
    for unused in ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"):
        shutil.rmtree(root / unused, ignore_errors=True)


def _mirror() -> str:
    """Return the address from which apt of this machine fetches Debian's packages."""
    process = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)")
    for line in process.stdout.splitlines():
        address, _, release = line.partition(" ")
        if release in RELEASES.values():
            return address
    raise ImageError("apt of this machine has no Debian mirror, so the image cannot be built")


def must(*command: str) -> None:
    """Run a command. Raises BuildError with its output if it fails."""
    process = run(*command)
    if process.returncode:
        raise BuildError(f"{command[0]} failed:\n{(process.stdout + process.stderr)[-2000:]}")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command and return its result."""
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments
