import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { blockPolls, poll } from "../../src/console/lib/polling.js";
import { chance, times } from "./support.mjs";

const MINUTE = 60_000;
const MAX_POLLS = 8;

let moment = Date.now();
beforeEach(() => {
  // The budget of the test before has passed.
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: (moment += 24 * 60 * MINUTE) });
  dispatchEvent(new Event("keydown"));
});
afterEach(() => mock.timers.reset());

/** Lets time pass, with the promises that become ready in it. */
async function pass(milliseconds) {
  for (let left = milliseconds; left > 0; left -= 250) {
    mock.timers.tick(250);
    await setImmediate();
  }
}

test("a tab polls at most eight times in any minute, whatever its views want", async () => {
  const below = chance(3);
  const runs = [];
  let ends = [];
  for (let minute = 0; minute < 9; minute += 1) {
    // A view closes, and another one opens.
    for (const end of ends) end();
    const pauses = times(1 + below(4), () => 500 + below(20_000));
    ends = pauses.map((pause) =>
      poll(
        () => runs.push(Date.now()),
        () => pause,
      ),
    );
    await pass(MINUTE);
  }
  for (const end of ends) end();

  assert.ok(runs.length > 40, `${runs.length} polls`);
  for (const [n, at] of runs.entries()) {
    const sinceThen = runs.slice(n).filter((other) => other < at + MINUTE);
    assert.ok(sinceThen.length <= MAX_POLLS, `${sinceThen.length} polls in a minute`);
  }
});

test("a tab that nobody has used for ten minutes stops polling until somebody does", async () => {
  const runs = [];
  const end = poll(
    () => runs.push(Date.now()),
    () => 15_000,
  );
  await pass(30 * MINUTE);
  const unused = runs.length;
  dispatchEvent(new Event("pointermove"));
  await pass(MINUTE);
  end();

  assert.equal(unused, 10 * 4 - 1);
  assert.ok(runs.length > unused);
});

test("no view polls before the service allows it", async () => {
  const begun = Date.now();
  const runs = [];
  blockPolls(30);
  const end = poll(
    () => runs.push(Date.now() - begun),
    () => 1000,
  );
  await pass(MINUTE);
  end();

  assert.ok(runs.length > 0);
  assert.ok(Math.min(...runs) >= 30_000);
});
