// Each object of QuickBooks has a resource, with the methods that QuickBooks has for it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { Ambiguous, ApiError, NotFound, QuickBooksError, StillQueued } from "../src/index.js";
import { merged, lineIds } from "../src/merging.js";
import { GROUPS, KINDS } from "../src/schema/kinds.js";
import { Books, skip } from "./books.mjs";

const NAMES = JSON.parse(
  readFileSync(new URL("../../../src/domain/qbxml/schema/data/index.json", import.meta.url), "utf8"),
);
const SEEDS = 3;

const books = skip ? null : new Books();
after(() => books?.close());

const kindsWith = (method) => Object.entries(KINDS).filter(([, { methods }]) => methods.includes(method));
const lines = [{ ItemRef: "Consulting" }];

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Return the values of a request in JSON, each with its path, in the order of the texts. */
function leaves(value, path = "") {
  if (Array.isArray(value)) return value.flatMap((one) => leaves(one, path));
  if (typeof value !== "object" || value === null) return [[path, String(value)]];
  return Object.entries(value).flatMap(([name, one]) => leaves(one, `${path}/${name}`));
}

/** Return whether a value is that in the form of QBXML, such as 2.50 for 2.5. */
const isSame = (sent, read) => sent === read || Number(sent) === Number(read) || Date.parse(sent) === Date.parse(read);

test("every object that a query finds by its id has a resource, with the methods of its requests", () => {
  const names = Object.values(KINDS).map(({ name }) => name);
  const without = NAMES.filter((name) => name.endsWith("AddRq")).map((name) => name.slice(0, -5));

  assert.equal(names.length, 70);
  assert.deepEqual(
    without.filter((name) => !names.includes(name)),
    ["DataExt", "DataExtDef", "ListDisplay", "SpecialAccount", "SpecialItem", "TxnDisplay"],
  );
  for (const { name, methods } of Object.values(KINDS)) {
    assert.equal(methods.includes("create"), NAMES.includes(`${name}AddRq`), name);
    assert.equal(methods.includes("update"), NAMES.includes(`${name}ModRq`), name);
    assert.ok(methods.includes("get") && methods.includes("list"), name);
  }
});

test("the service reads what create was given", { skip }, async () => {
  const client = await books.open();
  await books.do("set", { closed: true });
  for (const [attribute, { name }] of kindsWith("create")) {
    for (let seed = 0; seed < SEEDS; seed++) {
      const fields = await books.do("fields", { request: `${name}AddRq`, seed: `${name} ${seed}`, share: 0.5 });

      await assert.rejects(client[attribute].create(fields, { timeout: 0 }), StillQueued);

      const [sent, read] = [leaves(fields), await books.do("waiting")].map((one) =>
        one.sort(([a, b], [c, d]) => (`${a} ${b}` < `${c} ${d}` ? -1 : 1)),
      );
      const paths = [sent, read].map((one) => one.map(([path]) => path));
      assert.deepEqual(paths[0], paths[1]);
      const values = (one, path) => one.filter(([other]) => other === path).map(([, value]) => value);
      for (const path of new Set(paths[0])) {
        const left = values(read, path);
        for (const value of values(sent, path)) {
          const index = left.findIndex((other) => isSame(value, other));
          assert.ok(index >= 0, `${name} ${path}: ${value} is not among ${left}`);
          left.splice(index, 1);
        }
      }
    }
  }
});

test("the service reads every change", { skip }, async () => {
  for (const [, kind] of kindsWith("update")) {
    for (let seed = 0; seed < SEEDS; seed++) {
      const request = `${kind.name}ModRq`;
      const { [kind.key]: id, ...fields } = await books.do("fields", { request, seed: `${seed}`, share: 0.5 });
      const read = { [kind.key]: id, EditSequence: "1" };
      delete fields.EditSequence;
      for (const name of Object.keys(fields)) if (name.startsWith("Clear")) delete fields[name];
      for (const family of kind.changedLines) {
        if (!(family in fields)) continue;
        fields[family] = [fields[family]].flat();
        const name = family === "JournalLineMod" ? "JournalDebitLine" : family.replace(/Mod$/, "Ret");
        read[name] = fields[family].map((line) => {
          const inner = GROUPS[family];
          const returned = inner && { [inner.replace(/Mod$/, "Ret")]: line[inner] ?? [] };
          return { TxnLineID: line.TxnLineID, ...returned };
        });
      }

      const content = { ...read, ...merged(kind, fields, [], read) };

      for (const name of Object.keys(read)) if (!(name in { [kind.key]: 0, EditSequence: 0 })) delete content[name];
      await books.do("reads", { request: { [request]: { [`${kind.name}Mod`]: content } } });
      assert.ok(lineIds(kind, read).size >= kind.changedLines.filter((family) => family in fields).length);
    }
  }
});

test("the service reads every other call", { skip }, async () => {
  const client = await books.open();
  await books.do("set", { closed: true });
  const rejected = (call) => assert.rejects(call, StillQueued);
  for (const [attribute, { methods, modified }] of Object.entries(KINDS)) {
    const resource = client[attribute];
    for (const method of methods.filter((one) => ["get", "find", "delete", "void"].includes(one))) {
      await rejected(resource[method]("80-1", { timeout: 0 }));
    }
    await rejected(all(resource.list({}, { timeout: 0 })));
    if (modified.length > 0) await rejected(all(resource.list({ modifiedSince: new Date(0) }, { timeout: 0 })));
  }
});

test("ensure twice changes nothing", { skip }, async () => {
  const client = await books.open();
  let tried = 0;
  for (const [attribute, kind] of kindsWith("ensure").filter(([, { key }]) => key === "ListID")) {
    for (let seed = 0; seed < SEEDS; seed++) {
      const given = await books.do("fields", {
        request: `${kind.name}AddRq`,
        seed: `${kind.name} ${seed}`,
        share: 0.5,
      });
      const fields = Object.fromEntries(Object.entries(given).filter(([name]) => !name.endsWith("Ref")));
      let first;
      try {
        first = await client[attribute].ensure(fields);
      } catch (error) {
        if (!(error instanceof ApiError || error instanceof QuickBooksError)) throw error;
        continue; // It needs an account, an item or a feature that the company does not have.
      }
      if ((first.Name ?? "").toLowerCase() !== (fields.Name ?? "").toLowerCase()) continue;
      const stored = Object.entries(fields).filter(([name, one]) => name === "Name" || first[name] === one);
      const { writes } = await books.do("state");

      let again;
      try {
        again = await client[attribute].ensure(Object.fromEntries(stored));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        continue; // A required field is stored in another form.
      }

      tried++;
      assert.equal(again["@outcome"], kind.ifExists === "update" ? "unchanged" : "found");
      assert.deepEqual({ ...again, "@outcome": first["@outcome"] }, first);
      assert.deepEqual((await books.do("state")).writes, writes);
    }
  }
  assert.ok(tried > 40, String(tried));
});

test("ensure changes what differs", { skip }, async () => {
  const client = await books.open();
  await client.customers.ensure({ Name: "Ada Ltd", Email: "ada@example.com" });

  const changed = await client.customers.ensure({ Name: "Ada Ltd", Email: "books@example.com" });

  assert.deepEqual([changed["@outcome"], changed.Email], ["updated", "books@example.com"]);
  assert.deepEqual((await books.do("state")).writes, ["CustomerAddRq", "CustomerModRq"]);
});

test("a record is a reference to its object, also in execute", { skip }, async () => {
  const client = await books.open();
  const ada = await client.customers.ensure({ Name: "Ada Ltd" });
  const kitchen = await client.customers.ensure({ Name: "Kitchen", ParentRef: ada });
  const item = await client.items.find("Consulting");

  const given = [
    { ItemRef: item, Quantity: 2 },
    { ItemRef: "Consulting", Quantity: 1 },
  ];
  const invoice = await client.invoices.create({ CustomerRef: kitchen, lines: given });
  const other = await client.execute({ InvoiceAddRq: { InvoiceAdd: { CustomerRef: kitchen, InvoiceLineAdd: given } } });

  assert.equal(kitchen.FullName, "Ada Ltd:Kitchen");
  for (const one of [invoice, other.InvoiceRet]) {
    assert.equal(one.CustomerRef.ListID, kitchen.ListID);
    assert.deepEqual(
      one.InvoiceLineRet.map((line) => [line.Quantity, line.ItemRef.ListID]),
      [
        ["2", item.ListID],
        ["1", item.ListID],
      ],
    );
  }
  assert.deepEqual((await client.invoices.get(invoice.TxnID)).InvoiceLineRet, invoice.InvoiceLineRet);
});

test("list yields every object page by page, and begins when the first one is wanted", { skip }, async () => {
  const client = await books.open();
  for (let number = 0; number < 20; number++) await client.customers.create({ Name: `Customer ${number}` });
  const ids = (customers) => new Set(customers.map(({ ListID }) => ListID));
  const whole = ids((await client.execute({ CustomerQueryRq: {} })).CustomerRet);
  for (const pageSize of [1, 7, 100]) {
    const before = (await books.do("state")).executed;
    const customers = client.customers.list({}, { pageSize });
    assert.equal((await books.do("state")).executed, before);

    const found = await all(customers);

    assert.equal((await books.do("state")).executed - before, Math.ceil(whole.size / pageSize));
    assert.deepEqual(ids(found), whole);
  }
  assert.deepEqual(
    (await all(client.customers.list({ FullName: ["Customer 3"] }))).map(({ Name }) => Name),
    ["Customer 3"],
  );
  assert.equal((await all(client.customers.list({ MaxReturned: 4 }))).length, 4);
  assert.ok((await all(client.accounts.list())).length > 10);
});

test("list takes the time of the last change", { skip }, async () => {
  const client = await books.open();
  const times = (await all(client.customers.list())).map(({ TimeModified }) => Date.parse(TimeModified));
  const since = new Date(Math.max(...times) + 1000);
  const ada = await client.customers.ensure({ Name: "Ada Ltd" });

  assert.deepEqual(
    (await all(client.customers.list({ modifiedSince: since }))).map(({ ListID }) => ListID),
    [ada.ListID],
  );
  assert.throws(() => client.customers.list({ modifiedSince: since, FromModifiedDate: since }), /same limit/);
  const range = { ModifiedDateRangeFilter: { ToModifiedDate: "2036-01-01" }, modifiedSince: new Date("2035-01-01") };
  assert.deepEqual(await all(client.invoices.list(range)), []);
});

test("find and get say what the books do not have", { skip }, async () => {
  const client = await books.open();
  const ada = await client.customers.ensure({ Name: "Ada Ltd" });
  for (let time = 0; time < 2; time++) await client.invoices.create({ CustomerRef: ada, RefNumber: "T-1", lines });

  assert.equal((await client.customers.find("ada ltd")).ListID, ada.ListID);
  assert.equal(await client.customers.find("Nobody"), undefined);
  await assert.rejects(client.customers.get("80-9"), (error) => {
    assert.ok(error instanceof NotFound);
    assert.match(error.message, /no Customer with the id "80-9"/);
    return true;
  });
  await assert.rejects(client.invoices.find("T-1"), (error) => error instanceof Ambiguous && error.ids.length === 2);
});

test("delete and void", { skip }, async () => {
  const client = await books.open();
  const ada = await client.customers.ensure({ Name: "Ada Ltd" });
  const invoice = await client.invoices.create({ CustomerRef: ada, lines });

  await client.invoices.void(invoice.TxnID);
  assert.equal(Number((await client.invoices.get(invoice.TxnID)).Subtotal), 0);
  await client.invoices.delete(invoice.TxnID);
  const deleted = await client.customers.delete(ada.ListID);

  assert.equal(deleted.FullName, "Ada Ltd");
  assert.equal(await client.customers.find("Ada Ltd"), undefined);
  assert.deepEqual((await books.do("state")).writes.slice(-3), ["TxnVoidRq", "TxnDelRq", "ListDelRq"]);
});

test("a batch has the resources, and their steps are references", { skip }, async () => {
  const client = await books.open();
  const batch = client.batch("order-1042");
  const ada = batch.customers.ensure({ Name: "Ada Ltd" });
  const job = batch.customers.ensure({ Name: "Kitchen", ParentRef: ada });
  const invoice = batch.invoices.create({ CustomerRef: job, RefNumber: "1042", lines }, { ifExists: "return" });
  await batch.execute();

  const { TxnID, CustomerRef } = invoice.result.InvoiceRet;
  assert.equal(CustomerRef.FullName, "Ada Ltd:Kitchen");
  const second = client.batch();
  second.invoices.void(TxnID);
  second.invoices.delete(TxnID);
  await second.execute();
  const writes = ["CustomerAddRq", "CustomerAddRq", "InvoiceAddRq", "TxnVoidRq", "TxnDelRq"];
  assert.deepEqual((await books.do("state")).writes, writes);
});

const WRONG = {
  "a method that the object does not have": [(client) => client.accounts.void("1"), /client\.accounts\.void is not a/],
  "a method that a batch does not have": [(client) => client.batch().customers.get("1"), /get is not a function/],
  "a misspelt option": [
    (client) => client.customers.create({ Name: "x" }, { idempotencykey: "1" }),
    /Did you mean idempotencyKey\?/,
  ],
  "an option of another method": [
    (client) => client.customers.create({ Name: "x" }, { pageSize: 3 }),
    /create does not have an option pageSize/,
  ],
  "an option that ensure decides": [
    (client) => client.batch().customers.ensure({ Name: "x" }, { ifExists: "fail" }),
    /ensure does not have an option ifExists/,
  ],
  "lines of an object without lines": [(client) => client.customers.create({ Name: "x", lines: [] }), /has no lines/],
  "lines twice": [(client) => client.invoices.create({ lines: [], InvoiceLineAdd: [] }), /which is given too/],
  "no fields": [(client) => client.customers.create(), /The fields of Customer must be an object/],
  "a misspelt field": [(client) => client.customers.create({ Nam: "x" }), /Nam is not an element/],
};

for (const [what, [use, message]] of Object.entries(WRONG)) {
  test(`it is named: ${what}`, { skip }, async () => {
    const client = await books.open();

    await assert.rejects(async () => use(client), message);
    assert.deepEqual((await books.do("state")).writes, []);
  });
}

test("a resource has its methods, and is the same each time", { skip }, async () => {
  const client = await books.open();

  for (const [name, { methods }] of Object.entries(KINDS)) {
    assert.deepEqual(Object.keys(client[name]), methods);
    assert.equal(client[name], client[name]);
  }
});
