// The connections of the overview as a table, and the webhook about a silent machine.
import { html, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { url } from "../lib/router.js";
import { SearchField } from "../lib/search_field.js";
import { session } from "../lib/session.js";
import { count, health, needsPerson, originOf, plural, whyOf } from "../lib/text.js";
import { Ago, Badge, CopyAsOf, Empty, Foreign, Pager, toast } from "../lib/ui.js";

const PAGE_SIZE = 20;

const ALL_EVENTS = "connection.*";

/** Returns the address of the requests whose webhook is in this state since the beginning of the statistics. */
export const failing = (id, state, { since }) =>
  url(`/connections/${id}`, { webhook_state: state, sort: "updated_at", range: "custom", from: since });

/** Returns the address of the requests that have failed since the beginning of the statistics. */
const failed = (id, { since }) =>
  url(`/connections/${id}`, { state: "error", sort: "updated_at", range: "custom", from: since });

export function Alerts({ connection, reload }) {
  const { id, webhook_events: events, webhook_url: receiver } = connection;
  const isAll = events.includes(ALL_EVENTS);
  const subscribe = (webhookEvents, said) => async () => {
    reload({ data: await call("PATCH", ["connections", id], { body: { webhook_events: webhookEvents } }) });
    toast(said);
  };
  return html`
    <section class="card" aria-labelledby="alerts">
      <header><h2 id="alerts">Alerts</h2></header>
      <div class="body stack">
        <p class="muted">
          ${
            events.length && receiver
              ? html`
                ${
                  isAll
                    ? "Every event of this connection is sent to"
                    : html`<code class="break">${events.join(", ")}</code>: sent to`
                }${" "}
                <code class="break">${originOf(receiver)}</code>.
              `
              : receiver
                ? html`
                  A signed webhook to <code class="break">${originOf(receiver)}</code> can tell you when the machine
                  stops calling, and when it is back, or when another company file is open.
                `
                : "A webhook can tell you when the machine stops calling. This connection has no webhook URL."
          }
        </p>
        ${
          session.may("change_connection") &&
          html`
            <div class="row">
              ${
                receiver &&
                !isAll &&
                html`
                  <${ActionButton}
                    label=${events.length ? "Alert me about all events" : "Alert me"}
                    kind="primary"
                    action=${subscribe([ALL_EVENTS], "The webhook gets the events of this connection.")}
                  />
                `
              }
              ${
                receiver &&
                isAll &&
                html`
                  <${ActionButton}
                    label="Stop the alerts"
                    action=${subscribe([], "The webhook gets no events of this connection.")}
                  />
                `
              }
              <a class="button ${receiver ? "ghost" : ""}" href=${url(`/connections/${id}/settings`)}>
                ${receiver ? "Choose events" : "Set a webhook URL"}
              </a>
            </div>
          `
        }
      </div>
    </section>
  `;
}

const FILTERS = {
  problems: {
    name: "With problems",
    matches: (one) =>
      one.stopped_calling ||
      one.webhooks_retrying + one.webhooks_failed > 0 ||
      needsPerson(one, one.oldest_waiting_at !== null),
  },
  silent: { name: "Silent", matches: (one) => Boolean(one.silent_since) },
  quickbooks: { name: "QuickBooks or password", matches: (one) => health(one).tone === "red" },
  webhooks: { name: "Webhooks failing", matches: (one) => one.webhooks_retrying + one.webhooks_failed > 0 },
  paused: { name: "Paused", matches: (one) => Boolean(one.paused_at) },
  new: { name: "Never connected", matches: (one) => one.status === "never_connected" },
};

const time = (iso) => (iso ? new Date(iso).getTime() : Infinity);

/** How bad the state of a connection is, as numbers to compare one after the other: the more, the worse. */
const badness = (one) => [
  Number(health(one).tone === "red" || one.stopped_calling),
  Number(Boolean(one.silent_since) && one.oldest_waiting_at !== null),
  one.webhooks_retrying + one.webhooks_failed,
  one.error,
  Number(health(one).tone === "amber"),
];

function worstFirst(a, b) {
  const others = badness(b);
  return badness(a).reduce((order, number, place) => order || others[place] - number, 0);
}

const SORTS = {
  age: { name: "Oldest first", compare: () => 0 },
  oldest: {
    name: "Oldest waiting first",
    compare: (a, b) => (time(a.oldest_waiting_at) < time(b.oldest_waiting_at) ? -1 : 1),
  },
  failed: {
    name: "Most failures first",
    compare: (a, b) => b.error + b.webhooks_failed - a.error - a.webhooks_failed,
  },
  silent: {
    name: "Longest silence first",
    compare: (a, b) => (time(a.last_connected_at) < time(b.last_connected_at) ? -1 : 1),
  },
  active: { name: "Most active first", compare: (a, b) => b.queued - a.queued },
};

export function Connections({ data, query, change }) {
  const [page, setPage] = useState(1);
  const filter = FILTERS[query.health];
  const sort = SORTS[query.sort]?.compare ?? worstFirst;
  const phrase = (query.search ?? "").trim().toLowerCase();
  const found = data.connections.filter(
    (one) => (!filter || filter.matches(one)) && `${one.name ?? ""} ${one.id}`.toLowerCase().includes(phrase),
  );
  // Sorting is stable, so connections that are equally bad stay oldest first.
  const shown = found.toSorted(sort);
  const pages = Math.ceil(shown.length / PAGE_SIZE);
  const current = Math.min(page, Math.max(pages, 1));
  const choose = (name, options, all) => html`
    <select
      aria-label=${all}
      value=${query[name] ?? ""}
      onChange=${(event) => {
        setPage(1);
        change({ [name]: event.target.value });
      }}
    >
      <option value="">${all}</option>
      ${Object.entries(options).map(([key, one]) => html`<option value=${key}>${one.name}</option>`)}
    </select>
  `;
  return html`
    <section class="card" aria-labelledby="connections">
      <header>
        <h2 id="connections">Connections</h2>
        <span class="small muted" role="status">
          ${phrase || filter ? `${count(found.length)} of ` : ""}
          ${plural(data.connections.length, "connection")}
          ${data.omitted_connections ? `, ${count(data.omitted_connections)} left out` : ""}
        </span>
      </header>
      <div class="toolbar">
        <${SearchField}
          label="Search connections"
          placeholder="Name or ID"
          value=${query.search ?? ""}
          change=${(search) => {
            setPage(1);
            change({ search });
          }}
        />
        ${choose("health", FILTERS, "Any health")}
        ${choose("sort", SORTS, "Worst first")}
      </div>
      ${
        shown.length === 0
          ? html`<${Empty} icon="search" title="No connection matches">Change the search or the health filter.<//>`
          : html`
            <div class="table-wrap" tabindex="0" role="region" aria-label="Table of connections">
              <table class="responsive">
                <thead>
                  <tr>
                    <th scope="col">Connection</th>
                    <th scope="col">Health</th>
                    <th scope="col">Last contact</th>
                    <th scope="col">Oldest waiting</th>
                    <th scope="col" class="number">Queued</th>
                    <th scope="col" class="number">Failed</th>
                    <th scope="col" class="number">Webhooks failing</th>
                  </tr>
                </thead>
                <tbody>
                  ${shown
                    .slice((current - 1) * PAGE_SIZE, current * PAGE_SIZE)
                    .map((one) => html`<${Row} key=${one.id} one=${one} data=${data} />`)}
                </tbody>
              </table>
            </div>
          `
      }
      <${Pager} page=${current} totalPages=${pages} go=${setPage} />
    </section>
  `;
}

function Row({ one, data }) {
  const { name, tone } = one.stopped_calling ? { name: "Stopped calling", tone: "red" } : health(one);
  const why = tone !== "green" && whyOf(one);
  const number = one.webhooks_retrying + one.webhooks_failed;
  return html`
    <tr>
      <td class="full">
        <a class="title break" href=${url(`/connections/${one.id}/overview`)}>${one.name ?? "Unnamed connection"}</a>
        ${one.copied_at && html`<div class="muted small"><${CopyAsOf} at=${one.copied_at} /></div>`}
      </td>
      <td class="full">
        <${Badge} tone=${tone}>${name}<//>
        ${why && html`<div class="why one-line muted small" title=${why}><${Foreign} text=${why} /></div>`}
      </td>
      <td data-label="Last contact"><${Ago} at=${one.last_connected_at} /></td>
      <td data-label="Oldest waiting">
        ${one.oldest_waiting_at ? html`<${Ago} at=${one.oldest_waiting_at} />` : html`<span class="muted">None</span>`}
      </td>
      <td class="number" data-label="Queued">${count(one.queued)}</td>
      <td class="number" data-label="Failed">
        ${
          one.error
            ? html`<a class="failed strong" href=${failed(one.id, data)}>${count(one.error)}</a>`
            : html`<span class="muted">0</span>`
        }
      </td>
      <td class="number" data-label="Webhooks failing">
        ${
          number
            ? html`<a class="failed strong" href=${failing(one.id, "failing", data)}>${count(number)}</a>`
            : html`<span class="muted">0</span>`
        }
      </td>
    </tr>
  `;
}
