"""Which receivers are allowed."""

from __future__ import annotations

import contextlib
import itertools
import socket
import ssl
import subprocess
import sys
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import idna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.webhook_http import WebhookHttp
from domain.errors import InvalidRequest
from domain.webhooks import addresses
from domain.webhooks.addresses import UrlRules, check_url, is_allowed, parse_url
from domain.webhooks.ports import DeliveryFailed
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Callable

DEPLOYED = UrlRules()
LOCAL = UrlRules(allow_loopback=True)
TLS = ssl.create_default_context()


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com/",
        "https://example.com:443/webhooks?token=a%20b#part",
        "HTTPS://Hooks.Example.COM./x",
        "https://xn--bcher-kva.example/x",
        "https://XN--Bcher-KVA.example/x",
        "https://xn--i-7iq.example/x",
        "https://bücher.example/x",
        "https://a-1.b-2.example:/x",
        "https://8.8.8.8/x",
        "https://[2606:4700::1111]/x",
        "https://1.example.com/x",
        "https://0x7f.example.com/x",
        "https://example.com/" + "x" * 2028,
    ],
)
def test_a_public_https_url_is_allowed(url: str) -> None:
    check_url(url, DEPLOYED)


@for_each(
    ("url", "reason"),
    [
        ("", "absolute"),
        ("example.com/x", "absolute"),
        ("//example.com/x", "absolute"),
        ("https:", "absolute"),
        ("https:/example.com", "absolute"),
        ("https:///x", "absolute"),
        ("ftp://example.com/x", "absolute"),
        ("file:///etc/passwd", "absolute"),
        ("javascript:alert(1)", "absolute"),
        ("http://example.com/x", "https"),
        ("https://example.com/" + "x" * 2029, "2,048"),
        # characters
        ("https://example.com/a b", "spaces"),
        (" https://example.com/", "spaces"),
        ("https://example.com/\n", "spaces"),
        ("https://example.com/\r\nHost: x", "spaces"),
        ("https://exa\tmple.com/", "spaces"),
        ("https://example.com/\x00", "spaces"),
        ("https://example.com/\x7f", "spaces"),
        ("https://example.com\\@127.0.0.1/", "backslashes"),
        ("https://example.com/ü", "percent"),
        ("https://example.com/?q=ü", "percent"),
        # credentials
        ("https://user:secret@example.com/", "user name"),
        ("https://user@example.com/", "user name"),
        ("https://@example.com/", "user name"),
        # ports
        ("https://example.com:8443/", "port"),
        ("https://example.com:80/", "port"),
        ("https://example.com:0/", "port"),
        ("https://example.com:65536/", "must have a port from 1 to 65535"),
        ("https://example.com:-1/", "must have a port from 1 to 65535"),
        ("https://example.com:x/", "must have a port from 1 to 65535"),
        ("https://example.com:443:443/", "must have a port from 1 to 65535"),
        # host syntax
        ("https://:443/", "host"),
        ("https://./", "host"),
        ("https://a..example/", "host"),
        ("https://.example.com/", "host"),
        ("https://example.com../", "host"),
        ("https://-a.example/", "host"),
        ("https://a-.example/", "host"),
        ("https://a_b.example/", "host"),
        ("https://exa%6dple.com/", "host"),
        ("https://*.example.com/", "host"),
        ("https://" + "a" * 64 + ".example/", "host"),
        ("https://" + "a." * 127 + "example/", "host"),
        ("https://" + "ü" * 64 + ".example/", "host"),
        ("https://a\u200e\u0627.example/", "A-label"),
        ("https://[example.com]/", "host"),
        ("http\u017f://example.com/", "absolute"),
        ("https://[v1.fe]/", "host"),
        ("https://[::1]x/-host", "host"),
        # what begins like an A-label
        ("https://xn--/", "A-label"),
        ("https://xn--a.example/", "A-label"),
        ("https://xn--a-.example/", "A-label"),
        ("https://xn--localhost-.example/", "A-label"),
        ("https://xn---bbk.example/", "A-label"),  # xn--bbk, written in another way
        ("https://xn--8g7ccp.0.0.1/", "A-label"),  # fullwidth digits
        ("https://xn--99999999999.example/", "A-label"),
        ("https://[::1]x/", "host"),
        ("https://[::1/", "host"),
        # names of local networks only
        ("https://localhost/", "public"),
        ("https://LOCALHOST./", "public"),
        ("https://a.localhost/", "public"),
        ("https://intranet/", "public"),
        # addresses
        ("https://127.0.0.1/", "public"),
        ("https://127.0.0.1./", "public"),
        ("https://10.1.2.3/", "public"),
        ("https://169.254.169.254/latest/meta-data", "public"),
        ("https://0.0.0.0/", "public"),
        ("https://[::1]/", "public"),
        ("https://[::]/", "public"),
        ("https://[::ffff:127.0.0.1]/", "public"),
        ("https://[::ffff:8.8.8.8]/", "public"),
        ("https://[::ffff:7f00:1]/", "public"),
        ("https://[64:ff9b::7f00:1]/", "public"),
        ("https://[2002:7f00:1::]/", "public"),
        ("https://[fe80::1]/", "public"),
        ("https://[fe80::1%25eth0]/", "host"),
        ("https://[2606:4700::1111%25eth0]/", "host"),
        # other ways to write an IPv4 address
        ("https://2130706433/", "decimal"),
        ("https://127.1/", "decimal"),
        ("https://127.0.1/", "decimal"),
        ("https://0177.0.0.1/", "decimal"),
        ("https://017700000001/", "decimal"),
        ("https://0x7f000001/", "decimal"),
        ("https://0X7F.0.0.1/", "decimal"),
        ("https://0x7f.0.0.0x1/", "decimal"),
        ("https://example.0x/", "decimal"),
        ("https://8.8.8.8.8/", "decimal"),
        ("https://256.256.256.256/", "decimal"),
        ("https://08.8.8.8/", "decimal"),
        ("https://\uff11\uff12\uff17.0.0.1/", "A-label"),
        ("https://127\u30020\u30020\u30021/", "A-label"),
        # labels that IDNA 2003 and IDNA 2008 read differently
        ("https://fa\u00df.de/", "A-label"),
        ("https://FA\u1e9e.de/", "A-label"),
        ("https://\u03bf\u03b4\u03bf\u03c2.example/", "A-label"),
        ("https://a\u0915\u094d\u200d\u0937.example/", "A-label"),
        ("https://a\u0646\u0627\u200c.example/", "A-label"),
        ("https://b\u00fccher\u3002example/", "A-label"),
        ("https://\ufb01nance.example/", "A-label"),
        ("https://\u212aeys.example/", "A-label"),
        ("https://i\u2764.example/", "A-label"),
        ("https://a\U000e0101.example/", "A-label"),
        ("https://so\u00adft.example/", "A-label"),
        ("https://u\u0308ber.example/", "A-label"),
    ],
)
def test_a_url_that_can_never_work_is_rejected(url: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as caught:
        check_url(url, DEPLOYED)

    assert [problem.field for problem in caught.value.problems] == ["webhook_url"]


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080/x",
        "http://127.0.0.1:9/x",
        "http://127.9.9.9/x",
        "https://[::1]:8443/x",
        "http://hooks.localhost:8080/x",
        "https://example.com/x",
    ],
)
def test_a_local_deployment_allows_loopback_by_any_scheme_and_port(url: str) -> None:
    check_url(url, LOCAL)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x",
        "https://example.com:8443/x",
        "http://10.0.0.1/x",
        "https://intranet/x",
        "http://[::ffff:127.0.0.1]/x",
        "http://0.0.0.0/x",
    ],
)
def test_a_local_deployment_allows_nothing_else(url: str) -> None:
    with pytest.raises(InvalidRequest):
        check_url(url, LOCAL)


def test_a_deployment_can_allow_plain_http_and_other_ports() -> None:
    rules = UrlRules(allow_http=True, ports=frozenset({443, 8443}))

    check_url("http://example.com/x", rules)
    check_url("https://example.com:8443/x", rules)
    with pytest.raises(InvalidRequest, match="80, 443, 8443"):
        check_url("http://example.com:8080/x", rules)


@given(st.text(max_size=60))
def test_any_text_is_allowed_or_rejected_with_a_reason(text: str) -> None:
    """Any other exception would be a 500."""
    for url in (text, f"https://{text}", f"https://example.com:{text}"):
        with contextlib.suppress(InvalidRequest):
            check_url(url, DEPLOYED)


def host_of(url: str) -> str | None:
    """Return the host that the service calls for a URL, or None if it refuses the URL."""
    try:
        return parse_url(url).host
    except InvalidRequest:
        return None


def other_readings(host: str) -> set[str]:
    """Return the ASCII forms of a host by IDNA 2008, with the mappings of UTS 46 and without them, and by IDNA 2003."""
    conversions: tuple[Callable[[], bytes], ...] = (
        lambda: idna.encode(host.lower()),
        lambda: idna.encode(host, uts46=True),
        lambda: host.encode("idna").lower(),
    )
    forms = set()
    for convert in conversions:
        with contextlib.suppress(UnicodeError):  # a program that refuses the host calls nobody
            forms.add(convert().decode().removesuffix("."))
    return forms


def assert_one_public_host(host: str) -> None:
    """Check that every program reads an accepted host as the one that the service calls, and that it is public."""
    accepted = host_of(f"https://{host}/")
    if accepted is None:
        return
    assert other_readings(host) <= {accepted}, host
    # `ssl` and `socket` convert a name once more, with the table of this Python.
    assert accepted.encode("idna").decode() == accepted
    assert host_of(f"https://{accepted}/") == accepted
    with contextlib.suppress(OSError):  # the C library reads 127.1, 0x7f000001 and 017700000001 as addresses
        assert ip_address(socket.inet_aton(accepted)) == ip_address(accepted)


SCRIPTS = (
    (0x80, 0x3400),
    (0xA000, 0xAC00),
    (0xF900, 0x12000),
    (0x16000, 0x17000),
    (0x1D000, 0x20000),
    (0xE0000, 0xE0200),
)
CHARACTERS = [chr(code) for first, last in SCRIPTS for code in range(first, last)]
"""Characters of all kinds, also of the latest versions of Unicode. Han and Hangul are left out to save time, because no
standard maps them."""

ANSWERS = "f37871a4b172fcebb046926dc0c26eb193064cdf386d93df0613524d2e9c1704"
"""The digest of the answers for all CHARACTERS. A new version of `idna` may change it, and no version of Python."""


@pytest.mark.system
def test_every_python_gives_the_same_answer_for_every_character() -> None:
    digest = sha256()
    for character in CHARACTERS:
        a_label = f"xn--{character.encode('punycode').decode()}"
        for label in (f"a{character}b", f"{character}\u05d0", a_label):
            digest.update(f"{host_of(f'https://{label}.example/')}\n".encode())

    assert digest.hexdigest() == ANSWERS


def test_no_character_makes_an_accepted_host_another_domain_for_other_programs() -> None:
    for character in CHARACTERS:
        assert_one_public_host(f"a{character}b.example")


LETTERS = st.one_of(
    st.sampled_from("aZ09-ßẞςΣ\u03c3İ\u0131\u017f\u212a\u200c\u200d\u00ad\u0640\u30fbüÜé\u0301\ufb01\ufe0fאب\u06f1"),
    st.sampled_from(
        "\u023d\u019a\u2c65\u023a\uab70\u13a0\u10a0\u2d00\u04c0"
    ),  # cases that later versions of Unicode added
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/?#@:[]\\"),
)
FULLWIDTH = {ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789.xabcdefABCDEF"}
ADDRESSES = st.ip_addresses(v=4) | st.sampled_from(["127.0.0.1", "169.254.169.254", "10.0.0.1"]).map(IPv4Address)


@st.composite
def numeric_hosts(draw: st.DrawFn) -> str:
    """Return an IPv4 address as programs may write it: other bases, fewer parts, fullwidth digits, other dots."""
    number = int(draw(ADDRESSES))
    parts = draw(st.sampled_from([(24, 16, 8, 0), (24, 16, 0), (24, 0), (0,)]))
    bounds = (32, *parts)
    numbers = [(number >> low) & ((1 << (high - low)) - 1) for high, low in itertools.pairwise(bounds)]
    texts = [draw(st.sampled_from(["{}", "{:#x}", "0{:o}", "{:#X}", "0{}"])).format(one) for one in numbers]
    dot = draw(st.sampled_from([".", ".", "\u3002", "\uff0e", "\uff61"]))
    host = dot.join(texts) + draw(st.sampled_from(["", "", "."]))
    return host.translate(FULLWIDTH) if draw(st.booleans()) else host


LABELS = st.text(LETTERS, min_size=1, max_size=8) | st.text(st.sampled_from("abz019-"), min_size=1, max_size=70)
A_LABELS = st.text(LETTERS, max_size=6).map(lambda text: f"xn--{text.encode('punycode').decode()}")
HOSTS = st.one_of(
    st.lists(LABELS | A_LABELS, min_size=1, max_size=4).map(".".join),
    st.lists(LABELS, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "example"])),
    st.lists(LABELS, min_size=3, max_size=40).map(".".join),
    numeric_hosts(),
    st.text(st.sampled_from("abcdefghij0123456789-"), max_size=59).map(lambda text: f"xn--{text}"),
)


@given(HOSTS)
def test_an_accepted_host_is_one_public_host_for_every_program(host: str) -> None:
    assert_one_public_host(host)


@given(
    st.sampled_from(["", "user@", "user:secret@", "127.0.0.1@"]),
    HOSTS | st.ip_addresses(v=6).map(lambda address: f"[{address}]") | st.just("[fe80::1%eth0]"),
    st.sampled_from(
        ["", ":", ":443", ":0443", ":80", ":x", ":65536", ":\uff14\uff14\uff13", ":443:443", "%2e", "]", "["]
    ),
    st.sampled_from(["", "/", "/a?b#c", "?host", "#127.0.0.1", "/@127.0.0.1"]),
)
def test_the_host_that_is_checked_is_the_host_that_is_resolved(user: str, host: str, end: str, target: str) -> None:
    resolved: list[str] = []

    def resolve(name: str, _port: int) -> list[str]:
        resolved.append(name)
        return ["10.0.0.1"]

    url = f"https://{user}{host}{end}{target}"
    with pytest.raises(DeliveryFailed):
        WebhookHttp(DEPLOYED, resolve=resolve, tls=TLS).post(url, {}, b"", 5)

    try:
        checked = check_url(url, DEPLOYED)
    except InvalidRequest:
        assert resolved == []
    else:
        assert resolved == [checked.host]
        assert checked.host_header == (f"[{checked.host}]" if ":" in checked.host else checked.host)
        literal = is_address(checked.host)
        assert literal is None or is_allowed(literal)


def is_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def test_a_host_in_ascii_does_not_load_the_tables_of_other_characters() -> None:
    """They would make a cold start longer."""
    program = """
import sys
from domain.webhooks.addresses import parse_url
parse_url("https://Example.com:443/x")
print("idna" in sys.modules, end=" ")
parse_url("https://xn--bcher-kva.example/x")
print("idna" in sys.modules)
"""
    source = Path(addresses.__file__).parents[2]
    process = subprocess.run([sys.executable, "-c", program], cwd=source, capture_output=True, text=True, check=True)  # noqa: S603 - our own program

    assert process.stdout == "False True\n"


def test_a_refused_international_host_is_named_with_the_form_to_write_instead() -> None:
    with pytest.raises(InvalidRequest, match=r"because of the label 'faß'\. Write it as the A-label"):
        parse_url("https://faß.de/")


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450::1",
        "2001:200::1",
        "2003::1",
    ],
)
def test_public_addresses_may_be_dialled(address: str) -> None:
    assert is_allowed(address)
    assert is_allowed(address, allow_loopback=True)


@for_each(
    "address",
    [
        "0.0.0.0",  # noqa: S104 - an address to refuse, not to listen on
        "0.1.2.3",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.0.170",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::8.8.8.8",  # IPv4-compatible
        "::ffff:8.8.8.8",  # IPv4-mapped
        "::ffff:127.0.0.1",
        "::ffff:0:8.8.8.8",  # IPv4-translated
        "64:ff9b::8.8.8.8",  # NAT64
        "64:ff9b:1::8.8.8.8",  # NAT64 of a local network
        "100::1",
        "2001::1",  # Teredo
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
        "2001:db8::1",
        "2002:808:808::1",  # 6to4
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",  # the metadata service of a cloud
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1111%eth0",
        "fec0::1",
        "ff02::1",
        "localhost",
        "",
        "127.1",
    ],
)
def test_no_other_address_may_be_dialled(address: str) -> None:
    assert not is_allowed(address)
    assert not is_allowed(address, allow_loopback=True)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.255.255.254", "::1"])
def test_loopback_may_be_dialled_only_where_it_is_allowed(address: str) -> None:
    assert not is_allowed(address)
    assert is_allowed(address, allow_loopback=True)


@pytest.mark.parametrize(
    ("url", "host_header", "target"),
    [
        ("https://Example.com", "example.com", "/"),
        ("https://example.com?a=1", "example.com", "/?a=1"),
        ("https://example.com:443/a;b?c#d", "example.com", "/a;b?c"),
        ("http://example.com:443/a", "example.com:443", "/a"),
        ("https://bücher.example./", "xn--bcher-kva.example", "/"),
        ("https://BÜCHER.Example/", "xn--bcher-kva.example", "/"),
        ("https://xn--fa-hia.de/", "xn--fa-hia.de", "/"),
        ("http://[2606:4700::1111]:8080/", "[2606:4700::1111]:8080", "/"),
    ],
)
def test_a_url_is_parsed_for_dialling(url: str, host_header: str, target: str) -> None:
    receiver = parse_url(url)

    assert (receiver.host_header, receiver.target) == (host_header, target)
