"""The `.qwc` file: read and checked as the Web Connector does when an application is added.

Errors have the Web Connector's numbers, so a customer can add every file that passes here.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from simulator.basics.errors import QbwcError
from simulator.basics.xml_trees import XML_ERRORS, read_tree

REQUIRED = ("AppName", "AppID", "AppURL", "AppDescription", "AppSupport", "UserName", "OwnerID", "FileID", "QBType")
_MAY_BE_EMPTY = {"AppID"}
_GUID = re.compile(r"\{[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}")
_PREFERENCES = {
    "UnattendedModePref": {"umpRequired", "umpOptional"},
    "PersonalDataPref": {"pdpNotNeeded", "pdpOptional", "pdpRequired"},
}
_SCHEDULES = {"RunEveryNMinutes": 60, "RunEveryNSeconds": 1}

BAD_FILE = 1039
APP_URL_IS_IP = 1001
SUPPORT_IS_IP = 1002
DOMAINS_DIFFER = 1000
NOT_HTTPS = 1010
BAD_AUTH_FLAGS = 1034
BAD_QB_TYPE = 1065
READ_ONLY = 1080


@dataclass(frozen=True, slots=True)
class QwcFile:
    """A checked `.qwc` file. `every_seconds` is its Scheduler (None: manual), `cert_url` the certificate's address."""

    app_name: str
    app_id: str
    app_url: str
    app_description: str
    app_support: str
    user_name: str
    owner_id: str
    file_id: str
    every_seconds: int | None
    cert_url: str


def read_qwc(text: str) -> QwcFile:
    """Read and check a `.qwc` file's text.

    Raises `QbwcError` with the number that the Web Connector shows: 1039 for text that is not XML, for
    a missing element and for a wrong GUID, 1000, 1001, 1002 and 1010 for the URLs, 1034 for AuthFlags, 1065 for QBType,
    1080 for IsReadOnly.
    """
    try:
        root = read_tree(text.encode())
    except XML_ERRORS as error:
        raise QbwcError(BAD_FILE, f"The .qwc file is not well-formed XML: {error}") from error
    if root.tag != "QBWCXML":
        raise QbwcError(BAD_FILE, f"The root element of a .qwc file is QBWCXML, not {root.tag}.")
    values = {child.tag: (child.text or "").strip() for child in root}
    for name in REQUIRED:
        if name not in values or (not values[name] and name not in _MAY_BE_EMPTY):
            raise QbwcError(BAD_FILE, f"The .qwc file has no {name}.")
    for name in ("OwnerID", "FileID"):
        if not _GUID.fullmatch(values[name]):
            raise QbwcError(BAD_FILE, f"{name} must be a GUID in braces, not {values[name]!r}.")
    _check_urls(values["AppURL"], values["AppSupport"])
    _check_options(values)
    scheduler = root.find("Scheduler")
    first = None if scheduler is None or not len(scheduler) else scheduler[0]
    return QwcFile(
        app_name=values["AppName"],
        app_id=values["AppID"],
        app_url=values["AppURL"],
        app_description=values["AppDescription"],
        app_support=values["AppSupport"],
        user_name=values["UserName"],
        owner_id=values["OwnerID"],
        file_id=values["FileID"],
        every_seconds=None if first is None else _schedule(first.tag, first.text or ""),
        cert_url=values.get("CertURL") or values["AppURL"],
    )


def _check_urls(app_url: str, app_support: str) -> None:
    url, support = urlsplit(app_url), urlsplit(app_support)
    if _is_address(url):
        raise QbwcError(APP_URL_IS_IP, f"AppURL must name its host, not an IP address: {app_url}")
    if _is_address(support):
        raise QbwcError(SUPPORT_IS_IP, f"AppSupport must name its host, not an IP address: {app_support}")
    host, support_host = url.hostname or "", support.hostname or ""
    if not host or url.scheme not in {"https", "http"}:
        raise QbwcError(BAD_FILE, f"AppURL is not a web address: {app_url}")
    # A name without a dot is a machine in the local network. Plain http is allowed there and on localhost, for
    # development.
    if url.scheme != "https" and "." in host:
        raise QbwcError(NOT_HTTPS, f"AppURL must be https: {app_url}")
    if support_host != host and "localhost" not in {support_host, host}:
        raise QbwcError(DOMAINS_DIFFER, f"AppURL and AppSupport are on different hosts: {host}, {support_host or '-'}")


def _is_address(url: SplitResult) -> bool:
    try:
        ipaddress.ip_address(url.hostname or "")
    except ValueError:
        return False
    return True


def _check_options(values: dict[str, str]) -> None:
    if values["QBType"] != "QBFS":
        is_point_of_sale = values["QBType"] == "QBPOS"
        reason = "The simulator has no Point of Sale" if is_point_of_sale else "QBType must be QBFS or QBPOS"
        raise QbwcError(BAD_QB_TYPE, f"{reason}: {values['QBType']!r}.")
    if values.get("Style", "Document") != "Document":
        raise QbwcError(BAD_FILE, f"The simulator speaks Style Document only, not {values['Style']!r}.")
    if values.get("IsReadOnly", "false") == "true":
        raise QbwcError(READ_ONLY, "Registration failed: with IsReadOnly=true the FileID cannot be written (3263).")
    if not re.fullmatch(r"0x[0-9A-Fa-f]+|\d+", values.get("AuthFlags") or "0x0"):
        raise QbwcError(BAD_AUTH_FLAGS, f"AuthFlags is not a number: {values['AuthFlags']!r}.")
    for name, allowed in _PREFERENCES.items():
        if name in values and values[name] not in allowed:
            raise QbwcError(BAD_FILE, f"{name} must be one of {', '.join(sorted(allowed))}.")


def _schedule(name: str, text: str) -> int:
    number = text.strip()
    if name not in _SCHEDULES or not number.isdigit() or int(number) < 1:
        raise QbwcError(BAD_FILE, f"Scheduler holds RunEveryNMinutes or RunEveryNSeconds, not {name} {number!r}.")
    return int(number) * _SCHEDULES[name]
