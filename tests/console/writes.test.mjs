import assert from "node:assert/strict";
import { before, test } from "node:test";

import { isOpen, merged, partsOf } from "../../src/console/lib/approvals.js";
import { objectQuery } from "../../src/console/lib/object_query.js";
import { fromJson, ofMember } from "../../src/console/lib/request_json.js";
import { requestNames, requestType } from "../../src/console/lib/schema.js";
import { elementsIn, exampleTree } from "../../src/console/lib/trees.js";
import {
  contentOf,
  differenceOf,
  isSameText,
  leavesOf,
  objectTable,
  tableOf,
  withLater,
} from "../../src/console/lib/write_fields.js";
import { plain, sentenceOf } from "../../src/console/lib/write_words.js";
import { chance, times } from "./support.mjs";

const treeOf = (request) => fromJson(JSON.stringify(request)).tree;
const said = (request, ifExists) => plain(sentenceOf(treeOf(request), ifExists));
const line = (fields) => ({ ItemRef: { FullName: "Consulting" }, ...fields });

let types;
let writes;

before(async () => {
  const names = (await requestNames()).filter((name) => !name.endsWith("QueryRq"));
  types = await Promise.all(names.map(requestType));
  writes = types.map(exampleTree);
  assert.ok(writes.length > 100);
});

test("a write is said in words, with its names, number, lines and total", () => {
  const customer = { FullName: "Acme" };
  const cases = [
    [
      {
        InvoiceAddRq: {
          InvoiceAdd: { CustomerRef: customer, RefNumber: "1042", InvoiceLineAdd: [{ Amount: "2.50" }] },
        },
      },
      "Adds the invoice 1042 for Acme, 1 line, total 2.50",
    ],
    [{ CustomerAddRq: { CustomerAdd: { Name: "Roof", ParentRef: customer } } }, "Adds the customer Acme:Roof"],
    [{ ItemServiceAddRq: { ItemServiceAdd: { Name: "Advice" } } }, "Adds the service item Advice"],
    [{ EstimateAddRq: { EstimateAdd: { CustomerRef: customer } } }, "Adds an estimate for Acme"],
    [
      { ReceivePaymentAddRq: { ReceivePaymentAdd: { CustomerRef: customer, TotalAmount: "1200" } } },
      "Adds a payment from Acme, total 1,200.00",
    ],
    [
      { CustomerModRq: { CustomerMod: { ListID: "8-1", EditSequence: "1", Phone: "", BillAddress: { City: "A" } } } },
      "Changes the customer 8-1: phone, bill address",
    ],
    [
      { InvoiceModRq: { InvoiceMod: { TxnID: "1A-2", EditSequence: "1", CustomerRef: customer, RefNumber: "7" } } },
      "Changes the invoice 1A-2: customer, number",
    ],
    [{ TxnDelRq: { TxnDelType: "Invoice", TxnID: "1A-2" } }, "Deletes the invoice 1A-2"],
    [{ TxnVoidRq: { TxnVoidType: "Check", TxnID: "1A-2" } }, "Voids the check 1A-2"],
    [
      { ListMergeRq: { ListMergeType: "Vendor", MergeFrom: { ListID: "8-1" }, MergeTo: { ListID: "8-2" } } },
      "Merges the vendor 8-1 into 8-2, and deletes the first",
    ],
  ];
  for (const [request, words] of cases) assert.equal(said(request), words);
  assert.equal(
    said({ VendorAddRq: { VendorAdd: { Name: "Bix" } } }, "return"),
    "Adds the vendor Bix, unless it exists",
  );
  assert.match(said({ VendorAddRq: { VendorAdd: { Name: "Bix" } } }, "update"), /Bix, or changes it if it exists$/);
});

/** Returns a tree with every element of a part, twice if it repeats, and a text of its own in each. */
function full(part, next, depth = 0) {
  const once = (element) => {
    if (!element.content) return { name: element.name, text: `text${next()}` };
    return { name: element.name, children: full(element.content, next, depth + 1) };
  };
  return elementsIn(part).flatMap((element) =>
    element.repeats && depth < 3 ? [once(element), once(element)] : [once(element)],
  );
}

const leaves = (tree) => tree.children?.flatMap(leaves) ?? [tree];

test("every text of every write is in its sentence or its table, with a name", () => {
  let number = 0;
  for (const { name, content: schema } of types) {
    const tree = { name, children: full(schema, () => (number += 1)) };
    const content = contentOf(tree);
    const words = plain(sentenceOf(tree));
    const { fields, lines } = tableOf(content);
    const cells = [...fields, ...lines.flatMap(({ rows }) => rows.flatMap((row) => [...row.cells.values()]))];

    assert.match(words, /^\p{Lu}\p{Ll}+ \S/u, name);
    assert.ok([...fields, ...lines.flatMap(({ columns }) => columns)].every(({ label }) => label));
    const shown = new Set([words, ...cells.map(({ after }) => after)].join(" ").match(/text\d+/g));
    for (const leaf of leaves(content).filter((one) => !["EditSequence", "TxnLineID"].includes(one.name)))
      assert.ok(shown.has(leaf.text), `${name} ${leaf.name}`);
  }
});

test("a total is the exact sum of the lines, or none if only QuickBooks knows it", () => {
  const below = chance(11);
  const total = (lines) =>
    / total ([\d,.]+)$/.exec(said({ InvoiceAddRq: { InvoiceAdd: { InvoiceLineAdd: lines } } }))?.[1];
  for (let n = 0; n < 200; n += 1) {
    const amounts = times(1 + below(20), () => below(1_000_000));
    const sum = amounts.reduce((one, other) => one + other, 0);
    const lines = amounts.map((amount) => line({ Amount: (amount / 100).toFixed(2) }));
    assert.equal(total(lines)?.replaceAll(",", ""), (sum / 100).toFixed(2));
    assert.equal(total([...lines, line({ Rate: "10" })]), undefined, "it may be the rate of a discount");
  }
  assert.equal(total([line({ Quantity: "3", Rate: "0.335" })]), "1.01");
});

test("a value is the same whatever its form, and another one is not", () => {
  const below = chance(13);
  for (let n = 0; n < 300; n += 1) {
    const [one, other] = [below(5000), below(5000)].map((number) => (number / 100).toFixed(2));
    const longer = `${one}${"0".repeat(below(4))}`;
    assert.ok(isSameText(one, longer) && isSameText(longer, one));
    assert.equal(isSameText(one, other), Number(one) === Number(other));
  }
  assert.ok(isSameText("TRUE", "true") && isSameText(" Acme ", "Acme"));
  assert.ok(!isSameText("Acme", "ACME") && !isSameText("", "0") && !isSameText("1", ""));
});

const changeOf = (fields) =>
  contentOf(treeOf({ CustomerModRq: { CustomerMod: { ListID: "8-1", EditSequence: "1", ...fields } } }));
const object = ofMember("CustomerRet", {
  ListID: "8-1",
  Name: "Acme",
  IsActive: true,
  Phone: "555-0100",
  CreditLimit: "500.00",
  TermsRef: { ListID: "20-1", FullName: "Net 30" },
  BillAddress: { Addr1: "1 Harbor Street", City: "Middletown" },
});

test("a change shows the old and the new value of each field that it names", () => {
  const fields = { Name: "Acme", IsActive: "1", Phone: "", CreditLimit: "500", BillAddress: { City: "Millbrook" } };
  const { fields: changes } = differenceOf(
    changeOf({ ...fields, IsActive: "true", TermsRef: { ListID: "20-1" } }),
    object,
  );

  assert.deepEqual(
    changes.map(({ key, before: old, after, isChanged }) => [key, old, after, isChanged]),
    [
      ["Name", "Acme", "Acme", false],
      ["IsActive", "true", "true", false],
      ["Phone", "555-0100", "", true],
      ["CreditLimit", "500.00", "500.00", false],
      ["BillAddress/City", "Middletown", "Millbrook", true],
      ["TermsRef", "Net 30", "Net 30", false],
    ],
  );
  assert.equal(differenceOf(changeOf({ TermsRef: { FullName: "Net 15" } }), object).fields[0].isChanged, true);
  assert.equal(differenceOf(changeOf({ Fax: "" }), object).fields[0].isChanged, false);
});

test("nothing of an object differs from itself", () => {
  for (const tree of writes.filter(({ name }) => name.endsWith("ModRq"))) {
    const content = contentOf(tree);
    const { fields, lines } = differenceOf(content, content);
    assert.ok(
      fields.every(({ isChanged }) => !isChanged),
      tree.name,
    );
    for (const { rows } of lines)
      assert.ok(
        rows.every(({ kind }) => kind === "kept"),
        tree.name,
      );
  }
});

test("lines are matched by their ids, and those that a change does not name are removed", () => {
  const ret = (id, fields) => ({ TxnLineID: id, ItemRef: { ListID: "1", FullName: "Hour" }, ...fields });
  const invoice = ofMember("InvoiceRet", {
    TxnID: "1A",
    InvoiceLineRet: [ret("10", { Quantity: "2" }), ret("11", { Quantity: "3" }), ret("12", { Amount: "7.00" })],
  });
  const lines = [{ TxnLineID: "10" }, { TxnLineID: "11", Quantity: "4" }, { TxnLineID: "-1", Desc: "New" }];
  const change = treeOf({ InvoiceModRq: { InvoiceMod: { TxnID: "1A", EditSequence: "1", InvoiceLineMod: lines } } });

  const [{ rows, columns }] = differenceOf(contentOf(change), invoice).lines;

  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ["kept", "changed", "added", "removed"],
  );
  assert.deepEqual(rows[1].cells.get("Quantity").before, "3");
  assert.deepEqual(rows[3].cells.get("Amount").before, "7.00");
  assert.deepEqual(
    columns.find(({ key }) => key === "Quantity"),
    { key: "Quantity", label: "Quantity", isNumber: true },
  );
  const without = treeOf({ InvoiceModRq: { InvoiceMod: { TxnID: "1A", EditSequence: "1", Memo: "M" } } });
  assert.deepEqual(differenceOf(contentOf(without), invoice).lines, []);
  assert.equal(objectTable(invoice).lines[0].rows.length, 3);
});

test("fields of repeated elements stay apart, and a value that comes later is marked", () => {
  const contacts = changeOf({ Contacts: [{ FirstName: "Ada" }, { FirstName: "Zoe" }] });
  assert.deepEqual(
    leavesOf(contacts).map(({ key, label }) => [key, label]),
    [
      ["Contacts/FirstName", "Contacts, first name"],
      ["Contacts#2/FirstName", "Contacts 2, first name"],
    ],
  );
  const mark = '{"$from": "a0a7d2ff-4b11-8816-9718-53ce82027899", "path": "CustomerRet/ListID"}';
  const invoice = treeOf({ InvoiceAddRq: { InvoiceAdd: { CustomerRef: { ListID: mark }, Memo: "M" } } });
  const { fields } = tableOf(contentOf(withLater(invoice)));
  assert.deepEqual(
    fields.map(({ label, later, after, isChanged }) => [label, later, after, isChanged]),
    [
      ["Customer", "CustomerRet/ListID", "", true],
      ["Memo", undefined, "M", true],
    ],
  );
});

test("a change or deletion is compared with the object of its id, or with none", async () => {
  const ask = (request) => objectQuery(treeOf(request));
  assert.deepEqual(await ask({ CustomerModRq: { CustomerMod: { ListID: "8-1", EditSequence: "1" } } }), {
    CustomerQueryRq: { ListID: "8-1" },
  });
  assert.deepEqual(await ask({ TxnDelRq: { TxnDelType: "Invoice", TxnID: "1A" } }), {
    InvoiceQueryRq: { TxnID: "1A", IncludeLineItems: "true" },
  });
  assert.equal(await ask({ DataExtModRq: { DataExtMod: { OwnerID: "0", DataExtName: "X" } } }), null);
  for (const tree of writes.filter(({ name }) => name.endsWith("ModRq"))) await objectQuery(tree);
});

// --- The queue ---------------------------------------------------------------------------------------------------

const record = (id, revision = 1, connection = "c") => ({
  id,
  connection_id: connection,
  state: "waiting",
  approval: { decision: null, revision },
});
const queueOf = (...records) => ({
  groups: [
    { connection: { id: "c" }, total: records.length, items: records.map((one) => ({ record: one, tree: null })) },
  ],
  others: [],
  isAll: true,
});

test("a write stays as it was shown until the reader asks for its new content", () => {
  const below = chance(17);
  for (let n = 0; n < 200; n += 1) {
    const ids = times(6, String);
    const look = () => ids.filter(() => below(3)).map((id) => record(id, 1 + below(3)));
    const [first, second] = [look(), look()];
    const decided = new Set(ids.filter(() => below(4) === 0));

    const shown = merged(merged(null, queueOf(...first), new Set()), queueOf(...second), decided);

    const items = shown.groups.flatMap((group) => group.items);
    assert.deepEqual(
      items.map((item) => item.record.id),
      second.filter(({ id }) => !decided.has(id)).map(({ id }) => id),
    );
    for (const item of items) {
      const { id } = item.record;
      const [former, fresh] = [first, second].map((some) => some.find((one) => one.id === id));
      assert.equal(item.record, former ?? fresh);
      assert.equal(item.newer, former && former.approval.revision !== fresh.approval.revision ? fresh : undefined);
    }
  }
});

test("a call decides about at most 100 writes of one connection, and each write is in one call", () => {
  const items = times(450, (n) => ({ record: record(String(n), 1, `c${n % 3}`) }));
  const parts = partsOf(items);
  for (const part of parts) {
    assert.ok(part.length <= 100);
    assert.equal(new Set(part.map((item) => item.record.connection_id)).size, 1);
  }
  assert.deepEqual(new Set(parts.flat()), new Set(items));
  assert.equal(parts.flat().length, items.length);
});

test("only a write without a decision is open", () => {
  assert.ok(isOpen(record("1")));
  assert.ok(!isOpen({ ...record("1"), state: "discarded" }));
  assert.ok(!isOpen({ ...record("1"), approval: { decision: "approved", revision: 1 } }));
  assert.ok(!isOpen({ ...record("1"), approval: null }));
});
