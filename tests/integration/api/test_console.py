"""The console's files: pages, assets and the schema's facts, as the function returns them to API Gateway."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from handlers.serve_console import assets_version, handler
from tests.support.api_client import DOMAIN, STAGE, api_event
from tests.support.builders import FixedClock
from tests.support.cases import for_each
from tests.support.fake_store import FakeStore
from tests.support.services import services_with, using

if TYPE_CHECKING:
    from collections.abc import Iterator

CONSOLE = Path(__file__).resolve().parents[3] / "src" / "console"


@pytest.fixture(autouse=True)
def services() -> Iterator[None]:
    """Use the template's default settings."""
    with using(services_with(FakeStore(), FixedClock())):
        yield


def get(path: str, resource: str | None = None, **headers: str) -> dict[str, Any]:
    """Return the function's response to a GET."""
    below = path.removeprefix("/app/") if path.startswith("/app/") else None
    event = {
        "httpMethod": "GET",
        "resource": resource or ("/app/{path+}" if below else path),
        "path": path,
        "pathParameters": {"path": below} if below else None,
        "headers": headers,
    }
    return handler(event, None)


def asset(path: str) -> str:
    return f"/app/assets/{assets_version()}/{path}"


@pytest.mark.parametrize(
    ("path", "assets"),
    [
        ("/app", "app/assets/"),
        ("/app/compose", "../app/assets/"),
        ("/app/connections/c0000000-0000-4000-8000-000000000001", "../../app/assets/"),
        ("/docs", "app/assets/"),
        ("/support", "app/assets/"),
    ],
)
def test_a_page_names_its_assets_relative_to_itself(path: str, assets: str) -> None:
    response = get(path)
    assert response["statusCode"] == 200
    assert response["headers"]["Content-Type"] == "text/html; charset=utf-8"
    links = re.findall(r'(?:src|href)="([^"]*assets/[^"]*)"', response["body"])
    assert links
    assert all(link.startswith(assets + assets_version() + "/") for link in links)


@pytest.mark.parametrize(
    ("called", "location"),
    [("/", "app"), ("/live/", "app"), ("/live", "live/app"), ("/books/", "app"), ("/books", "books/app")],
)
def test_the_root_leads_to_the_console_behind_any_stage_or_base_path(called: str, location: str) -> None:
    event = {"resource": "/", "path": "/", "headers": {}, "requestContext": {"path": called}}

    for method in ("GET", "HEAD"):
        response = handler({**event, "httpMethod": method}, None)

        assert (response["statusCode"], response["headers"]["Location"]) == (302, location)


def test_every_asset_that_a_page_names_exists() -> None:
    for page in ("/app", "/docs", "/support"):
        for path in re.findall(rf'assets/{assets_version()}/([^"]*)"', get(page)["body"]):
            assert get(asset(path))["statusCode"] == 200, path


def test_every_import_of_a_module_exists() -> None:
    for module in CONSOLE.rglob("*.js"):
        if module.parent.name == "vendor":
            continue
        for target in re.findall(r'(?:from|import\()\s*"(\.[^"]+)"', module.read_text(encoding="utf-8")):
            assert (module.parent / target).resolve().is_file(), f"{module.name} imports {target}"


def static_imports(module: Path) -> set[Path]:
    """Return a module and all modules that it imports statically, directly or not."""
    modules, unread = {module}, [module]
    while unread:
        here = unread.pop()
        paths = re.findall(
            r'^(?:import|export)\b[^";(]*"(\.[^"]+\.js)"', here.read_text(encoding="utf-8"), re.MULTILINE
        )
        new = {(here.parent / path).resolve() for path in paths} - modules
        modules |= new
        unread += new
    return modules


def test_the_page_preloads_exactly_the_modules_of_the_first_view() -> None:
    """Without the links, each level of imports would wait for the one above it."""
    preloaded = re.findall(r'modulepreload" href="[^"]*/assets/[0-9a-f]+/([^"]+)"', get("/app")["body"])

    first_view = static_imports(CONSOLE / "main.js") - {CONSOLE / "main.js"}

    assert sorted(preloaded) == sorted(str(path.relative_to(CONSOLE)) for path in first_view)


def test_the_index_of_fields_names_every_request_and_response_of_a_field() -> None:
    names = json.loads(get("/app/schema/index.json")["body"])
    fields = json.loads(get("/app/schema/fields.json")["body"])

    requests, responses = ([names[position] for position in positions] for positions in fields["RefNumber"])

    assert {"InvoiceAddRq", "InvoiceQueryRq", "BillModRq"} <= set(requests)
    assert {"InvoiceQueryRq", "InvoiceAddRq"} <= set(responses)
    assert "CustomerAddRq" not in requests
    assert len(fields) > 1000


def test_the_statuses_that_a_request_can_be_answered_with_have_meanings() -> None:
    answers = {one["code"]: one for one in json.loads(get("/app/schema/answers/InvoiceModRq.json")["body"])}

    assert answers[3200]["hint"] == "Query it again and use its new EditSequence."
    assert answers[3175]["retryable"] is True
    assert get("/app/schema/answers/NothingRq.json")["statusCode"] == 404
    assert get("/app/schema/answers/../index.json")["statusCode"] == 404


def test_a_page_forbids_inline_scripts_other_servers_and_frames() -> None:
    policy = get("/app")["headers"]["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "unsafe" not in policy
    assert get("/app")["headers"]["X-Content-Type-Options"] == "nosniff"


def test_only_the_onboarding_page_loads_images_of_other_hosts_and_only_by_https() -> None:
    policies = {page: get(page)["headers"]["Content-Security-Policy"] for page in ("/app", "/support", "/onboarding")}

    assert [page for page, policy in policies.items() if "img-src 'self' data:;" not in policy] == ["/onboarding"]
    assert "img-src 'self' data: https:;" in policies["/onboarding"]
    assert "require-trusted-types-for 'script'" in policies["/onboarding"]


def test_no_page_holds_an_inline_script_or_names_another_server() -> None:
    for page in CONSOLE.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*\ssrc=)", text)
        assert not re.search(r"\son[a-z]+=", text)
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)


def test_an_asset_is_kept_for_good_and_a_page_is_revalidated() -> None:
    assert get(asset("main.js"))["headers"]["Cache-Control"] == "public, max-age=31536000, immutable"
    assert get("/app")["headers"]["Cache-Control"] == "no-cache"


def test_a_file_that_the_browser_has_is_not_sent_again() -> None:
    tag = get("/app")["headers"]["ETag"]
    response = get("/app", **{"If-None-Match": tag})
    assert (response["statusCode"], response["body"]) == (304, "")
    assert get("/app", **{"If-None-Match": 'W/"0"'})["statusCode"] == 200


@for_each(
    "path",
    [
        "/app/assets/0123456789abcdef/main.js",
        asset("none.js"),
        asset("../handlers/common/bootstrap.py"),
        asset("../../pyproject.toml"),
        asset("README.md"),
        asset(""),
        "/app/assets/",
        "/app/schema/../../errors.py",
        "/app/schema/requests/None.json",
        "/app/schema/\0.json",
        "/app/schema/requests/\0",
        f"/app/schema/{'a' * 256}.json",
        f"/app/schema/{'a/' * 5000}b.json",
        "/app/schema/\ud800.json",
        "/app/schema/requests",
        "/app/schema/./index.json",
        asset("\0.js"),
        asset("a" * 256 + ".js"),
        asset("vendor/../\0.js"),
    ],
)
def test_an_unknown_path_is_not_found_and_not_cached(path: str) -> None:
    response = get(path)
    assert response["statusCode"] == 404
    assert response["headers"]["Cache-Control"] == "no-store"


def test_the_facts_of_the_schema_are_served() -> None:
    response = get("/app/schema/requests/CustomerQueryRq.json")
    assert (response["statusCode"], response["headers"]["Content-Type"]) == (200, "application/json")
    assert '"MaxReturned"' in response["body"]


@pytest.mark.parametrize(("path", "version"), [("/openapi.json", "3.1.0"), ("/openapi-3.0.json", "3.0.3")])
def test_an_api_document_is_served_with_the_url_of_the_deployment(path: str, version: str) -> None:
    event = api_event("GET", path)
    with using(services_with(FakeStore(), FixedClock())):
        document = json.loads(handler(event, None)["body"])

    assert document["openapi"] == version
    assert document["servers"][0]["url"] == f"https://{DOMAIN}/{STAGE}"


def test_the_viewer_of_the_api_document_is_served() -> None:
    assert len(get(asset("vendor/swagger-ui-bundle.min.js"))["body"]) > 1_000_000


def test_the_first_view_stays_under_150_kb_compressed() -> None:
    files = [str(path.relative_to(CONSOLE)) for path in static_imports(CONSOLE / "main.js")]
    files += ["style.css", "theme.js", "loading.js", "icon.svg"]
    bodies = [get("/app")["body"], *(get(asset(path))["body"] for path in files)]
    assert sum(len(gzip.compress(body.encode())) for body in bodies) < 150 * 1024


def test_the_vendored_libraries_are_the_released_ones() -> None:
    vendor = CONSOLE / "vendor"
    lines = (vendor / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    digests = {name: digest for digest, name in (line.split() for line in lines)}
    assert set(digests) == {path.name for path in vendor.glob("*.js") if not path.name.endswith(".entry.js")}
    for name, digest in digests.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
        assert digest in (vendor / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["/app", "/docs", "/support", "/onboarding"])
def test_a_page_may_use_no_feature_of_the_browser_but_writing_to_the_clipboard(path: str) -> None:
    policy = dict(part.split("=") for part in get(path)["headers"]["Permissions-Policy"].split(", "))

    assert {"camera", "geolocation", "microphone", "payment", "usb"} <= policy.keys()
    assert {feature for feature, allowed in policy.items() if allowed != "()"} == {"clipboard-write"}
