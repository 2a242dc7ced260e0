// `changes` leads to the right copy, in whatever order the feed lists events and wherever the program ends.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Place } from "../src/changes.js";
import { Service } from "./service.mjs";

/** Return a source of chance for a seed (mulberry32). */
function chanceOf(seed) {
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let value = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit) => Math.floor(next() * limit);
  return { below, of: (values) => values[below(values.length)] };
}

/** Return events of books that change, are read as snapshots, and are restored, and the rows at the end. */
function history(chance) {
  const [events, rows, generations] = [[], new Map(), { Customer: 0, Item: 0 }];
  const add = (type, object, members = {}) =>
    events.push({ type, object, sequence: events.length + 1, generation: generations[object], ...members });
  const change = (object, id) => {
    rows.set(`${object} ${id}`, events.length);
    add("record.changed", object, { id, record: { Memo: events.length } });
  };
  const steps = {
    change,
    delete(object, id) {
      rows.delete(`${object} ${id}`);
      add("record.deleted", object, { id });
    },
    snapshot(object) {
      generations[object] = events.length + 1;
      add("subscription.snapshot_started", object);
      for (const key of [...rows.keys()].filter((one) => one.startsWith(object))) {
        if (chance.below(2)) rows.delete(key);
        else change(object, key.split(" ")[1]);
      }
      add("subscription.snapshot_completed", object, { records: 0 });
    },
    restore(object) {
      generations[object] = chance.below(generations[object] + 1);
    },
    other: (object, id) => add("record.archived", object, { id }),
  };
  for (let left = 1 + chance.below(25); left > 0; left--) {
    steps[chance.of(Object.keys(steps))](chance.of(["Customer", "Item"]), chance.of(["1", "2", "3"]));
  }
  return { events, rows };
}

/** A copy whose cursor is in the transaction of its rows. */
class Copy {
  committed = { rows: new Map(), place: undefined };
  rows = new Map();

  load() {
    return this.committed.place;
  }

  store(place) {
    this.committed = { rows: new Map(this.rows), place };
  }

  die() {
    this.rows = new Map(this.committed.rows);
  }

  apply(change) {
    if (change.type === "record.changed" || change.type === "record.deleted") {
      const key = `${change.object} ${change.id}`;
      if (change.sequence > (this.rows.get(key)?.sequence ?? 0)) this.rows.set(key, change);
    } else if (change.type === "subscription.snapshot_completed") {
      for (const [key, row] of this.rows) {
        const isOlder = row.generation < change.generation && row.sequence < change.sequence;
        if (row.object === change.object && isOlder) this.rows.delete(key);
      }
    }
  }

  get records() {
    const rows = [...this.rows].filter(([, row]) => row.type === "record.changed");
    return new Map(rows.map(([key, row]) => [key, row.record.Memo]));
  }
}

/** Return events as the feed lists them, each with the cursor behind it. */
const listed = (events) => events.map((event, index) => ({ ...event, cursor: String(index + 1) }));

function shuffled(values, chance) {
  const left = [...values];
  return values.map(() => left.splice(chance.below(left.length), 1)[0]);
}

test("events in any order lead to the same copy, wherever the program dies", async () => {
  for (let seed = 0; seed < 300; seed++) {
    const chance = chanceOf(seed);
    const { events, rows } = history(chance);
    const again = events.length ? Array.from({ length: chance.below(10) }, () => chance.of(events)) : [];
    const service = new Service();
    service.events = listed(shuffled([...events, ...again], chance));
    const [client, copy] = [service.client(), new Copy()];
    for (let lives = 0; lives < 3; lives++) {
      let left = chance.below(9);
      for await (const change of client.changes(copy)) {
        if (left-- === 0) break;
        copy.apply(change);
      }
      copy.die();
    }
    for await (const change of client.changes(copy)) copy.apply(change);

    const sorted = (map) => [...map].sort(([one], [other]) => (one < other ? -1 : 1));
    assert.deepEqual(sorted(copy.records), sorted(rows), `seed ${seed}`);
  }
});

/** Return a client, its service, and a cursor that remembers what was stored. */
function feed(...events) {
  const service = new Service();
  service.events = listed(events);
  const cursor = { stored: [], load: () => cursor.stored.at(-1), store: async (place) => cursor.stored.push(place) };
  return { service, client: service.client(), cursor };
}

async function all(changes) {
  const found = [];
  for await (const change of changes) found.push(change);
  return found;
}

const deleted = (sequence) => ({ type: "record.deleted", object: "Customer", id: "1-1", sequence, generation: 1 });

test("events of requests and of later versions are no changes", async () => {
  const { client, cursor } = feed({ type: "record.archived" }, { type: "queued_request.completed" }, deleted(3));

  assert.deepEqual(
    (await all(client.changes(cursor))).map(({ sequence }) => sequence),
    [3],
  );
});

test("a snapshot does not replace what QuickBooks computes", async () => {
  const completed = { type: "subscription.snapshot_completed", object: "Customer", sequence: 9, generation: 8 };
  const derived = { type: "record.derived", object: "Customer", id: "1-1", sequence: 3, generation: 2, derived: {} };
  const { client, cursor } = feed(completed, derived);

  assert.deepEqual(
    (await all(client.changes(cursor))).map(({ type }) => type),
    [completed.type, derived.type],
  );
});

test("only the changes of the connection, or of the subscription, are asked for", async () => {
  const { service, client, cursor } = feed();
  await all(client.changes(cursor));
  await all(client.changes(cursor, { subscriptionId: "s-1" }));

  const [first, last] = [service.calls[0], service.calls.at(-1)].map(({ url }) => url.searchParams);
  assert.deepEqual([first.has("connection_id"), first.get("types")], [true, "record.*,subscription.*"]);
  assert.deepEqual([first.has("subscription_id"), last.get("subscription_id")], [false, "s-1"]);
  assert.throws(() => client.changes(cursor, { subscriptionid: "s-1" }), /Did you mean subscriptionId/);
});

test("the cursor is stored behind a group, and only if it has moved", async () => {
  const { client, cursor } = feed(deleted(1), deleted(2), deleted(3));
  const seen = [];
  const changes = client.changes(cursor);
  while (!(await changes.next()).done) seen.push(cursor.stored.length);

  assert.deepEqual(seen, [0, 0, 1], "the service lists two events a call");
  assert.deepEqual(await all(client.changes(cursor)), []);
  assert.deepEqual(cursor.stored, ["2", "3"]);
});

test("a cursor that is too old asks for a resync and goes on", async () => {
  const { service, client, cursor } = feed(...[1, 2, 3, 4, 5].map(deleted));
  service.oldest = 3;
  cursor.store("1 Customer=7/9");
  const changes = await all(client.changes(cursor));

  assert.deepEqual(
    changes.map(({ type, object }) => [type, object]),
    [["subscription.resync_required", null]],
    "what a snapshot has replaced stays out",
  );
  assert.match(changes[0].reason, /seven days/);
  assert.equal(cursor.load(), "5 Customer=7/9");
});

for (const text of ["7", "7-1", "7 Customer=1/2", "7-99 Customer=1/2 ItemInventory=1773489500000/0"]) {
  test(`the place ${text} is written as it was read`, () => assert.equal(String(new Place(text)), text));
}
