import assert from "node:assert/strict";
import { test } from "node:test";

import { Service } from "./service.mjs";

const NUMBERS = ["1", "2", "3", "4", "5"];

/** Return a service with five events, and a cursor in memory. */
function feed() {
  const service = new Service();
  service.events = NUMBERS.map((cursor) => ({ cursor, type: "queued_request.completed", result: null }));
  const cursor = {
    load: () => cursor.stored,
    store: async (stored) => {
      cursor.stored = stored;
    },
  };
  return { service, client: service.client(), cursor };
}

async function cursors(events) {
  const found = [];
  for await (const event of events) found.push(event.cursor);
  return found;
}

test("events are yielded to the end, and not again", async () => {
  const { service, client, cursor } = feed();

  assert.deepEqual(await cursors(client.events(cursor)), NUMBERS);
  assert.deepEqual(await cursors(client.events(cursor)), []);
  service.events.push({ cursor: "6" });
  assert.deepEqual(await cursors(client.events(cursor)), ["6"]);
});

for (const processed of [0, 1, 2, 3, 4]) {
  test(`a program that ends after ${processed} events gets the event again that it was processing`, async () => {
    const { client, cursor } = feed();
    const events = client.events(cursor);
    for (let number = 0; number <= processed; number++) await events.next();
    await events.return();

    assert.deepEqual(await cursors(client.events(cursor)), NUMBERS.slice(processed));
  });
}

test("only the events of the connection are asked for", async () => {
  const { service, client, cursor } = feed();

  await cursors(client.events(cursor));
  await cursors(client.events(cursor, { everyConnection: true }));

  assert.ok(service.calls[0].url.searchParams.has("connection_id"));
  assert.ok(!service.calls.at(-1).url.searchParams.has("connection_id"));
});
