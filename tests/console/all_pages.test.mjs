import assert from "node:assert/strict";
import { test } from "node:test";

import { joined, progressOf } from "../../src/console/lib/all_pages.js";

/** Returns the response to a page with some objects, behind which others remain. */
const page = (rows, remaining, name = "CustomerRet") => [
  {
    QBXMLMsgsRs: {
      CustomerQueryRs: { "@iteratorRemainingCount": remaining, [name]: rows.map((Name) => ({ Name })) },
    },
  },
];

test("the objects so far and the total follow from the first and the last page, of whatever size", () => {
  for (let total = 1; total <= 40; total += 1) {
    const sizes = [];
    for (let left = total, size = 1; left > 0; left -= size, size = (size % 7) + 1) sizes.push(Math.min(size, left));
    let behind = total;
    const pages = sizes.map((size) => page(Array(size).fill("A"), String((behind -= size))));
    pages.forEach((last, number) => {
      const fetched = sizes.slice(0, number + 1).reduce((sum, size) => sum + size, 0);
      assert.deepEqual(progressOf(pages[0], last), { fetched, total });
    });
  }
});

test("without what remains, or without a response, nothing is said", () => {
  assert.equal(progressOf(page(["A"], undefined), page(["B"], 0)), null);
  assert.equal(progressOf(null, page(["B"], 0)), null);
});

test("all pages are one result in their order, and objects of several kinds have their kind", () => {
  assert.deepEqual(joined([page(["A", "B"], 1), page(["C"], 0)], "Customer query"), [
    "CustomerRet",
    [{ Name: "A" }, { Name: "B" }, { Name: "C" }],
  ]);
  assert.deepEqual(joined([page(["A"], 1, "ItemServiceRet"), page(["B"], 0, "ItemGroupRet")], "Item query"), [
    "Item query",
    [
      { Kind: "ItemServiceRet", Name: "A" },
      { Kind: "ItemGroupRet", Name: "B" },
    ],
  ]);
});
