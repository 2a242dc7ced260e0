import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { ACTIONS, possible } from "../../src/console/lib/bulk_actions.js";
import { added, meantBy, patiently } from "../../src/console/lib/bulk_run.js";
import { STATES, WEBHOOK_FILTERS } from "../../src/console/lib/text.js";
import { signInWith, times } from "./support.mjs";

const NONE = { request_name: " ", label_prefix: "", since: "", tooPending: false };
const meant = (facts, patient) =>
  meantBy({ id: "c", query: {}, action: "discard", conditions: NONE, ...facts }, patient);

test("selected requests are named in calls of at most 100 ids, each id once", async () => {
  for (const number of [1, 99, 100, 101, 250, 1000]) {
    const ids = times(number, (n) => `id-${n}`);

    const { bodies, chosen, omitted } = await meant({ ids, query: { state: "waiting" } });

    assert.deepEqual(
      bodies.flatMap(({ filter }) => filter.ids),
      ids,
    );
    assert.ok(bodies.every(({ filter }) => filter.ids.length <= 100 && Object.keys(filter).join() === "ids"));
    assert.deepEqual([chosen, omitted], [number, 0]);
  }
});

test("a search is read to its end before the first change, and what is beyond 1,000 is reported", async () => {
  let page = 0;
  const list = async () => {
    page += 1;
    // Two pages share a request that has moved between the two calls.
    return { data: times(100, (n) => ({ id: `id-${page * 99 + n}` })), total_pages: 15, total: 1500 };
  };

  const { bodies, chosen, omitted } = await meant({ query: { search: "x" } }, list);

  const ids = bodies.flatMap(({ filter }) => filter.ids);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual([chosen, chosen + omitted], [ids.length, 1500]);
  assert.ok(chosen >= 1000 && chosen < 1100);
});

test("without a condition, a filter means every request, and never an empty filter", async () => {
  const { bodies } = await meant({});
  assert.ok(Date.parse(bodies[0].filter.to) > Date.now());

  const filtered = await meant({ query: { state: "error", from: "2026-01-01", sort: "updated_at", to: "" } });
  assert.deepEqual(filtered.bodies, [{ filter: { state: "error", updated_since: "2026-01-01" } }]);
});

test("an action is offered for exactly the filters that leave requests for it", () => {
  signInWith("read", "operate");
  for (const state of [undefined, ...Object.keys(STATES)])
    for (const webhook of [undefined, ...Object.keys(WEBHOOK_FILTERS)]) {
      const expected = Object.keys(ACTIONS).filter((name) => {
        const { states, webhooks } = ACTIONS[name];
        return (!state || states.includes(state)) && (!webhook || !webhooks || webhooks.includes(webhook));
      });
      assert.deepEqual(possible({ state, webhook_state: webhook }), expected);
    }
  assert.deepEqual(possible({ state: "sent" }), []);

  signInWith("read", "propose", "queue", "decide");
  assert.deepEqual(possible({}), []);
});

test("a call waits for a limit of the app, and only for that", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const error = (status, retryAfter) => Object.assign(new Error("no"), { status, retryAfter });
  const { signal } = new AbortController();
  const answers = [error(429, 30), error(429, 30), "done"];
  const make = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const waited = [];
  const result = patiently(make, signal, (seconds) => waited.push(seconds));
  for (let n = 0; n < 2; n += 1) {
    await setImmediate();
    mock.timers.tick(30_000);
  }
  assert.equal(await result, "done");
  assert.deepEqual(waited, [30, 30]);

  for (const problem of [error(429, 0), error(429, 91), error(500, 30)])
    await assert.rejects(
      patiently(
        async () => Promise.reject(problem),
        signal,
        () => {},
      ),
      problem,
    );

  const stopping = new AbortController();
  const stopped = patiently(
    async () => Promise.reject(error(429, 90)),
    stopping.signal,
    () => {},
  );
  await setImmediate();
  stopping.abort();
  assert.equal(await stopped, null);
  mock.timers.reset();
});

test("the numbers of the parts add up", () => {
  assert.deepEqual(added(added({}, { a: 1, b: 2 }), { a: 3 }), { a: 4 });
});
