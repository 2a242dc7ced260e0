import assert from "node:assert/strict";
import { test } from "node:test";

import { QuickBooksError, ReadOnlyKey, StillWaiting } from "../src/index.js";
import { Service } from "./service.mjs";

const customer = (name) => ({ CustomerAddRq: { CustomerAdd: { Name: name } } });
const named = ({ request_json: { CustomerAddRq } }) => ({ result: { CustomerRet: { Name: CustomerAddRq.CustomerAdd.Name } } });

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
  assert.deepEqual(requests.map(({ ref }) => ref), ["request-1", "request-2", undefined]);
  assert.deepEqual(requests[2], {
    request_json: {
      InvoiceAddRq: { InvoiceAdd: { CustomerRef: { ListID: { $from: "request-1", path: "CustomerRet/ListID" } } } },
    },
    depends_on: ["request-2"],
  });
});

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
