// The pages of an iterated query: links, how many objects they have together, and a CSV of all of them.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { joined, progressOf } from "../lib/all_pages.js";
import { call, useLoad } from "../lib/api.js";
import { patiently } from "../lib/list_export.js";
import { url } from "../lib/router.js";
import { count, plural, requestTitle, UNFINISHED } from "../lib/text.js";
import { Button, explain, StateBadge, toast } from "../lib/ui.js";

const LISTED = 100;
/** The pages that one file has at most. Each is a call. */
const MAX_PAGES = 500;

const isAnswered = ({ state }) => state === "response_received";

/** Returns the response to a page. */
const responseOf = async (one, signal) =>
  (await call("GET", ["queued_requests", one.id], { signal })).data.response_json;

/** Returns a list of the pages: `{pages, isAll}`. */
async function listed({ connection_id: connectionId, query_id: queryId }, page, signal) {
  const order = { sort: "inserted_at", sort_direction: "asc" };
  const query = { query_id: queryId, page, page_size: LISTED, ...order, bodies: false };
  const list = await call("GET", ["connections", connectionId, "queued_requests"], { query, signal });
  return { pages: list.data, isAll: page >= list.total_pages };
}

/** Returns the pages with how many objects they have, if QuickBooks has said so. */
async function readPages(record, signal) {
  const { pages, isAll } = await listed(record, 1, signal);
  const answered = pages.filter(isAnswered);
  if (pages.length < 2 || !answered.length || answered[0].page !== 1) return { pages, isAll, progress: null };
  const response = (one) => (one.id === record.id ? record.response_json : responseOf(one, signal));
  const [first, last] = [await response(answered[0]), await response(answered.at(-1))];
  return { pages, isAll, progress: progressOf(first, last) };
}

export function Pages({ record }) {
  const isIterated = record.page > 1 || Boolean(record.request_json?.request?.attributes?.iterator);
  const load = useLoad(async (signal) => (isIterated ? readPages(record, signal) : null), [record.id]);
  const { data, reload } = load;
  const shown = useRef(record.updated_at);
  useEffect(() => {
    if (shown.current !== record.updated_at) reload();
    shown.current = record.updated_at;
  }, [record.updated_at]);
  if (!data || data.pages.length < 2) return null;
  const { pages, isAll, progress } = data;
  return html`
    <section class="card" aria-label="Pages">
      <header>
        <div class="row">
          <h2>Pages of this query</h2>
          <span class="muted">${isAll ? "" : "The first "}${plural(pages.length, "page")}${saysOf(data)}</span>
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

/** How many objects the pages have together, in words. */
function saysOf({ pages, progress }) {
  if (!progress) return "";
  const { fetched, total } = progress;
  if (fetched === total) return `, ${plural(total, "object")}`;
  const isOver = !pages.some(({ state }) => UNFINISHED.has(state));
  return `, ${count(fetched)} of ${plural(total, "object")} ${isOver ? "fetched" : "fetched so far"}`;
}

/** Reads all pages that have a response. `show` gets how many are read. Returns `{responses, isWhole}`. */
async function readAll(record, signal, show) {
  const responses = [];
  let [isWhole, isAll] = [true, false];
  for (let page = 1; !isAll && responses.length < MAX_PAGES; page += 1) {
    const part = await patiently(() => listed(record, page, signal));
    isAll = part.isAll;
    isWhole &&= part.pages.every(isAnswered);
    for (const one of part.pages.filter(isAnswered)) {
      if (responses.length === MAX_PAGES) return { responses, isWhole: false };
      responses.push(await patiently(() => responseOf(one, signal)));
      show(responses.length);
    }
  }
  return { responses, isWhole: isWhole && isAll };
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
      const { responses, isWhole } = await readAll(record, signal, setRead);
      const result = joined(responses, requestTitle(record.request_name));
      const [, rows] = result;
      const isMissing = !isWhole || rows.length !== total;
      const { saveResult } = await import("../lib/result_file.js");
      const lack = isMissing ? `${rows.length} of ${total ?? "more"}` : null;
      if (!(await saveResult(result, lack))) toast("The file would be too large.", "red");
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
