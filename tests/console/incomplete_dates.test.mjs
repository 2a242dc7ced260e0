import assert from "node:assert/strict";
import { test } from "node:test";

import { editing, incompleteDates, withOthers } from "../../src/console/lib/incomplete_dates.js";

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
    { element, message: "Enter the whole time, or none." },
    { field: "send_by", message: "Enter the whole date." },
    { field: "send_by", message: "Enter the date too." },
    { field: "send_by", message: "Enter a date from 2000 on." },
  ]);

  const other = { element: { name: "Name", text: "" }, message: "Name is required." };
  const unnamed = { message: "Metadata: each value needs a name." };
  const missing = { element, message: "FromModifiedDate is required." };
  assert.deepEqual(withOthers(found, [missing, other, unnamed]), [...found, other, unnamed]);
});
