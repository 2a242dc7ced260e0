import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { call } from "../../src/console/lib/api.js";
import { draftKey, draftsOf, writeDraft } from "../../src/console/lib/drafts.js";
import { allows, CALLS } from "../../src/console/lib/permissions.js";
import { ROOT } from "../../src/console/lib/router.js";
import { endSession, session, signIn, signOut, start, wantedPage } from "../../src/console/lib/session.js";

const SHOP = { id: "shop", name: "Shop", environment: "production", role: "editor" };
const TEST_SHOP = { id: "test-shop", name: "Shop, tests", environment: "test", role: "admin" };
const MARIA = { id: "maria", name: "Maria", email: "maria@example.com" };
const PERMISSIONS = { editor: ["read", "operate", "propose", "queue"], viewer: ["read"] };

/** What the service answers, and what it was asked: `[method, path, credential, body]`. */
const service = { apps: [SHOP], person: MARIA, refused: new Set(), asked: [], isReached: true, isSignedIn: true };

const json = (status, body) =>
  new Response(body && JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const unauthorized = () => json(401, { error: { code: "unauthorized", message: "No." } });

globalThis.fetch = async (address, { method, headers, body, credentials }) => {
  const path = new URL(address).pathname.slice(ROOT.length);
  const credential = headers.Authorization && atob(headers.Authorization.slice(6)).slice(0, -1);
  service.asked.push([method, path, credential, body && JSON.parse(body)]);
  assert.equal(credentials, path.startsWith("/session") ? "same-origin" : "omit");
  if (!service.isReached) throw new TypeError("network");
  if (path === "/session/end") return service.isSignedIn ? new Response(null, { status: 204 }) : unauthorized();
  if (path === "/session") return service.isSignedIn ? tokenFor(JSON.parse(body)) : unauthorized();
  if (service.refused.has(credential)) return unauthorized();
  if (path === "/api/v1/api_key") return json(200, { data: aboutOf(credential) });
  return json(200, { data: path });
};

function tokenFor({ app_id: wanted }) {
  const app = service.apps.find(({ id }) => !wanted || id === wanted) ?? null;
  if (wanted && !app) return json(403, { error: { code: "forbidden", message: "You do not belong to this app." } });
  const token = app && `st_${app.id}_${app.role}_${service.asked.length}`;
  return json(200, { data: { token, expires_in: 600, person: service.person, app, apps: service.apps } });
}

function aboutOf(credential) {
  const [, app, role] = credential.split("_");
  const isPerson = credential.startsWith("st_");
  return {
    app_id: app,
    permissions: isPerson ? (PERMISSIONS[role] ?? ["read", "manage"]) : ["read"],
    environment: "production",
    role: isPerson ? role : null,
    scope: isPerson ? null : "read_only",
    key_id: isPerson ? null : "key_1",
    person_id: isPerson ? service.person.id : null,
    name: null,
  };
}

const reasons = [];
session.onSignOut((reason) => reasons.push(reason));

beforeEach(() => {
  signOut();
  sessionStorage.removeItem("qbxml-queue.app");
  reasons.length = 0;
  Object.assign(service, { apps: [SHOP], person: MARIA, asked: [], isReached: true, isSignedIn: true });
  service.refused.clear();
});

const draft = (app) => writeDraft(draftKey(app, { type: "InvoiceAddRq" }), { text: "x" });

test("a person is signed in by the cookie, and the token is nowhere but in memory", async () => {
  await start();

  assert.equal(session.person.person.name, "Maria");
  assert.equal(session.may("pause"), true);
  assert.equal(session.may("set_password"), false);
  assert.equal(
    Object.values(sessionStorage).some((text) => text.includes("st_")),
    false,
  );
  await call("GET", ["connections"]);
  assert.match(service.asked.at(-1)[2], /^st_shop_/);
});

test("nobody is signed in without a session, and an error of the service is not taken for that", async () => {
  service.isSignedIn = false;
  await start();
  assert.equal(session.about ?? session.person, null);

  service.isReached = false;
  await assert.rejects(start(), { status: 0 });
});

test("a key that is stored is used, and no cookie is read", async () => {
  await signIn("sk_shop_1");
  service.asked = [];
  await start();

  assert.deepEqual(
    service.asked.map(([, path]) => path),
    ["/api/v1/api_key"],
  );
  assert.equal(session.person, null);
});

test("a role that changes is seen with the next token", async () => {
  await start();
  service.apps = [{ ...SHOP, role: "viewer" }];
  service.refused.add(service.asked.at(-1)[2]);
  await call("GET", ["connections"]);

  assert.equal(session.may("pause"), false);
  assert.deepEqual(reasons, []);
});

test("a call that was meant for one app reaches no other after the membership has ended", async () => {
  service.apps = [SHOP, TEST_SHOP];
  await start();
  draft("shop");
  service.apps = [TEST_SHOP];
  service.refused.add(service.asked.at(-1)[2]);
  await assert.rejects(call("POST", ["connections"]), { status: 401 });

  const writes = service.asked.filter(([method, path]) => method === "POST" && path.startsWith("/api"));
  assert.deepEqual(
    writes.map(([, , credential]) => credential.split("_")[1]),
    ["shop"],
  );
  assert.deepEqual(reasons, ["You no longer belong to this app. Sign in again."]);
  assert.equal(draftsOf("shop").length, 1);
});

test("a session that has ended is told, and drafts are kept for the same person only", async () => {
  await start();
  draft("shop");
  service.isSignedIn = false;
  service.refused.add(service.asked.at(-1)[2]);
  await assert.rejects(call("GET", ["connections"]), { status: 401 });
  assert.deepEqual(reasons, ["Your sign-in has ended. Sign in again."]);
  assert.equal(session.person, null);

  service.isSignedIn = true;
  await start();
  assert.equal(draftsOf("shop").length, 1);
  signOut("again");
  service.person = { ...MARIA, id: "ann" };
  await start();
  assert.equal(draftsOf("shop").length, 0);
});

test("a sign-out that does not reach the service signs nobody out, and one that does leaves nothing", async () => {
  await start();
  draft("shop");
  service.isReached = false;
  await assert.rejects(endSession(false), { status: 0 });
  assert.equal(session.may("pause"), true);

  service.isReached = true;
  await endSession(true);
  assert.deepEqual(service.asked.at(-1), ["POST", "/session/end", undefined, { everywhere: true }]);
  assert.equal(session.about, null);
  assert.deepEqual(Object.keys(sessionStorage), []);
});

test("a sign-out of a session that has ended already signs out", async () => {
  await start();
  service.isSignedIn = false;
  await endSession(false);

  assert.equal(session.person, null);
});

test("the tab keeps its app when the page is loaded again", async () => {
  service.apps = [TEST_SHOP, SHOP];
  sessionStorage.setItem("qbxml-queue.app", "shop");
  await start();

  assert.equal(session.person.app.id, "shop");
  assert.deepEqual(service.asked[0][3], { app_id: "shop" });
});

test("a page that is loaded after a membership has ended shows another app", async () => {
  service.apps = [TEST_SHOP];
  sessionStorage.setItem("qbxml-queue.app", "shop");
  await start();

  assert.equal(session.person.app.id, "test-shop");
});

test("a person without an app may do nothing", async () => {
  service.apps = [];
  await start();

  assert.equal(session.about, null);
  assert.equal(session.person.person.email, "maria@example.com");
  assert.ok(Object.keys(CALLS).every((action) => !session.may(action)));
});

test("an action that no table has is an error, so a control with a misspelt name is not just hidden", () => {
  assert.throws(() => allows(["manage"], "pauze"), TypeError);
});

test("the page that is wanted is below the console, and the address of a failed attempt names it", () => {
  const failed = (to) => `/app/sign_in?${new URLSearchParams({ problem: "expired", to })}`;
  for (const [address, wanted] of [
    ["/app/connections/1?state=error", "/app/connections/1?state=error"],
    ["/docs", "/app"],
    ["/app/sign_in?problem=expired", "/app"],
    [failed("/app?search=a"), "/app?search=a"],
    [failed("//attacker.example/app"), "/app"],
    [failed("https://attacker.example/app"), "/app"],
    [failed("/apple"), "/app"],
    [failed("/app/sign_in?problem=denied"), "/app"],
  ]) {
    globalThis.location = new URL(ROOT + address, "http://localhost");
    assert.equal(wantedPage(), wanted, address);
  }
});
