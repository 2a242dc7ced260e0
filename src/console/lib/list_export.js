// A list as CSV: all its pages, not only the one on the screen.
import { html, useState } from "../vendor/preact.js";
import { call } from "./api.js";
import { downloadCsv } from "./csv.js";
import { count } from "./text.js";
import { Button, explain, toast } from "./ui.js";

const PAGE_SIZE = 100;
const MAX_PAGES = 100;
const MAX_WAIT_SECONDS = 60;

const REQUEST_COLUMNS = {
  id: (one) => one.id, request: (one) => one.request_name, page: (one) => one.page, subject: (one) => one.subject, label: (one) => one.label,
  state: (one) => one.state, error_code: (one) => one.error?.code, error: (one) => one.error?.message,
  hint: (one) => one.error?.details?.hint, webhook_state: (one) => one.webhook_state, webhook_error: (one) => one.webhook_error,
  queued_at_utc: (one) => one.inserted_at, sent_at_utc: (one) => one.sent_at, responded_at_utc: (one) => one.responded_at, last_change_utc: (one) => one.updated_at,
};

const CONNECTION_COLUMNS = {
  id: (one) => one.id, name: (one) => one.name, status: (one) => one.status, reason: (one) => one.waiting_reason?.message ?? one.last_error?.message,
  last_contact_utc: (one) => one.last_connected_at, product: (one) => one.quickbooks_product_name, qbxml_version: (one) => one.qbxml_version,
  country: (one) => one.country, waiting: (one) => one.counts?.waiting + one.counts?.retryable, failed: (one) => one.counts?.error,
};

const AUDIT_COLUMNS = {
  at_utc: (one) => one.at, action: (one) => one.action, actor: (one) => one.actor.type, actor_id: (one) => one.actor.id,
  connection_id: (one) => one.connection_id, request_id: (one) => one.request_id, credential_id: (one) => one.credential_id,
  settings: (one) => one.settings.join(" "), counts: (one) => one.counts && Object.entries(one.counts).map(([name, number]) => `${name}=${number}`).join(" "),
  completed_at_utc: (one) => one.completed_at, id: (one) => one.id,
};

export const RequestsCsv = ({ connectionId, query }) =>
  html`<${ListCsv} pages=${() => numberedPages(`/connections/${connectionId}/queued_requests`, { ...query, bodies: false })} columns=${REQUEST_COLUMNS} name="requests" />`;

/** All connections, or those in `rows`. */
export const ConnectionsCsv = ({ rows }) => html`<${ListCsv} pages=${() => (rows ? onePage(rows) : numberedPages("/connections", { counts: true }))} columns=${CONNECTION_COLUMNS} name="connections" />`;

export const AuditLogCsv = ({ path, query }) => html`<${ListCsv} pages=${() => pagesBehindCursors(path, query)} columns=${AUDIT_COLUMNS} name="audit-log" />`;

async function* onePage(rows) {
  yield rows;
  return true;
}

/** Yields the rows of each page. Returns whether these are all. */
async function* numberedPages(path, query) {
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const list = await patiently(() => call("GET", path, { query: { ...query, page, page_size: PAGE_SIZE } }));
    yield list.data;
    if (page >= list.total_pages) return true;
  }
  return false;
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

function ListCsv({ pages, columns, name }) {
  const [read, setRead] = useState(null);
  const press = async () => {
    setRead(0);
    try {
      const rows = [];
      const parts = pages();
      let part = await parts.next();
      while (!part.done) {
        rows.push(...part.value);
        setRead(rows.length);
        part = await parts.next();
      }
      const isWhole = part.value;
      downloadCsv(Object.keys(columns), rows.map((one) => Object.values(columns).map((value) => value(one))), name);
      if (!isWhole) toast(`The file has the first ${count(rows.length)} rows. Filter the list to get the others.`, "amber");
    } catch (error) {
      toast(explain(error), "red");
    }
    setRead(null);
  };
  return html`<${Button} icon="download" busy=${read !== null} onClick=${press} title="All rows that match, as CSV">${read ? `CSV: ${count(read)} rows` : "CSV"}<//>`;
}

/** Makes a call again after the seconds that the service asks to wait. */
async function patiently(make) {
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (!(error.retryAfter > 0 && error.retryAfter <= MAX_WAIT_SECONDS)) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
    }
  }
}
