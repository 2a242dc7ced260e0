"""The `.qwc` file, which a user opens in the Web Connector to add a connection.

Elements and rules: docs/reference/web-connector-protocol.md, The qwc file. It never contains the password.

The connections of an app share one OwnerID. The Web Connector shows the FileID in a company file, which marks it as
that of a connection, to its owner only. With an owner for each connection, the file of another connection would look
unmarked and get its queue. With one owner for all apps, two apps could not use the same file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from domain.errors import shortened

if TYPE_CHECKING:
    from domain.records.connection import Connection

CONTENT_TYPE = "application/x-qwc"

SERVICE_PATH = "/qbwc"
SUPPORT_PATH = "/support"

POLL_MINUTES = 1
"""Minutes between polls: the shortest interval that the Web Connector's window accepts. If there is no work,
`authenticate` postpones the next poll (`domain.web_connector.session.polling`)."""

DESCRIPTION = "Sends queued requests to QuickBooks and returns the responses."
MAX_DESCRIPTION_CHARACTERS = 80
"""The Web Connector's window shows no more."""


def app_name(connection: Connection) -> str:
    """Return the AppName of a connection, which is unique on a machine and never changes.

    QuickBooks stores the response to a write under it. With a new name, QuickBooks would deny that it executed a write,
    and the write would be sent twice (docs/decisions/0031). It contains the first 12 digits of the connection's id.
    """
    return f"{connection.qwc_name} ({connection.id[:13]})"


def render(connection: Connection, *, base_url: str) -> str:
    """Return the text of a connection's `.qwc` file.

    `base_url` is the address of the service. It must have `https` and a host name instead of an IP address; otherwise
    the Web Connector refuses the file (QBWC1001, QBWC1010).
    """
    base = base_url.rstrip("/")
    name = app_name(connection)
    description = f"{connection.name}: {DESCRIPTION}" if connection.name else DESCRIPTION
    elements = (
        ("AppName", name),
        # The Web Connector replaces an application with this name. Otherwise it would offer to clone it. A clone has
        # another AppName.
        ("AppUniqueName", name),
        # The element is required. It is empty except for Intuit's own applications.
        ("AppID", ""),
        ("AppURL", base + SERVICE_PATH),
        ("AppDescription", shortened(description, MAX_DESCRIPTION_CHARACTERS)),
        # The host must be that of AppURL. Otherwise the Web Connector reports QBWC1000.
        ("AppSupport", base + SUPPORT_PATH),
        ("UserName", connection.username),
        ("OwnerID", f"{{{connection.owner_id}}}"),
        # The Web Connector writes it into the company file. It must not change if the .qwc file is issued again.
        ("FileID", f"{{{connection.file_id}}}"),
        ("QBType", "QBFS"),
        # Document is the default. RPC would make calls harder to read and has no advantage.
        ("Style", "Document"),
        # This covers Simple Start, Pro, Premier and Enterprise.
        ("AuthFlags", "0xF"),
        # Do not show a pop-up in the tray at every poll.
        ("Notify", "false"),
        # With `true` the Web Connector cannot write its own FileID and fails to register (QBWC1039, QBWC1080).
        ("IsReadOnly", "false"),
        # Also work while QuickBooks is closed if the administrator allows it. With `umpRequired`, registration
        # would fail if it is not allowed.
        ("UnattendedModePref", "umpOptional"),
        # The administrator decides about access to tax and card numbers. With `pdpRequired`, registration
        # would fail without this access; with `pdpNotNeeded`, it would never be requested.
        ("PersonalDataPref", "pdpOptional"),
    )
    lines = "".join(f"  <{tag}>{_text(value)}</{tag}>\n" for tag, value in elements)
    return (
        '<?xml version="1.0"?>\n'
        f"<QBWCXML>\n{lines}"
        f"  <Scheduler>\n    <RunEveryNMinutes>{POLL_MINUTES}</RunEveryNMinutes>\n  </Scheduler>\n"
        "</QBWCXML>\n"
    )


def _text(value: str) -> str:
    """Return ASCII character data, because the file declares no encoding and passes through mail programs."""
    printable = "".join(character if character.isprintable() else " " for character in value)
    return escape(printable).encode("ascii", "xmlcharrefreplace").decode("ascii")
