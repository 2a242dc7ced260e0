import assert from "node:assert/strict";
import { test } from "node:test";

import { editing, incompleteDates, withOthers } from "../../src/console/lib/incomplete_dates.js";

const input = (type, badInput, place) => {
  const made = { type, validity: { badInput } };
  if (place) editing(place)(made);
  return made;
};

test("a date that is not complete is a problem of what its input edits", () => {
  const element = { name: "FromModifiedDate", text: "" };
  const found = incompleteDates([
    input("datetime-local", true, { element }),
    input("datetime-local", false, { element: { name: "ToModifiedDate", text: "" } }),
    input("date", true, { field: "send_by" }),
    input("number", true),
  ]);
  assert.deepEqual(found, [
    { element, message: "Enter the date and the time." },
    { field: "send_by", message: "Enter the whole date." },
  ]);

  const other = { element: { name: "Name", text: "" }, message: "Name is required." };
  const unnamed = { message: "Metadata: each value needs a name." };
  const missing = { element, message: "FromModifiedDate is required." };
  assert.deepEqual(withOthers(found, [missing, other, unnamed]), [...found, other, unnamed]);
});
