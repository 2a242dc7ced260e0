import assert from "node:assert/strict";
import { test } from "node:test";

import { asOf } from "../../src/console/lib/text.js";
import { html } from "../../src/console/vendor/preact.js";
import { Times } from "../../src/console/views/record_changes.js";
import { textOf } from "./support.mjs";

const AT = "2026-11-28T21:07:00.000000Z";
const timesOf = (change) =>
  textOf(html`<${Times} change=${{ at: AT, ...change }} />`)
    .replace(/\s+/g, " ")
    .trim();
const words = (moment) => asOf(moment).replace(/\s+/g, " ");

test("a change says when the record was changed, and when that was found", () => {
  const modified = "2026-11-28T15:15:00-05:00";
  const both = `Changed ${words(modified)} · found ${words(AT)}`;
  assert.equal(timesOf({ record: { TimeModified: modified } }), both);
});

test("a change without a time of the record says only when it was found", () => {
  for (const record of [undefined, null, {}, { TimeModified: "never" }])
    assert.equal(timesOf({ record }), `Found ${words(AT)}`);
});
