import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";

import { daysOf, enteredFor, LOCAL, momentOf } from "../../src/console/lib/moments.js";

const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "America/Havana", "Pacific/Apia"];
const DAY = 86_400_000;
const zone = process.env.TZ;
after(() => {
  process.env.TZ = zone ?? "UTC";
});

/** Calls a function with random minutes of 20 years in each time zone, and with midnights. */
function withMoments(use) {
  let seed = 7;
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  for (const name of ZONES) {
    process.env.TZ = name;
    for (let number = 0; number < 300; number += 1) {
      const minute = new Date(Date.UTC(2015) + Math.floor((random() * 20 * 365 * DAY) / 60_000) * 60_000);
      use(minute);
      use(new Date(minute.getFullYear(), minute.getMonth(), minute.getDate()));
    }
  }
}

test("what is shown for a moment means this moment, as the begin and as the end of a range", () => {
  withMoments((moment) => {
    for (const isEnd of [false, true]) {
      const entered = enteredFor(moment.toISOString(), isEnd);
      // The second of two equal hours in autumn is shown as the first.
      const isTwice = entered.time && new Date(moment.getTime() - 3_600_000).getHours() === moment.getHours();
      if (!isTwice) assert.equal(momentOf(entered, isEnd), moment.toISOString());
    }
  });
});

test("a date alone means its whole day", () => {
  withMoments((moment) => {
    const { date } = enteredFor(moment.toISOString(), false);
    const from = new Date(momentOf({ date, time: "" }, false));
    const to = new Date(momentOf({ date, time: "" }, true));

    assert.ok(from <= moment && moment < to);
    const hours = (to - from) / 3_600_000;
    assert.ok(hours >= 23 && hours <= 25);
    for (const last of [from, new Date(to - 1)]) assert.equal(enteredFor(last.toISOString(), false).date, date);
  });
});

test("a file is named after a whole month, or after the first and the last day of its range", () => {
  withMoments((moment) => {
    const { date } = enteredFor(moment.toISOString(), false);
    const [year, month] = [moment.getFullYear(), moment.getMonth()];
    const [first, next] = [new Date(year, month), new Date(year, month + 1)].map((one) => one.toISOString());
    assert.equal(daysOf(first, next), date.slice(0, 7));
    assert.equal(daysOf(moment.toISOString(), moment.toISOString().replace("Z", "000Z")).slice(0, 10), date);
    const beyond = new Date(year, month + 1, 2).toISOString();
    assert.equal(daysOf(first, beyond), `${date.slice(0, 7)}-01-to-${enteredFor(next, false).date}`);
  });
  process.env.TZ = "America/New_York";
  assert.equal(daysOf("2026-11-24T05:00:00.000Z", "2026-11-30T11:20:00.123456Z"), "2026-11-24-to-2026-11-30");
  assert.equal(daysOf("2026-11-30T11:00:00.000Z", "2026-11-30T11:20:00.000Z"), "2026-11-30");
});

test("nothing is no moment, and a time without a date means nothing", () => {
  for (const isEnd of [false, true]) {
    assert.equal(momentOf({ date: "", time: "" }, isEnd), "");
    assert.equal(momentOf({ date: "", time: "08:00" }, isEnd), null);
    assert.equal(momentOf({ date: "275760-09-13", time: "" }, true), null);
    for (const text of [undefined, "", "yesterday"]) assert.deepEqual(enteredFor(text, isEnd), { date: "", time: "" });
  }
});

test("a time of the QuickBooks computer is written without a zone, and shown as it was entered", () => {
  withMoments((moment) => {
    const [date, time] = moment.toISOString().slice(0, 16).split("T");
    for (const isEnd of [false, true]) {
      for (const entered of [
        { date, time },
        { date, time: "" },
      ]) {
        const text = LOCAL.momentOf(entered, isEnd);
        assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
        assert.equal(LOCAL.momentOf(LOCAL.enteredFor(text, isEnd), isEnd), text);
      }
      const [from, to] = [false, true].map((end) => LOCAL.momentOf({ date, time: "" }, end));
      const one = LOCAL.momentOf({ date, time }, isEnd);
      assert.ok(from <= one && one < to, `${from} ${one} ${to}`);
    }
  });
  assert.equal(LOCAL.momentOf({ date: "", time: "08:00" }, false), null);
  for (const text of [undefined, "", "2026-01-31", "2026-01-31T13:30:00-08:00", "2026-01-31T13:30:07"])
    assert.deepEqual(LOCAL.enteredFor(text, false), { date: "", time: "" });
});
