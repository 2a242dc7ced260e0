"""An OpenID provider on this machine, in which anybody signs in as one of three people.

It is `oidc-provider-mock`, which checks no password. It is never started for a service that others can reach.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENT_ID = "qbxml-queue"


@dataclass(frozen=True, slots=True)
class LocalPerson:
    """A person at the provider, and the role to which the first app invites the person."""

    name: str
    email: str
    role: str


PEOPLE = (
    LocalPerson("Ada Admin", "ada@example.com", "admin"),
    LocalPerson("Sam Support", "sam@example.com", "support"),
    LocalPerson("Vic Viewer", "vic@example.com", "viewer"),
)


@contextmanager
def identity_provider(port: int = 0) -> Iterator[str]:
    """Run the provider while the block runs, and yield its issuer. Raises OSError if the port is in use."""
    # Flask and Authlib take half a second to import, which only these runs need. Authlib warns of its own modules.
    with warnings.catch_warnings(record=True):
        from oidc_provider_mock import User, run_server_in_thread  # noqa: PLC0415

    for name in ("werkzeug", "oidc_provider_mock"):
        logging.getLogger(name).setLevel(logging.ERROR)
    people = [
        User(sub=person.email, claims={"email": person.email, "email_verified": True, "name": person.name})
        for person in PEOPLE
    ]
    with run_server_in_thread(port, require_nonce=True, user_claims=people) as server:
        yield f"http://localhost:{server.server_port}"
