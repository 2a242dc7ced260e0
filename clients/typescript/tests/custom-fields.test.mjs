// Custom fields are read with an object, and written behind it in the same batch.
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { Conflict, CustomFieldsNotWritten, QuickBooksError, StillQueued } from "../src/index.js";
import { written } from "../src/custom-fields.js";
import { KINDS } from "../src/schema/kinds.js";
import { Books, Chance, skip } from "./books.mjs";

const FIELDS = ["Route", "Area", "Colour"];
const VALUES = ["North", "South", "West"];

const books = skip ? null : new Books();
after(() => books?.close());

/** Return a client of a new company that has custom fields. */
async function opened() {
  const client = await books.open();
  for (const name of FIELDS) await books.do("define", { name, objects: ["Customer", "Vendor", "Item", "Invoice"] });
  return client;
}

const writes = async () => (await books.do("state")).writes;

async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

test("a created object has its custom fields, and they are read when they are asked for", { skip }, async () => {
  const client = await opened();
  const customFields = { Route: "North", Colour: "Red" };

  const { "@outcome": outcome, ...ada } = await client.customers.create({ Name: "Ada Ltd", customFields });

  assert.deepEqual([outcome, ada.customFields], ["created", customFields]);
  assert.deepEqual(await client.customers.get(ada.ListID, { customFields: true }), ada);
  assert.deepEqual((await client.customers.find("Ada Ltd", { customFields: true })).customFields, customFields);
  assert.equal((await client.customers.find("Ada Ltd")).customFields, undefined);
  const listed = await all(client.customers.list({ IncludeRetElement: "Name" }, { customFields: true, pageSize: 2 }));
  assert.ok(listed.length > 1);
  for (const one of listed) {
    const names = Object.keys(one.customFields).filter((name) => FIELDS.includes(name));
    assert.deepEqual(names.sort(), one.Name === "Ada Ltd" ? ["Colour", "Route"] : []);
  }
  assert.deepEqual(await writes(), ["CustomerAddRq", "DataExtModRq", "DataExtModRq"]);
});

for (const customFields of [{ Colour: "Red" }, { Colour: "Red", Route: "North" }, { Colour: null }]) {
  const change = JSON.stringify(customFields);
  test(`an update refuses custom fields of lines with the requests that write them: ${change}`, { skip }, async () => {
    const client = await opened();
    await client.customers.create({ Name: "Ada Ltd" });
    const lines = ["Blue", "Grey"].map((DataExtValue) => ({
      ItemRef: "Consulting",
      DataExt: [{ OwnerID: "0", DataExtName: "Colour", DataExtValue }],
    }));
    const { TxnID, InvoiceLineRet } = await client.invoices.create({ CustomerRef: "Ada Ltd", lines });
    const { TxnLineID } = InvoiceLineRet[1];
    const { records } = await books.do("state");

    let shown = "";
    await assert.rejects(
      client.invoices.update(TxnID, { lines: [{ TxnLineID, Quantity: 2, customFields }] }),
      (error) => {
        shown = /cannot write custom fields of lines.* execute (.*)\.$/.exec(error.message)?.[1];
        return error instanceof TypeError;
      },
    );
    assert.equal((await books.do("state")).records, records);
    for (const request of JSON.parse(`[${shown}]`)) await client.execute(request);

    const { InvoiceLineRet: read } = await client.invoices.get(TxnID, { customFields: true });
    const found = read.map(({ DataExtRet = [] }) =>
      Object.fromEntries(DataExtRet.map((row) => [row.DataExtName, row.DataExtValue])),
    );
    const left = Object.fromEntries(Object.entries(customFields).filter(([, value]) => value !== null));
    assert.deepEqual(found, [{ Colour: "Blue" }, left]);
  });
}

test("a line that an update adds has no custom fields yet", { skip }, async () => {
  const client = await opened();
  const customFields = { Colour: "Red" };
  const added = { TxnLineID: "-1", ItemRef: "Consulting", customFields };
  const grouped = { TxnLineID: "3-4", InvoiceLineMod: [{ TxnLineID: "5-6", customFields }] };
  const { records } = await books.do("state");

  await assert.rejects(client.invoices.update("1-2", { lines: [added] }), /"…" is the TxnLineID of the new line/);
  await assert.rejects(client.invoices.update("1-2", { InvoiceLineGroupMod: [grouped] }), /"TxnLineID":"5-6"/);
  assert.equal((await books.do("state")).records, records);
});

test("any sequence of updates leaves what it was given, and writes only what differs", { skip }, async () => {
  const client = await opened();
  const { ListID } = await client.customers.create({ Name: "Ada Ltd" });
  const expected = {};
  const chance = new Chance(3);
  for (let number = 0; number < 30; number++) {
    const names = chance.sample(FIELDS, chance.number(0, 3));
    const change = Object.fromEntries(names.map((name) => [name, chance.choice([...VALUES, null])]));
    const fields = chance.choice([{}, { Phone: String(number) }]);
    const differing = names.filter((name) => (expected[name] ?? null) !== change[name]).length;
    const before = (await writes()).length;

    const changed = await client.customers.update(ListID, { ...fields, customFields: change });

    for (const name of names) {
      if (change[name] === null) delete expected[name];
      else expected[name] = change[name];
    }
    const isMod = "Phone" in fields || names.length === 0;
    assert.equal((await writes()).length - before, differing + Number(isMod));
    if (names.length > 0) assert.deepEqual(changed.customFields, expected);
    assert.deepEqual((await client.customers.get(ListID, { customFields: true })).customFields, expected);
  }
});

test("ensure writes custom fields that differ, and no others", { skip }, async () => {
  const client = await opened();
  const parent = await client.customers.create({ Name: "Ada Ltd" });
  for (const fields of [
    { Name: "Bob" },
    { Name: "Kitchen", ParentRef: parent },
    { Name: "Bath", ParentRef: "Ada Ltd" },
  ]) {
    const first = await client.customers.ensure({ ...fields, customFields: { Route: "North" } });
    const before = await writes();
    const again = await client.customers.ensure({ ...fields, customFields: { route: "North" } });
    assert.deepEqual([first["@outcome"], again["@outcome"]], ["created", "unchanged"]);
    assert.deepEqual([await writes(), again.customFields], [before, { Route: "North" }]);

    const changed = await client.customers.ensure({ ...fields, customFields: { Route: "South" } });

    assert.deepEqual(changed.customFields, { Route: "South" });
    assert.deepEqual((await writes()).slice(before.length), ["DataExtModRq"]);
  }
});

test("a number of another customer is another object", { skip }, async () => {
  const client = await opened();
  const ada = await client.customers.create({ Name: "Ada Ltd" });
  const bob = await client.customers.create({ Name: "Bob" });
  const sale = { RefNumber: "1042", lines: [{ ItemRef: "Consulting" }], customFields: { Route: "North" } };
  for (const CustomerRef of [ada, "Bob", { ListID: ada.ListID }, bob])
    await client.invoices.ensure({ CustomerRef, ...sale });

  const found = await all(client.invoices.list({ RefNumber: ["1042"] }, { customFields: true }));

  assert.deepEqual(found.map(({ CustomerRef }) => CustomerRef.FullName).sort(), ["Ada Ltd", "Bob"]);
  assert.ok(found.every(({ customFields }) => customFields.Route === "North"));
  assert.equal((await writes()).filter((name) => name === "DataExtModRq").length, 2);
});

test("a batch writes custom fields behind their object", { skip }, async () => {
  const client = await opened();
  const batch = client.batch("order-1");
  const ada = batch.customers.ensure({ Name: "Ada Ltd", customFields: { Route: "North", Area: "South" } });
  batch.vendors.create({ Name: "Mill", customFields: { Area: "West" } });
  await batch.execute();

  const read = await client.customers.get(ada.result.CustomerRet.ListID, { customFields: true });
  assert.deepEqual(read.customFields, { Route: "North", Area: "South" });
  const names = ["CustomerAddRq", "DataExtModRq", "DataExtModRq", "VendorAddRq", "DataExtModRq"];
  assert.deepEqual(await writes(), names);
});

test("a field that is not defined is named, and the same call adds nothing", { skip }, async () => {
  const client = await opened();
  const create = () => client.customers.create({ Name: "Ada Ltd", customFields: { Route: "North", Size: "XL" } });
  const ids = new Set();
  for (let time = 0; time < 2; time++) {
    await assert.rejects(create(), (error) => {
      assert.ok(error instanceof CustomFieldsNotWritten, error.stack);
      assert.match(error.message, /"Size".*not defined.*make the same call again/);
      assert.deepEqual(Object.keys(error.failures), ["Size"]);
      ids.add(error.id);
      return error.failures.Size instanceof QuickBooksError;
    });
  }
  await books.do("define", { name: "Size", objects: ["Customer"] });

  const ada = await create();

  assert.deepEqual(ada.customFields, { Route: "North", Size: "XL" });
  assert.deepEqual([...ids], [ada.ListID]);
  const names = await writes();
  assert.deepEqual(
    ["CustomerAddRq", "DataExtModRq"].map((name) => names.filter((one) => one === name).length),
    [1, 4],
  );
});

test("an update with the right name ends the call, so that an equal one is a new write", { skip }, async () => {
  const client = await opened();
  await client.customers.create({ Name: "Ada Ltd" });
  const fields = { CustomerRef: "Ada Ltd", lines: [{ ItemRef: "Consulting" }], customFields: { Rout: "North" } };
  const made = new Set();
  for (let time = 0; time < 3; time++) {
    const { id } = await client.invoices.create(fields).catch((error) => error);
    const repaired = await client.invoices.update(id, { customFields: { Route: "North" } });
    assert.deepEqual(repaired.customFields, { Route: "North" });
    made.add(id);
  }

  assert.equal(made.size, 3);
  assert.equal((await writes()).filter((name) => name === "InvoiceAddRq").length, 3);
});

test("a custom field can have the name of a reference", { skip }, async () => {
  const client = await opened();
  await books.do("define", { name: "PORef", objects: ["Customer"] });

  const ada = await client.customers.create({ Name: "Ada Ltd", customFields: { PORef: "7" } });
  const changed = await client.customers.update(ada.ListID, { customFields: { PORef: "8" } });

  assert.deepEqual([ada.customFields, changed.customFields], [{ PORef: "7" }, { PORef: "8" }]);
});

test("a failed write leaves the custom fields alone", { skip }, async () => {
  const client = await opened();
  await client.customers.create({ Name: "Ada Ltd" });

  await assert.rejects(client.customers.create({ Name: "Ada Ltd", customFields: { Route: "North" } }), QuickBooksError);

  assert.ok(!(await writes()).includes("DataExtModRq"));
});

for (const method of ["create", "ensure", "update"]) {
  test(`a call that is repeated after any failure writes once: ${method}`, { skip }, async () => {
    const client = await opened();
    const { ListID } = await client.customers.create({ Name: "Old" });
    const write = (number) => {
      const customFields = { Route: `R${number}`, Area: "South" };
      return method === "update"
        ? client.customers.update(ListID, { Phone: String(number), customFields }, { timeout: 5 })
        : client.customers[method]({ Name: `New ${number}`, customFields }, { timeout: 5 });
    };
    for (let number = 0; number < 24; number++) {
      const [calls, closed] = [Math.floor(number / 2), number % 2 === 1];
      const before = (await writes()).length;
      await books.do("set", { closed: closed || null, faults: [...Array(calls).fill(""), ...Array(6).fill("lost")] });
      let object;
      for (let time = 0; time < 8 && !object; time++) {
        try {
          object = await write(number);
        } catch (error) {
          assert.ok(error instanceof StillQueued || error instanceof TypeError, error.stack);
          await books.do("set", { closed: false, faults: [] });
        }
      }
      await books.do("set", { closed: false, faults: [] });

      assert.deepEqual(object.customFields, { Route: `R${number}`, Area: "South" });
      const names = (await writes()).slice(before).sort();
      const isFirst = method === "update" && names.length === 2; // The area is that of the update before.
      const what = method === "update" ? "CustomerModRq" : "CustomerAddRq";
      assert.deepEqual(names, [what, "DataExtModRq", ...(isFirst ? [] : ["DataExtModRq"])]);
    }
  });
}

for (const theirs of VALUES) {
  for (const field of ["Route", "Area"]) {
    test(`somebody else who changes the same custom field is a conflict: ${field} ${theirs}`, { skip }, async () => {
      const client = await opened();
      const { ListID } = await client.customers.create({ Name: "Ada Ltd", customFields: { Route: "Old" } });
      const place = { ListDataExtType: "Customer", ListObjRef: { ListID } };
      const other = { OwnerID: "0", DataExtName: field, ...place, DataExtValue: theirs };
      const edit = {
        before: "CustomerModRq",
        request: { CustomerModRq: { CustomerMod: { ListID, Fax: "1" } } },
        also: [{ DataExtModRq: { DataExtMod: other } }],
      };
      await books.do("set", { edits: [edit] });
      const update = () => client.customers.update(ListID, { Phone: "3", customFields: { Route: "North" } });

      if (field === "Area" || theirs === "North") {
        assert.equal((await update()).customFields.Route, "North");
        return;
      }
      await assert.rejects(update(), (error) => {
        const change = { field: "customFields/Route", read: "Old", theirs, ours: "North" };
        assert.deepEqual(error.changes, [change], error.stack);
        return error instanceof Conflict;
      });
      const names = await writes();
      assert.ok(!names.slice(names.indexOf("CustomerModRq")).includes("DataExtModRq"));
    });
  }
}

test("a result that cannot be read is read by the same call", { skip }, async () => {
  const client = await opened();
  await books.do("set", { closed: true });
  const create = () => client.customers.create({ Name: "Ada Ltd", customFields: { Route: "North" } }, { timeout: 5 });
  await assert.rejects(create(), StillQueued);
  await books.do("discard_last");

  await assert.rejects(create(), /discarded/);
  const ada = await create();

  assert.deepEqual(ada.customFields, { Route: "North" });
  assert.deepEqual(await writes(), ["CustomerAddRq", "DataExtModRq"]);
});

test("the service reads the requests of every object, and others refuse custom fields", { skip }, async () => {
  const client = await opened();
  for (const [attribute, kind] of Object.entries(KINDS)) {
    if (kind.customFields) {
      for (const Route of ["North", null]) {
        await books.do("reads", { request: written(kind, "80-1", { Route })[0] });
      }
      continue;
    }
    const refused = { name: "TypeError", message: `A ${kind.name} cannot have custom fields.` };
    const [asked, customFields] = [{ customFields: true }, { Route: "North" }];
    const uses = {
      create: (resource) => resource.create({ customFields }),
      ensure: (resource) => resource.ensure({ customFields }),
      update: (resource) => resource.update("80-1", { customFields }),
      get: (resource) => resource.get("80-1", asked),
      find: (resource) => resource.find("80-1", asked),
      list: (resource) => resource.list({}, asked),
    };
    for (const method of kind.methods.filter((one) => one in uses)) {
      await assert.rejects(async () => uses[method](client[attribute]), refused);
    }
  }
});

test("what cannot be written is refused", { skip }, async () => {
  const client = await opened();
  const { customers } = client;
  const refused = [
    [() => customers.create({ Name: "x", customFields: { Route: null } }), /cannot be null in create/],
    [() => customers.ensure({ Name: "x", customFields: { Route: "" } }), /empty text/],
    [() => customers.update("1", { customFields: { Route: 3 } }), /not a text/],
    [() => customers.create({ Name: "x", customFields: { ["R".repeat(32)]: "x" } }), /31/],
  ];
  for (const [use, message] of refused) await assert.rejects(use, message);

  assert.equal((await books.do("state")).records, 0);
});
