import assert from "node:assert/strict";
import { test } from "node:test";

import { listOf } from "../../src/console/views/failures.js";

test("the list of a group ends only where the reader chose, so it has what changed after the report", () => {
  const kind = { filters: () => ({ state: "error" }) };
  const report = { since: "2026-03-01T00:00:00Z", until: "2026-03-02T00:00:00Z" };
  const list = { state: "error", sort: "updated_at", range: "custom", from: report.since };

  assert.deepEqual(listOf(kind, {}, { ...report, to: undefined }), { ...list, to: undefined });
  assert.deepEqual(listOf(kind, {}, { ...report, to: report.until }), { ...list, to: report.until });
});
