import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";

import { nameOf, OF_FAILURES, periodOf, rangeOf } from "../../src/console/lib/time_range.js";

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

const RANGES = [...OF_FAILURES, "hour", "today", "night", "evening", "yesterday", "monday"];
const moved = (bounds, milliseconds) =>
  Object.fromEntries(
    Object.entries(bounds).map(([end, at]) => [end, at && new Date(Date.parse(at) + milliseconds).toISOString()]),
  );

test("bounds have the name of a range only while they are its bounds", () => {
  for (const range of RANGES) {
    const { from, to } = rangeOf(range);
    assert.equal(nameOf({ range, from, to }), range);
    assert.equal(nameOf({ range, from, to: to ?? "" }), range);
    for (const days of [1, 7, 40]) {
      const kept = { range, ...moved({ from, to }, -days * 86_400_000) };
      assert.equal(nameOf(kept), "custom");
      assert.equal(periodOf(kept), "this period");
    }
    assert.equal(nameOf({ range, from, to: "2026-03-01T00:00:00.000Z" }), "custom");
    assert.equal(nameOf({ range, from: undefined, to }), "custom");
  }
  for (const range of [undefined, "", "custom", "constructor"])
    assert.equal(nameOf({ ...rangeOf("week"), range }), "custom");
});

test("an open page keeps the name of a range that moves with the time, for a while", () => {
  for (const [range, minutes] of [
    ["hour", 15],
    ["day", 60],
  ]) {
    const aged = (more) => ({ range, ...moved({ from: rangeOf(range).from }, -(minutes + more) * 60_000) });
    assert.equal(nameOf(aged(-1)), range);
    assert.equal(nameOf(aged(1)), "custom");
  }
});

test("an address that is opened in another time zone shows its bounds", () => {
  process.env.TZ = "America/New_York";
  const sent = rangeOf("week");
  process.env.TZ = "Asia/Kathmandu";
  assert.equal(nameOf(sent), "custom");
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
