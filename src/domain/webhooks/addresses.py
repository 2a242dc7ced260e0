"""Which receivers a webhook may have: `check_url` when a URL is given, `allowed_address` when it is dialled.

The first check is for people: it refuses at once what can never work, without asking the DNS.
The second one is the protection: only the address that is really dialled decides, because a name
can point anywhere and change at any time (`adapters.webhook_http` dials what it has checked).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from domain.errors import InvalidRequest
from domain.webhooks.defaults import MAX_URL_LENGTH

FIELD = "webhook_url"

_HTTPS_PORT = 443
_HTTP_PORT = 80

_LOOPBACK_4 = ip_network("127.0.0.0/8")
_LOOPBACK_6 = ip_network("::1/128")

# IANA IPv4 Special-Purpose Address Registry, and the multicast and reserved blocks of the IPv4 Address Space.
# Written out, because what `ipaddress` calls global differs between Python versions.
_REFUSED_4 = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # "this network"; Linux connects 0.0.0.0 to loopback
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers (CGNAT)
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local; cloud metadata services live here
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, deprecated
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)

# IANA IPv6 Address Space: 2000::/3 is all that is given out as public addresses. Outside of it lie loopback,
# IPv4-mapped and -compatible (::/96, ::ffff:0:0/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only (100::/64),
# unique local (fc00::/7), link-local (fe80::/10), site-local (fec0::/10) and multicast (ff00::/8).
_PUBLIC_6 = ip_network("2000::/3")
_REFUSED_6 = tuple(
    ip_network(text)
    for text in (
        "2001::/23",  # IETF protocol assignments: Teredo 2001::/32, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: carries an IPv4 address
        "3fff::/20",  # documentation
    )
)

_AUTHORITY = re.compile(r"\[[^\[\]]*\](:[0-9]*)?|[^\[\]:]+(:[0-9]*)?")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_NAME_LENGTH = 253
"""Characters in a host name (RFC 1035 §3.1: 255 octets on the wire)."""


@dataclass(frozen=True, slots=True)
class UrlRules:
    """What a deployment allows beyond `https` on port 443.

    `allow_http` allows plain `http`, with its port 80. `allow_loopback` is for one machine: a
    loopback receiver (`localhost`, 127.0.0.0/8, ::1) by either scheme and on any port.
    """

    allow_http: bool = False
    allow_loopback: bool = False
    ports: frozenset[int] = frozenset({_HTTPS_PORT})


@dataclass(frozen=True, slots=True)
class Receiver:
    """A webhook URL taken apart for dialling.

    `host` is as the DNS and TLS know it: ASCII (IDNA), lower case, no brackets, no final dot.
    `target` is what the request line names: path and query.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def host_header(self) -> str:
        """The `Host` header: brackets around an IPv6 address, the port where it is not the scheme's."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _default_port(self.scheme) else f"{host}:{self.port}"


def check_url(url: str, rules: UrlRules) -> None:
    """Refuse a webhook URL that can never be delivered to; nothing is resolved.

    Raises InvalidRequest (field `webhook_url`) for the first thing that is wrong: length,
    characters, credentials, host, scheme, address literal, port.
    """
    receiver = receiver_of(url)
    literal = _literal(receiver.host)
    loopback = rules.allow_loopback and _is_loopback(receiver.host, literal)
    if receiver.scheme == "http" and not (rules.allow_http or loopback):
        raise _refused("must begin with https://, not http://")
    if literal is not None and not allowed_address(literal, allow_loopback=loopback):
        raise _refused(f"must lead to a public address, which {literal} is not")
    if literal is None and not loopback and _is_local_name(receiver.host):
        raise _refused(f"must lead to a public host, which {receiver.host} is not")
    ports = rules.ports | {_HTTP_PORT} if rules.allow_http else rules.ports
    if not loopback and receiver.port not in ports:
        allowed = ", ".join(str(port) for port in sorted(ports))
        raise _refused(f"must use an allowed port ({allowed}), not {receiver.port}")


def receiver_of(url: str) -> Receiver:
    """Take a webhook URL apart.

    Raises InvalidRequest (field `webhook_url`) when it is no absolute http(s) URL with a valid
    host, or is written in a way that two programs could read differently.
    """
    if len(url) > MAX_URL_LENGTH:
        raise _refused(f"must be at most {MAX_URL_LENGTH:,} characters, not {len(url):,}")
    # Before any parsing: urlsplit drops some of these in silence, and parsers differ about the backslash.
    if any(character <= " " or character in "\x7f\\" for character in url):
        raise _refused("must not contain spaces, backslashes or control characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        raise _refused(f"is no URL: {problem}") from None
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise _refused("must be an absolute URL like https://example.com/webhooks")
    if "@" in parts.netloc:
        raise _refused("must not carry a user name or password")
    if not _AUTHORITY.fullmatch(parts.netloc):
        raise _refused("has no valid host")
    if not (parts.path + parts.query).isascii():
        raise _refused("must be percent-encoded: only its host may have characters beyond ASCII")
    host = _ascii_host(parts.hostname or "")
    if not parts.netloc.startswith("["):
        _require_name(host)
    elif _ipv6(host) is None:
        raise _refused(f"has a host that is no IPv6 address: {host}")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Receiver(parts.scheme, host, _default_port(parts.scheme) if port is None else port, target)


def allowed_address(address: str | IPv4Address | IPv6Address, *, allow_loopback: bool = False) -> bool:
    """Return whether this resolved address may be dialled: a public unicast one, in no translated form."""
    try:
        address = ip_address(address)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        if address in _LOOPBACK_4:
            return allow_loopback
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id is not None:
        return False
    if address in _LOOPBACK_6:
        return allow_loopback
    return address in _PUBLIC_6 and not any(address in network for network in _REFUSED_6)


def _ascii_host(host: str) -> str:
    if not host.isascii():
        try:
            # This also folds full-width digits and dots, so that an address written in them is seen for what it is.
            host = host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            raise _refused(f"has a host that is no valid international name: {host}") from None
    return host.removesuffix(".")


def _require_name(host: str) -> None:
    if len(host) > _MAX_NAME_LENGTH or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise _refused(f"has a host that is no valid name: {host}")
    # WHATWG URL §3.5: a host that ends in a number is an IPv4 address. 127.1, 2130706433, 0177.0.0.1 and
    # 0x7f.0.0.1 are the same machine to one reader and another one to the next.
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and _ipv4(host) is None:
        raise _refused(f"must write an IPv4 address as four decimal numbers, not {host}")


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    return _ipv4(host) or _ipv6(host)


def _ipv4(host: str) -> IPv4Address | None:
    try:
        return IPv4Address(host)
    except AddressValueError:
        return None


def _ipv6(host: str) -> IPv6Address | None:
    try:
        return IPv6Address(host)
    except AddressValueError:
        return None


def _is_loopback(host: str, literal: IPv4Address | IPv6Address | None) -> bool:
    if literal is None:
        return host == "localhost" or host.endswith(".localhost")
    return allowed_address(literal, allow_loopback=True) and not allowed_address(literal)


def _is_local_name(host: str) -> bool:
    """Tell whether a name is one that only a local network knows (RFC 6761 §6.3, or a single label)."""
    return "." not in host or host.endswith(".localhost")


def _default_port(scheme: str) -> int:
    return _HTTPS_PORT if scheme == "https" else _HTTP_PORT


def _refused(message: str) -> InvalidRequest:
    return InvalidRequest.of(FIELD, message)
