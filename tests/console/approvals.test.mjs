import assert from "node:assert/strict";
import { test } from "node:test";

import { batchesOf, labelIn } from "../../src/console/lib/approvals.js";
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

test("no two groups have the same label, and a name that only one group has is the label", () => {
  const random = chance(41);
  for (let run = 0; run < 100; run += 1) {
    const names = times(1 + random(8), () => ["Harbor", "Bakery", null][random(3)]);
    const groups = names.map((name, n) => ({ connection: { id: `0000000${n}-0000-4000-8000-000000000000`, name } }));
    const labels = groups.map((group) => labelIn(groups, group));
    assert.equal(new Set(labels).size, groups.length);
    names.forEach((name, n) => {
      if (name && names.indexOf(name) === names.lastIndexOf(name)) assert.equal(labels[n], name);
    });
  }
});
