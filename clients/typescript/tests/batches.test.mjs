import assert from "node:assert/strict";
import { test } from "node:test";

import { QuickBooksError, ReadOnlyKey, StillWaiting } from "../src/index.js";
import { Service } from "./service.mjs";

const customer = (name) => ({ CustomerAddRq: { CustomerAdd: { Name: name } } });
const named = ({ request_json: { CustomerAddRq } }) => ({
  result: { CustomerRet: { Name: CustomerAddRq.CustomerAdd.Name } },
});

test("a batch is queued in one call, and each entry has its result", async () => {
  const service = new Service();
  service.outcome = named;
  const batch = service.client().batch("order-7");
  const ada = batch.add(customer("Ada"), { label: "first", version: "14.0" });
  const bob = batch.add(customer("Bob"), { webhookUrl: null });
  assert.throws(() => ada.result, /has not been queued/);

  await batch.execute();

  assert.deepEqual([ada.result.CustomerRet.Name, bob.result.CustomerRet.Name], ["Ada", "Bob"]);
  const [{ headers, body }] = service.calls.filter(({ method }) => method === "POST");
  assert.equal(headers["Idempotency-Key"], "order-7");
  assert.deepEqual(body, {
    requests: [
      { request_json: { version: "14.0", ...customer("Ada") }, label: "first" },
      { request_json: customer("Bob"), webhook_url: null },
    ],
  });
});

test("references and dependencies name the requests that they need", async () => {
  const service = new Service();
  const batch = service.client().batch();
  const [ada, bob] = ["Ada", "Bob"].map((name) => batch.add(customer(name)));
  const CustomerRef = { ListID: ada.ref("CustomerRet/ListID") };
  batch.add({ InvoiceAddRq: { InvoiceAdd: { CustomerRef } } }, { dependsOn: [bob] });

  await batch.queue();

  const { requests } = service.calls.at(-1).body;
  assert.deepEqual(
    requests.map(({ ref }) => ref),
    ["request-1:key-1", "request-2:key-1", undefined],
  );
  assert.deepEqual(requests[2], {
    request_json: {
      InvoiceAddRq: {
        InvoiceAdd: { CustomerRef: { ListID: { $from: "request-1:key-1", path: "CustomerRet/ListID" } } },
      },
    },
    depends_on: ["request-2:key-1"],
  });
});

function addInvoice(batch, entry) {
  const CustomerRef = { ListID: entry.ref("CustomerRet/ListID") };
  return batch.add({ InvoiceAddRq: { InvoiceAdd: { CustomerRef } } }, { dependsOn: [entry] });
}

/** Return the names in the last batch, then what its invoice for a customer refers to and depends on. */
function sources(service) {
  const { requests } = service.calls.at(-1).body;
  const {
    request_json: { InvoiceAddRq },
    depends_on: dependsOn,
  } = requests.at(-1);
  const names = requests.map(({ ref }) => ref).filter(Boolean);
  return [names, InvoiceAddRq.InvoiceAdd.CustomerRef.ListID.$from, dependsOn];
}

test("a reference to an entry of a queued batch is to its id", async () => {
  const service = new Service();
  const client = service.client();
  const [first, second] = [client.batch(), client.batch()];
  const alice = first.add(customer("Alice"));
  await first.queue();
  second.add(customer("Bob"));
  addInvoice(second, alice);

  await second.queue();

  assert.deepEqual(sources(service), [[], alice.record.id, [alice.record.id]]);
  assert.throws(() => first.add(customer("Cy")), /Add the request to another batch/);
});

for (const key of [undefined, "the same key"]) {
  test(`an entry of a batch that is not queued is refused in another (${key})`, async () => {
    const service = new Service();
    const client = service.client();
    const [first, second] = [client.batch(key), client.batch(key)];
    const alice = first.add(customer("Alice"));
    const refused = { name: "TypeError", message: /another batch, which is not queued/ };
    second.add(customer("Bob"));

    assert.throws(() => addInvoice(second, alice), refused);
    assert.throws(() => second.add(customer("Cy"), { dependsOn: [alice] }), refused);
    const CustomerRef = { ListID: alice.ref("CustomerRet/ListID") };
    await assert.rejects(client.queue({ InvoiceAddRq: { InvoiceAdd: { CustomerRef } } }), refused);

    await second.queue();
    assert.equal(service.records.size, 1);
  });
}

for (const key of ["o", "order-1042", "k".repeat(255)]) {
  test(`names have the key, so that a repeated batch is the same and others differ (${key.length})`, async () => {
    const service = new Service();
    const client = service.client();
    const found = [];
    for (const batchKey of [key, `${key}-2`, key]) {
      const batch = client.batch(batchKey);
      const entries = Array.from({ length: 24 }, (_, number) => batch.add(customer(String(number))));
      addInvoice(batch, entries.at(-1));
      await batch.queue();
      found.push(sources(service));
    }

    assert.deepEqual(found[0], found[2]);
    assert.notEqual(found[0][1], found[1][1]);
    assert.ok(found.every(([names]) => names.every((name) => name.length <= 50)));
  });
}

for (const fault of [429, 503, "lost"]) {
  test(`a batch is repeated with the same key after ${fault}, and queued once`, async () => {
    const service = new Service();
    service.faults = [null, fault];
    const batch = service.client().batch();
    batch.add(customer("Ada"));

    await batch.execute();

    assert.deepEqual([...service.batches.keys()], ["key-1"]);
    assert.equal(service.records.size, 1);
  });
}

test("the first failure is thrown, and the other results are kept", async () => {
  const service = new Service();
  const failure = { state: "error", error: { code: "quickbooks_error", message: "No.", details: {} } };
  service.outcome = (record) => (named(record).result.CustomerRet.Name === "Bob" ? failure : named(record));
  const batch = service.client().batch();
  const [ada, bob] = ["Ada", "Bob"].map((name) => batch.add(customer(name)));

  await assert.rejects(batch.execute(), QuickBooksError);

  assert.equal(ada.result.CustomerRet.Name, "Ada");
  assert.throws(() => bob.result, QuickBooksError);
});

test("the timeout is that of the whole batch", async () => {
  const service = new Service();
  service.polls = 1000;
  const batch = service.client().batch();
  for (const name of ["Ada", "Bob"]) batch.add(customer(name));

  await assert.rejects(batch.execute(20), StillWaiting);

  assert.ok(service.now >= 20 && service.now < 21);
});

test("a read-only key queues no batch", async () => {
  const service = new Service();
  service.scope = "read_only";

  await assert.rejects(service.client().batch().execute(), ReadOnlyKey);

  assert.deepEqual(service.paths, ["GET api_key"]);
});

test("a batch is continued with a correction, and the call is repeated", async () => {
  const service = new Service();
  service.faults = [null, "lost"];
  const options = { requestId: "a-1", force: true, version: "14.0", label: "again" };

  const [record] = await service.client().continueBatch("b-1", customer("Ada"), options);

  const { url, body } = service.calls.at(-1);
  assert.deepEqual(service.paths, ["GET api_key", "POST continue", "POST continue"]);
  assert.match(url.pathname, /\/batches\/b-1\/continue$/);
  assert.equal(url.search, "?force=true");
  assert.deepEqual(body, {
    request_json: { version: "14.0", ...customer("Ada") },
    label: "again",
    request_id: "a-1",
  });
  assert.equal(record.state, "waiting");
});

test("a batch is continued without a correction", async () => {
  const service = new Service();

  await service.client().continueBatch("b-1");

  assert.deepEqual(service.calls.at(-1).body, {});
});

test("an addition can look for its object first", async () => {
  const service = new Service();
  const client = service.client();
  await client.queue(customer("Ada"), { ifExists: "return" });
  const alone = service.calls.at(-1).body;
  const batch = client.batch();
  batch.add(customer("Ada"), { ifExists: "return" });
  await batch.queue();

  assert.deepEqual(alone, { request_json: customer("Ada"), if_exists: "return" });
  assert.deepEqual(service.calls.at(-1).body, { requests: [alone] });
});

test("a backfill is queued with low priority, and never in pages", async () => {
  const service = new Service();
  const client = service.client();
  await client.execute({ CustomerQueryRq: {} }, { priority: "low" });
  const alone = service.calls.find(({ method }) => method === "POST").body;
  const batch = client.batch("order-7", { priority: "low" });
  batch.add(customer("Ada"));
  await batch.queue();

  assert.deepEqual(alone, { request_json: { CustomerQueryRq: {} }, priority: "low" });
  assert.deepEqual(service.calls.at(-1).body, { requests: [{ request_json: customer("Ada") }], priority: "low" });
});

test("a request replaces another one", async () => {
  const service = new Service();

  await service.client().queue(customer("Ada"), { replaces: "a-1", force: true });

  const { url, body } = service.calls.at(-1);
  assert.equal(url.search, "?force=true");
  assert.deepEqual(body, { request_json: customer("Ada"), replaces: "a-1" });
});

test("a write is settled by its id, and the call is repeated after a lost answer", async () => {
  const service = new Service();
  const client = service.client();
  const record = await client.queue(customer("Ada"));
  service.faults = [503];

  assert.deepEqual(await client.settle(record.id), record);

  assert.deepEqual(service.paths.slice(-2), ["POST settle", "POST settle"]);
  assert.match(service.calls.at(-1).url.pathname, new RegExp(`/queued_requests/${record.id}/settle$`));
});

test("writes ask for approval alone, in a batch and as a batch", async () => {
  const service = new Service();
  const client = service.client();
  await client.queue(customer("Ada"), { approval: "required" });
  const [some, whole] = [client.batch("a"), client.batch("b", { approval: "required" })];
  some.add(customer("Ada"), { approval: "required" });
  whole.add(customer("Ada"));
  await some.queue();
  await whole.queue();
  await client.continueBatch("b-1", undefined, { approval: "required" });

  const asking = { request_json: customer("Ada"), approval: "required" };
  assert.deepEqual(
    service.calls.filter(({ method }) => method === "POST").map(({ body }) => body),
    [
      asking,
      { requests: [asking] },
      { requests: [{ request_json: customer("Ada") }], approval: "required" },
      { approval: "required" },
    ],
  );
});

const ONE = [{ id: "a-1", revision: 1 }];
const DECISIONS = [
  ["approve", ["ID", 3], "/queued_requests/ID/approve", "", { revision: 3 }],
  [
    "approve",
    ["ID", 3, { acceptValues: true }],
    "/queued_requests/ID/approve",
    "",
    { revision: 3, accept_values: true },
  ],
  ["reject", ["ID", "No."], "/queued_requests/ID/reject", "", { reason: "No." }],
  ["reject", ["ID", "No.", { dependants: true }], "/queued_requests/ID/reject", "?dependants=true", { reason: "No." }],
  ["approveAll", [{ "a-1": 1 }], "/connections/C/queued_requests/approve", "", { requests: ONE }],
  ["rejectAll", [["a-1"], "No."], "/connections/C/queued_requests/reject", "", { ids: ["a-1"], reason: "No." }],
  ["approveBatch", ["b-1", { "a-1": 1 }], "/connections/C/batches/b-1/approve", "", { requests: ONE }],
  ["rejectBatch", ["b-1", "No."], "/connections/C/batches/b-1/reject", "", { reason: "No." }],
];

for (const [method, given, path, search, expected] of DECISIONS) {
  test(`a decision is one call, and is repeated after a lost answer: ${method} ${search}`, async () => {
    const service = new Service();
    const client = service.client();
    const record = await client.queue(customer("Ada"));
    service.faults = ["lost"];

    const answer = await client[method](...given.map((one) => (one === "ID" ? record.id : one)));

    const [first, { url, body }] = service.calls.slice(-2);
    assert.equal(
      url.pathname.replace(/connections\/[^/]+/, "connections/C").replace(record.id, "ID"),
      `/api/v1${path}`,
    );
    assert.equal(url.search, search);
    assert.deepEqual(body, expected);
    assert.deepEqual(first.body, expected);
    if (answer.id) assert.deepEqual(answer, record);
    else assert.equal(answer.decided, (expected.ids ?? expected.requests ?? []).length);
  });
}

for (const method of ["approve", "reject"]) {
  test(`a read-only key decides about nothing: ${method}`, async () => {
    const service = new Service();
    service.scope = "read_only";

    await assert.rejects(service.client()[method]("a-1", 1), ReadOnlyKey);

    assert.deepEqual(service.paths, ["GET api_key"]);
  });
}
