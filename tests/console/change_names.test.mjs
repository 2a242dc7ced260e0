import assert from "node:assert/strict";
import { test } from "node:test";

import { baseOf, namesOf } from "../../src/console/lib/changes.js";
import { requestType } from "../../src/console/lib/schema.js";

test("a change names the object that was read, and whose it is", async () => {
  const leaf = (name, text) => ({ name, text });
  const reference = (name, text) => ({ name, children: [leaf("FullName", text)] });
  const names = async (name, ...children) =>
    namesOf(baseOf(await requestType(`${name}ModRq`), { name: `${name}Ret`, children }));
  const mine = reference("CustomerRef", "Zeller Kitchens");
  assert.deepEqual(await names("Invoice", mine, leaf("RefNumber", "5003")), { name: "5003", party: "Zeller Kitchens" });
  assert.deepEqual(await names("Invoice", mine), { name: "", party: "Zeller Kitchens" });
  assert.deepEqual(await names("Customer", leaf("Name", "Ada Kern")), { name: "Ada Kern", party: "" });
  const job = [leaf("Name", "Kitchen"), reference("ParentRef", "Ada Kern")];
  assert.deepEqual(await names("Customer", ...job), { name: "Ada Kern:Kitchen", party: "" });
});
