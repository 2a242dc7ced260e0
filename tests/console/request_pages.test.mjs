import assert from "node:assert/strict";
import { test } from "node:test";

import { hasPages, readAll, readPages, saysOf } from "../../src/console/views/request_pages.js";
import { chance, signInWith, times } from "./support.mjs";

const SIGNAL = new AbortController().signal;
const RECORD = { connection_id: "c", query_id: "q", id: "r" };
const OBJECTS = 7;

/** The attributes of a query and of the answer to each page, and how many objects remain behind it. */
const USUAL = {
  attributes: () => ({ iterator: "Start" }),
  status: () => "0",
  remaining: (n, all) => (all - n) * OBJECTS,
};

/** Serves the pages of a query with 7 objects each, and returns the ids of the pages that are read. */
function serve(states, { xml = "", numbers = states.map((_, n) => n + 1), ...unusual } = {}) {
  const { attributes, status, remaining } = { ...USUAL, ...unusual };
  const read = [];
  const pages = states.map((state, n) => ({ id: `p${n + 1}`, page: numbers[n], state }));
  const recordOf = (one, n) => {
    const answer = { "@statusCode": status(n), "@iteratorRemainingCount": String(remaining(n, pages.length)) };
    const CustomerQueryRs = { ...answer, CustomerRet: times(OBJECTS, () => ({ Name: "A" })) };
    return {
      ...one,
      request_name: "CustomerQueryRq",
      request_json: { request: { attributes: attributes(n) } },
      response_xml: xml,
      response_json: [{ QBXMLMsgsRs: { CustomerQueryRs } }],
    };
  };
  globalThis.fetch = async (address) => {
    const { pathname, searchParams } = new URL(address);
    if (!pathname.includes("/connections/")) {
      const id = pathname.split("/").at(-1);
      read.push(id);
      return Response.json({ data: recordOf(pages[Number(id.slice(1)) - 1], Number(id.slice(1))) });
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

/** Returns what is said about pages with these states. */
const says = async (states, unusual) => {
  serve(states, unusual);
  return saysOf(await readPages(RECORD, SIGNAL));
};

test("pages of which one was deleted are not called complete", async () => {
  const numbers = [1, 2, 4];
  assert.equal(await says(pagesOf(3, "response_received"), { numbers }), "3 pages, 21 objects");
});

test("pages behind which others remain are not called complete", async () => {
  const behind = await says(pagesOf(3, "response_received"), { remaining: (n) => (4 - n) * OBJECTS });
  assert.equal(behind, "3 pages, 21 of 28 objects fetched");
});

test("pages of which the last one has no response are not called complete", async () => {
  // As many pages as the last one with a response says, of which one was deleted and one failed.
  const unusual = { numbers: [1, 3, 4], remaining: (n) => (n === 1 ? OBJECTS : 0) };
  assert.equal(await says(pagesOf(3, "error"), unusual), "3 pages, 14 objects");
});

test("pages with a warning, or of an iterator that began elsewhere, are not called complete", async () => {
  const states = pagesOf(3, "response_received");
  for (const warned of [1, 3]) {
    const status = (n) => (n === warned ? "530" : "0");
    assert.equal(await says(states, { status }), "3 pages, 21 objects");
  }
  assert.equal(await says(states, { attributes: () => ({ iterator: "Continue" }) }), "3 pages, 21 objects");
  // The service has added the iterator.
  assert.equal(await says(states, { attributes: () => ({}) }), "3 pages. All 21 objects; complete");
});

test("the pages of a query are shown, also if the service has added the iterator", () => {
  const one = (more, attributes = {}) => ({
    page: 1,
    last_page: true,
    request_json: { request: { attributes } },
    ...more,
  });
  assert.ok(hasPages(one({ last_page: false })));
  assert.ok(hasPages(one({ page: 2 })));
  assert.ok(hasPages(one({}, { iterator: "Start" })));
  for (const last_page of [true, null]) assert.ok(!hasPages(one({ last_page })));
  assert.ok(!hasPages(one({ request_json: null })));
});

test("without a response to the last pages nothing is said about objects", async () => {
  serve([...pagesOf(101, "error"), "error"]);
  assert.equal(saysOf(await readPages(RECORD, SIGNAL)), "102 pages. The first 100 are listed.");
});

test("all pages are read until their responses are too large together", async () => {
  const below = chance(12);
  for (let n = 0; n < 30; n += 1) {
    const [number, size, maximum] = [2 + below(250), 1 + below(50), 1 + below(5_000)];
    const read = serve(pagesOf(number, "response_received"), { xml: "x".repeat(size) });
    const all = await readAll(RECORD, maximum, SIGNAL, () => {});
    assert.equal(all === null, number * size > maximum);
    assert.equal(read.length, Math.min(number, Math.floor(maximum / size) + 1));
    if (all) assert.deepEqual([all.responses.length, all.isWhole], [number, true]);
  }
});
