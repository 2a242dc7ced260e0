// The service forgets an idempotency key after a day. No call whose answer was lost is a second write then.
import assert from "node:assert/strict";
import { after, mock, test } from "node:test";

import { AnswerLost, Client, RequestFailed } from "../src/index.js";
import { Books, skip } from "./books.mjs";

const HOUR = 3600;
const TRIES = 6;
const CUSTOMER = { CustomerAddRq: { CustomerAdd: { Name: "Bob" } } };

const books = skip ? null : new Books();
after(() => books?.close());

const times = (fault) => Array.from({ length: TRIES }, () => fault);
const written = async () => (await books.do("state")).writes;

function batchOf(client) {
  const batch = client.batch("order-7");
  batch.add(CUSTOMER);
  return batch;
}

/** Return a call for each way to queue a write. The options of a call are those of its method. */
async function callsOf(client) {
  await books.do("define", { name: "Route", objects: ["Customer"] });
  const ada = await client.customers.create({ Name: "Ada Ltd" });
  const spare = await client.customers.create({ Name: "Spare" });
  const sale = { CustomerRef: ada, lines: [{ ItemRef: "Consulting" }] };
  const made = await client.invoices.create(sale);
  const batch = batchOf(client);
  return {
    create: (options) => client.invoices.create(sale, options),
    ensure: (options) => client.customers.ensure({ Name: "Cid" }, options),
    "custom fields": (options) => client.customers.create({ Name: "Di", customFields: { Route: "N" } }, options),
    update: (options) => client.customers.update(ada.ListID, { Phone: "1" }, options),
    void: (options) => client.invoices.void(made.TxnID, options),
    delete: (options) => client.customers.delete(spare.ListID, options),
    execute: (options) => client.execute(CUSTOMER, { idempotencyKey: "order-7", ...options }),
    batch: () => batch.execute(),
  };
}

/** Make a call so that the answer to its write is lost, whatever it reads before. */
async function lose(call) {
  const before = (await written()).length;
  for (let reads = 0; (await written()).length === before; reads++) {
    await books.do("set", { faults: [...Array.from({ length: reads }, () => ""), ...times("lost")] });
    await assert.rejects(call(), /fetch failed/);
    await books.do("set", { faults: [] });
  }
}

for (const kind of ["create", "ensure", "custom fields", "update", "void", "delete", "execute", "batch"]) {
  test(`a call is repeated while the service knows its key and never later: ${kind}`, { skip }, async () => {
    for (const hours of [22.9, 23.1, 25]) {
      const client = await books.open();
      const call = (await callsOf(client))[kind];
      await lose(call);
      const before = await written();
      books.pass(hours * HOUR);
      if (hours >= 24) await books.do("forget_keys");

      if (hours < 23) await call();
      else for (let time = 0; time < 3; time++) await assert.rejects(call(), AnswerLost);

      assert.equal((await written()).length, before.length, `after ${hours} hours`);
      if (hours < 23 || kind === "batch") continue;
      const { records } = await books.do("state");
      // QuickBooks may refuse it: it has done the same before.
      await call({ idempotencyKey: "order-8" }).catch((error) =>
        assert.ok(error instanceof RequestFailed, error.stack),
      );
      assert.ok((await books.do("state")).records > records);
    }
  });
}

for (const fault of ["unsent", "busy"]) {
  test(`a call that never reached the service is made however late: ${fault}`, { skip }, async () => {
    const client = await books.open();
    await client.customers.create({ Name: "Ada Ltd" });
    await books.do("set", { faults: times(fault) });
    await assert.rejects(client.customers.create({ Name: "Bob" }));
    books.pass(48 * HOUR);

    await client.customers.create({ Name: "Bob" });

    assert.equal((await written()).length, 2);
  });
}

for (const first of ["unsent", "lost"]) {
  test(`the time counts from the first try that may have arrived: ${first}`, { skip }, async () => {
    // The program tries for 33 hours.
    const client = await books.open();
    await client.customers.create({ Name: "Ada Ltd" });
    const create = () => client.customers.create({ Name: "Bob" });
    for (const faults of [times(first), ["unsent", ...times("lost").slice(1)], times("lost")]) {
      await books.do("set", { faults });
      await assert.rejects(create(), /fetch failed/);
      books.pass(11 * HOUR);
    }

    if (first === "lost") await assert.rejects(create(), AnswerLost);
    else assert.equal((await create()).Name, "Bob");

    assert.equal((await written()).length, 2);
  });
}

test("the time while a machine sleeps counts", { skip }, async () => {
  const client = await books.open();
  const { create } = await callsOf(client);
  await lose(create);
  const later = Date.now() + 30 * HOUR * 1000;
  const clock = mock.method(Date, "now", () => later);

  await assert.rejects(create(), AnswerLost);

  clock.mock.restore();
});

test("an answer that ends early is asked for again", async () => {
  const keys = [];
  const record = { data: { id: "1", state: "waiting" } };
  const client = new Client("https://queue.example/", "sk_test", "11111111-1111-4111-8111-111111111111", {
    fetch: async (url, { method, headers }) => {
      if (method === "GET") return Response.json({ data: { scope: "full" } });
      keys.push(headers["Idempotency-Key"]);
      const broken = { ok: true, status: 201, text: () => Promise.reject(new TypeError("terminated")) };
      return keys.length === 1 ? broken : Response.json(record);
    },
    sleep: async () => {},
  });

  assert.deepEqual(await client.queue(CUSTOMER), record.data);

  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
});
