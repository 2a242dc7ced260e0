import assert from "node:assert/strict";
import process from "node:process";
import { after, test } from "node:test";

import { chance, times } from "./support.mjs";

const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "America/Havana", "Pacific/Apia"];
const SECONDS = { second: 1, minute: 60, hour: 3600 };
const DAY = 86_400_000;
const zone = process.env.TZ;
after(() => {
  process.env.TZ = zone ?? "UTC";
});

/** Calls a function with the library in each time zone, and random moments at seconds to years from a random "now". */
async function withMoments(use) {
  const below = chance(11);
  for (const name of ZONES) {
    process.env.TZ = name;
    // A module keeps the time zone in which it first formatted a moment.
    const library = await import(`../../src/console/lib/ago.js?zone=${name}`);
    for (const now of times(300, () => Date.UTC(2024, 11, 20) + below(800) * (DAY / 2) + below(DAY))) {
      const distance = below([20_000, 7_200_000, 2 * DAY, 2 * DAY, 800 * DAY][below(5)]) * (below(2) ? 1 : -1);
      use(library, new Date(now + distance).toISOString(), now, name);
    }
  }
}

/** Returns a moment in a named time zone. The library uses the zone of its reader instead. */
const partsIn = (timeZone, moment) =>
  new Intl.DateTimeFormat("en-US", {
    timeZone,
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
  }).format(new Date(moment));

test("a moment within 24 hours is so long ago or ahead, and any other has its date and time in the reader's zone", () =>
  withMoments((library, iso, now, name) => {
    const distance = new Date(iso).getTime() - now;
    const words = library.ago(iso, now);
    const [, ahead, value, unit, ago] = /^(in )?(\d+) (second|minute|hour)s?( ago)?$/.exec(words) ?? [];
    if (Math.abs(distance) >= DAY) {
      const whole = partsIn(name, iso);
      const [, year] = /, (\d{4}),/.exec(whole);
      const isThisYear = partsIn(name, now).includes(`, ${year},`);
      assert.equal(words, isThisYear ? whole.replace(`, ${year},`, ",") : whole);
      assert.equal(library.agoShort(iso, now), isThisYear ? words : words.replace(/, [^,]*$/, ""));
    } else if (Math.abs(distance) < 10_000) assert.equal(words, "just now");
    else {
      assert.ok(distance < 0 ? ago && !ahead : ahead && !ago, words);
      const error = Math.abs(Number(value) * SECONDS[unit] - Math.abs(distance) / 1000);
      assert.ok(error <= Math.max(SECONDS[unit] / 2, 5), words);
    }
    assert.equal(library.isNear(iso, now), Math.abs(distance) < DAY);
  }));

test("what is expected is due from its moment on, and never just now", () =>
  withMoments((library, iso, now) => {
    const words = library.due(iso, "due now", now);
    assert.equal(words === "due now", new Date(iso).getTime() < now + 10_000);
    assert.notEqual(words, "just now");
    assert.doesNotMatch(words, / ago$/);
  }));
