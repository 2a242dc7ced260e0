import assert from "node:assert/strict";
import { test } from "node:test";

import { isComplete, joined, progressOf } from "../../src/console/lib/all_pages.js";

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

test("a response is complete only if nothing limits it, or QuickBooks says that nothing remains", () => {
  const record = (attributes, children, response, more = {}) => ({
    state: "response_received",
    request_name: "CustomerQueryRq",
    page: 1,
    request_json: { request: { name: "CustomerQueryRq", attributes, children } },
    response_json: response,
    ...more,
  });
  const maximum = [{ name: "MaxReturned", text: "10" }];
  const start = { iterator: "Start" };
  assert.equal(isComplete(record({}, undefined, page(["A"]))), true);
  assert.equal(isComplete(record({}, [{ name: "FullName", text: "A" }], page(["A"]))), true);
  assert.equal(isComplete(record({}, maximum, page(["A"]))), false);
  assert.equal(isComplete(record(start, maximum, page(["A"], 0))), true);
  assert.equal(isComplete(record(start, maximum, page(["A"], 1))), false);
  assert.equal(isComplete(record(start, maximum, page(["A"]))), false);
  assert.equal(isComplete(record(start, maximum, page(["A"], 0), { page: 2 })), false);
  assert.equal(isComplete(record({}, [], page(["A"]), { state: "error" })), false);
  assert.equal(isComplete(record({}, [], page(["A"]), { request_name: "CustomerAddRq" })), false);
  assert.equal(isComplete(record({}, [], page(["A"]), { request_name: "GeneralSummaryReportQueryRq" })), false);
  assert.equal(isComplete(record({}, [], page(["A"]), { request_json: null })), false);
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
