"""Where the companies of test connections are kept: in a bucket of S3, or in a folder for local runs and tests.

Every write names the version that it replaces, so nobody overwrites what they have not read.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

FOLDER_PREFIX = "file:"
"""A name of a bucket that begins like this is the path of a folder."""

NEW = ""
"""The version of an object that does not exist yet."""


class ChangedMeanwhile(Exception):
    """Another writer has changed or deleted the object since it was read."""


class Objects(Protocol):
    """A store of objects by name, with a version for each."""

    def get(self, name: str) -> tuple[bytes, str] | None:
        """Return an object and its version, or None if there is none."""
        ...

    def put(self, name: str, content: bytes, version: str) -> str:
        """Replace this version of an object, and return the new version. Raises `ChangedMeanwhile`."""
        ...

    def delete(self, name: str) -> None:
        """Delete an object if it exists."""
        ...


@dataclass(frozen=True, slots=True)
class Bucket:
    """Objects in a bucket of S3. `client` is botocore's."""

    client: Any
    name: str

    def get(self, name: str) -> tuple[bytes, str] | None:
        """Return an object and its ETag."""
        try:
            found = self.client.get_object(Bucket=self.name, Key=name)
        except self.client.exceptions.NoSuchKey:
            return None
        return found["Body"].read(), str(found["ETag"])

    def put(self, name: str, content: bytes, version: str) -> str:
        """Put an object on condition of its ETag. S3 returns 412, or 404 if the object was deleted."""
        condition = {"IfNoneMatch": "*"} if version == NEW else {"IfMatch": version}
        try:
            return str(self.client.put_object(Bucket=self.name, Key=name, Body=content, **condition)["ETag"])
        except self.client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] in _OVERTAKEN:
                raise ChangedMeanwhile(name) from error
            raise

    def delete(self, name: str) -> None:
        """Delete an object."""
        self.client.delete_object(Bucket=self.name, Key=name)


_OVERTAKEN = {"PreconditionFailed", "NoSuchKey", "ConditionalRequestConflict"}
"""S3: the codes of a conditional write that does not apply, and of one that runs at the same time as another."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Objects as files of a folder, for one process. The version is the hash of the content."""

    path: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, name: str) -> tuple[bytes, str] | None:
        """Return a file and its version."""
        try:
            content = (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        return content, hashlib.sha256(content).hexdigest()

    def put(self, name: str, content: bytes, version: str) -> str:
        """Replace a file in one step."""
        with self._lock:
            found = self.get(name)
            if (found[1] if found else NEW) != version:
                raise ChangedMeanwhile(name)
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = self.path / f"{name}.partial"
            partial.touch(mode=0o600)
            partial.write_bytes(content)
            partial.replace(self.path / name)
        return hashlib.sha256(content).hexdigest()

    def delete(self, name: str) -> None:
        """Delete a file."""
        with self._lock:
            (self.path / name).unlink(missing_ok=True)
