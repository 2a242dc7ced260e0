import assert from "node:assert/strict";
import { test } from "node:test";

import { batchesOf } from "../../src/console/lib/approvals.js";
import { chance, times } from "./support.mjs";

test("the writes of a batch are together, in their order, and a write that is alone has no batch", () => {
  const random = chance(38);
  const items = times(60, (n) => ({ record: { id: String(n), batch_id: random(3) ? `b${random(30)}` : null } }));
  const parts = batchesOf(items);
  assert.deepEqual(new Set(parts.flatMap((part) => part.items)), new Set(items));
  assert.equal(parts.flatMap((part) => part.items).length, items.length);
  assert.ok(parts.some(({ batch }) => batch) && parts.some(({ batch }) => !batch));
  for (const { batch, items: some } of parts) {
    assert.equal(batch !== null, some.length > 1);
    const together = items.filter(({ record }) => record.batch_id === batch);
    if (batch) assert.deepEqual(some, together);
  }
});
