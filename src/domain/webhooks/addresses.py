"""The rules for webhook receivers: `check_url` for URLs, `is_allowed` for addresses before a connection.

The API checks submitted URLs, so that users learn of a URL that can never work without a DNS lookup. Each webhook
attempt checks the URL again, because the rules may have changed since, and then the addresses. A name can point
anywhere and change at any time, so `adapters.webhook_http` connects only to an address that it has just checked. The
rules are in docs/reference/service-contract.md, Webhook addresses.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from domain.errors import InvalidRequest, shortened
from domain.webhooks.defaults import MAX_URL_LENGTH

FIELD = "webhook_url"

_DEFAULT_PORTS = {"https": 443, "http": 80}

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))

# From the IANA registries of special-purpose addresses and of the IPv4 address space. Python's own `is_global` differs
# between versions.
_REFUSED = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # "this network"; Linux connects 0.0.0.0 to loopback
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers (CGNAT)
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local; cloud metadata services
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
        "2001::/23",  # IETF protocol assignments: Teredo 2001::/32, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: carries an IPv4 address
        "3fff::/20",  # documentation
    )
)

# IANA assigns public IPv6 addresses only from this range. Outside it are loopback, IPv4-mapped and -compatible (::/96,
# ::ffff:0:0/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only (100::/64), unique local (fc00::/7), link-local
# (fe80::/10), site-local (fec0::/10) and multicast (ff00::/8).
_PUBLIC_IPV6 = ip_network("2000::/3")

# Not `urlsplit`: what it refuses and how it says so differ between patch releases of Python. The pattern is RFC 3986,
# appendix B, for http and https. ASCII, because U+017F is a small s for a pattern that ignores case.
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]+)(?P<path>/[^?#]*)?(\?(?P<query>[^#]*))?(#.*)?",
    re.ASCII | re.IGNORECASE,
)
_AUTHORITY = re.compile(r"(\[(?P<ipv6>[0-9A-Fa-f:.]*)\]|(?P<name>[^\[\]:]+))(:(?P<port>.*))?")
_PORT = re.compile(r"[0-9]*")
_MAX_QUOTED = 60
"""The maximum characters of a URL that a message repeats."""

_MAX_PORT = 65_535

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_A_LABEL_PREFIX = "xn--"
_DEVIATIONS = frozenset("ß\u03c2\u200c\u200d")
"""The characters that IDNA 2003 maps or removes and IDNA 2008 keeps: sharp s, the final sigma and the joiners."""
_MAX_LABEL_LENGTH = 63
_MAX_NAME_LENGTH = 253
"""The maximum number of characters of a host name (RFC 1035 §3.1: 255 octets on the wire)."""


@dataclass(frozen=True, slots=True)
class UrlRules:
    """The URLs that a deployment allows in addition to `https` on port 443.

    `allow_http` allows `http`, with port 80. `allow_loopback` is for local deployments: it allows loopback receivers
    (`localhost`, 127.0.0.0/8, ::1) with either scheme and any port.
    """

    allow_http: bool = False
    allow_loopback: bool = False
    ports: frozenset[int] = frozenset({443})


@dataclass(frozen=True, slots=True)
class Receiver:
    """The parts of a webhook URL. `target` is the path and the query.

    `host` is in the form of DNS and TLS: ASCII (IDNA), lower case, without brackets or a final dot.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def host_header(self) -> str:
        """The `Host` header. It has brackets around an IPv6 address, and the port if it is not the scheme's default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def check_url(url: str, rules: UrlRules) -> Receiver:
    """Return the parts of an allowed webhook URL, without resolving its host.

    Raises InvalidRequest (field `webhook_url`) for the first problem in its length, characters, credentials, host,
    scheme, address or port.
    """
    receiver = parse_url(url)
    address = _ip_address(receiver.host)
    loopback = rules.allow_loopback and _is_loopback(receiver.host, address)
    if receiver.scheme == "http" and not (rules.allow_http or loopback):
        raise _invalid("must begin with https://, not http://")
    if address and not is_allowed(address, allow_loopback=loopback):
        raise _invalid(f"must point to a public address; {receiver.host} is not public")
    if not address and not loopback and _is_local_name(receiver.host):
        raise _invalid(f"must point to a public host; {receiver.host} is not public")
    ports = rules.ports | {80} if rules.allow_http else rules.ports
    if not loopback and receiver.port not in ports:
        allowed = ", ".join(str(port) for port in sorted(ports))
        raise _invalid(f"must use an allowed port ({allowed}), not {receiver.port}")
    return receiver


def parse_url(url: str) -> Receiver:
    """Return the parts of a webhook URL.

    Raises InvalidRequest (field `webhook_url`) if it is not an absolute http(s) URL with a valid host, or if two
    programs could parse it differently.
    """
    if len(url) > MAX_URL_LENGTH:
        raise _invalid(f"must be at most {MAX_URL_LENGTH:,} characters, not {len(url):,}")
    # Programs remove some of these characters before they parse a URL, and differ about the backslash.
    if any(character <= " " or character in "\x7f\\" for character in url):
        raise _invalid("must not contain spaces, backslashes or control characters")
    parts = _URL.fullmatch(url)
    if parts is None:
        found = repr(shortened(url, _MAX_QUOTED))
        raise _invalid(f"must be an absolute URL like https://example.com/webhooks, not {found}")
    if "@" in parts["authority"]:
        raise _invalid("must not contain a user name or password")
    target = (parts["path"] or "/") + (f"?{parts['query']}" if parts["query"] else "")
    if not target.isascii():
        raise _invalid("must be percent-encoded; only the host may have characters outside ASCII")
    authority = _AUTHORITY.fullmatch(parts["authority"])
    if authority is None:
        raise _invalid("must have a valid host")
    scheme = parts["scheme"].lower()
    host = _host_name(authority["name"]) if authority["name"] else _ipv6_host(authority["ipv6"])
    return Receiver(scheme, host, _port(authority["port"] or "", scheme), target)


def _port(text: str, scheme: str) -> int:
    if not _PORT.fullmatch(text) or int(text or 0) > _MAX_PORT:
        raise _invalid(f"must have a port from 1 to {_MAX_PORT}, not {text}")
    return int(text) if text else _DEFAULT_PORTS[scheme]


def _ipv6_host(text: str) -> str:
    if not isinstance(_ip_address(text), IPv6Address):
        raise _invalid(f"must have a valid host; {text} is not an IPv6 address")
    return text.lower()


def _host_name(text: str) -> str:
    host = ".".join(_ascii_label(label) for label in text.removesuffix(".").split("."))
    if len(host) > _MAX_NAME_LENGTH or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise _invalid(f"must have a valid host; {host} is not a host name")
    # WHATWG URL §3.5: a host that ends in a number is an IPv4 address. Programs parse 127.1, 2130706433, 0177.0.0.1 and
    # 0x7f.0.0.1 differently.
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and _ip_address(host) is None:
        raise _invalid(f"must have an IPv4 address as four decimal numbers, not {host}")
    return host


def is_allowed(address: str | IPv4Address | IPv6Address, *, allow_loopback: bool = False) -> bool:
    """Return whether connections to an address are allowed. An address must be public, unicast and not translated."""
    ip = _ip_address(address)
    if ip is None or (isinstance(ip, IPv6Address) and ip.scope_id is not None):
        return False
    if any(ip in network for network in _LOOPBACK):
        return allow_loopback
    if isinstance(ip, IPv6Address) and ip not in _PUBLIC_IPV6:
        return False
    return not any(ip in network for network in _REFUSED)


def _ascii_label(label: str) -> str:
    """Return a label in the form of DNS, which is the only one that is checked, resolved and sent.

    The rules are those of the `idna` package, because the tables of Python differ between its releases (decision 0126).
    """
    if len(label) > _MAX_LABEL_LENGTH:  # the conversion of a long label takes quadratic time
        raise _invalid(f"must have a valid host; {label} is not a label of a host name")
    if not label.isascii():
        return _a_label(label)
    lower = label.lower()
    if lower.startswith(_A_LABEL_PREFIX) and not _is_a_label(lower):
        raise _invalid(f"must have a valid host; {label} is not an A-label, although it begins with {_A_LABEL_PREFIX}")
    return lower


def _a_label(label: str) -> str:
    """Return the A-label of a label outside ASCII.

    Programs convert such labels by IDNA 2003, by IDNA 2008 (RFC 5891), or by IDNA 2008 after the mapping of UTS 46.
    They read some labels as different domains, which can belong to different owners: faß.de is fass.de or
    xn--fa-hia.de. Therefore a label may only have characters that all of them keep as they are, apart from capital
    letters.
    """
    import idna  # noqa: PLC0415 - nearly every host is ASCII, and the tables take time to load

    try:
        mapped = idna.uts46_remap(label, std3_rules=True)
        keeps_all = mapped == label.lower() and unicodedata.normalize("NFKC", label) == label
        if keeps_all and not any(map(_is_read_differently, label + mapped)):
            return idna.alabel(mapped).decode()
    except idna.IDNAError:
        pass
    raise _invalid(
        f"has a host that programs read differently or refuse, because of the label {label!r}. "
        f"Write it as the A-label that your registrar shows ({_A_LABEL_PREFIX}…)"
    )


def _is_read_differently(character: str) -> bool:
    # IDNA 2003 has no rules for characters that are later than Unicode 3.2. Programs keep some and remove others.
    return character in _DEVIATIONS or unicodedata.ucd_3_2_0.category(character) == "Cn"


def _is_a_label(label: str) -> bool:
    """Return whether a label in lower case is the Punycode of characters that UTS 46 keeps.

    Characters are mapped one at a time, because normalization of a whole text depends on the release of Python.
    """
    import idna  # noqa: PLC0415 - as above

    try:
        text = label.removeprefix(_A_LABEL_PREFIX).encode().decode("punycode")
        is_kept = all(idna.uts46_remap(character, std3_rules=True) == character for character in text)
        return is_kept and not text.isascii() and f"{_A_LABEL_PREFIX}{text.encode('punycode').decode()}" == label
    except ValueError:  # UnicodeError and IDNAError too
        return False


def _ip_address(host: str | IPv4Address | IPv6Address) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_loopback(host: str, address: IPv4Address | IPv6Address | None) -> bool:
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return any(address in network for network in _LOOPBACK)


def _is_local_name(host: str) -> bool:
    """Return whether a name resolves only in a local network: a single label, or a name of RFC 6761 §6.3."""
    return "." not in host or host.endswith(".localhost")


def _invalid(message: str) -> InvalidRequest:
    return InvalidRequest.of(FIELD, message)
