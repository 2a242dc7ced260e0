import assert from "node:assert/strict";
import { test } from "node:test";

import { editing, incompleteDates, stillIncomplete, withOthers } from "../../src/console/lib/incomplete_dates.js";

const input = (type, isIncomplete, place, customError = "", rangeUnderflow = false) => {
  const validity = { valid: !isIncomplete, customError: Boolean(customError), rangeUnderflow };
  const made = { type, validity, validationMessage: customError };
  if (place) editing(place)(made);
  return made;
};

test("a date that is not complete is a problem of what its input edits", () => {
  const element = { name: "FromModifiedDate", text: "" };
  const found = incompleteDates([
    input("time", true, { element }),
    input("date", false, { element: { name: "ToModifiedDate", text: "" } }),
    input("date", true, { field: "send_by" }),
    input("date", true, { field: "send_by" }, "Enter the date too."),
    input("number", true),
    input("date", true, { field: "send_by" }, "", true),
  ]);
  assert.deepEqual(found, [
    { element, message: "Enter the whole time, or none.", isDate: true },
    { field: "send_by", message: "Enter the whole date.", isDate: true },
    { field: "send_by", message: "Enter the date too.", isDate: true },
    { field: "send_by", message: "Enter a date from 2000 on.", isDate: true },
  ]);

  const other = { element: { name: "Name", text: "" }, message: "Name is required." };
  const unnamed = { message: "Metadata: each value needs a name." };
  const missing = { element, message: "FromModifiedDate is required." };
  assert.deepEqual(withOthers(found, [missing, other, unnamed]), [...found, other, unnamed]);
});

test("only what is still not complete stays a problem, and what is no date stays", () => {
  const [from, to] = [{ name: "FromModifiedDate" }, { name: "ToModifiedDate" }];
  const problem = (place) => ({ ...place, message: "Enter the whole date.", isDate: true });
  const missing = { element: from, message: "FromModifiedDate is required." };
  const known = [problem({ element: from }), problem({ element: to }), problem({ field: "send_by" }), missing];

  assert.deepEqual(stillIncomplete(known, []), [missing]);
  assert.deepEqual(stillIncomplete(known, [problem({ field: "send_by" })]), known.slice(2));
  assert.deepEqual(stillIncomplete(known, [problem({ element: to })]), [known[1], missing]);
  assert.equal(stillIncomplete(known, known.slice(0, 3)), known);
});
