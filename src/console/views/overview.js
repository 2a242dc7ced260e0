// The overview: activity by hour, waiting and executing times, and what fails, of one connection or of all.
import { html } from "../vendor/preact.js";
import { ago } from "../lib/ago.js";
import { call, useLoad } from "../lib/api.js";
import { isPlainClick, navigate, url } from "../lib/router.js";
import { count, fullTime, localZone, plural, requestTitle } from "../lib/text.js";
import { Ago, Foreign, Problem, Segmented, SkeletonCard, useTitle } from "../lib/ui.js";
import { ConnectionFrame } from "./connection_frame.js";
import { ToApprove } from "./overview_approvals.js";
import { Activity, Durations, moment, total } from "./overview_charts.js";
import { Alerts, Connections, failing } from "./overview_connections.js";

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
    <${ToApprove} id=${id} />
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
            ? html`
              <a href=${id ? failing(id, "failing", data) : url("/failures", { range: "custom", from: data.since })}>
                ${count(webhooks.retrying)} retrying, ${count(webhooks.failed)} failed
              </a>
            `
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
                              Silent since ${moment(one.silent_since)}
                            </span>
                          </li>
                        `,
                      )}
                      ${
                        silent.length > SHOWN &&
                        html`
                          <li>
                            <${ToTable} query=${query} change=${change} health="silent">
                              All ${count(silent.length)}
                            <//>
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
                      <${ToTable} query=${query} change=${change} health="webhooks">
                        Show the connections with failing webhooks
                      <//>
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

/** Shows the connections with this health in the table below, without a jump to the top of the page. */
function ToTable({ query, change, health, children }) {
  const show = (event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    change({ health });
    document.getElementById("connections").scrollIntoView({ block: "start" });
  };
  return html`<a href=${url("/overview", { ...query, health })} onClick=${show}>${children}</a>`;
}

/** The newest requests with a failing webhook of which the API returns the receivers. */
const RECORDS = 10;

const share = (part, whole) => `${((part * 100) / whole).toFixed(part * 10 < whole ? 1 : 0)} %`;

const Figure = ({ name, value, detail, tone = "" }) => html`
  <div class="card number-card">
    <div class="name">${name}</div>
    <div class="value ${tone === "red" ? "failed" : ""}">${value}</div>
    <div class="small muted">${detail}</div>
  </div>
`;
