// Usage: requests, writes and failures of each connection by month, and how long its requests took.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { Bars, Numbers } from "../lib/chart.js";
import { downloadCsv } from "../lib/csv.js";
import { navigate, url } from "../lib/router.js";
import { SearchField } from "../lib/search_field.js";
import { count, plural, roughDuration } from "../lib/text.js";
import { Button, Empty, Foreign, Note, Pager, Problem, SkeletonCard, useTitle } from "../lib/ui.js";

const PAGE_SIZE = 50;
const NAMED = 5;
const MONTHS_A_YEAR = 12;

/** The month that is so many months before the current one (UTC): "2026-03". */
function monthBefore(number) {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - number)).toISOString().slice(0, 7);
}

/** The periods: their names, and how many months before the current one they begin and end. */
const PERIODS = {
  this: ["This month", 0, 0],
  last: ["Last month", 1, 1],
  quarter: ["Last 3 months", 2, 0],
  year: ["Last 12 months", 11, 0],
  "": ["Last 24 months", 23, 0],
};

const monthName = (month, style) =>
  new Date(`${month}-01T00:00:00Z`).toLocaleDateString(undefined, { ...style, timeZone: "UTC" });

const sum = (months, name) => months.reduce((total, one) => total + one[name], 0);

const seconds = (value) => (value === null ? "–" : `about ${roughDuration(value)}`);

/** The columns of the table: what they show and how they sort, the largest first. */
const COLUMNS = {
  requests: { name: "Requests", value: (one) => sum(one.months, "requests") },
  writes: { name: "Writes", value: (one) => sum(one.months, "writes") },
  failures: { name: "Failures", value: (one) => sum(one.months, "failures") },
  waiting: { name: "Waited, median", value: (one) => one.waiting_time.median_seconds, show: seconds },
  waiting95: { name: "Waited, 95 %", value: (one) => one.waiting_time.p95_seconds, show: seconds },
  executing: { name: "QuickBooks, median", value: (one) => one.executing_time.median_seconds, show: seconds },
  executing95: { name: "QuickBooks, 95 %", value: (one) => one.executing_time.p95_seconds, show: seconds },
};

export default function Usage({ query }) {
  useTitle("Usage");
  const [, first, last] = PERIODS[query.period] ?? PERIODS[""];
  const load = useLoad(
    async (signal) => {
      const months = { first_month: monthBefore(first), last_month: monthBefore(last) };
      return (await call("GET", ["usage"], { query: months, signal })).data;
    },
    [first, last],
    { showsAge: true },
  );
  const change = (changes) => navigate(url("/usage", { ...query, ...changes }), { replace: true });
  const { data, error } = load;
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Usage</h1>
          <p class="sub">
            Requests by month (UTC), and about how long they took. A page of a query is a request. A write whose outcome
            is unknown is among the failures.
          </p>
        </div>
        <select
          aria-label="Period"
          value=${query.period ?? ""}
          onChange=${(event) => change({ period: event.target.value })}
        >
          ${Object.entries(PERIODS).map(([key, [name]]) => html`<option value=${key}>${name}</option>`)}
        </select>
      </div>
      ${error && html`<${Problem} error=${error} retry=${load.reload} what="The usage could not be loaded." />`}
      ${data && html`<${Unread} data=${data} />`}
      ${
        data
          ? html`
            <${Months} data=${data} />
            <${Connections} data=${data} query=${query} change=${change} />
          `
          : !error &&
            html`
              <${SkeletonCard} />
              <${SkeletonCard} />
            `
      }
    </div>
  `;
}

/** Names the connections that are missing. */
function Unread({ data: { unread_connections: unread, omitted_connections: omitted } }) {
  if (!unread.length && !omitted) return null;
  return html`
    <${Note} tone="amber" role="status" title="Not all connections are counted.">
      ${
        unread.length > 0 &&
        html`
          <p>
            Not read in time:${" "}
            ${unread
              .slice(0, NAMED)
              .map((one, index) => html`${index ? ", " : ""}<${Foreign} text=${one.name ?? "Unnamed connection"} />`)}
            ${unread.length > NAMED && ` and ${count(unread.length - NAMED)} more`}. Reload to try again.
          </p>
        `
      }
      ${omitted > 0 && html`<p>${plural(omitted, "newer connection")} of this app are never read here.</p>`}
    <//>
  `;
}

/** Returns every month of the period with the numbers of all connections. */
function totalsOf({ first_month: first, last_month: last, connections }) {
  const totals = new Map();
  for (let number = 0; ; number += 1) {
    const [year, month] = first.split("-").map(Number);
    const name = new Date(Date.UTC(year, month - 1 + number)).toISOString().slice(0, 7);
    if (name > last || number > 2 * MONTHS_A_YEAR) break;
    totals.set(name, { month: name, requests: 0, writes: 0, failures: 0 });
  }
  for (const one of connections.flatMap(({ months }) => months)) {
    const total = totals.get(one.month);
    for (const name of ["requests", "writes", "failures"]) total[name] += one[name];
  }
  return [...totals.values()];
}

const inWords = ({ requests, writes, failures }) =>
  [plural(requests, "request"), plural(writes, "write"), plural(failures, "failure")].join(", ");

/** Of more than a year, the first months of the quarters have a label. */
const isLabelled = ({ month }, number) => number <= MONTHS_A_YEAR || Number(month.slice(-2)) % 3 === 1;

function Months({ data }) {
  const months = totalsOf(data);
  const [requests, writes, failures] = ["requests", "writes", "failures"].map((name) => sum(months, name));
  const total = { requests, writes, failures };
  const words = (one) => `${monthName(one.month, { month: "long", year: "numeric" })}: ${inWords(one)}`;
  return html`
    <section class="card" aria-labelledby="months">
      <header>
        <h2 id="months">All connections by month</h2>
        <span class="small muted">${inWords(total)}</span>
      </header>
      <div class="body">
        <${Bars}
          series=${[
            { name: "Requests", kind: "good" },
            { name: "Failures", kind: "bad" },
          ]}
          bars=${months.map((one) => ({
            label: isLabelled(one, months.length) && monthName(one.month, { month: "short" }),
            title: words(one),
            values: [Math.max(one.requests - one.failures, 0), one.failures],
          }))}
          summary=${`Requests of ${plural(months.length, "month")}. ${words(months.at(-1))}.`}
        />
        <${Numbers}
          caption="Requests by month"
          columns=${["Month", "Requests", "Writes", "Failures"]}
          rows=${months.map((one) => [
            monthName(one.month, { month: "long", year: "numeric" }),
            count(one.requests),
            count(one.writes),
            count(one.failures),
          ])}
        />
      </div>
    </section>
  `;
}

const CSV_COLUMNS = [
  "connection_id",
  "connection",
  "month",
  "requests",
  "writes",
  "failures",
  "waiting_median_seconds_of_period",
  "waiting_p95_seconds_of_period",
  "executing_median_seconds_of_period",
  "executing_p95_seconds_of_period",
];

function save(data) {
  const { connections, unread_connections: unread, omitted_connections: omitted } = data;
  const rows = connections.flatMap((one) =>
    one.months.map((month) => [
      one.id,
      one.name,
      month.month,
      month.requests,
      month.writes,
      month.failures,
      one.waiting_time.median_seconds,
      one.waiting_time.p95_seconds,
      one.executing_time.median_seconds,
      one.executing_time.p95_seconds,
    ]),
  );
  const period = `${data.first_month}-to-${data.last_month}`;
  downloadCsv(CSV_COLUMNS, rows, `usage-${period}${unread.length || omitted ? "-incomplete" : ""}`);
}

function Connections({ data, query, change }) {
  const [page, setPage] = useState(1);
  const phrase = (query.search ?? "").trim().toLowerCase();
  const sort = COLUMNS[query.sort] ? query.sort : "requests";
  const isUp = query.direction === "asc";
  const place = (one) => COLUMNS[sort].value(one) ?? -1;
  const found = data.connections
    .filter((one) => `${one.name ?? ""} ${one.id}`.toLowerCase().includes(phrase))
    .toSorted((one, other) => (isUp ? place(one) - place(other) : place(other) - place(one)));
  const pages = Math.ceil(found.length / PAGE_SIZE);
  const current = Math.min(page, Math.max(pages, 1));
  const sortBy = (column, up) => {
    setPage(1);
    change({ sort: column, direction: up ? "asc" : "" });
  };
  return html`
    <section class="card" aria-labelledby="connections">
      <header>
        <h2 id="connections">Connections</h2>
        <${Button} kind="small" icon="download" onClick=${() => save(data)}>CSV by month<//>
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
        <select class="narrow-only" aria-label="Order" value=${sort} onChange=${(event) => sortBy(event.target.value)}>
          ${Object.entries(COLUMNS).map(
            ([column, { name }]) => html`
              <option value=${column}>${name}, ${column === sort && isUp ? "smallest" : "largest"} first</option>
            `,
          )}
        </select>
        <span class="muted small" role="status">${plural(found.length, "connection")}</span>
      </div>
      ${
        found.length === 0
          ? html`<${Empty} icon="search" title="No connection matches" />`
          : html`
            <div class="table-wrap" tabindex="0" role="region" aria-label="Table of connections">
              <table class="responsive usage">
                <thead>
                  <tr>
                    <th scope="col">Connection</th>
                    ${Object.entries(COLUMNS).map(
                      ([column, { name }]) => html`
                        <th
                          scope="col"
                          class="number"
                          aria-sort=${column === sort ? (isUp ? "ascending" : "descending") : "none"}
                        >
                          <button type="button" onClick=${() => sortBy(column, column === sort && !isUp)}>
                            ${name} <span aria-hidden="true">${column === sort ? (isUp ? "↑" : "↓") : ""}</span>
                          </button>
                        </th>
                      `,
                    )}
                  </tr>
                </thead>
                <tbody>
                  ${found.slice((current - 1) * PAGE_SIZE, current * PAGE_SIZE).map(
                    (one) => html`
                      <tr key=${one.id}>
                        <td class="full">
                          <a class="title break" href=${url(`/connections/${one.id}/overview`)}>
                            <${Foreign} text=${one.name ?? "Unnamed connection"} />
                          </a>
                        </td>
                        ${Object.values(COLUMNS).map(
                          ({ name, value, show = count }) => html`
                            <td class="number" data-label=${name}>${show(value(one))}</td>
                          `,
                        )}
                      </tr>
                    `,
                  )}
                </tbody>
              </table>
            </div>
          `
      }
      <${Pager} page=${current} totalPages=${pages} go=${setPage} />
    </section>
  `;
}
