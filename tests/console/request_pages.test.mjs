import assert from "node:assert/strict";
import { test } from "node:test";

import { readAll, readPages, saysOf } from "../../src/console/views/request_pages.js";
import { chance, signInWith, times } from "./support.mjs";

const SIGNAL = new AbortController().signal;
const RECORD = { connection_id: "c", query_id: "q", id: "r" };
const OBJECTS = 7;

/** Serves the pages of a query with 7 objects each, and returns the ids of the pages that are read. */
function serve(states, xml = "", numbers = states.map((_, n) => n + 1)) {
  const read = [];
  const pages = states.map((state, n) => ({ id: `p${n + 1}`, page: numbers[n], state }));
  globalThis.fetch = async (address) => {
    const { pathname, searchParams } = new URL(address);
    if (!pathname.includes("/connections/")) {
      const id = pathname.split("/").at(-1);
      read.push(id);
      const rest = String((pages.length - Number(id.slice(1))) * OBJECTS);
      const CustomerQueryRs = { "@iteratorRemainingCount": rest, CustomerRet: times(OBJECTS, () => ({ Name: "A" })) };
      return Response.json({ data: { id, response_xml: xml, response_json: [{ QBXMLMsgsRs: { CustomerQueryRs } }] } });
    }
    const [page, size] = ["page", "page_size"].map((name) => Number(searchParams.get(name)));
    const ordered = searchParams.get("sort_direction") === "desc" ? pages.toReversed() : pages;
    const data = ordered.slice((page - 1) * size, page * size);
    return Response.json({ data, page, total: pages.length, total_pages: Math.ceil(pages.length / size) });
  };
  signInWith("read");
  return read;
}

/** Returns the states of so many pages. Only the last one can lack its response. */
const pagesOf = (number, last) => [...Array(number - 1).fill("response_received"), last];

test("a query of any number of pages says how many objects it has fetched, and ends", async () => {
  const below = chance(11);
  for (const number of [2, 99, 100, 101, 102, ...times(20, () => 2 + below(300))]) {
    const total = number * OBJECTS;
    const part = number > 100 ? ". The first 100 are listed." : "";
    for (const [last, fetched, says] of [
      ["response_received", total, ""],
      ["waiting", total - OBJECTS, "fetched so far"],
      ["error", total - OBJECTS, "fetched"],
    ]) {
      const read = serve(pagesOf(number, last));
      const data = await readPages(RECORD, SIGNAL);
      assert.deepEqual(data.progress, { fetched, total }, `${number} pages, ${last}`);
      assert.equal(read.length, 2);
      const objects = `${total.toLocaleString("en-US")} objects`;
      const words = says ? `, ${fetched.toLocaleString("en-US")} of ${objects} ${says}` : `. All ${objects}; complete`;
      assert.equal(saysOf(data), `${number} pages${words}${part}`);
    }
  }
});

test("pages of which one was deleted are not called complete", async () => {
  const numbers = [1, 2, 4];
  serve(
    numbers.map(() => "response_received"),
    "",
    numbers,
  );
  assert.equal(saysOf(await readPages(RECORD, SIGNAL)), "3 pages, 21 objects");
});

test("without a response to the last pages nothing is said about objects", async () => {
  serve([...pagesOf(101, "error"), "error"]);
  assert.equal(saysOf(await readPages(RECORD, SIGNAL)), "102 pages. The first 100 are listed.");
});

test("all pages are read until their responses are too large together", async () => {
  const below = chance(12);
  for (let n = 0; n < 30; n += 1) {
    const [number, size, maximum] = [2 + below(250), 1 + below(50), 1 + below(5_000)];
    const read = serve(pagesOf(number, "response_received"), "x".repeat(size));
    const all = await readAll(RECORD, maximum, SIGNAL, () => {});
    assert.equal(all === null, number * size > maximum);
    assert.equal(read.length, Math.min(number, Math.floor(maximum / size) + 1));
    if (all) assert.deepEqual([all.responses.length, all.isWhole], [number, true]);
  }
});
