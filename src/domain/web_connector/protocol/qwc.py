"""The `.qwc` file, which a user opens in the Web Connector to add a connection.

Elements and rules: docs/reference/web-connector-protocol.md, The qwc file. It never contains the password.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from domain.connections.record import Connection

CONTENT_TYPE = "application/x-qwc"

SERVICE_PATH = "/qbwc"
SUPPORT_PATH = "/support"

POLL_MINUTES = 1
"""How often the Web Connector asks by itself: the shortest that its window lets a user set. While there is nothing to
do it is asked to come later (`domain.pace`)."""

DESCRIPTION = "Sends queued requests to QuickBooks and returns the answers."
"""At most 80 characters, or the Web Connector's window cuts it."""


def render(
    connection: Connection,
    *,
    base_url: str,
    app_name: str,
) -> str:
    """Return the text of a connection's `.qwc` file.

    `base_url` is where the service is reached: `https`, a host name and no IP address, or the Web
    Connector refuses the file (QBWC1001, QBWC1010). `app_name` is what its window and QuickBooks'
    list of integrated applications show, with the connection's name, because the name is unique
    per installation and one machine may serve several company files.
    """
    base = base_url.rstrip("/")
    # The Web Connector keeps its applications in the registry, where a backslash begins another key.
    name = (connection.name or connection.id[:8]).replace("\\", " ")
    elements = (
        ("AppName", f"{app_name} ({name})"),
        # Required, and empty for everybody but Intuit's own applications.
        ("AppID", ""),
        ("AppURL", base + SERVICE_PATH),
        ("AppDescription", DESCRIPTION),
        # The same host as AppURL: QBWC1000 otherwise.
        ("AppSupport", base + SUPPORT_PATH),
        ("UserName", connection.username),
        ("OwnerID", f"{{{connection.owner_id}}}"),
        # The Web Connector writes it into the company file: it must be the same when the file is issued again.
        ("FileID", f"{{{connection.file_id}}}"),
        ("QBType", "QBFS"),
        # Document is the default; RPC would make calls harder to read for nothing.
        ("Style", "Document"),
        # Simple Start, Pro, Premier and Enterprise: the service does not mind which edition answers.
        ("AuthFlags", "0xF"),
        # No pop-up in the tray at every poll.
        ("Notify", "false"),
        # With `true` the Web Connector cannot write its own FileID and fails to register (QBWC1039, QBWC1080).
        ("IsReadOnly", "false"),
        # Work also while QuickBooks is closed, where the administrator allows that; `umpRequired` would
        # refuse to register where it is not.
        ("UnattendedModePref", "umpOptional"),
        # The administrator decides about tax and card numbers; `pdpRequired` would refuse to register
        # without them, `pdpNotNeeded` would never ask.
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
    """Return character data in pure ASCII: the file declares no encoding and passes through mail programs."""
    printable = "".join(character if character.isprintable() else " " for character in value)
    return escape(printable).encode("ascii", "xmlcharrefreplace").decode("ascii")
