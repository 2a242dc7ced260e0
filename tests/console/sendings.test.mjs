import assert from "node:assert/strict";
import { test } from "node:test";

import { executionOf, sendingsOf } from "../../src/console/lib/sendings.js";
import { STATES, stateOf } from "../../src/console/lib/text.js";

const FIRST = "2026-03-14T12:00:00.000000Z";
const LAST = "2026-03-14T12:10:00.000000Z";
const write = (members) => ({
  request_name: "InvoiceAddRq",
  state: "response_received",
  executed: "yes",
  sent_at: LAST,
  first_sent_at: null,
  sent_in_sessions: 1,
  if_exists: "fail",
  messages: null,
  ...members,
});

test("each sending whose time is stored is a step, and a question is told from the write where that is known", () => {
  const names = (members) => sendingsOf(write(members)).map(({ name, at }) => [name, at]);

  assert.deepEqual(names({ sent_at: null, sent_in_sessions: 0 }), []);
  assert.deepEqual(names({}), [["Sent to QuickBooks", LAST]]);
  assert.deepEqual(names({ first_sent_at: LAST }), [["Sent to QuickBooks", LAST]]);
  assert.deepEqual(names({ first_sent_at: FIRST }), [
    ["Sent to QuickBooks, response lost", FIRST],
    ["QuickBooks was asked for its response", LAST],
  ]);
  assert.deepEqual(names({ first_sent_at: FIRST, sent_in_sessions: 2 }), [
    ["Sent to QuickBooks, response lost", FIRST],
    ["Sent again or asked about (the record does not say which)", LAST],
  ]);
});

test("a write says how often it was sent and whether it is in the books", () => {
  const words = (members) => {
    const { sent, executed } = executionOf(write(members));
    return [sent, executed];
  };
  const waiting = { state: "waiting", executed: null, sent_at: null, sent_in_sessions: 0 };

  assert.deepEqual(words({}), ["Once", "Yes. QuickBooks executed this request once"]);
  assert.deepEqual(words({ sent_in_sessions: 3, first_sent_at: FIRST }), [
    "3 times",
    "Yes. QuickBooks executed this request once",
  ]);
  assert.deepEqual(words(waiting), ["Not yet", "No"]);
  assert.deepEqual(words({ ...waiting, state: "discarded", executed: "no" }), ["Never", "No"]);
  assert.deepEqual(words({ ...waiting, state: "retryable", sent_at: LAST }), [
    "Only while QuickBooks was closed or busy",
    "No",
  ]);
  assert.deepEqual(words({ state: "sent", executed: null }), ["Once", "Not known. If it is, then once."]);
  assert.deepEqual(words({ state: "error", executed: "unknown" }), ["Once", "Not known. If it is, then once."]);
  assert.deepEqual(words({ state: "error", executed: "no" }), ["Once", "No"]);
  const looked = { if_exists: "return", messages: [{ kind: "query", sent_at: LAST }], sent_in_sessions: 0 };
  assert.deepEqual(words({ ...looked, executed: "no", outcome: "found" }), [
    "No, only a query for its object",
    "It was there before",
  ]);
  assert.equal(executionOf(write({ request_name: "InvoiceQueryRq" })), null);
});

test("why a write is not executed twice is said if it was sent again or its response was lost, and only then", () => {
  const why = (members) => executionOf(write(members)).why;

  assert.equal(why({}), null);
  assert.match(why({ sent_in_sessions: 2 }), /^It was sent again only after/);
  assert.match(why({ first_sent_at: FIRST }), /only asked for it, which executes nothing/);
  assert.match(why({ first_sent_at: FIRST, state: "retryable", executed: null }), /is asked for it\. Only if/);
  assert.match(
    why({ first_sent_at: FIRST, sent_in_sessions: 2 }),
    /the same message set ID.*can be there twice only if/,
  );
  // A request that looks for its object can send a change with another ID.
  assert.doesNotMatch(why({ first_sent_at: FIRST, sent_in_sessions: 2, if_exists: "update" }), /same message set ID/);
});

test("only a request that has certainly failed is shown as failed", () => {
  const nameOf = (state, executed) => stateOf({ state, executed }).name;

  assert.equal(nameOf("error", null), "Failed");
  assert.equal(nameOf("error", "no"), "Failed");
  assert.equal(nameOf("error", "unknown"), "Outcome unknown");
  assert.equal(stateOf({ state: "error", executed: "unknown" }).tone, "amber");
  assert.equal(nameOf("error", "yes"), "Executed");
  for (const state of Object.keys(STATES).filter((one) => one !== "error"))
    for (const executed of [null, "no", "unknown", "yes"]) assert.equal(nameOf(state, executed), STATES[state].name);
});
