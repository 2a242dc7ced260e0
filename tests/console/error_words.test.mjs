import assert from "node:assert/strict";
import { test } from "node:test";

import { wordsOf } from "../../src/console/lib/error_words.js";
import { saysOfCauses } from "../../src/console/lib/failure_groups.js";
import { causeOf } from "../../src/console/lib/text.js";

const ID = "7e2f0a54-6a0c-4f0e-9a7d-000000000001";

/** The texts of the service that name an id or a member of a record: the message and the hint. */
const TEXTS = {
  dependency_failed: [
    `The request ${ID}, on which it depends, ended: quickbooks_error. It was not sent.`,
    "Look at the error of the request in dependency_id. When its cause is settled, continue the batch.",
  ],
  reference_unresolved: [
    `The response to ${ID} has no value at CustomerRet/ListID. It was not sent.`,
    "Compare path with the response to the request in dependency_id, and correct the reference.",
  ],
  reference_invalid: [
    `The value at CustomerRet/ListID in the response to ${ID} does not fit. It is too long. It was not sent.`,
    "Compare path with the response to the request in dependency_id, and correct the reference.",
  ],
  response_too_large: ["No response arrived.", "Ask for less: request smaller pages (iterate=true, max_returned)."],
};
const JARGON = /[a-z]_[a-z]|[a-z]=[a-z]|[0-9a-f]{8}-|\d{4}-\d\d-\d\dT/;

test("no text of an error for people names an id, a member of a record or a moment in UTC", () => {
  for (const [code, [message, hint]] of Object.entries(TEXTS)) {
    const error = { code, message, details: { hint } };
    assert.match(`${message} ${hint}`, JARGON, code);
    assert.doesNotMatch(wordsOf(error).hint, JARGON, code);
    assert.doesNotMatch(causeOf(error).replace(`${code} · `, ""), JARGON, code);
    const [title, ...rest] = saysOfCauses([{ cause: code, message, hint, messages: 1 }]);
    assert.doesNotMatch([title.replace(`${code} · `, ""), ...rest].join(" "), JARGON, code);
  }
});

test("a hint that asks to look in the company file is shown", () => {
  const hint =
    "Close QuickBooks and the Web Connector if one of them hangs, and look in the company file. Queue it again.";
  assert.equal(wordsOf({ code: "not_sent_in_time", message: "Its time has passed.", details: { hint } }).hint, hint);
});

test("an error of QuickBooks keeps its message and its hint", () => {
  const error = { code: "quickbooks_error", message: `No customer ${ID}.`, details: { hint: "Use another name." } };
  assert.deepEqual(wordsOf(error), { message: error.message, hint: "Use another name." });
  assert.equal(wordsOf({ ...error, details: {} }).hint, undefined);
});
