import assert from "node:assert/strict";
import { test } from "node:test";

import { pagesOfLists } from "../../src/console/lib/list_export.js";

const MAX_ROWS = 10_000;
const MAX_LISTS = 200;

/** Returns the rows of lists, which have so many parts of so many rows, and whether these are all. */
async function read(sizes, { rows = 2, fails = () => {}, isWhole = true } = {}) {
  async function* pagesOf([, id], query) {
    assert.equal(query["include[]"], "replaced_by");
    for (let part = 0; part < sizes[id]; part += 1) {
      fails(id, part);
      yield Array.from({ length: rows }, (_, row) => ({ id: `${id} ${part} ${row}` }));
    }
    return isWhole;
  }
  const lists = Object.keys(sizes).map((id) => ({ id, name: `Name of ${id}`, query: { state: "error" } }));
  const parts = pagesOfLists(lists, pagesOf);
  const found = [];
  let part = await parts.next();
  while (!part.done) {
    found.push(...part.value);
    part = await parts.next();
  }
  return { found, isAll: part.value };
}

const refused = (status) => (id, part) => {
  if (id === "b" && part === 1) throw Object.assign(new Error("refused"), { status });
};

test("a file of several lists has the rows of each, with the name of its connection", async () => {
  const { found, isAll } = await read({ a: 2, b: 0, c: 1 });

  assert.equal(isAll, true);
  assert.deepEqual(
    found.map(({ id, connection_name: name }) => [id, name]),
    ["a 0 0", "a 0 1", "a 1 0", "a 1 1", "c 0 0", "c 0 1"].map((id) => [id, `Name of ${id[0]}`]),
  );
});

test("a connection that is deleted meanwhile has no further rows, and another failure stops the file", async () => {
  const { found, isAll } = await read({ a: 1, b: 3, c: 1 }, { fails: refused(404), rows: 1 });

  assert.deepEqual([found.map(({ id }) => id), isAll], [["a 0 0", "b 0 0", "c 0 0"], true]);
  await assert.rejects(read({ a: 1, b: 3, c: 1 }, { fails: refused(500) }), { status: 500 });
});

test("a file that does not have all rows says so", async () => {
  const many = Object.fromEntries(Array.from({ length: MAX_LISTS + 1 }, (_, number) => [`list ${number}`, 1]));

  const cut = await read({ a: 300 }, { rows: 100 });
  assert.deepEqual([cut.found.length, cut.isAll], [MAX_ROWS, false]);
  const lists = await read(many, { rows: 1 });
  assert.deepEqual([lists.found.length, lists.isAll], [MAX_LISTS, false]);
  assert.equal((await read({ a: 1 }, { isWhole: false })).isAll, false);
});
