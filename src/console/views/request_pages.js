// The pages of an iterated query: links, how many objects they have together, and a CSV of all of them.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { isBeginning, isWithoutWarning, joined, progressOf } from "../lib/all_pages.js";
import { call, useLoad } from "../lib/api.js";
import { patiently } from "../lib/list_export.js";
import { url } from "../lib/router.js";
import { count, plural, requestTitle, UNFINISHED } from "../lib/text.js";
import { Button, explain, StateBadge, toast } from "../lib/ui.js";

const LISTED = 100;
/** The pages that one file has at most. Each is a call. */
const MAX_PAGES = 500;

const isAnswered = ({ state }) => state === "response_received";

/** Returns the record of a page. */
const recordOf = async (one, signal) => (await call("GET", ["queued_requests", one.id], { signal })).data;

const OLDEST = { page_size: LISTED, sort_direction: "asc" };
/** The last page, and the one before it, which has a response if the last one waits. */
const NEWEST = { page: 1, page_size: 2, sort_direction: "desc" };

/** Returns a list of the pages: `{pages, total, isAll}`. */
async function listed({ connection_id: connectionId, query_id: queryId }, part, signal) {
  const query = { query_id: queryId, sort: "inserted_at", bodies: false, ...part };
  const list = await call("GET", ["connections", connectionId, "queued_requests"], { query, signal });
  return { pages: list.data, total: list.total, isAll: part.page >= list.total_pages };
}

/**
 * Returns the first pages, the number of all, whether none is unfinished, how many objects they have, if QuickBooks has
 * said so, and whether these are known to be all: `{pages, total, isOver, progress, isComplete}`. The warnings of the
 * pages between the first and the last are not read.
 */
export async function readPages(record, signal) {
  const { pages, total, isAll } = await listed(record, { ...OLDEST, page: 1 }, signal);
  const newest = isAll ? pages : (await listed(record, NEWEST, signal)).pages.toReversed();
  const isOver = !newest.some(({ state }) => UNFINISHED.has(state));
  const [first, last] = [pages.find(isAnswered), newest.findLast(isAnswered)];
  if (pages.length < 2 || first?.page !== 1 || !last) return { pages, total, isOver, progress: null };
  const read = async (one) => (one.id === record.id ? record : recordOf(one, signal));
  const [begin, end] = [await read(first), await read(last)];
  const progress = progressOf(begin.response_json, end.response_json);
  // A page that was deleted is missing among them.
  const isWhole = last === newest.at(-1) && last.page === total && isBeginning(begin);
  return {
    pages,
    total,
    isOver,
    progress,
    isComplete:
      isWhole && [begin, end].every(isWithoutWarning) && progress !== null && progress.fetched === progress.total,
  };
}

/** Whether a query has pages, or will have them. The stored request has no iterator if the service added it. */
export const hasPages = ({ page, last_page: isLast, request_json: json }) =>
  page > 1 || isLast === false || Boolean(json?.request?.attributes?.iterator);

export function Pages({ record }) {
  const load = useLoad(async (signal) => (hasPages(record) ? readPages(record, signal) : null), [record.id]);
  const { data, reload } = load;
  const shown = useRef(record.updated_at);
  useEffect(() => {
    if (shown.current !== record.updated_at) reload();
    shown.current = record.updated_at;
  }, [record.updated_at]);
  if (!data || data.pages.length < 2) return null;
  const { pages, progress } = data;
  return html`
    <section class="card" aria-label="Pages">
      <header>
        <div class="row">
          <h2>Pages of this query</h2>
          <span class="muted">${saysOf(data)}</span>
        </div>
        <div class="row">
          ${
            progress?.fetched !== progress?.total &&
            html`<${Button} kind="small" icon="refresh" busy=${load.loading} onClick=${() => reload()}>Refresh<//>`
          }
          <${AllPagesCsv} record=${record} total=${progress?.total} />
        </div>
      </header>
      <div class="body row">
        ${pages.map(
          (one) => html`
            <a
              class="button small ${one.id === record.id ? "primary" : ""}"
              aria-current=${one.id === record.id ? "page" : undefined}
              href=${url(`/queued_requests/${one.id}`)}
            >
              Page ${one.page}
              ${isAnswered(one) ? "" : html` <${StateBadge} request=${one} />`}
            </a>
          `,
        )}
      </div>
    </section>
  `;
}

/** How many pages there are, and how many objects they have together, in words. */
export function saysOf({ pages, total, isOver, progress, isComplete }) {
  const part = pages.length < total ? `. The first ${count(pages.length)} are listed.` : "";
  if (isComplete) return `${plural(total, "page")}. All ${plural(progress.total, "object")}; complete${part}`;
  return `${plural(total, "page")}${progress ? objectsOf(progress, isOver) : ""}${part}`;
}

function objectsOf({ fetched, total }, isOver) {
  if (fetched === total) return `, ${plural(total, "object")}`;
  return `, ${count(fetched)} of ${plural(total, "object")} ${isOver ? "fetched" : "fetched so far"}`;
}

/**
 * Reads all pages that have a response. `show` gets how many are read. Returns `{responses, isWhole}`, or null as soon
 * as the responses have more than `maximum` characters: the browser would run out of memory.
 */
export async function readAll(record, maximum, signal, show) {
  const responses = [];
  let [isWhole, isAll, size] = [true, false, 0];
  for (let page = 1; !isAll && responses.length < MAX_PAGES; page += 1) {
    const part = await patiently(() => listed(record, { ...OLDEST, page }, signal));
    isAll = part.isAll;
    isWhole &&= part.pages.every(isAnswered);
    for (const one of part.pages.filter(isAnswered)) {
      if (responses.length === MAX_PAGES) return { responses, isWhole: false };
      const { response_xml: xml, response_json: json } = await patiently(() => recordOf(one, signal));
      size += xml?.length ?? 0;
      if (size > maximum) return null;
      responses.push(json);
      show(responses.length);
    }
  }
  return { responses, isWhole: isWhole && isAll };
}

/** Returns the objects of all pages as one result, and what it lacks, or null. */
function fileOf({ responses, isWhole }, record, total) {
  const result = joined(responses, requestTitle(record.request_name));
  const number = result[1].length;
  return [result, isWhole && number === total ? null : `${number} of ${total ?? "more"}`];
}

/** A button that saves the objects of all pages. The name of the file says if some are missing. */
function AllPagesCsv({ record, total }) {
  const [read, setRead] = useState(/** @type {number | null} */ (null));
  const running = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => running.current?.abort(), []);
  const save = async () => {
    running.current = new AbortController();
    const { signal } = running.current;
    setRead(0);
    try {
      const { MAX_MEGABYTES, saveResult } = await import("../lib/result_file.js");
      const all = await readAll(record, MAX_MEGABYTES * 1_000_000, signal, setRead);
      if (!(all && (await saveResult(...fileOf(all, record, total)))))
        toast(`All pages would be larger than ${MAX_MEGABYTES} MB. Save each page, or get them from the API.`, "red");
    } catch (error) {
      if (!signal.aborted) toast(explain(error), "red");
    }
    setRead(null);
  };
  return html`
    <${Button} kind="small" icon="download" busy=${read !== null} onClick=${save}>
      ${read ? `CSV: ${plural(read, "page")}` : "CSV of all pages"}
    <//>
  `;
}
