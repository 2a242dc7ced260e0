// Who did what: the audit log of the app, or of one connection as a tab of its page.
import { html, useRef, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { AuditLogCsv } from "../lib/list_export.js";
import { navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { fullTime, plural } from "../lib/text.js";
import { RangeBar, RangeSelect } from "../lib/time_range.js";
import { Button, Empty, explain, Problem, SkeletonRows, toast, useTitle } from "../lib/ui.js";
import { ACTIONS, Row } from "./audit_log_entry.js";
import { ConnectionFrame } from "./connection_frame.js";

const LIMIT = 50;
const PARALLEL = 5;

/** Actions that no connection has. */
const OF_THE_APP = [
  "app_created",
  "app_deleted",
  "limits_changed",
  "contact_changed",
  "environment_changed",
  "api_key_created",
  "api_key_renamed",
  "api_key_revoked",
  "webhook_secret_rotated",
  "old_webhook_secrets_retired",
];

/** The audit log of a connection, as a tab. Without an id, that of the app. */
export default function AuditLog({ parts: [id, tab], query }) {
  if (id)
    return html`<${ConnectionFrame} id=${id} tab=${tab}>${() => html`<${Entries} id=${id} query=${query} />`}<//>`;
  return html`<${OfApp} query=${query} />`;
}

function OfApp({ query }) {
  useTitle("Audit log");
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Audit log</h1>
          <p class="sub">Who changed what, in all connections. Entries are kept for a year.</p>
        </div>
      </div>
      <${Entries} query=${query} />
    </div>
  `;
}

function Entries({ id, query }) {
  const path = id ? ["connections", id, "audit_log"] : ["audit_log"];
  const { action, from, to, range } = query;
  const filters = { action, from, to };
  const isFiltered = Boolean(action || from || to);
  const change = (changes) => navigate(url(`/${path.join("/")}`, { action, from, to, range, ...changes }));
  const first = useLoad(
    (signal) => call("GET", path, { query: { ...filters, limit: LIMIT }, signal }),
    [id, action, from, to],
    { showsAge: true },
  );
  const own = session.actorId;
  const [added, setAdded] = useState({});
  const [busy, setBusy] = useState(false);
  // Older entries belong to the newest ones that were shown when they were loaded, and to no others.
  const newest = useRef();
  newest.current = first.data;
  const older = added.behind === first.data ? added : { entries: [], next: first.data?.next };
  const { next } = older;
  const more = async () => {
    const behind = first.data;
    setBusy(true);
    try {
      const page = await call("GET", path, { query: { ...filters, limit: LIMIT, cursor: next } });
      if (newest.current === behind) setAdded({ behind, entries: [...older.entries, ...page.data], next: page.next });
    } catch (error) {
      toast(explain(error), "red");
    }
    setBusy(false);
  };
  const entries = first.data && [...first.data.data, ...older.entries];
  const names = useNames(entries, !id);
  // The position at which a part ends begins with its time.
  const searchedTo = action && next && `Searched back to ${fullTime(next.slice(0, next.indexOf("~")))}`;
  return html`
    <section class="card" aria-label="Audit log" aria-busy=${String(first.loading || busy)}>
      <div class="toolbar">
        <select
          aria-label="Action"
          value=${action ?? ""}
          onChange=${(event) => change({ action: event.target.value })}
        >
          <option value="">All actions</option>
          ${Object.entries(ACTIONS)
            .filter(([key]) => !id || !OF_THE_APP.includes(key))
            .map(([key, name]) => html`<option value=${key} selected=${key === action}>${name}</option>`)}
        </select>
        <${RangeSelect} from=${from} to=${to} range=${range} change=${change} />
        ${
          isFiltered &&
          html`
            <${Button} kind="ghost" icon="close" onClick=${() => change({ action: "", from: "", to: "", range: "" })}>
              Clear
            <//>
          `
        }
        ${entries?.length > 0 && html`<${AuditLogCsv} path=${path} query=${filters} />`}
      </div>
      <${RangeBar} what="Time" from=${from} to=${to} range=${range} change=${change} />
      ${
        first.error && !entries
          ? html`
            <div class="body">
              <${Problem} error=${first.error} retry=${first.reload} what="The audit log could not be loaded." />
            </div>
          `
          : entries?.length === 0
            ? html`<${NoEntries} isFiltered=${isFiltered} searchedTo=${searchedTo} />`
            : html`
              <div class="table-wrap">
                <table class="responsive audit">
                  <thead>
                    <tr>
                      <th scope="col">Action</th>
                      ${!id && html`<th scope="col">Connection</th>`}
                      <th scope="col">By</th>
                      <th scope="col">When</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${
                      entries
                        ? entries.map(
                            (entry) => html`
                              <${Row} key=${entry.id} entry=${entry} own=${own} names=${id ? null : names} />
                            `,
                          )
                        : html`<${SkeletonRows} rows=${8} columns=${id ? 3 : 4} />`
                    }
                  </tbody>
                </table>
              </div>
            `
      }
      ${
        first.error &&
        entries &&
        html`
          <div class="foot" role="status">
            The log could not be updated; it shows the last state. ${explain(first.error)}
          </div>
        `
      }
      ${
        (entries?.length > 0 || next) &&
        html`
          <div class="foot">
            <span>
              ${plural(entries.length, "entry", "entries")}
              ${
                searchedTo
                  ? `. ${searchedTo}`
                  : next
                    ? ", newest first"
                    : `. This is all of them${isFiltered ? " that match" : ""}.`
              }
            </span>
            <div class="row">
              <${Button} kind="small" icon="refresh" busy=${first.loading} onClick=${() => first.reload()}>
                Refresh
              <//>
              ${next && html`<${Button} kind="small" busy=${busy} onClick=${more}>Show older<//>`}
            </div>
          </div>
        `
      }
    </section>
  `;
}

function NoEntries({ isFiltered, searchedTo }) {
  if (searchedTo)
    return html`
      <${Empty} icon="search" title="No entry found yet">${searchedTo}. Choose Show older to continue the search.<//>
    `;
  if (isFiltered)
    return html`
      <${Empty} icon="search" title="No entry matches">
        Choose another action or another range of time. Entries are kept for a year.
      <//>
    `;
  return html`
    <${Empty} title="Nothing has been changed yet">
      New passwords, pauses, discards and other actions appear here. Queued requests are on the page of their
      connection.
    <//>
  `;
}

/** Returns the names of the connections of these entries by id, as they are read. That of a deleted one is null. */
function useNames(entries, isNeeded) {
  const names = useRef({}).current;
  const listed = useLoad(
    async (signal) =>
      isNeeded && noteNames(names, (await call("GET", ["connections"], { query: { page_size: 100 }, signal })).data),
    [isNeeded],
  );
  // An app can have more connections than a page of the list. The others are read one by one, a few at a time.
  const ids = new Set(isNeeded && !listed.loading ? entries?.map((entry) => entry.connection_id) : []);
  const missing = [...ids].filter((id) => id && !(id in names)).slice(0, PARALLEL);
  useLoad((signal) => Promise.all(missing.map((id) => readName(names, id, signal))), [missing.join()]);
  return names;
}

async function readName(names, id, signal) {
  try {
    noteNames(names, [(await call("GET", ["connections", id], { signal })).data]);
  } catch (error) {
    if (error.status !== 404) throw error;
    names[id] = null;
  }
}

const noteNames = (names, connections) =>
  Object.assign(names, Object.fromEntries(connections.map(({ id, name }) => [id, name ?? "Unnamed connection"])));
