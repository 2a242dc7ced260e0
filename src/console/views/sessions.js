// The sessions of the Web Connector, as a tab of a connection.
import { html } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { asOf, duration, fullTime, millisecondsBetween, plural, withLocalTimes } from "../lib/text.js";
import { Ago, Badge, Button, Empty, explain, Foreign, Problem, SkeletonRows } from "../lib/ui.js";
import { ConnectionFrame } from "./connection_frame.js";

const REFRESH_MILLISECONDS = 30_000;

const RESULTS = {
  running: { name: "Running", tone: "blue" },
  completed: { name: "Completed", tone: "green" },
  stopped: { name: "Stopped", tone: "amber" },
};

export default function Sessions({ parts: [id, tab] }) {
  return html`<${ConnectionFrame} id=${id} tab=${tab}>${() => html`<${List} id=${id} />`}<//>`;
}

function List({ id }) {
  const load = useLoad((signal) => call("GET", ["connections", id, "sessions"], { signal }), [id], {
    refresh: REFRESH_MILLISECONDS,
    showsAge: true,
  });
  const sessions = load.data?.data;
  if (load.error && !sessions)
    return html`<${Problem} error=${load.error} retry=${load.reload} what="The sessions could not be loaded." />`;
  if (sessions?.length === 0)
    return html`
      <div class="card">
        <${Empty} title="No session in the last 30 days">
          A session begins when the Web Connector calls and there is something to do. Calls that find nothing to do are
          not listed: see “Last contact” above.
        <//>
      </div>
    `;
  return html`
    <${Addresses} sessions=${sessions ?? []} />
    <section class="card" aria-label="Sessions" aria-busy=${String(load.loading)}>
      <div class="table-wrap">
        <table class="responsive sessions">
          <thead>
            <tr>
              <th scope="col">Began and ended</th>
              <th scope="col">Result</th>
              <th scope="col">Web Connector</th>
              <th scope="col">Company file and QuickBooks</th>
            </tr>
          </thead>
          <tbody>
            ${
              sessions
                ? sessions.map((one) => html`<${Row} key=${one.began_at} session=${one} />`)
                : html`<${SkeletonRows} rows=${8} columns=${4} />`
            }
          </tbody>
        </table>
      </div>
      <div class="foot">
        <span role="status">
          ${
            load.error && sessions
              ? `The list could not be updated; it shows the last state. ${explain(load.error)}`
              : sessions && reach(sessions)
          }
        </span>
        <${Button} kind="small" icon="refresh" busy=${load.loading} onClick=${() => load.reload()}>Refresh<//>
      </div>
    </section>
  `;
}

const LISTED = 100;
const reach = (sessions) =>
  sessions.length < LISTED
    ? `${plural(sessions.length, "session")} in the last 30 days.`
    : `The newest ${LISTED} sessions, since ${fullTime(sessions.at(-1).began_at)}.`;

/** Says that sessions come from several addresses. That can be two computers, or one whose address has changed. */
function Addresses({ sessions }) {
  const addresses = [...new Set(sessions.map(({ address }) => address).filter(Boolean))];
  if (addresses.length < 2) return null;
  return html`
    <p class="muted small">
      The logins came from ${plural(addresses.length, "address", "addresses")}: two computers, or one whose address has
      changed. Computers of one office can share an address.
    </p>
  `;
}

/** When a session ended and how long it was open, with the day if it is not the one on which it began. */
function End({ began, ended }) {
  if (!ended) return html`Still open, began <${Ago} at=${began} />`;
  const time = html`<time datetime=${ended} title=${fullTime(ended)}>${asOf(ended, Date.parse(began))}</time>`;
  return html`Ended ${time}, open for ${duration(millisecondsBetween(began, ended))}`;
}

/** What a session did, in words. A session of an older release does not know what it read for subscriptions. */
const workOf = ({ requests, subscription_messages: messages, result }) =>
  [
    requests > 0 && `${plural(requests, "request")} answered`,
    messages > 0 && `Subscriptions read in ${plural(messages, "message")}`,
  ]
    .filter(Boolean)
    .join(". ") || (result === "running" ? "No request answered yet" : "No request answered");

function Row({ session }) {
  const { name, tone } = RESULTS[session.result] ?? { name: session.result, tone: "grey" };
  const { began_at: began, ended_at: ended, company_file_path: path, message } = session;
  const product = [session.quickbooks_product_name, session.quickbooks_version];
  return html`
    <tr>
      <td class="full">
        <div>${fullTime(began)}</div>
        <div class="small muted"><${End} began=${began} ended=${ended} /></div>
      </td>
      <td class="full">
        <div class="row">
          <${Badge} tone=${tone} live=${session.result === "running"}>${name}<//>
          <span class="small">${workOf(session)}</span>
        </div>
        ${message && html`<div class="small break"><${Foreign} text=${withLocalTimes(message)} /></div>`}
      </td>
      <td class="full" data-label="Web Connector">
        ${session.address ? html`<code class="break">${session.address}</code>` : html`<span>Address not known</span>`}
        <div class="small muted">
          ${session.web_connector_version ? `Version ${session.web_connector_version}` : "Version not known"}
        </div>
      </td>
      <td class="full" data-label="QuickBooks">
        ${
          path || product[0]
            ? html`
              ${path && html`<span class="break"><${Foreign} text=${path} /></span>`}
              <div class="small muted break"><${Foreign} text=${product.filter(Boolean).join(", ")} /></div>
            `
            : html`<span class="muted">Not reached</span>`
        }
      </td>
    </tr>
  `;
}
