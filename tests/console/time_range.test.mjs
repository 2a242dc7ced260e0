import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";

import { OF_FAILURES, periodOf, rangeOf } from "../../src/console/lib/time_range.js";

const zone = process.env.TZ;
after(() => {
  process.env.TZ = zone ?? "UTC";
});

test("each period of the failures has words, and one that the reader entered has none", () => {
  const words = OF_FAILURES.map((key) => periodOf(rangeOf(key)));
  assert.deepEqual(words.slice(0, 3), ["the last 24 hours", "the last 7 days", "the last 30 days"]);
  assert.match(words[3], /^[A-Z][a-z]+ 20\d\d$/);
  const from = "2026-03-01T00:00:00.000Z";
  for (const range of [undefined, "", "custom", "hour", "constructor"])
    assert.equal(periodOf({ range, from }), "this period");
  for (const range of OF_FAILURES) assert.equal(periodOf({ range, from: "yesterday" }), "this period");
  for (const range of OF_FAILURES) {
    const kept = new Date(Date.parse(rangeOf(range).from) - 40 * 86_400_000).toISOString();
    assert.equal(periodOf({ range, from: kept }), "this period");
  }
});

test("the last month is the calendar month before this one, in any time zone", () => {
  for (const name of ["UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"]) {
    process.env.TZ = name;
    const now = new Date();
    const [from, to] = [rangeOf("calendar").from, rangeOf("calendar").to].map((moment) => new Date(moment));
    for (const one of [from, to]) assert.deepEqual([one.getDate(), one.getHours(), one.getMinutes()], [1, 0, 0]);
    assert.equal(to.getMonth(), now.getMonth());
    assert.equal((from.getMonth() + 1) % 12, now.getMonth());
  }
});
