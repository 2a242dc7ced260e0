// A list as CSV: all its pages, not only the one on the screen.
import { html, useState } from "../vendor/preact.js";
import { call } from "./api.js";
import { downloadCsv } from "./csv.js";
import { momentsAreWhole } from "./moment_input.js";
import { url } from "./router.js";
import { count, messageOf, plural } from "./text.js";
import { Button, explain, toast } from "./ui.js";

const PAGE_SIZE = 100;
const MIN_PAGE_SIZE = 50;
const MAX_PAGES = 100;
/** The maximum number of rows in a file, apart from those of the last page. A list that changes may take more calls. */
const MAX_ROWS = PAGE_SIZE * MAX_PAGES;
const MAX_CALLS = 2 * MAX_PAGES;
/** The maximum number of lists in a file that has those of several connections. */
const MAX_LISTS = 200;
/** The number of rows that a part of a list shares with the part before it. */
const OVERLAP = 5;
const MAX_WAIT_SECONDS = 60;
/** The end of the name of a file that lacks rows. */
const INCOMPLETE = "-incomplete";

/** @param {number} rows */
export const saved = (rows) => `${plural(rows, "row")} saved.`;

const REQUEST_COLUMNS = {
  id: (one) => one.id,
  request: (one) => one.request_name,
  page: (one) => one.page,
  subject: (one) => one.subject,
  label: (one) => one.label,
  state: (one) => one.state,
  executed: (one) => one.executed,
  error_code: (one) => one.error?.code,
  error: (one) => one.error?.message,
  hint: (one) => one.error?.details?.hint,
  webhook_state: (one) => one.webhook_state,
  webhook_error: (one) => one.webhook_error,
  queued_at_utc: (one) => one.inserted_at,
  sent_at_utc: (one) => one.sent_at,
  responded_at_utc: (one) => one.responded_at,
  last_change_utc: (one) => one.updated_at,
};

const FAILED_COLUMNS = {
  sent_at_utc: (one) => one.sent_at,
  last_change_utc: (one) => one.updated_at,
  connection_id: (one) => one.connection_id,
  connection: (one) => one.connection_name,
  request_id: (one) => one.id,
  request: (one) => one.request_name,
  subject: (one) => one.subject,
  label: (one) => one.label,
  state: (one) => one.state,
  executed: (one) => one.executed,
  error_code: (one) => one.error?.code,
  status_code: (one) => one.error?.details?.status_code ?? one.error?.details?.hresult,
  message: (one) => one.error?.message,
  queued_again_as: (one) => one.replaced_by,
  queued_again_link: (one) =>
    one.replaced_by && new URL(url(`/queued_requests/${one.replaced_by}`), location.href).href,
  webhook_state: (one) => one.webhook_state,
  webhook_error: (one) => one.webhook_error,
};

const CONNECTION_COLUMNS = {
  id: (one) => one.id,
  name: (one) => one.name,
  status: (one) => one.status,
  quickbooks_status: (one) => one.quickbooks_status,
  reason: (one) => messageOf(one.waiting_reason) ?? one.last_error?.message,
  last_contact_utc: (one) => one.last_connected_at,
  product: (one) => one.quickbooks_product_name,
  qbxml_version: (one) => one.qbxml_version,
  country: (one) => one.country,
  waiting: (one) => one.counts?.waiting,
  waiting_to_retry: (one) => one.counts?.retryable,
  failed: (one) => one.counts?.error,
};

const AUDIT_COLUMNS = {
  at_utc: (one) => one.at,
  action: (one) => one.action,
  actor: (one) => one.actor.type,
  actor_id: (one) => one.actor.id,
  actor_name: (one) => one.actor.name,
  connection_id: (one) => one.connection_id,
  request_id: (one) => one.request_id,
  credential_id: (one) => one.credential_id,
  name: (one) => one.name,
  settings: (one) => one.settings.join(" "),
  counts: (one) =>
    one.counts &&
    Object.entries(one.counts)
      .map(([name, number]) => `${name}=${number}`)
      .join(" "),
  completed_at_utc: (one) => one.completed_at,
  id: (one) => one.id,
};

/**
 * The requests of a list. A request that changes moves to the end of the last changes, so they are read from the oldest
 * one. Only of a list that is too long for a file, the first ones are read.
 */
export function RequestsCsv({ connectionId, query, total }) {
  const { sort, sort_direction: direction } = query;
  const place = (one) => `${one[sort]} ${one.id}`;
  const order = (one, other) => (direction === "asc" ? 1 : -1) * (place(one) < place(other) ? -1 : 1);
  const asked = { ...query, bodies: false, sort_direction: total > MAX_ROWS ? direction : "asc" };
  return html`
    <${ListCsv}
      pages=${() => allPages(["connections", connectionId, "queued_requests"], asked, place)}
      order=${order}
      columns=${REQUEST_COLUMNS}
      name="requests"
    />
  `;
}

/**
 * The requests of groups of failures, one connection after the other. Each of `lists` has the `id` and the `name` of a
 * connection, and the `query` of the API for its requests.
 */
export const FailedRequestsCsv = ({ lists, name }) => html`
  <${ListCsv}
    kind="small"
    label="CSV of requests"
    pages=${() => pagesOfLists(lists)}
    columns=${FAILED_COLUMNS}
    name=${name}
    others="Choose a shorter time, or one group, to get the others."
  />
`;

/** All connections, or those in `rows`. */
export const ConnectionsCsv = ({ rows }) => html`
  <${ListCsv}
    pages=${() => (rows ? onePage(rows) : allPages(["connections"], { counts: true }))}
    columns=${CONNECTION_COLUMNS}
    name="connections"
  />
`;

export const AuditLogCsv = ({ path, query }) => html`
  <${ListCsv} pages=${() => pagesBehindCursors(path, query)} columns=${AUDIT_COLUMNS} name="audit-log" />
`;

async function* onePage(rows) {
  yield rows;
  return true;
}

/**
 * Yields the rows of several lists in parts. Returns whether these are all. `pagesOf` does it for one list, with its
 * path, its query and the place of a row.
 */
export async function* pagesOfLists(lists, pagesOf = allPages) {
  const place = (one) => `${one.updated_at} ${one.id}`;
  let rows = 0;
  for (const { id, name, query } of lists.slice(0, MAX_LISTS)) {
    const asked = { ...query, "include[]": "replaced_by", bodies: false, sort: "updated_at", sort_direction: "asc" };
    const parts = pagesOf(["connections", id, "queued_requests"], asked, place);
    let part = await nextPart(parts);
    while (!part.done) {
      yield part.value.map((one) => ({ ...one, connection_name: name }));
      rows += part.value.length;
      if (rows >= MAX_ROWS) return false;
      part = await nextPart(parts);
    }
    if (!part.value) return false;
  }
  return lists.length <= MAX_LISTS;
}

/** Reads the next part of a list. That of a connection which was deleted meanwhile has no further part. */
async function nextPart(parts) {
  try {
    return await parts.next();
  } catch (error) {
    if (error.status !== 404) throw error;
    return { done: true, value: true };
  }
}

const allPages = (path, query, place) =>
  overlappingPages(
    (page, size) => patiently(() => call("GET", path, { query: { ...query, page, page_size: size } })),
    place,
  );

/**
 * Yields the rows of a list in parts, some of them twice. Returns whether these are all. `read(page, size)` returns a
 * page. `place` returns a text that a row keeps as long as the order of the list does not move it.
 *
 * Rows that come and go meanwhile move others to other pages. So each part begins with rows of the part before it. If
 * it does not, rows between them may be missing, and the list is read again from an earlier position.
 */
export async function* overlappingPages(read, place = ({ id }) => id) {
  const known = new Set();
  let begin = 0;
  for (let calls = 0; calls < MAX_CALLS && known.size < MAX_ROWS; calls += 1) {
    const { page, size } = pageAt(begin);
    const list = await read(page, size);
    if (page === 1 || list.data.some((one) => known.has(place(one)))) {
      for (const one of list.data) known.add(place(one));
      yield list.data;
      if (page >= list.total_pages) return true;
      begin = page * size - OVERLAP;
    } else {
      begin = Math.max(Math.min(page - 1, list.total_pages) * size - PAGE_SIZE, 0);
    }
  }
  return false;
}

/** Returns the page, of any size, that contains the row at this position and the most rows after it. */
function pageAt(position) {
  const sizes = Array.from({ length: PAGE_SIZE - MIN_PAGE_SIZE + 1 }, (_, index) => MIN_PAGE_SIZE + index);
  const end = (size) => (Math.floor(position / size) + 1) * size;
  const size = sizes.reduce((best, one) => (end(one) > end(best) ? one : best));
  return { page: end(size) / size, size };
}

/** Yields the rows of each part of a list. Returns whether these are all. */
async function* pagesBehindCursors(path, query) {
  let cursor;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const list = await patiently(() => call("GET", path, { query: { ...query, cursor, limit: PAGE_SIZE } }));
    yield list.data;
    if (!list.next) return true;
    cursor = list.next;
  }
  return false;
}

/**
 * `order` compares two rows. Without it, they are in the order in which they are read. `others` says how to get the
 * rows that do not fit into the file.
 */
function ListCsv({ pages, order, columns, name, kind, label = "CSV", others = "Filter the list to get the others." }) {
  const [read, setRead] = useState(/** @type {number | null} */ (null));
  const press = async () => {
    if (!momentsAreWhole()) return;
    setRead(0);
    try {
      const rows = new Map();
      const parts = pages();
      let part = await parts.next();
      while (!part.done) {
        for (const one of part.value) rows.set(one.id, one);
        setRead(rows.size);
        part = await parts.next();
      }
      const isWhole = part.value;
      const all = order ? [...rows.values()].toSorted(order) : [...rows.values()];
      downloadCsv(
        Object.keys(columns),
        all.map((one) => Object.values(columns).map((value) => value(one))),
        isWhole || name.endsWith(INCOMPLETE) ? name : `${name}${INCOMPLETE}`,
      );
      if (isWhole) toast(saved(all.length));
      else toast(`The file has the first ${count(all.length)} rows. ${others}`, "amber");
    } catch (error) {
      toast(explain(error), "red");
    }
    setRead(null);
  };
  return html`
    <${Button}
      kind=${kind}
      icon="download"
      busy=${read !== null}
      onClick=${press}
      title="All rows that match, as CSV"
    >
      ${read ? `${label}: ${plural(read, "row")}` : label}
    <//>
  `;
}

/** Makes a call again after the seconds that the service asks to wait. */
export async function patiently(make) {
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (!(error.retryAfter > 0 && error.retryAfter <= MAX_WAIT_SECONDS)) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
    }
  }
}
