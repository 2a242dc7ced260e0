import assert from "node:assert/strict";
import { before, test } from "node:test";

import { CHANGES, typesWith } from "../../src/console/lib/request_types.js";
import { requestNames } from "../../src/console/lib/schema.js";

let names;

before(async () => {
  names = await requestNames();
});

test("a type is found by the words of people, in any order", () => {
  for (const [text, name] of Object.entries({
    "change customer": "CustomerModRq",
    "Customer  EDIT": "CustomerModRq",
    "update inv": "InvoiceModRq",
    "new invoice": "InvoiceAddRq",
    "create vendor": "VendorAddRq",
    "add bill": "BillAddRq",
    "find customer": "CustomerQueryRq",
    "list invoice": "InvoiceQueryRq",
    "delete transaction": "TxnDelRq",
    invoiceadd: "InvoiceAddRq",
  }))
    assert.equal(typesWith(text, names)[0], name, text);
  assert.deepEqual(typesWith("change", names).slice(0, 2), Object.keys(CHANGES));
  assert.ok(typesWith("edit", names).every((name) => /Mod|Edit/.test(name)));
  assert.deepEqual(typesWith("change zebra", names), []);
});

test("each type is found by its name, and by the words of it in another order", () => {
  for (const name of names) {
    assert.ok(typesWith(name, names).includes(name), name);
    const words = name.replace(/Rq$/, "").split(/(?<=[a-z0-9])(?=[A-Z])/);
    if (!/[A-Z]{2}/.test(name)) assert.ok(typesWith(words.toReversed().join(" "), names).includes(name), name);
  }
});
