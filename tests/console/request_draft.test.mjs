import assert from "node:assert/strict";
import { test } from "node:test";

import { bodyOf, metadataProblem, metadataRows } from "../../src/console/lib/request_draft.js";
import { signInWith, times } from "./support.mjs";

const tree = { name: "HostQueryRq", children: [] };
const draft = (changes) => ({ mode: "form", tree, version: "16.0", text: "", webhook: "", ...changes });

/** Returns numbers from 0 to 1, the same in each run. */
function chance(seed) {
  let state = seed;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

test("metadata is queued exactly as it was written, or is refused with the reason", () => {
  signInWith("read", "queue");
  const random = chance(41);
  const pick = (texts) => texts[Math.floor(random() * texts.length)];
  for (let run = 0; run < 2000; run += 1) {
    const rows = times(Math.floor(random() * 4), () => [
      pick(["", "a", "b", "__proto__", "1"]),
      pick(["", "x", "1,50"]),
    ]);
    const names = rows.map(([name]) => name);
    const isLost =
      rows.some(([name, value]) => value && !name) || names.some((name, n) => name && names.indexOf(name) < n);

    const problem = metadataProblem(rows);
    const queued = JSON.parse(JSON.stringify(bodyOf(draft({ metadata: rows })))).metadata;

    assert.equal(Boolean(problem), isLost, JSON.stringify(rows));
    if (isLost) continue;
    const named = rows.filter(([name]) => name);
    assert.deepEqual(queued && Object.entries(queued).sort(), named.length ? named.sort() : undefined);
  }
});

test("the metadata of a copy is queued again, and an empty label is no label", () => {
  signInWith("read", "queue");
  const copy = draft({ metadata: { order: "1007", shop: "" }, label: "" });

  assert.deepEqual(bodyOf(copy).metadata, { order: "1007", shop: "" });
  assert.deepEqual(bodyOf(draft({ metadata: metadataRows(copy.metadata) })).metadata, bodyOf(copy).metadata);
  assert.equal("label" in bodyOf(copy), false);
  assert.equal(bodyOf(draft({ label: "night" })).label, "night");
});
