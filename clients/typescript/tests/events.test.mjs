import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { FileCursor } from "../src/files.js";
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

test("a cursor in a file continues in the next program, also behind a store that was interrupted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "cursor-"));
  const path = join(folder, "events.cursor");
  const { service, client } = feed();

  assert.equal(new FileCursor(path).load(), undefined);
  assert.deepEqual(await cursors(client.events(new FileCursor(path))), NUMBERS);
  service.events.push({ cursor: "6" });
  writeFileSync(`${path}.new`, "a longer text that a program which was killed left");
  assert.deepEqual(await cursors(client.events(new FileCursor(path))), ["6"]);
  assert.equal(readFileSync(path, "utf8"), "6");
  assert.deepEqual(readdirSync(folder), ["events.cursor"]);
  assert.throws(() => new FileCursor(folder).load(), /EISDIR/);
  rmSync(folder, { recursive: true });
});

test("only the events of the connection are asked for", async () => {
  const { service, client, cursor } = feed();

  await cursors(client.events(cursor));
  await cursors(client.events(cursor, { everyConnection: true }));

  assert.ok(service.calls[0].url.searchParams.has("connection_id"));
  assert.ok(!service.calls.at(-1).url.searchParams.has("connection_id"));
});
