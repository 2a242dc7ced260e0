import assert from "node:assert/strict";
import { test } from "node:test";

import { saysOf } from "../../src/console/views/overview_approvals.js";

test("the writes that wait for approval are those of all connections, or it says of which", () => {
  assert.equal(saysOf({ number: 0, isAll: true }), "");
  assert.equal(saysOf({ number: 1, isAll: true }), "1 write waits for approval.");
  assert.equal(saysOf({ number: 2, isAll: true }), "2 writes wait for approval.");
  assert.equal(saysOf({ number: 2, isAll: false }), "2 writes of the first 500 connections wait for approval.");
  const none = "No write of the first 500 connections waits for approval. Those of the others were not counted.";
  assert.equal(saysOf({ number: 0, isAll: false }), none);
});
