import assert from "node:assert/strict";
import { test } from "node:test";

import { isBeginning, isComplete, joined, progressOf } from "../../src/console/lib/all_pages.js";

/** Returns the response to a page with some objects, behind which others remain. */
const page = (rows, remaining, name = "CustomerRet", status = "0") => {
  const attributes = { "@statusCode": status, "@iteratorRemainingCount": remaining };
  return [{ QBXMLMsgsRs: { CustomerQueryRs: { ...attributes, [name]: rows.map((Name) => ({ Name })) } } }];
};

/** Returns the record of a query that has ended. */
const record = (attributes, children, response, more = {}) => ({
  state: "response_received",
  request_name: "CustomerQueryRq",
  page: 1,
  last_page: true,
  request_json: { request: { name: "CustomerQueryRq", attributes, children } },
  response_json: response,
  ...more,
});

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

test("a query that the service sends in pages is not complete before its last page", () => {
  // The stored request has no iterator.
  assert.equal(isComplete(record({}, [], page(["A"], 30), { last_page: false })), false);
  assert.equal(isComplete(record({}, [], page(["A"], 0), { last_page: false })), false);
  assert.equal(isComplete(record({}, [], page(["A"], 0), { last_page: null })), false);
  // The iteration has stopped.
  assert.equal(isComplete(record({}, [], page(["A"], 30))), false);
  assert.equal(isComplete(record({}, [], page(["A"], 0))), true);
});

test("the last part of an iterator that began elsewhere is not complete", () => {
  const own = { iterator: "Continue", iteratorID: "{A}" };
  assert.equal(isBeginning(record(own, [], null)), false);
  assert.equal(isComplete(record(own, [], page(["A"], 0))), false);
});

test("a response with a warning is never complete", () => {
  const answer = (status) => page(["A"], undefined, "CustomerRet", status);
  for (const status of ["1", "500", "501", "510", "530", "531", "540", "560", "3120", "", null])
    assert.equal(isComplete(record({}, [], answer(status))), false, status);
  for (const status of ["0", 0]) assert.equal(isComplete(record({}, [], answer(status))), true);
  assert.equal(isComplete(record({}, [], [...answer("0"), ...answer("500")])), false);
  for (const none of [null, [], [{ QBXMLMsgsRs: {} }]]) assert.equal(isComplete(record({}, [], none)), false);
});

test("deletions are never complete, because QuickBooks does not keep all of them", () => {
  for (const name of ["TxnDeletedQueryRq", "ListDeletedQueryRq"])
    assert.equal(isComplete(record({}, [], page(["A"]), { request_name: name })), false);
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
