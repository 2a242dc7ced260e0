import assert from "node:assert/strict";
import { test } from "node:test";

import * as subscriptions from "../../src/console/lib/subscriptions.js";
import { chance, times } from "./support.mjs";

const NOW = Date.parse("2026-03-14T12:00:00Z");
const LATER = "2026-03-14T12:10:00.000000Z";
const EARLIER = "2026-03-14T11:50:00.000000Z";

const anObject = (object, fields = {}) => ({
  object,
  state: "changes",
  read_at: EARLIER,
  next_read_at: LATER,
  records: 7,
  records_so_far: null,
  changes: 0,
  problem: null,
  ...fields,
});

const aSubscription = (objects, fields = {}) => ({
  name: null,
  objects,
  every_minutes: 15,
  paused_at: null,
  copied_at: EARLIER,
  next_run_at: LATER,
  failures: 0,
  error: null,
  ...fields,
});

const CONNECTION = { paused_at: null, status: "connected", waiting_reason: null };

test("each object has a title for people and is found by its title and its name", () => {
  const titles = Object.keys(subscriptions.OBJECTS).map(subscriptions.objectTitle);
  assert.equal(new Set(titles).size, titles.length);
  assert.equal(subscriptions.objectTitle("ItemInventory"), "Inventory item");
  assert.equal(subscriptions.objectTitle("ReceivePayment"), "Payment");
  for (const [name, [kind]] of Object.entries(subscriptions.OBJECTS))
    for (const phrase of [name, ` ${subscriptions.objectTitle(name).toUpperCase()} `, ""])
      assert.ok(subscriptions.objectsOf(kind, phrase).includes(name), `${name} by ${phrase}`);
  const all = ["list", "transaction"].flatMap((kind) => subscriptions.objectsOf(kind));
  assert.deepEqual(all.toSorted(), Object.keys(subscriptions.OBJECTS).toSorted());
  assert.deepEqual(subscriptions.objectsOf("list", "zebra"), []);
});

test("a form that changes nothing keeps what is included, and another choice holds for all that have it", () => {
  const pick = chance(7);
  const { includeOf, OBJECTS, partsOf } = subscriptions;
  const parts = Object.keys(subscriptions.INCLUDES);
  const some = (all) => all.filter(() => pick(3) === 0);
  times(300, () => {
    const objects = some(Object.keys(OBJECTS));
    const own = objects.map((name) => [name, some(parts.filter((part) => OBJECTS[name].includes(part)))]);
    const former = Object.fromEntries(own.filter(([, included]) => included.length));
    const kept = Object.entries(includeOf(objects, partsOf(former), former)).filter(([name]) => former[name]);
    assert.deepEqual(Object.fromEntries(kept), former);
    const other = parts.filter((part) => !partsOf(former).includes(part));
    for (const name of objects)
      assert.deepEqual(
        includeOf(objects, other, former)[name] ?? [],
        other.filter((part) => OBJECTS[name].includes(part)),
      );
  });
});

test("the badge of a subscription says the worst that people have to know", () => {
  const stateOf = (objects, fields) => subscriptions.subscriptionState(aSubscription(objects, fields)).name;
  const resync = anObject("Bill", { state: "resync_required", next_read_at: null });
  const unsupported = anObject("Lead", { state: "unsupported" });
  const reading = anObject("Invoice", { state: "snapshot", records_so_far: 0 });
  assert.equal(stateOf([anObject("Bill")]), "Up to date");
  assert.equal(stateOf([anObject("Bill"), unsupported]), "Partly up to date");
  assert.equal(stateOf([unsupported]), "Cannot be read");
  assert.equal(stateOf([reading, unsupported]), "Reading all records");
  assert.equal(stateOf([reading], { failures: 2 }), "Reading all records");
  assert.equal(stateOf([reading], { failures: 3 }), "Runs fail");
  assert.equal(stateOf([reading, resync], { failures: 3 }), "Needs a resync");
  assert.equal(stateOf([resync], { paused_at: EARLIER }), "Paused");
  assert.equal(stateOf([anObject("Bill", { state: null })], { copied_at: null }), "Not read yet");
});

test("a problem of an object comes with what to do, and an object that nobody reads is not up to date", () => {
  const { objectState } = subscriptions;
  for (const state of ["unsupported", "resync_required"]) {
    const found = objectState(anObject("Bill", { state, problem: "It is so." }));
    assert.equal(found.detail, "It is so.");
    assert.ok(found.help);
  }
  assert.equal(objectState(anObject("Bill", { next_read_at: null })).name, "Not read any more");
  assert.equal(objectState(anObject("Bill", { records_so_far: 1 })).detail, "1 record so far");
  assert.equal(objectState(anObject("Bill", { state: "snapshot" })).name, "Waits to be read");
});

test("while a run waits for a call, the next step is said, and otherwise its time says enough", () => {
  const step = (fields, connection = {}, objects = [anObject("Bill")]) =>
    subscriptions.nextStep(aSubscription(objects, fields), { ...CONNECTION, ...connection }, NOW);
  assert.equal(step({}), null);
  assert.match(step({ next_run_at: EARLIER }).text, /^The next run begins at the next call/);
  assert.match(step({ next_run_at: EARLIER, copied_at: null }).text, /^Reading begins at the next call/);
  assert.match(step({ next_run_at: EARLIER }, {}, [anObject("Bill", { records_so_far: 9 })]).text, /^Reading goes on/);
  assert.ok(step({ next_run_at: EARLIER }).isNextCall);
  for (const [fields, connection] of [
    [{ paused_at: EARLIER }],
    [{}, { paused_at: EARLIER }],
    [{}, { status: "never_connected" }],
    [{}, { waiting_reason: { code: "outside_sync_window" } }],
  ])
    assert.equal(step({ next_run_at: EARLIER, ...fields }, connection).isNextCall, undefined);
});

test("a subscription without a name is called by its first objects", () => {
  const title = (...names) => subscriptions.titleOf(aSubscription(names.map((name) => anObject(name))));
  assert.equal(title("Customer", "ItemService"), "Customer, Service item");
  assert.equal(title("Bill", "Check", "Class", "Deposit"), "Bill, Check, Class, Deposit");
  assert.equal(title("Bill", "Check", "Class", "Deposit", "Vendor"), "Bill, Check, Class and 2 more");
  assert.equal(subscriptions.titleOf(aSubscription([], { name: "Web shop" })), "Web shop");
});

test("an interval is in words", () => {
  assert.deepEqual([5, 60, 90, 120, 1_440].map(subscriptions.interval), [
    "every 5 minutes",
    "every hour",
    "every 90 minutes",
    "every 2 hours",
    "every day",
  ]);
});

test("the differences of two records lead from one to the other, whatever they contain", () => {
  const pick = chance(39);
  const value = (depth) =>
    depth && pick(3) === 0
      ? Object.fromEntries(times(pick(4), (n) => [`F${n}`, value(depth - 1)]))
      : depth && pick(4) === 0
        ? times(pick(3), () => value(depth - 1))
        : ["", "5.00", true, null, 7][pick(5)];
  const fields = (record) => new Map(subscriptions.differencesOf({}, record).map(([name, , now]) => [name, now]));
  times(300, () => {
    const [before, after] = [
      { Name: "A", B: value(3) },
      { Name: "A", B: value(3) },
    ];
    const changed = fields(before);
    for (const [name, old, now] of subscriptions.differencesOf(before, after)) {
      assert.equal(changed.get(name), old);
      if (now === undefined) changed.delete(name);
      else changed.set(name, now);
    }
    assert.deepEqual([...changed].sort(), [...fields(after)].sort());
    assert.deepEqual(subscriptions.differencesOf(before, structuredClone(before)), []);
  });
  assert.deepEqual(subscriptions.differencesOf({ EditSequence: "1" }, { EditSequence: "2" }), []);
});

test("each change is compared with the older one of the same record, and a record that came back with none", () => {
  const change = (sequence, id, record) => ({ sequence, id, record });
  const found = [
    change(5, "a", { Phone: "3" }),
    change(4, "a", undefined),
    change(3, "b", { Phone: "9" }),
    change(2, "a", { Phone: "2" }),
    change(1, "a", { Phone: "1" }),
  ];
  const shown = subscriptions.changesOf(found);
  assert.deepEqual(
    shown.map(({ change: { sequence } }) => sequence),
    [5, 4, 3, 2, 1],
  );
  assert.deepEqual(
    shown.map(({ differences }) => differences),
    [null, null, null, [["Phone", "1", "2"]], null],
  );
});

test("a record is called by its full name, its name or its number", () => {
  const title = (record) => subscriptions.recordTitle({ record });
  assert.equal(title({ FullName: "A:B", Name: "B" }), "A:B");
  assert.equal(title({ Name: "B" }), "B");
  assert.equal(title({ RefNumber: 1042 }), "1042");
  assert.equal(title({}), null);
  assert.equal(title(undefined), null);
});

test("only a record that a query for changes has found is called changed", () => {
  const name = (change) => subscriptions.happened({ type: "record.changed", ...change }).name;
  assert.equal(name({ found_in: "changes" }), "Changed");
  assert.equal(name({ found_in: "first_snapshot" }), "First read");
  assert.equal(name({ found_in: "later_snapshot" }), "Read again");
  assert.equal(name({ type: "record.deleted" }), "Deleted");
});
