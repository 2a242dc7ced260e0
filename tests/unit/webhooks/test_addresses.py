"""Which receivers are allowed."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import idna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.webhooks.addresses import UrlRules, check_url, is_allowed, parse_url

if TYPE_CHECKING:
    from collections.abc import Callable

DEPLOYED = UrlRules()
LOCAL = UrlRules(allow_loopback=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com/",
        "https://example.com:443/webhooks?token=a%20b#part",
        "HTTPS://Hooks.Example.COM./x",
        "https://xn--bcher-kva.example/x",
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


@pytest.mark.parametrize(
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
        ("https://example.com:65536/", "URL"),
        ("https://example.com:-1/", "URL"),
        ("https://example.com:x/", "URL"),
        ("https://example.com:443:443/", "URL"),
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
        ("https://[example.com]/", "URL"),
        ("https://[v1.fe]/", "host"),
        ("https://[::1]x/", "host"),
        ("https://[::1/", "URL"),
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
        ("https://[fe80::1%25eth0]/", "public"),
        ("https://[2606:4700::1111%25eth0]/", "public"),
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
            forms.add(convert().decode())
    return forms


def assert_everybody_reads_alike(host: str) -> None:
    try:
        accepted = parse_url(f"https://{host}/").host
    except InvalidRequest:
        return
    assert other_readings(host) <= {accepted}, host


def test_no_character_makes_an_accepted_host_another_domain_for_other_programs() -> None:
    """Han and Hangul syllables, which no standard maps, are left out to save time."""
    for first, last in ((0x80, 0x3400), (0xA000, 0xAC00), (0xF900, 0x20000), (0xE0000, 0xE0200)):
        for character in map(chr, range(first, last)):
            assert_everybody_reads_alike(f"a{character}b.example")


@given(
    st.lists(
        st.text(
            st.one_of(
                st.sampled_from(
                    "aZ09-ßẞςΣ\u03c3İ\u0131\u017f\u212a\u200c\u200d\u00ad\u0640\u30fbüÜé\u0301\ufb01\ufe0fאب\u06f1"
                ),
                st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/?#@:[]\\"),
            ),
            min_size=1,
            max_size=8,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_no_accepted_host_is_another_domain_for_other_programs(labels: list[str]) -> None:
    assert_everybody_reads_alike(".".join([*labels, "example"]))


def test_a_refused_international_host_is_named_with_the_form_to_write_instead() -> None:
    with pytest.raises(
        InvalidRequest, match=r"the label 'faß' is not the same in IDNA 2003 and IDNA 2008\. Write it as"
    ):
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


@pytest.mark.parametrize(
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
