// The list of connections: health, last contact, and the numbers of waiting and failed requests.
import { html, useRef } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { noteConnections } from "../lib/approval_count.js";
import { ConnectionsCsv } from "../lib/list_export.js";
import { navigate, url } from "../lib/router.js";
import { SearchBox } from "../lib/search_field.js";
import { session } from "../lib/session.js";
import { count, health, needsPerson, originOf, plural, waiting, whyOf } from "../lib/text.js";
import { Ago, Badge, Button, Empty, Foreign, Icon, Pager, Problem, SkeletonRows, useTitle } from "../lib/ui.js";

const PAGE_SIZE = 20;
const REFRESH_MILLISECONDS = 15_000;
/** A list that is filtered or sorted is read whole, up to this many pages of 100. One poll then makes several calls. */
const MAX_PAGES = 10;
const WHOLE_PAGE_SIZE = 100;
const WHOLE_REFRESH_MILLISECONDS = 60_000;

const HEALTH = {
  problems: {
    name: "With problems",
    matches: (one) => needsPerson(one, waiting(one.counts) > 0) || one.counts.error > 0 || isSilent(one),
  },
  attention: { name: "QuickBooks or password", matches: (one) => health(one).tone === "red" },
  silent: { name: "No contact for a day", matches: (one) => isSilent(one) },
  waiting: { name: "With waiting requests", matches: (one) => waiting(one.counts) > 0 },
  failed: { name: "With failed requests", matches: (one) => one.counts.error > 0 },
  paused: { name: "Paused", matches: (one) => Boolean(one.paused_at) },
  new: { name: "Never connected", matches: (one) => one.status === "never_connected" },
};
const SORTS = {
  name: { name: "By name", compare: (one, other) => (one.name ?? "").localeCompare(other.name ?? "") },
  silent: {
    name: "Longest silence first",
    compare: (one, other) =>
      lastContact(one) < lastContact(other) ? -1 : Number(lastContact(one) > lastContact(other)),
  },
  waiting: { name: "Most waiting first", compare: (one, other) => waiting(other.counts) - waiting(one.counts) },
  failed: { name: "Most failed first", compare: (one, other) => other.counts.error - one.counts.error },
};

const lastContact = (one) => (one.last_connected_at ? new Date(one.last_connected_at).getTime() : Infinity);
const isSilent = (one) => one.last_connected_at && !one.paused_at && lastContact(one) < Date.now() - 86_400_000;

/**
 * Returns the page of the list that is shown: `{data, total_pages}`, and of a whole list also `rows`, `known`, `isAll`.
 */
async function load(page, { search, health: filter, sort }, signal) {
  if (!search && !HEALTH[filter] && !SORTS[sort]) {
    const query = { page, page_size: PAGE_SIZE, counts: true };
    const shown = await call("GET", ["connections"], { query, signal });
    noteConnections(shown);
    return shown;
  }
  const all = [];
  let list;
  for (let number = 1; number <= MAX_PAGES && (!list || number <= list.total_pages); number += 1) {
    list = await call("GET", ["connections"], {
      query: { page: number, page_size: WHOLE_PAGE_SIZE, counts: true },
      signal,
    });
    all.push(...list.data);
  }
  const phrase = (search ?? "").trim().toLowerCase();
  const matching = all.filter(
    (one) =>
      (HEALTH[filter]?.matches(one) ?? true) &&
      [one.name, one.id, one.company_name, one.company_file].some((text) => text?.toLowerCase().includes(phrase)),
  );
  const rows = SORTS[sort] ? matching.toSorted(SORTS[sort].compare) : matching;
  const shown = Math.min(page, Math.max(Math.ceil(rows.length / PAGE_SIZE), 1));
  return {
    data: rows.slice((shown - 1) * PAGE_SIZE, shown * PAGE_SIZE),
    page: shown,
    total_pages: Math.ceil(rows.length / PAGE_SIZE),
    rows,
    known: all.length,
    isAll: list.total_pages <= MAX_PAGES,
  };
}

export default function Connections({ query }) {
  const page = Number(query.page) || 1;
  const { search, health: filter, sort } = query;
  const isWhole = Boolean(search || filter || sort);
  useTitle("Connections");
  const list = useLoad((signal) => load(page, query, signal), [page, search, filter, sort], {
    refresh: isWhole ? WHOLE_REFRESH_MILLISECONDS : REFRESH_MILLISECONDS,
  });
  const connections = list.data?.data;
  // While a page loads, the list stays as high as it was, and the pager in its place.
  const height = useRef(6);
  height.current = connections?.length || height.current;
  const change = (changes, options) => navigate(url("/", { ...query, page: undefined, ...changes }), options);
  const choose = (name, options, all) => html`
    <select
      aria-label=${name === "health" ? "Health" : "Order"}
      value=${query[name] ?? ""}
      onChange=${(event) => change({ [name]: event.target.value })}
    >
      <option value="">${all}</option>
      ${Object.entries(options).map(
        ([key, one]) => html`<option value=${key} selected=${key === query[name]}>${one.name}</option>`,
      )}
    </select>
  `;
  const { rows, known, isAll } = list.data ?? {};
  const isEmpty = connections?.length === 0;
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Connections</h1>
          <p class="sub">Each connection is one QuickBooks company file.</p>
        </div>
        <div class="row">
          ${connections?.length > 0 && html`<${ConnectionsCsv} rows=${rows} />`}
          ${
            session.may("create_connection") &&
            html`
              <a class="button primary" href=${url("/connections/new")}>
                <${Icon} name="plus" />
                New connection
              </a>
            `
          }
        </div>
      </div>
      ${
        list.error &&
        html`<${Problem} error=${list.error} retry=${list.reload} what="The connections could not be loaded." />`
      }
      <section class="card" aria-label="Connections" aria-busy=${String(list.loading)}>
        ${
          (!isEmpty || isWhole) &&
          html`
            <div class="toolbar">
              <${SearchBox}
                label="Search connections"
                placeholder="Name, company or ID"
                value=${search ?? ""}
                change=${(text) => change({ search: text }, { replace: true })}
              />
              ${choose("health", HEALTH, "Any health")}
              ${choose("sort", SORTS, "Oldest first")}
              ${isWhole && html`<${Button} kind="ghost" icon="close" onClick=${() => navigate(url("/"))}>Clear<//>`}
              <a class="button ghost" href=${url("/search", { search })}>
                <${Icon} name="search" />
                Search requests
              </a>
            </div>
          `
        }
        ${
          rows &&
          html`
            <div class="search-note small muted" role="status">
              <span class="strong">${count(rows.length)} of ${plural(known, "connection")}.</span>
              ${!isAll && ` Only the oldest ${count(known)} are searched and sorted.`}
            </div>
          `
        }
        ${
          list.error && !connections
            ? ""
            : isEmpty
              ? isWhole
                ? html`
                  <${Empty} icon="search" title="No connection matches">
                    Names, company names and files, and ids are searched. To find a request, choose Search requests.
                  <//>
                `
                : html`<${None} />`
              : html`
                <div class="table-wrap">
                  <table class="responsive">
                    <thead>
                      <tr>
                        <th scope="col">Connection</th>
                        <th scope="col">Health</th>
                        <th scope="col">Last contact</th>
                        <th scope="col">Webhook</th>
                        <th scope="col" class="number">Waiting</th>
                        <th scope="col" class="number">Failed</th>
                      </tr>
                    </thead>
                    <tbody>
                      ${
                        connections
                          ? connections.map((one) => html`<${Row} key=${one.id} connection=${one} />`)
                          : html`<${SkeletonRows} rows=${height.current} columns=${6} />`
                      }
                    </tbody>
                  </table>
                </div>
              `
        }
        <${Pager}
          page=${list.data?.page ?? page}
          totalPages=${list.error && !connections ? 1 : list.data?.total_pages}
          go=${(to) => change({ page: to })}
        />
      </section>
    </div>
  `;
}

const None = () => html`
  <${Empty}
    icon="plug"
    title="Connect your first company file"
    actions=${
      session.may("create_connection") &&
      html`<a class="button primary" href=${url("/connections/new")}>New connection</a>`
    }
  >
    A connection joins this service to QuickBooks Desktop on a Windows machine. Setting one up takes about five
    minutes.
  <//>
`;

function Row({ connection }) {
  const { name, tone } = health(connection);
  const address = url(`/connections/${connection.id}`);
  const why = whyOf(connection);
  const follow = (event) => !event.target.closest("a") && !String(getSelection()) && navigate(address);
  return html`
    <tr class="clickable" onClick=${follow}>
      <td class="full">
        <a class="title break" href=${address}>${connection.name ?? "Unnamed connection"}</a>
        ${connection.simulated && html` <span class="tag">Test</span>`}
        <div class="muted small">
          ${
            [connection.quickbooks_product_name, connection.country].filter(Boolean).join(" · ") ||
            html`<code>${connection.id.slice(0, 8)}</code>`
          }
        </div>
      </td>
      <td class="full">
        <${Badge} tone=${tone}>${name}<//>
        ${why && tone !== "green" && html`<div class="why muted small break">${why}</div>`}
      </td>
      <td>
        ${
          connection.last_connected_at
            ? html`<${Ago} at=${connection.last_connected_at} />`
            : html`<span class="muted nowrap">No contact yet</span>`
        }
      </td>
      <td class="narrow-hide" data-label="Webhook">
        ${
          connection.webhook_url
            ? html`<span class="break small"><${Foreign} text=${originOf(connection.webhook_url)} /></span>`
            : html`<span class="muted">None</span>`
        }
      </td>
      <td class="number" data-label="Waiting">
        <${Count} id=${connection.id} state="waiting" counts=${connection.counts} />
        <${Retryable} id=${connection.id} number=${connection.counts.retryable} />
      </td>
      <td class="number" data-label="Failed">
        <${Count} id=${connection.id} state="error" counts=${connection.counts} tone="red" />
      </td>
    </tr>
  `;
}

/** The number of a connection's requests in a state, as a link to these requests. */
function Count({ id, state, counts, tone }) {
  const number = counts[state];
  if (!number) return html`<span class="muted">0</span>`;
  return html`
    <a href=${url(`/connections/${id}`, { state })} class=${tone === "red" ? "strong failed" : ""}>
      ${count(number)}
    </a>
  `;
}

const Retryable = ({ id, number }) =>
  number > 0 &&
  html`
    <div class="small">
      <a href=${url(`/connections/${id}`, { state: "retryable" })}>${count(number)} to retry</a>
    </div>
  `;
