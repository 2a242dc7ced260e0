// The list of connections: health, last contact, and the numbers of waiting and failed requests.
import { html } from "../vendor/preact.js";
import { call, session, useLoad } from "../lib/api.js";
import { ConnectionsCsv } from "../lib/list_export.js";
import { navigate, url } from "../lib/router.js";
import { count, health, waiting, withLocalTimes } from "../lib/text.js";
import { Ago, Badge, Empty, Icon, Pager, Problem, SkeletonRows, useTitle } from "../lib/ui.js";

const PAGE_SIZE = 20;
const REFRESH_MILLISECONDS = 15_000;

export default function Connections({ query }) {
  const page = Number(query.page) || 1;
  useTitle("Connections");
  const list = useLoad(
    (signal) => call("GET", "/connections", { query: { page, page_size: PAGE_SIZE, counts: true }, signal }),
    [page],
    { refresh: REFRESH_MILLISECONDS },
  );
  const connections = list.data?.data;
  return html`<div class="page">
    <div class="page-head"><div><h1>Connections</h1><p class="sub">Each connection is one QuickBooks company file.</p></div>
      <div class="row">${connections?.length > 0 && html`<${ConnectionsCsv} />`}
        ${session.canChange && html`<a class="button primary" href=${url("/connections/new")}><${Icon} name="plus" />New connection</a>`}</div></div>
    ${list.error && html`<${Problem} error=${list.error} retry=${list.reload} what="The connections could not be loaded." />`}
    ${(!list.error || connections) && html`<section class="card" aria-label="Connections" aria-busy=${String(list.loading)}>
      ${connections?.length === 0 ? html`<${None} />` : html`
        <div class="table-wrap"><table class="responsive"><thead><tr><th scope="col">Connection</th><th scope="col">Health</th>
          <th scope="col">Last contact</th><th scope="col" class="number">Waiting</th><th scope="col" class="number">Failed</th></tr></thead>
        <tbody>${connections ? connections.map((one) => html`<${Row} key=${one.id} connection=${one} />`) : html`<${SkeletonRows} columns=${5} />`}</tbody></table></div>`}
      <${Pager} page=${page} totalPages=${list.data?.total_pages ?? 1} go=${(to) => navigate(url("/", { page: to }))} />
    </section>`}
  </div>`;
}

const None = () => html`<${Empty} icon="plug" title="Connect your first company file"
  actions=${session.canChange && html`<a class="button primary" href=${url("/connections/new")}>New connection</a>`}>
  A connection joins this service to QuickBooks Desktop on a Windows machine. Setting one up takes about five minutes.<//>`;

function Row({ connection }) {
  const { name, tone } = health(connection);
  const address = url(`/connections/${connection.id}`);
  const why = withLocalTimes(connection.waiting_reason?.message ?? connection.last_error?.message);
  const follow = (event) => !event.target.closest("a") && !String(getSelection()) && navigate(address);
  return html`<tr class="clickable" onClick=${follow}>
    <td class="full"><a class="title break" href=${address}>${connection.name ?? "Unnamed connection"}</a>
      <div class="muted small">${[connection.quickbooks_product_name, connection.country].filter(Boolean).join(" · ") || html`<code>${connection.id.slice(0, 8)}</code>`}</div></td>
    <td class="full"><${Badge} tone=${tone}>${name}<//>${why && tone !== "green" && html`<div class="why muted small break">${why}</div>`}</td>
    <td>${connection.last_connected_at ? html`<${Ago} at=${connection.last_connected_at} />` : html`<span class="muted nowrap">No contact yet</span>`}</td>
    <td class="number" data-label="Waiting"><${Count} id=${connection.id} state="waiting" counts=${connection.counts} /></td>
    <td class="number" data-label="Failed"><${Count} id=${connection.id} state="error" counts=${connection.counts} tone="red" /></td>
  </tr>`;
}

/** The number of a connection's requests in a state, as a link to these requests. */
function Count({ id, state, counts, tone }) {
  const number = state === "waiting" ? waiting(counts) : counts[state];
  if (!number) return html`<span class="muted">0</span>`;
  return html`<a href=${url(`/connections/${id}`, { state })} class=${tone === "red" ? "strong failed" : ""}>${count(number)}</a>`;
}
