import assert from "node:assert/strict";
import { test } from "node:test";

import { changesTable } from "../../src/console/lib/write_fields.js";

test("the changes that the service has found have names for people", () => {
  const changes = [
    { field: "BillAddress/City", old: "Ulm", new: "Bonn" },
    { field: "TermsRef/FullName", old: null, new: "Net 10" },
    { field: "Phone", old: "1", new: "" },
  ];
  const { fields, lines } = changesTable(changes);
  assert.deepEqual(
    fields.map(({ label, before: old, after, isChanged }) => [label, old, after, isChanged]),
    [
      ["Bill address, city", "Ulm", "Bonn", true],
      ["Terms, full name", "", "Net 10", true],
      ["Phone", "1", "", true],
    ],
  );
  assert.deepEqual(lines, []);
});
