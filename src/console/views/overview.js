// The overview: activity by hour, waiting and executing times, and what fails, of one connection or of all.
import { html, useState } from "../vendor/preact.js";
import { call, session, useLoad } from "../lib/api.js";
import { Bars, Numbers } from "../lib/chart.js";
import { navigate, url } from "../lib/router.js";
import {
  ago,
  clock as timeOfDay,
  count,
  fullTime,
  health,
  localZone,
  plural,
  requestTitle,
  withLocalTimes,
} from "../lib/text.js";
import {
  ActionButton,
  Ago,
  Badge,
  Empty,
  Foreign,
  Icon,
  Pager,
  Problem,
  Segmented,
  SkeletonCard,
  toast,
  useTitle,
} from "../lib/ui.js";
import { ConnectionFrame } from "./connection.js";

const REFRESH_MILLISECONDS = 60_000;
/**
 * The last hours, in days of 24 hours. The API has days of UTC, so one day more is read and its first hours are left
 * out.
 */
const PERIODS = [
  [1, "24 hours"],
  [2, "48 hours"],
  [7, "7 days"],
];
const HOURS_A_DAY = 24;
const PAGE_SIZE = 20;
const ALL_EVENTS = "connection.*";
/** The rows of a short list. */
const SHOWN = 5;

/** The overview of all connections, or of the one in the address. */
export default function Overview({ parts: [id], query }) {
  if (!id) return html`<div class="page"><${Period} query=${query} /></div>`;
  return html`
    <${ConnectionFrame} id=${id} tab="overview">
      ${(connection, { reload }) =>
        html`<${Period} id=${id} query=${query} connection=${connection} reload=${reload} />`}
    <//>
  `;
}

function Period({ id, query, connection, reload }) {
  const days = PERIODS.some(([value]) => value === Number(query.days)) ? Number(query.days) : 2;
  const path = id ? ["connections", id, "statistics"] : ["statistics"];
  const load = useLoad(
    async (signal) => (await call("GET", path, { query: { days: days + 1 }, signal })).data,
    [id, days],
    { refresh: REFRESH_MILLISECONDS },
  );
  const change = (changes) =>
    navigate(url(id ? `/connections/${id}/overview` : "/overview", { ...query, ...changes }), { replace: true });
  const data = load.data;
  const asOf = data && `as of ${fullTime(data.until)}`;
  return html`
    <div class="page-head">
      ${id ? html`<p class="muted">${asOf && `Activity ${asOf}`}</p>` : html`<${Heading} asOf=${asOf} />`}
      <${Segmented}
        label="Period"
        options=${PERIODS}
        value=${days}
        onChange=${(value) => change({ days: value })}
      />
    </div>
    ${
      load.error &&
      html`<${Problem} error=${load.error} retry=${load.reload} what="The overview could not be loaded." />`
    }
    ${
      data
        ? html`
          <${Content}
            data=${data}
            days=${days}
            id=${id}
            query=${query}
            change=${change}
            connection=${connection}
            reload=${reload}
          />
        `
        : !load.error &&
          html`
            <${SkeletonCard} />
            <${SkeletonCard} />
          `
    }
  `;
}

function Heading({ asOf }) {
  useTitle("Overview");
  return html`
    <div>
      <h1>Overview</h1>
      <p class="sub">All connections${asOf && `, ${asOf}`}</p>
    </div>
  `;
}

const total = (hours, key) => hours.reduce((sum, hour) => sum + hour[key], 0);

function Content({ data, days, id, query, change, connection, reload }) {
  const { webhooks, oldest_waiting_request: oldest } = data;
  const hours = data.hours.slice(-days * HOURS_A_DAY);
  const failed = total(hours, "error");
  const ended = failed + total(hours, "response_received");
  const undelivered = webhooks.retrying + webhooks.failed;
  // The latest first: a machine that was given up months ago does not hide one that is missed today.
  const silent = data.connections
    ?.filter((one) => one.silent_since)
    .toSorted((a, b) => (a.silent_since < b.silent_since ? 1 : -1));
  return html`
    <section class="figures" aria-label="Figures">
      <${Figure} name="Queued" value=${count(total(hours, "queued"))} detail=${`since ${moment(hours[0].hour)}`} />
      <${Figure}
        name="Failed"
        value=${count(failed)}
        tone=${failed ? "red" : ""}
        detail=${ended ? `${share(failed, ended)} of ${plural(ended, "ended request")}` : "No request has ended"}
      />
      <${Figure}
        name="Oldest waiting request"
        value=${oldest ? ago(oldest.inserted_at).replace(" ago", "") : "None"}
        detail=${
          oldest
            ? html`<a href=${url(`/queued_requests/${oldest.id}`)}>${requestTitle(oldest.request_name)}</a>`
            : "The queue is empty"
        }
      />
      <${Figure}
        name="Webhooks not delivered"
        value=${count(undelivered)}
        tone=${undelivered ? "red" : ""}
        detail=${
          undelivered
            ? `${count(webhooks.retrying)} retrying, ${count(webhooks.failed)} failed`
            : `${count(webhooks.succeeded)} delivered`
        }
      />
    </section>
    <section class="card" aria-labelledby="activity">
      <header>
        <h2 id="activity">Activity by hour</h2>
        <span class="small muted">Times in ${localZone()}</span>
      </header>
      <div class="body"><${Activity} hours=${hours} /></div>
    </section>
    <p class="muted small">Everything else is counted by whole days in UTC, here since ${moment(data.since)}.</p>
    <div class="columns level">
      <${Durations}
        title="Waiting time"
        help="The time from queueing to sending."
        durations=${data.waiting_time}
      />
      <${Durations}
        title="Executing time"
        help="The time from sending to the response of QuickBooks."
        durations=${data.executing_time}
      />
    </div>
    <div class="columns level">
      ${
        silent
          ? html`
            <section class="card" aria-labelledby="silent">
              <header><h2 id="silent">Silent machines</h2></header>
              ${
                silent.length
                  ? html`
                    <ul class="items">
                      ${silent.slice(0, SHOWN).map(
                        (one) => html`
                          <li key=${one.id} class="row between">
                            <a class="strong break" href=${url(`/connections/${one.id}`)}>
                              ${one.name ?? "Unnamed connection"}
                            </a>
                            <span class="muted">
                              Silent since ${moment(one.silent_since)}, <${Ago} at=${one.silent_since} />
                            </span>
                          </li>
                        `,
                      )}
                      ${
                        silent.length > SHOWN &&
                        html`
                          <li>
                            <a href=${url("/overview", { ...query, health: "silent" })}>All ${count(silent.length)}</a>
                          </li>
                        `
                      }
                    </ul>
                  `
                  : html`
                    <p class="body muted">
                      No machine is overdue: each has called recently, is in a session, is paused, or has never called.
                    </p>
                  `
              }
            </section>
          `
          : connection && html`<${Alerts} connection=${connection} reload=${reload} />`
      }
      <section class="card" aria-labelledby="receivers">
        <header>
          <h2 id="receivers">Failing receivers</h2>
          ${
            data.failing_receivers.length > 0 &&
            html`
              <span class="small muted">
                Of the ${RECORDS} newest failing webhooks${id ? "" : " of each connection"}
              </span>
            `
          }
        </header>
        ${
          data.failing_receivers.length
            ? html`
              <ul class="items">
                ${data.failing_receivers.slice(0, SHOWN).map(
                  (one) => html`
                    <li key=${one.origin}>
                      <div class="row between">
                        <span class="strong break"><${Foreign} text=${one.origin} /></span>
                        <${Ago} at=${one.last_attempt_at} />
                      </div>
                      <div class="muted small break">
                        ${plural(one.requests, "request")}, the last:${" "}
                        ${one.last_status_code ? `Status ${one.last_status_code}` : "No response"}
                        ${one.last_response ? html`: <${Foreign} text=${one.last_response.slice(0, 160)} />` : ""}
                      </div>
                    </li>
                  `,
                )}
              </ul>
              <p class="foot start">
                ${
                  id
                    ? [
                        ["failed", "Show all that failed"],
                        ["retrying", "Show all that are tried again"],
                      ]
                        .filter(([state]) => webhooks[state])
                        .map(
                          ([state, text]) => html`
                            <a href=${failing(id, state, data)}>${text} (${count(webhooks[state])})</a>
                          `,
                        )
                    : html`
                      <a href=${url("/overview", { ...query, health: "webhooks" })}>
                        Show the connections with failing webhooks
                      </a>
                    `
                }
              </p>
            `
            : html`<p class="body muted">No webhook of this period is failing.</p>`
        }
      </section>
    </div>
    ${data.connections && html`<${Connections} data=${data} query=${query} change=${change} />`}
  `;
}

/** The newest requests with a failing webhook of which the API returns the receivers. */
const RECORDS = 10;

/** Returns the address of the requests whose webhook is in this state since the beginning of the statistics. */
const failing = (id, state, { since }) =>
  url(`/connections/${id}`, { webhook_state: state, sort: "updated_at", range: "custom", from: since });

const share = (part, whole) => `${((part * 100) / whole).toFixed(part * 10 < whole ? 1 : 0)} %`;

const Figure = ({ name, value, detail, tone = "" }) => html`
  <div class="card number-card">
    <div class="name">${name}</div>
    <div class="value ${tone === "red" ? "failed" : ""}">${value}</div>
    <div class="small muted">${detail}</div>
  </div>
`;

const SERIES = [
  { name: "Answered by QuickBooks", kind: "good" },
  { name: "Failed", kind: "bad" },
];
const clock = (iso) => new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" }).format(new Date(iso));
const weekday = (iso) => new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric" }).format(new Date(iso));
const dayOf = (iso) =>
  new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" }).format(new Date(iso));
/** Returns a moment to the minute, with its zone: "Sun, Nov 22, 06:02 PM EST". */
const moment = (iso) => `${dayOf(iso)}, ${timeOfDay(iso)}`;

function Activity({ hours }) {
  const every = hours.length > 100 ? 24 : hours.length > 24 ? 6 : 3;
  const label = (iso) => {
    const hour = new Date(iso).getHours();
    return hour % every === 0 && (hour === 0 ? weekday(iso) : clock(iso));
  };
  const bars = hours.map(({ hour, queued, response_received: answered, error }) => ({
    label: label(hour),
    title: [
      `${dayOf(hour)}, ${clock(hour)}: ${plural(queued, "request")} queued`,
      `${count(answered)} answered`,
      `${count(error)} failed`,
    ].join(", "),
    values: [answered, error],
  }));
  const [answered, failed] = [count(total(hours, "response_received")), count(total(hours, "error"))];
  const period = plural(hours.length, "hour");
  const summary = `${answered} requests answered and ${failed} failed in ${period}. The table has the numbers.`;
  const rows = hours
    .filter((one) => one.queued + one.response_received + one.error)
    .reverse()
    .map((one) => [
      `${dayOf(one.hour)}, ${clock(one.hour)}`,
      count(one.queued),
      count(one.response_received),
      count(one.error),
    ]);
  return html`
    <${Bars} series=${SERIES} bars=${bars} summary=${summary} />
    ${
      rows.length
        ? html`
          <${Numbers} caption="Activity by hour" columns=${["Hour", "Queued", "Answered", "Failed"]} rows=${rows} />
        `
        : html`<p class="muted">Nothing was queued and nothing ended in this period.</p>`
    }
  `;
}

/** Returns a duration with two digits: more would be false precision. */
function seconds(value) {
  if (value === 0) return "0 s";
  if (value < 1) return `${Number((value * 1000).toPrecision(2))} ms`;
  if (value < 90) return `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)} s`;
  if (value < 5400) return `${Math.round(value / 60)} min`;
  return value < 172_800 ? `${Math.round(value / 3600)} h` : `${Math.round(value / 86_400)} days`;
}

const ONE = [{ name: "Requests", kind: "plain" }];

function Durations({ title, help, durations }) {
  const { number, median_seconds: median, p95_seconds: p95, buckets } = durations;
  const range = ({ from_seconds: from, to_seconds: to }) =>
    to === null ? `${seconds(from)} or more` : `${from ? seconds(from) : "0"} – ${seconds(to)}`;
  const id = title.replace(/ .*/, "").toLowerCase();
  return html`
    <section class="card" aria-labelledby=${id}>
      <header>
        <h2 id=${id}>${title}</h2>
        <span class="small muted">${plural(number, "request")}</span>
      </header>
      <div class="body stack">
        <p class="muted small">${help}</p>
        ${
          number
            ? html`
              <dl class="percentiles">
                <div>
                  <dt>Median</dt>
                  <dd>about ${seconds(median)}</dd>
                </div>
                <div>
                  <dt>95th percentile</dt>
                  <dd>about ${seconds(p95)}</dd>
                </div>
              </dl>
              <${Bars}
                series=${ONE}
                summary="${title}: half of the requests took about ${seconds(median)} or less, 95 % about ${seconds(p95)} or less."
                bars=${filled(buckets).map((bucket) => ({
                  label: seconds(bucket.from_seconds),
                  title: `${range(bucket)}: ${plural(bucket.number, "request")}`,
                  values: [bucket.number],
                }))}
              />
              <${Numbers}
                caption=${title}
                columns=${["Duration", "Requests"]}
                rows=${buckets.map((bucket) => [range(bucket), count(bucket.number)])}
              />
            `
            : html`<p class="muted">No request was measured in this period.</p>`
        }
      </div>
    </section>
  `;
}

/** With fewer bars, one would be a wall. */
const MIN_BARS = 8;

/** Returns the buckets with the empty ones between and behind them, whose bounds double. */
function filled(buckets) {
  const all = [];
  const next = () => {
    const from = all.at(-1).to_seconds;
    return { from_seconds: from, to_seconds: from * 2, number: 0 };
  };
  for (const bucket of buckets) {
    while (all.at(-1)?.to_seconds < bucket.from_seconds) all.push(next());
    all.push(bucket);
  }
  while (all.length < MIN_BARS && all.at(-1).to_seconds) all.push(next());
  return all;
}

function Alerts({ connection, reload }) {
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
                <code class="break">${origin(receiver)}</code>.
              `
              : receiver
                ? html`
                  A signed webhook to <code class="break">${origin(receiver)}</code> can tell you when the machine stops
                  calling, and when it is back, or when another company file is open.
                `
                : "A webhook can tell you when the machine stops calling. This connection has no webhook URL."
          }
        </p>
        ${
          session.canChange &&
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

/** Returns the scheme and host of a URL. Its path may be secret. */
function origin(address) {
  try {
    return new URL(address).origin;
  } catch {
    return address;
  }
}

const FILTERS = {
  problems: {
    name: "With problems",
    matches: (one) =>
      one.stopped_calling || one.webhooks_retrying + one.webhooks_failed > 0 || health(one).tone === "red",
  },
  silent: { name: "Silent", matches: (one) => Boolean(one.silent_since) },
  quickbooks: { name: "QuickBooks or password", matches: (one) => health(one).tone === "red" },
  webhooks: { name: "Webhooks failing", matches: (one) => one.webhooks_retrying + one.webhooks_failed > 0 },
  paused: { name: "Paused", matches: (one) => Boolean(one.paused_at) },
  new: { name: "Never connected", matches: (one) => one.status === "never_connected" },
};
const time = (iso) => (iso ? new Date(iso).getTime() : Infinity);
const SORTS = {
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

function Connections({ data, query, change }) {
  const [page, setPage] = useState(1);
  const filter = FILTERS[query.health];
  const sort = SORTS[query.sort];
  const phrase = (query.search ?? "").trim().toLowerCase();
  const found = data.connections.filter(
    (one) => (!filter || filter.matches(one)) && `${one.name ?? ""} ${one.id}`.toLowerCase().includes(phrase),
  );
  // Sorting is stable, so without an order the connections stay oldest first.
  const shown = sort ? found.toSorted(sort.compare) : found;
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
        <div class="search">
          <${Icon} name="search" />
          <input
            type="search"
            aria-label="Search connections"
            placeholder="Name or ID"
            value=${query.search ?? ""}
            onInput=${(event) => {
              setPage(1);
              change({ search: event.target.value });
            }}
          />
        </div>
        ${choose("health", FILTERS, "Any health")}
        ${choose("sort", SORTS, "Oldest first")}
      </div>
      ${
        shown.length === 0
          ? html`<${Empty} icon="search" title="No connection matches">Change the search or the health filter.<//>`
          : html`
            <div class="table-wrap" tabindex="0" role="region" aria-label="Connections">
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
  const why = tone !== "green" && withLocalTimes(one.waiting_reason?.message);
  const number = one.webhooks_retrying + one.webhooks_failed;
  return html`
    <tr>
      <td class="full">
        <a class="title break" href=${url(`/connections/${one.id}/overview`)}>${one.name ?? "Unnamed connection"}</a>
      </td>
      <td class="full">
        <${Badge} tone=${tone}>${name}<//>
        ${why && html`<div class="why muted small break"><${Foreign} text=${why} /></div>`}
      </td>
      <td data-label="Last contact"><${Ago} at=${one.last_connected_at} /></td>
      <td data-label="Oldest waiting">
        ${one.oldest_waiting_at ? html`<${Ago} at=${one.oldest_waiting_at} />` : html`<span class="muted">None</span>`}
      </td>
      <td class="number" data-label="Queued">${count(one.queued)}</td>
      <td class="number" data-label="Failed">
        <span class=${one.error ? "failed strong" : "muted"}>${count(one.error)}</span>
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
