import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ago } from "../../src/console/lib/ago.js";
import { codeLines, coloured, foldEnd, jsonLines, xmlLines } from "../../src/console/lib/lines.js";
import * as text from "../../src/console/lib/text.js";
import { firstVersion, isTooNew, lackOf, versionsFor } from "../../src/console/lib/versions.js";
import { chance, times } from "./support.mjs";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

test("the cause of an error begins with its code, and not with words that say nothing", () => {
  const error = (message, details = {}) => ({ code: "quickbooks_error", message, details });
  const refused = error("There is an invalid reference to QuickBooks Customer.", { status_code: 3140 });
  assert.equal(text.causeOf(refused), "3140 · There is an invalid reference to QuickBooks Customer.");
  for (const [start, rest] of [
    ["There was an error when ", "saving a Customers list."],
    ["There was an error ", "adding, modifying or deleting an object because it is already in use."],
    ["An error occurred while ", "voiding a ReceivePayment."],
  ])
    assert.equal(text.causeOf(error(start + rest)), `quickbooks_error · Failed: ${rest}`);
  assert.equal(text.causeOf(error("An error occurred in it.")), "quickbooks_error · An error occurred in it.");
  assert.equal(text.causeOf(error("A dialog.", { hresult: "0x80040414" })), "0x80040414 · A dialog.");
  assert.equal(text.causeOf(error("", { reason: "expired" })), "expired · ");
  assert.equal(text.causeOf(null), null);
});

test("a second machine is a warning, and missed calls are said", () => {
  const connected = { status: "connected", quickbooks_status: "connected", waiting_reason: null, warnings: [] };
  const second = [{ code: "second_web_connector", message: "A second Web Connector calls.", hint: "" }];
  assert.equal(text.health(connected).tone, "green");
  assert.deepEqual(text.health({ ...connected, warnings: second }), { name: "Second Web Connector", tone: "amber" });
  assert.equal(text.whyOf({ ...connected, warnings: second }), second[0].message);
  assert.equal(text.whyOf({ ...connected, warnings: undefined }), undefined);
  const silent = {
    code: "not_seen",
    message: "At least 27 calls missed since 2026-03-14T12:02:00.000000Z, when it was last seen.",
  };
  assert.deepEqual(text.health({ ...connected, waiting_reason: silent }), { name: "Calls missed", tone: "amber" });
  for (const why of [text.messageOf(silent), text.whyOf({ waiting_reason: silent, warnings: second })])
    assert.match(why, /^At least 27 calls missed since (?!2026-03-14T)/);
});

test("a hint on the page of a connection names what is there", () => {
  for (const code of ["paused", "quickbooks_failing", "company_file_moved"]) {
    assert.match(text.hintOf({ code }), /on the page of the connection/);
    assert.match(text.hintOnItsPage({ code }), /(Resume above|path below)/);
    assert.doesNotMatch(text.hintOnItsPage({ code }), /the page of the connection/);
  }
  assert.equal(text.hintOnItsPage({ code: "other", hint: null }), undefined);
});

test("a rough duration has no more than two digits and one unit", () => {
  const words = [0, 0.0234, 4.26, 47.3, 120, 4000, 92_640, 400_000].map(text.roughDuration);
  assert.deepEqual(words, ["0 s", "23 ms", "4.3 s", "47 s", "2 min", "67 min", "26 h", "5 days"]);
});

test("a connection needs a person if it is red, or amber while requests wait", () => {
  const connected = { status: "connected", quickbooks_status: "connected", waiting_reason: null };
  const paused = { ...connected, paused_at: "2026-03-14T12:02:00Z", waiting_reason: { code: "paused" } };
  const silent = { ...connected, waiting_reason: { code: "not_seen" } };
  const busy = { ...connected, waiting_reason: { code: "service_busy" } };
  const failing = { ...connected, waiting_reason: { code: "quickbooks_failing" } };
  const needs = (hasWaiting) =>
    [connected, busy, paused, silent, failing].map((one) => text.needsPerson(one, hasWaiting));
  assert.deepEqual(needs(true), [false, false, true, true, true]);
  assert.deepEqual(needs(false), [false, false, false, false, true]);
});

const ID = "0b9f7c0e-8f43-4f0e-9a7d-000000000001";
const MOMENT = "2026-03-14T12:02:00.000000Z";
/** The texts of the service for each waiting reason and warning: the message and the hint. */
const REASONS = {
  send_by_passed: [`It was not sent by ${MOMENT}. It ends as not_sent_in_time within six minutes of that.`, null],
  approval: [
    `It enters the queue when it is approved. Without an approval by ${MOMENT}, it ends.`,
    `To approve it: POST /api/v1/queued_requests/${ID}/approve, with another API key than its author's.`,
  ],
  dependency: [
    `It enters the queue when the request ${ID} has ended with a response.`,
    "See the waiting_reason of that request.",
  ],
  paused: [`The connection was paused at ${MOMENT}.`, `To resume it: POST /api/v1/connections/${ID}/resume.`],
  wrong_password: [
    `The Web Connector called with a wrong password at ${MOMENT}.`,
    `Type the connection's password into the Web Connector. To set a new one: POST /api/v1/connections/${ID}/password.`,
  ],
  never_connected: [
    "No Web Connector has logged in yet: the connection has no password.",
    `Set a password (POST /api/v1/connections/${ID}/password). Then open the connection's .qwc file.`,
  ],
  company_file_mismatch: [
    "The open company file belongs to another connection: C:\\books.qbw.",
    `To accept it: POST /api/v1/connections/${ID}/reset.`,
  ],
  company_file_moved: [
    "The company file of this connection is open at C:\\books.qbw, which may be a copy.",
    `To accept it: POST /api/v1/connections/${ID}/accept_company_file.`,
  ],
  quickbooks_failing: [
    `QuickBooks failed for several requests in the last session. Nothing is sent until ${MOMENT}.`,
    `Update Selected has no effect until then. To end the pause: POST /api/v1/connections/${ID}/resume.`,
  ],
  quickbooks_unreachable: ["QuickBooks could not be reached: A dialog box is open in QuickBooks.", "Close it."],
  outside_sync_window: [
    `The sync window is closed. It opens at 01:00 (Europe/Berlin). The turn of this connection begins at ${MOMENT}.`,
    `To send sooner, change the connection's sync_window: PATCH /api/v1/connections/${ID}.`,
  ],
  not_seen: [`At least 4 calls missed since ${MOMENT}.`, "At the QuickBooks machine: switch it on."],
  service_busy: ["Too many sessions of other connections are running.", null],
  recovering: ["Its response was lost.", "Do not queue it again: QuickBooks may have executed it."],
  requests_ahead: ["2 requests are sent before it.", null],
  next_session: [
    "The simulator of this test connection will send it: within seconds, or within five minutes.",
    "If it waits longer, the simulator has probably used up its time for today. See GET " +
      `/api/v1/connections/${ID}/simulator.`,
  ],
  second_web_connector: [
    `A Web Connector called with a wrong password at ${MOMENT}.`,
    "Nothing waits because of this.",
  ],
};

test("no text of a waiting reason for people names a call of the API, an id, a code or a moment in UTC", () => {
  const { schemas } = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")).components;
  const codes = ["WaitingReason", "ConnectionWarning"].flatMap((name) => schemas[name].properties.code.enum);
  assert.deepEqual(Object.keys(REASONS).sort(), codes.sort());
  for (const [code, [message, hint]] of Object.entries(REASONS)) {
    const texts = [text.messageOf({ code, message }), text.hintOf({ code, message, hint })].filter(Boolean);
    assert.doesNotMatch(texts.join(" "), /POST|PATCH|GET|\/api\/|[a-z]_[a-z]|-000000000001|T12:02/, code);
    assert.ok(
      texts.every((one) => one.endsWith(".")),
      code,
    );
  }
});

test("a length of time is in its largest units", () => {
  const lengths = [
    [-5, "<0.1 s"],
    [49, "<0.1 s"],
    [300, "0.3 s"],
    [9949, "9.9 s"],
    [9950, "10 s"],
    [47 * SECOND, "47 s"],
    [59_499, "59 s"],
    [MINUTE, "1 min"],
    [192 * SECOND, "3 min 12 s"],
    [HOUR - 1, "1 h"],
    [125 * MINUTE, "2 h 5 min"],
    [30 * HOUR, "30 h"],
    [48 * HOUR, "2 days"],
    [100 * HOUR, "4 days"],
  ];
  for (const [milliseconds, words] of lengths) assert.equal(text.duration(milliseconds), words);
});

test("how long ago a moment is has one unit, and ten seconds are now", () => {
  const now = Date.parse("2026-11-24T12:00:00Z");
  const at = (milliseconds) => ago(new Date(now + milliseconds).toISOString(), now);
  assert.deepEqual([-9 * SECOND, -42 * SECOND, -3 * MINUTE, 3 * MINUTE, -23 * HOUR].map(at), [
    "just now",
    "40 seconds ago",
    "3 minutes ago",
    "in 3 minutes",
    "23 hours ago",
  ]);
});

test("a write that waits for approval is not just waiting, wherever it is shown", () => {
  const name = (more) => text.stateOf({ state: "waiting", ...more }).name;
  assert.equal(name({}), "Waiting");
  assert.equal(name({ waiting_reason: { code: "next_session" }, awaits_approval: false }), "Waiting");
  assert.equal(name({ waiting_reason: { code: "approval" } }), "Waiting for approval");
  assert.equal(name({ awaits_approval: true }), "Waiting for approval");
});

test("the ID of an object is no name of it", () => {
  const parts = {
    "Ann · 800000D8-1700000000": ["Ann", ["800000D8-1700000000"]],
    "800000D8-1700000000": ["", ["800000D8-1700000000"]],
    "1A2B-1700000000 · 248.50": ["248.50", ["1A2B-1700000000"]],
    "80000001-1700000000 · ABC-1700000001": ["", ["80000001-1700000000", "ABC-1700000001"]],
    // A number that has a hyphen stays.
    "Kristy · 2026-0001 · 10.00": ["Kristy · 2026-0001 · 10.00", []],
    "ListMerge · 80000001-1700000000 → 80000002-1700000000": [
      "ListMerge · 80000001-1700000000 → 80000002-1700000000",
      [],
    ],
  };
  for (const [subject, [about, ids]] of Object.entries(parts))
    assert.deepEqual(text.partsOfSubject(subject), { about, ids });
  for (const none of [null, undefined, ""]) assert.deepEqual(text.partsOfSubject(none), { about: "", ids: [] });
});

test("names of requests become words", () => {
  const titles = {
    CustomerQueryRq: "Customer query",
    ARRefundCreditCardAddRq: "AR refund credit card add",
    TxnDelRq: "Txn del",
    BillPaymentCheckModRq: "Bill payment check change",
    CustomerModRq: "Customer change",
    ModelQueryRq: "Model query",
    UOMSetRefRq: "UOM set ref",
  };
  for (const [name, title] of Object.entries(titles)) assert.equal(text.requestTitle(name), title);
  const child = (name, value) => [{ name, text: value }];
  const actions = [
    [{ name: "CustomerAddRq" }, "Add customer"],
    [{ name: "TxnDelRq", children: child("TxnDelType", "Invoice") }, "Delete invoice"],
    [{ name: "ListDelRq", children: [] }, "Delete list entry"],
    [{ name: "CustomerQueryRq" }, "Queue customer query"],
    [{ name: "ListMergeRq", children: child("ListMergeType", "Vendor") }, "Merge vendor entries"],
  ];
  for (const [tree, title] of actions) assert.equal(text.actionTitle(tree), title);
});

test("no invisible character is lost or shown as it is", () => {
  const below = chance(5);
  const characters = ["a", "é", "東", "😀", "\n", "\t", "\u202e", "\u200b", "\u0000", "\u2028", "\ufeff", "\u00ad"];
  for (let n = 0; n < 500; n += 1) {
    const given = times(below(12), () => characters[below(characters.length)]).join("");

    const parts = text.withoutControls(given);

    const back = parts.map(({ text: run, control }) => run ?? String.fromCodePoint(parseInt(control.slice(2), 16)));
    assert.equal(back.join(""), given);
    assert.doesNotMatch(parts.map(({ text: run }) => run ?? "").join(""), /[\u202e\u200b\0\u2028\ufeff\u00ad]/);
  }
});

test("versions of one edition are compared as numbers, and those of two editions are not", () => {
  assert.equal(isTooNew("14.0", "13.0"), true);
  assert.equal(isTooNew("2.1", "13.0"), false);
  assert.equal(isTooNew("CA3.0", "2.0"), false);
  assert.equal(isTooNew("16.0", null), false);
  assert.deepEqual(
    [firstVersion(null), firstVersion("16.0"), firstVersion("6.0"), firstVersion("CA3.0")],
    ["13.0", "13.0", "6.0", "CA3.0"],
  );
  assert.deepEqual(versionsFor("14.0", "16.0"), ["13.0", "14.0", "16.0"]);
  assert.equal(lackOf("13.0", "13.0", null), null);
  assert.match(lackOf("14.0", "13.0", "16.0"), /Choose that version/);
  assert.match(lackOf("14.0", "13.0", "13.0"), /supports 13.0/);
});

test("the lines of a document have all of its text, and a part folds with its end", async () => {
  const xml = '<A b="1"><C>text</C><!-- note --><D/><E>\n one\n two\n</E><![CDATA[<x>]]></A>';
  const { texts, depths } = await xmlLines(xml);
  const squeezed = (value) => value.replace(/\s+/g, "");
  assert.equal(squeezed(texts.join("")), squeezed(xml));
  assert.equal(foldEnd({ texts, depths }, 0), texts.length);
  for (const line of texts)
    assert.equal(
      coloured(line, "xml")
        .map(([, part]) => part)
        .join(""),
      line,
    );

  const value = { a: [1, { b: "}" }], c: null, d: "x".repeat(10), "": -1.5e3 };
  const json = jsonLines(value);
  assert.deepEqual(JSON.parse(json.texts.join("\n")), value);
  for (const line of json.texts)
    assert.equal(
      coloured(line, "json")
        .map(([, part]) => part)
        .join(""),
      line,
    );

  const code = "def f():\n  if x:\n     return 1\n";
  const lines = codeLines(code);
  assert.equal(lines.texts.map((line, n) => " ".repeat(2 * lines.depths[n]) + line).join("\n"), code.trimEnd());
});
