import assert from "node:assert/strict";
import { test } from "node:test";

import { toCsv } from "../../src/console/lib/csv.js";
import { resultCsv } from "../../src/console/lib/result_file.js";
import { leafText, reachedMaximum } from "../../src/console/lib/result_rows.js";
import { chance, times } from "./support.mjs";

/** Reads CSV (RFC 4180) with quoted cells. */
const rowsOf = (text) =>
  text
    .replace(/^\ufeff/, "")
    .match(/(?:"(?:[^"]|"")*",?)+\r\n/g)
    .map((line) => line.match(/"(?:[^"]|"")*"/g).map((cell) => cell.slice(1, -1).replaceAll('""', '"')));

test("no cell is a formula, and every cell comes back", () => {
  const rests = ["1+1", "cmd|' /C calc'!A0", "SUM(A1)", ""];
  const dangerous = [..."=+-@\t\r\n"].flatMap((start) => rests.map((rest) => start + rest));
  dangerous.push("  =1+1", "\u00a0@x", "\uff1d1+1", "\u0000=1");
  const safe = ["", "Ann", "a=b", "-12.50", "3", '"quoted", and; separated', "two\nlines", "Grünwald 東京", "' quoted"];

  const text = toCsv(
    ["value"],
    [...dangerous, ...safe].map((cell) => [cell]),
  );

  assert.deepEqual(rowsOf(text), [["value"], ...dangerous.map((cell) => [`'${cell}`]), ...safe.map((cell) => [cell])]);
});

test("two fields with the same path share a cell, and a boolean is a word", async () => {
  const objects = [{ "A.B": "one", A: { B: "two" }, IsActive: true, IsPaid: false }];

  const [titles, cells] = rowsOf(await resultCsv(["CustomerRet", objects]));

  assert.deepEqual(Object.fromEntries(titles.map((title, n) => [title, cells[n]])), {
    "A.B": "one, two",
    IsActive: "Yes",
    IsPaid: "No",
  });
});

test("the file of a result has every text of every object, and a row for each line", async () => {
  const below = chance(7);
  let number = 0;
  const text = () => `text ${(number += 1)}`;
  const fields = (depth) =>
    Object.fromEntries(
      times(1 + below(4), (n) => [
        `Field${n}`,
        depth && below(3) === 0 ? fields(depth - 1) : [text(), true, text()][below(3)],
      ]),
    );
  const objects = times(60, () => ({
    TxnID: text(),
    ...fields(2),
    ...(below(2) ? { InvoiceLineRet: times(1 + below(4), () => fields(1)) } : {}),
  }));
  const leaves = (value) => (typeof value === "object" ? Object.values(value).flatMap(leaves) : [leafText(value)]);

  const [titles, ...rows] = rowsOf(await resultCsv(["InvoiceRet", objects]));

  assert.equal(
    rows.length,
    objects.reduce((sum, { InvoiceLineRet: lines }) => sum + (lines?.length ?? 1), 0),
  );
  assert.ok(rows.every((row) => row.length === titles.length));
  for (const object of objects) {
    const own = rows.filter((row) => row[titles.indexOf("TxnID")] === object.TxnID).flat();
    assert.deepEqual(
      leaves(object).filter((one) => !own.includes(one)),
      [],
    );
  }
});

test("a response that reached the maximum of its query may be incomplete, and no other one", () => {
  const below = chance(9);
  for (let n = 0; n < 500; n += 1) {
    const [maximum, number, isIterated] = [below(5), below(6), below(3) === 0];
    const children = maximum ? [{ name: "MaxReturned", text: String(maximum) }] : [];
    const request = { name: "ItemQueryRq", children, ...(isIterated ? { attributes: { iterator: "Start" } } : {}) };
    const split = below(number + 1);
    const items = (count) => Array.from({ length: count }, () => ({ ListID: "1" }));
    const answer = { ItemServiceRet: items(split), ItemGroupRet: items(number - split) };
    const record = { request_json: { request }, response_json: [{ QBXMLMsgsRs: { ItemQueryRs: [answer] } }] };
    assert.equal(reachedMaximum(record), maximum && !isIterated && number === maximum ? maximum : null);
  }
  assert.equal(reachedMaximum({ request_json: null, response_json: null }), null);
});
