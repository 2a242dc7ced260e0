import assert from "node:assert/strict";
import { test } from "node:test";

import { saysOfCauses } from "../../src/console/lib/failure_groups.js";
import { listOf } from "../../src/console/views/failure_group.js";

test("the list of a group ends only where the reader chose, so it has what changed after the report", () => {
  const kind = { filters: () => ({ state: "error" }) };
  const report = { since: "2026-03-01T00:00:00Z", until: "2026-03-02T00:00:00Z" };
  const list = { state: "error", sort: "updated_at", range: "custom", from: report.since };

  assert.deepEqual(listOf(kind, {}, { ...report, to: undefined }), { ...list, to: undefined });
  assert.deepEqual(listOf(kind, {}, { ...report, to: report.until }), { ...list, to: report.until });
});

test("the message of one request heads a group only if all its requests have it", () => {
  const one = {
    cause: "3140",
    message: "No customer Ann.",
    messages: 1,
    meaning: "It refers to nothing.",
    hint: "Mend.",
  };
  const general = ["3140 · It refers to nothing.", "For example: No customer Ann.", "Mend."];

  assert.deepEqual(saysOfCauses([one, one]), ["3140 · No customer Ann.", "Mend."]);
  assert.deepEqual(saysOfCauses([{ ...one, messages: 2 }]), general);
  assert.deepEqual(saysOfCauses([one, { ...one, message: "No customer Bob." }]), general);
  assert.equal(saysOfCauses([{ ...one, messages: 2, meaning: null }])[0], "3140 · Different messages");
});
