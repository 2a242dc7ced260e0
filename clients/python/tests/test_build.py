"""The client can be installed from its folder, and from a source distribution without the repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[3]
SOURCES = ("clients/python", "src/domain/qbxml/schema/data", "src/console/reference", "docs")
USE = (
    "import qbxml_queue.schema.requests as q; from importlib.resources import files; "
    "assert (files('qbxml_queue.check') / 'page.css').is_file(); "
    "assert (files('qbxml_queue.schema') / 'documents.json').is_file(); "
    "print(len([name for name in vars(q) if name.endswith('Request')]))"
)


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command and return its output. It must succeed."""
    result = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def install(source: Path, target: Path) -> None:
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    run([sys.executable, "-m", "pip", "install", *options, "--target", target, source], source.parent)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a copy of the files of the repository that the client is made of, without what was generated."""
    generated = shutil.ignore_patterns("schema.py", "build", "*.egg-info", "__pycache__")
    for source in SOURCES:
        target = tmp_path / "repository" / source
        target.parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / source).is_dir():
            shutil.copytree(REPOSITORY / source, target, ignore=generated)
        else:
            shutil.copy(REPOSITORY / source, target)
    shutil.rmtree(tmp_path / "repository" / "clients" / "python" / "src" / "qbxml_queue" / "schema")
    return tmp_path / "repository"


def test_it_is_installed_from_its_folder(repository: Path, tmp_path: Path) -> None:
    install(repository / "clients" / "python", tmp_path / "installed")

    assert run([sys.executable, "-c", USE], tmp_path / "installed") == "232\n"
    assert (tmp_path / "installed" / "qbxml_queue" / "py.typed").exists()
    [package] = metadata.distributions(name="qbxml-queue", path=[str(tmp_path / "installed")])
    [version] = (tmp_path / "installed").glob("qbxml_queue/schema/version.py")
    [licence] = (tmp_path / "installed").glob("qbxml_queue-*.dist-info/licenses/LICENSE")
    assert f'VERSION = "{package.version}"' in version.read_text(encoding="utf-8")
    assert licence.read_bytes() == (REPOSITORY / "LICENSE").read_bytes()
    assert package.metadata["License-Expression"] == "Apache-2.0"
    assert package.metadata.get_all("Classifier")


def test_it_is_installed_from_a_source_distribution(repository: Path, tmp_path: Path) -> None:
    folder = repository / "clients" / "python"
    build = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    run([sys.executable, "-c", build, tmp_path], folder)
    [archive] = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "source", filter="data")
    shutil.rmtree(repository)
    [source] = (tmp_path / "source").iterdir()

    install(source, tmp_path / "installed")

    assert run([sys.executable, "-c", USE], tmp_path / "installed") == "232\n"
