"""The paths of the sign-in, and what must not work: with a cookie, a token, a state or an origin of somebody else."""

from __future__ import annotations

import json
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from domain.people.provider import IdentityClaims, ProviderFailed, TokenRefused
from domain.people.tokens import SessionToken
from domain.records.permissions import Role
from handlers import session_token, sign_in
from handlers.common.bootstrap import services
from handlers.common.cookies import LOGIN_COOKIE, SESSION_COOKIE
from local.template import Template
from tests.integration.api.conftest import Deployment, make_deployment
from tests.support.api_client import DOMAIN, STAGE, ApiClient, api_event, load, routes
from tests.support.fake_store import FakeStore
from tests.support.services import SIGN_IN, using

if TYPE_CHECKING:
    from collections.abc import Iterator

ORIGIN = f"https://{DOMAIN}"
CALLBACK = "/session/callback"


class Provider:
    """An identity provider that answers as a test says. `seen` is what it got."""

    def __init__(self) -> None:
        """Sign Maria in."""
        self.answer: IdentityClaims | Exception = IdentityClaims(
            "https://id.example.com", "maria", "maria@example.com", True, "Maria"
        )
        self.seen: dict[str, str] = {}

    def authorization_url(self, redirect_uri: str, *, state: str, nonce: str, challenge: str) -> str:
        """Return a URL with the state."""
        if isinstance(self.answer, ProviderFailed):
            raise self.answer
        self.seen = {"redirect_uri": redirect_uri, "nonce": nonce, "challenge": challenge}
        return f"https://id.example.com/authorize?state={state}"

    def claims(self, redirect_uri: str, *, code: str, verifier: str, nonce: str) -> IdentityClaims:
        """Return the claims, or raise."""
        self.seen |= {"returned_to": redirect_uri, "code": code, "verifier": verifier, "returned_nonce": nonce}
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    """Return a deployment with a sign-in, to which Maria is invited as an admin."""
    deployment = make_deployment(FakeStore())
    deployment.services.settings._environment = {**deployment.services.settings._environment, **SIGN_IN}  # noqa: SLF001
    deployment.services.identity_provider = Provider()
    with using(deployment.services):
        services().members.invite(deployment.app_id, "maria@example.com", Role.ADMIN)
        yield deployment


class Browser:
    """A browser: it keeps cookies, and sends those of `/session`."""

    def __init__(self) -> None:
        """Begin without cookies."""
        self.cookies: dict[str, str] = {}
        self.set: list[str] = []

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        """Return the response to a call."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        text = None if body is None else json.dumps(body)
        event = api_event(method, path, body=text, headers={**({"Cookie": cookie} if cookie else {}), **headers})
        resource = urlsplit(path).path
        handler = sign_in.handler if method == "GET" else session_token.handler
        response = handler({**event, "resource": resource}, None)
        self.set = response.get("multiValueHeaders", {}).get("Set-Cookie", [])
        for text_of_cookie in self.set:
            for name, morsel in SimpleCookie(text_of_cookie).items():
                self.cookies.pop(name, None)
                if morsel["max-age"] != "0":
                    self.cookies[name] = morsel.value
        return response

    def begin(self, to: str = "/app/connections") -> str:
        """Begin a login and return its state."""
        location = header(self.call("GET", f"/session/login?to={to}"), "Location")
        return parse_qs(urlsplit(location).query)["state"][0]

    def sign_in(self, to: str = "/app/connections") -> dict[str, Any]:
        """Go to the provider and back."""
        return self.call("GET", f"{CALLBACK}?code=c0de&state={self.begin(to)}")

    def session(self, body: Any = None, origin: str = ORIGIN) -> dict[str, Any]:
        """Ask for a token."""
        return self.call("POST", "/session", body or {}, Origin=origin)

    def token(self) -> str:
        """Return a token."""
        token: str = json.loads(self.session()["body"])["data"]["token"]
        return token


def header(response: dict[str, Any], name: str) -> str:
    """Return the one value of a header."""
    [value] = response["multiValueHeaders"][name]
    return str(value)


def problem(response: dict[str, Any]) -> str:
    """Return the problem with which a sign-in ended, after checking that the browser is not signed in."""
    location = urlsplit(header(response, "Location"))
    assert (response["statusCode"], location.path) == (303, f"/{STAGE}/app/sign_in")
    assert not any(text.startswith(f"{SESSION_COOKIE}=") for text in response["multiValueHeaders"]["Set-Cookie"])
    return parse_qs(location.query)["problem"][0]


def provider(deployment: Deployment) -> Any:
    """Return the provider of a deployment."""
    return deployment.services.identity_provider


def test_a_person_signs_in_and_calls_the_api(deployment: Deployment) -> None:
    browser = Browser()

    response = browser.sign_in("/app/connections?state=error")

    assert (response["statusCode"], header(response, "Location")) == (
        303,
        f"{ORIGIN}/{STAGE}/app/connections?state=error",
    )
    data = json.loads(browser.session()["body"])["data"]
    assert data["app"] == {"id": deployment.app_id, "name": "Shop", "environment": "production", "role": "admin"}
    assert data["person"]["name"] == "Maria"
    me = ApiClient(data["token"]).call("GET", "/api/v1/api_key").json["data"]
    assert (me["person_id"], me["role"], me["name"]) == (data["person"]["id"], "admin", "Maria")
    seen = provider(deployment).seen
    assert seen["redirect_uri"] == seen["returned_to"] == f"{ORIGIN}/{STAGE}/session/callback"
    assert seen["nonce"] == seen["returned_nonce"]


def test_cookies_are_for_the_paths_of_the_session_and_no_script(deployment: Deployment) -> None:
    del deployment
    browser = Browser()
    state = browser.begin()
    [login] = browser.set
    assert login.endswith(f"; Path=/{STAGE}/session; Max-Age=600; HttpOnly; Secure; SameSite=Lax")

    browser.call("GET", f"{CALLBACK}?code=c0de&state={state}")

    session, no_login = browser.set
    assert session.endswith(f"; Path=/{STAGE}/session; Max-Age=604800; HttpOnly; Secure; SameSite=Strict")
    assert no_login.startswith(f"{LOGIN_COOKIE}=;")


@pytest.mark.parametrize(
    "to",
    [
        *(
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "/apps",
            "/app\\x",
            "/docs",
            "/app//evil.example",
        ),
        *("/app/../session/login", "/app/..//evil.example", "/app/%2e%2e/session/login", "/app/./x", "/app/"),
    ],
)
def test_a_sign_in_leads_to_a_page_of_the_console_only(deployment: Deployment, to: str) -> None:
    del deployment

    assert header(Browser().sign_in(to), "Location") == f"{ORIGIN}/{STAGE}/app"


class TestRefused:
    """A sign-in that ends without one."""

    def test_a_state_of_another_browser(self, deployment: Deployment) -> None:
        del deployment
        victim, attacker = Browser(), Browser()
        state = attacker.begin()

        assert problem(victim.call("GET", f"{CALLBACK}?code=c0de&state={state}")) == "invalid_login"
        victim.begin()
        assert problem(victim.call("GET", f"{CALLBACK}?code=c0de&state={state}")) == "invalid_login"

    def test_a_state_that_was_used(self, deployment: Deployment) -> None:
        del deployment
        browser = Browser()
        state = browser.begin()
        browser.call("GET", f"{CALLBACK}?code=c0de&state={state}")

        assert problem(browser.call("GET", f"{CALLBACK}?code=c0de&state={state}")) == "invalid_login"

    @pytest.mark.parametrize(
        "query", ["", "?code=c0de", "?code=a&code=b&state={state}", "?state={state}", "?code=&state={state}"]
    )
    def test_a_call_without_a_code_or_a_state(self, deployment: Deployment, query: str) -> None:
        del deployment
        browser = Browser()

        assert problem(browser.call("GET", CALLBACK + query.format(state=browser.begin()))) == "invalid_login"

    def test_a_code_that_is_too_long(self, deployment: Deployment) -> None:
        del deployment
        browser = Browser()

        assert problem(browser.call("GET", f"{CALLBACK}?code={'a' * 5000}&state={browser.begin()}")) == "invalid_login"

    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            (TokenRefused("A replayed code."), "invalid_login"),
            (ProviderFailed("It is down."), "provider_failed"),
            (IdentityClaims("https://id.example.com", "x", "x@example.com", True), "not_invited"),
            (IdentityClaims("https://id.example.com", "m", "maria@example.com", False), "unverified_email"),
            (IdentityClaims("https://id.example.com", "m"), "not_invited"),
        ],
    )
    def test_what_the_provider_says(
        self, deployment: Deployment, answer: Any, code: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        browser = Browser()
        state = browser.begin()
        provider(deployment).answer = answer

        assert problem(browser.call("GET", f"{CALLBACK}?code=c0de&state={state}")) == code
        [line] = [vars(record) for record in caplog.records if record.message == "sign_in.refused"]
        assert line["problem"] == code
        assert "c0de" not in str(line)
        assert state not in str(line)

    @pytest.mark.parametrize(("error", "code"), [("access_denied", "denied"), ("server_error", "provider_failed")])
    def test_an_error_of_the_provider(self, deployment: Deployment, error: str, code: str) -> None:
        del deployment
        browser = Browser()

        assert problem(browser.call("GET", f"{CALLBACK}?error={error}&state={browser.begin()}")) == code

    def test_a_provider_that_is_down_before_the_login(self, deployment: Deployment) -> None:
        provider(deployment).answer = ProviderFailed("It is down.")

        assert problem(Browser().call("GET", "/session/login?to=/app")) == "provider_failed"

    def test_a_second_person_with_one_invitation(self, deployment: Deployment) -> None:
        Browser().sign_in()
        provider(deployment).answer = IdentityClaims("https://id.example.com", "another", "maria@example.com", True)

        assert problem(Browser().sign_in()) == "not_invited"


class TestSession:
    """A token for a cookie."""

    @pytest.mark.parametrize(
        "origin",
        ["https://evil.example", "http://queue.example.com", "https://queue.example.com.evil.example", "null", ""],
    )
    def test_another_origin_gets_no_token_and_ends_nothing(self, deployment: Deployment, origin: str) -> None:
        del deployment
        browser = Browser()
        browser.sign_in()

        for path in ("/session", "/session/end"):
            assert browser.call("POST", path, {}, Origin=origin)["statusCode"] == 403
        assert browser.call("POST", "/session", {})["statusCode"] == 403
        assert browser.session()["statusCode"] == 200

    def test_no_call_of_the_rest_api_takes_a_cookie(self, deployment: Deployment) -> None:
        """With a TOKEN authorizer, API Gateway itself refuses a call without the header that the authorizer reads."""
        del deployment
        auth = Template.load().api()["Auth"]
        [authorizer] = auth["Authorizers"].values()

        assert (authorizer["FunctionPayloadType"], authorizer["Identity"]["Header"]) == ("TOKEN", "Authorization")
        assert auth["DefaultAuthorizer"] in auth["Authorizers"]
        assert [route.path for route in routes() if route.open and route.path.startswith("/api/")] == []
        assert {route.path for route in routes() if "session" in route.path.split("/")} == {
            *("/session", "/session/end", "/session/login", "/session/callback"),
        }

    @pytest.mark.parametrize("everywhere", [False, True])
    def test_nothing_opens_after_a_sign_out(self, deployment: Deployment, *, everywhere: bool) -> None:
        del deployment
        here, there = Browser(), Browser()
        here.sign_in()
        there.sign_in()
        tokens, cookie = [here.token(), there.token()], dict(here.cookies)

        ended = here.call("POST", "/session/end", {"everywhere": everywhere}, Origin=ORIGIN)

        assert (ended["statusCode"], here.cookies) == (204, {})
        here.cookies = cookie
        assert here.session()["statusCode"] == 401
        statuses = [ApiClient(token).call("GET", "/api/v1/api_key").status for token in tokens]
        assert statuses == [401, 401 if everywhere else 200]

    def test_a_removed_person_gets_no_token_and_an_old_one_opens_nothing(self, deployment: Deployment) -> None:
        browser = Browser()
        browser.sign_in()
        token = SessionToken.of(browser.token())
        assert token

        services().members.remove(deployment.app_id, token.person_id)

        assert ApiClient(token.text).call("GET", "/api/v1/api_key").status == 401
        data = json.loads(browser.session()["body"])["data"]
        assert (data["token"], data["app"], data["apps"]) == (None, None, [])

    @pytest.mark.parametrize("cookie", ["", "x", "{}.{}.{}", "a" * 9000, 'qbxml_session="'])
    def test_a_cookie_that_is_none_opens_nothing(self, deployment: Deployment, cookie: str) -> None:
        del deployment
        browser = Browser()
        browser.cookies = {SESSION_COOKIE: cookie}

        assert browser.session()["statusCode"] == 401

    @pytest.mark.parametrize("body", [[], "x", {"app_id": 3}])
    def test_a_wrong_body_is_refused(self, deployment: Deployment, body: Any) -> None:
        del deployment
        browser = Browser()
        browser.sign_in()

        assert browser.call("POST", "/session", body, Origin=ORIGIN)["statusCode"] == 400

    def test_an_app_of_others_is_refused(self, deployment: Deployment) -> None:
        browser = Browser()
        browser.sign_in()
        other = deployment.administration.create_app("Somebody else")

        assert browser.session({"app_id": other.id})["statusCode"] == 403

    def test_a_deployment_without_a_sign_in_answers_404(self, deployment: Deployment) -> None:
        deployment.services.settings._environment |= {"OIDC_ISSUER": ""}  # type: ignore[operator] # noqa: SLF001

        assert Browser().session()["statusCode"] == 404
        for path in ("/session/login?to=/app", f"{CALLBACK}?code=c0de&state=x"):
            assert Browser().call("GET", path)["statusCode"] == 404

    def test_a_sign_out_after_the_end_clears_the_cookie_too(self, deployment: Deployment) -> None:
        del deployment
        browser = Browser()
        browser.cookies = {SESSION_COOKIE: "ended"}

        ended = browser.call("POST", "/session/end", {}, Origin=ORIGIN)

        assert (ended["statusCode"], browser.cookies) == (204, {})


class TestCookies:
    """Cookies of other applications of the domain."""

    @pytest.mark.parametrize(
        "foreign", ['x={"a":1, "b":2}', 'x="a b"c', "flag", "a[0]=1", "prefs=hello world", "ä=1", "="]
    )
    def test_a_foreign_cookie_hides_none_of_ours(self, deployment: Deployment, foreign: str) -> None:
        del deployment
        browser = Browser()
        browser.sign_in()
        own = f"{SESSION_COOKIE}={browser.cookies[SESSION_COOKIE]}"
        browser.cookies = {}

        for cookies in (f"{foreign}; {own}", f"{own}; {foreign}", f"{foreign};{own};{foreign}"):
            response = browser.call("POST", "/session", {}, Origin=ORIGIN, Cookie=cookies)
            assert response["statusCode"] == 200

    def test_a_name_that_occurs_twice_counts_as_none(self, deployment: Deployment) -> None:
        del deployment
        mine, tossed = Browser(), Browser()
        mine.sign_in()
        tossed.sign_in()
        cookies = "; ".join(f"{SESSION_COOKIE}={browser.cookies[SESSION_COOKIE]}" for browser in (mine, tossed))

        assert Browser().call("POST", "/session", {}, Origin=ORIGIN, Cookie=cookies)["statusCode"] == 401


class TestMembers:
    """The calls of an admin."""

    def test_an_admin_invites_changes_and_removes_people(self, deployment: Deployment) -> None:
        browser = Browser()
        browser.sign_in()
        admin = ApiClient(browser.token())

        def later(method: str, path: str, body: Any = None) -> Any:
            deployment.clock.advance(seconds=1)
            return admin.call(method, path, body)

        invited = later("POST", "/api/v1/people/invitations", {"email": "sam@example.com", "role": "viewer"})
        deployment.clock.advance(seconds=1)
        provider(deployment).answer = IdentityClaims("https://id.example.com", "sam", "sam@example.com", True, "Sam")
        Browser().sign_in()
        listed = admin.call("GET", "/api/v1/people").json
        [sam] = [member for member in listed["data"] if member["name"] == "Sam"]
        changed = later("PATCH", f"/api/v1/people/{sam['id']}", {"role": "support"})
        removed = later("DELETE", f"/api/v1/people/{sam['id']}")

        assert (invited.status, sam["role"], listed["invitations"]) == (201, "viewer", [])
        assert (changed.status, changed.json["data"]["role"], removed.status) == (200, "support", 204)
        log = admin.call("GET", "/api/v1/audit_log?limit=4").json["data"]
        assert [(entry["action"], entry["actor"]["name"], entry["role"]) for entry in log] == [
            ("member_removed", "Maria", "support"),
            ("member_changed", "Maria", "support"),
            ("member_joined", "Sam", "viewer"),
            ("member_invited", "Maria", "viewer"),
        ]

    def test_a_token_of_a_former_admin_manages_nothing_while_the_role_is_cached(self, deployment: Deployment) -> None:
        """Only the functions can tell: API Gateway passes on what the authorizer said before."""
        browser = Browser()
        browser.sign_in()
        token = SessionToken.of(browser.token())
        assert token
        services().members.remove(deployment.app_id, token.person_id)
        cached = {"app_id": deployment.app_id, "role": "admin", "person_id": token.person_id}

        for method, path, body in (
            ("GET", "/api/v1/people", None),
            ("POST", "/api/v1/people/invitations", {"email": "evil@example.com", "role": "admin"}),
            ("GET", "/api/v1/api_keys", None),
            ("POST", "/api/v1/api_keys", {"name": "x", "scope": "full"}),
        ):
            text = json.dumps(body) if body else None
            [route] = [one for one in routes() if (one.method, one.path) == (method, path)]
            response = load(route.handler)(api_event(method, path, body=text, authorizer=cached), None)
            assert (response["statusCode"], json.loads(response["body"])["error"]["code"]) == (403, "forbidden")
        assert services().members.members(deployment.app_id) == ([], [])

    def test_a_forgotten_person_has_no_name_in_the_log(self, deployment: Deployment) -> None:
        browser = Browser()
        browser.sign_in()
        token = SessionToken.of(browser.token())
        assert token
        services().members.forget(token.person_id)

        [entry] = deployment.api.call("GET", "/api/v1/audit_log?action=member_joined").json["data"]
        assert entry["actor"] == {"type": "person", "id": token.person_id, "name": None}

    def test_who_queues_as_a_person_is_shown_and_cannot_approve(self, deployment: Deployment) -> None:
        browser = Browser()
        browser.sign_in()
        admin = ApiClient(browser.token())
        write = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}, "approval": "required"}

        record = admin.call("POST", deployment.requests_url, write).json["data"]
        body = {"revision": record["approval"]["revision"]}
        own = admin.call("POST", f"/api/v1/queued_requests/{record['id']}/approve", body)
        other = deployment.api.call("POST", f"/api/v1/queued_requests/{record['id']}/approve", body)

        shown = deployment.api.call("GET", f"/api/v1/queued_requests/{record['id']}").json["data"]
        assert (own.status, other.status) == (403, 200)
        assert (shown["queued_by"]["type"], shown["queued_by"]["name"]) == ("person", "Maria")
        assert (shown["approval"]["decided_by"][:4], shown["approval"]["decided_by_name"]) == ("key_", None)

    def test_a_record_names_the_person_who_decided(self, deployment: Deployment) -> None:
        browser = Browser()
        browser.sign_in()
        admin = ApiClient(browser.token())
        write = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}, "approval": "required"}
        record = deployment.api.call("POST", deployment.requests_url, write).json["data"]

        admin.call("POST", f"/api/v1/queued_requests/{record['id']}/approve", {"revision": 1})

        shown = deployment.api.call("GET", f"/api/v1/queued_requests/{record['id']}").json["data"]["approval"]
        token = SessionToken.of(browser.token())
        assert token
        assert (shown["decided_by"], shown["decided_by_name"]) == (token.person_id, "Maria")

    def test_an_invitation_of_what_is_not_an_address_is_refused(self, deployment: Deployment) -> None:
        del deployment
        browser = Browser()
        browser.sign_in()
        admin = ApiClient(browser.token())

        for body in ({"email": "x", "role": "viewer"}, {"email": "a@example.com", "role": "owner"}, {}):
            refused = admin.call("POST", "/api/v1/people/invitations", body)
            assert (refused.status, refused.code) == (400, "invalid_request")
