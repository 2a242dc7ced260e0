// What failed in all connections: requests by cause, and webhooks by receiver, with the bulk actions on each group.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { ACTIONS, possible } from "../lib/bulk_actions.js";
import { downloadCsv } from "../lib/csv.js";
import { merged, saysOfCauses } from "../lib/failure_groups.js";
import { navigate, url } from "../lib/router.js";
import { count, plural } from "../lib/text.js";
import { inWords, RangeBar, RangeSelect } from "../lib/time_range.js";
import { Ago, Button, Empty, Foreign, Note, Problem, SkeletonCard, toast, useTitle } from "../lib/ui.js";

/** The groups that are shown before the reader asks for more. */
const SHOWN = 20;

/** The connections that are named in a sentence. */
const NAMED = 5;

const COLUMNS = {
  connection_id: (one) => one.connection_id,
  connection: (one) => one.connection_name,
  requests: (one) => one.requests,
  first_utc: (one) => one.first_at,
  last_utc: (one) => one.last_at,
  newest_request_id: (one) => one.newest_request_id,
};

/** The two ways to group: the name of a group, what is said about it, its filters in a list, and its columns as CSV. */
const KINDS = {
  causes: {
    title: "By cause",
    none: "No request of this period failed.",
    name: (one) => one.cause,
    says: saysOfCauses,
    filters: (one) => ({ state: "error", cause: one.cause }),
    noun: "request",
    columns: { cause: (one) => one.cause, code: (one) => one.code, message: (one) => one.message, ...COLUMNS },
  },
  receivers: {
    title: "By receiver of webhooks",
    none: "No webhook of this period is failing.",
    name: (one) => one.receiver,
    says: ([one]) => [
      one.receiver,
      `${one.last_status_code ? `Status ${one.last_status_code}` : "No response"}${one.last_response ? `: ${one.last_response.slice(0, 160)}` : ""}`,
    ],
    filters: (one) => ({ webhook_state: "failing", receiver: one.receiver }),
    noun: "webhook",
    columns: {
      receiver: (one) => one.receiver,
      last_status_code: (one) => one.last_status_code,
      last_response: (one) => one.last_response,
      ...COLUMNS,
    },
  },
};

export default function Failures({ query }) {
  const { from, to, range } = query;
  useTitle("Failures");
  const load = useLoad(
    async (signal) => ({
      ...(await call("GET", ["failures"], { query: { since: from, until: to }, signal })).data,
      to,
    }),
    [from, to],
    { showsAge: true },
  );
  const change = (changes) => navigate(url("/failures", { from, to, range, ...changes }), { replace: true });
  const { data, error } = load;
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Failures</h1>
          <p class="sub">
            What failed in all connections,${" "}
            ${from || to ? "by the last change of each request" : "changed in the last 24 hours"}
          </p>
        </div>
        <${RangeSelect} from=${from} to=${to} range=${range} any="Last 24 hours" change=${change} />
      </div>
      ${
        (from || to) &&
        html`
          <div class="card">
            <${RangeBar} what="Last change" from=${from} to=${to} range=${range} change=${change} />
          </div>
        `
      }
      ${error && html`<${Problem} error=${error} retry=${load.reload} what="The failures could not be loaded." />`}
      ${data && html`<${Incomplete} data=${data} />`}
      ${
        data
          ? Object.keys(KINDS).map(
              (name) =>
                html`<${Groups} key=${name} kind=${KINDS[name]} name=${name} data=${data} done=${load.reload} />`,
            )
          : !error &&
            html`
              <${SkeletonCard} />
              <${SkeletonCard} />
            `
      }
    </div>
  `;
}

/** Names the connections whose failures are not all counted. */
function Incomplete({ data: { incomplete_connections: some, omitted_connections: omitted, omitted_groups: groups } }) {
  if (!some.length && !omitted && !groups) return null;
  const unread = some.filter((one) => !one.complete_after);
  const cut = some.filter((one) => one.complete_after);
  const names = (list) => html`
    ${list.slice(0, NAMED).map(
      (one, index) => html`
        ${index ? ", " : ""}<a href=${url(`/connections/${one.id}`, { state: "error", sort: "updated_at" })}
          ><${Foreign} text=${one.name ?? "Unnamed connection"}
        /></a>
      `,
    )}
    ${list.length > NAMED && ` and ${count(list.length - NAMED)} more`}
  `;
  return html`
    <${Note} tone="amber" role="status" title="Not all failures are counted.">
      ${cut.length > 0 && html`<p>Only the newest 1,000 of: ${names(cut)}. Choose a shorter time to count all.</p>`}
      ${unread.length > 0 && html`<p>Not read in time: ${names(unread)}. Reload to try again.</p>`}
      ${omitted > 0 && html`<p>${plural(omitted, "newer connection")} of this app are never read here.</p>`}
      ${groups > 0 && html`<p>${plural(groups, "smaller group")} left out. Choose a shorter time to see all.</p>`}
    <//>
  `;
}

function Groups({ kind, name, data, done }) {
  const [isAll, setAll] = useState(false);
  const [dialog, setDialog] = useState(null);
  const rows = data[name];
  const groups = merged(rows, kind.name);
  const shown = isAll ? groups : groups.slice(0, SHOWN);
  const isWhole = !data.incomplete_connections.length && !data.omitted_connections && !data.omitted_groups;
  const csv = () =>
    downloadCsv(
      Object.keys(kind.columns),
      rows.map((one) => Object.values(kind.columns).map((value) => value(one))),
      `failures-by-${name === "causes" ? "cause" : "receiver"}${isWhole ? "" : "-incomplete"}`,
    );
  const open = (members, action) =>
    import("./many.js").then(
      (module) =>
        setDialog({
          view: module.default,
          action,
          connections: members.map((one) => one.connection_id),
          query: listOf(kind, members[0], data),
        }),
      () => toast("The dialog could not be loaded. Reload the page.", "red"),
    );
  return html`
    <section class="card" aria-labelledby=${name}>
      <header>
        <h2 id=${name}>${kind.title}</h2>
        <div class="row">
          <span class="small muted">${inWords(data.since, data.until)}</span>
          ${rows.length > 0 && html`<${Button} kind="small" icon="download" onClick=${csv}>CSV<//>`}
        </div>
      </header>
      ${
        groups.length
          ? html`
            <ul class="items">
              ${shown.map(
                (group) => html`
                  <${Group} key=${kind.name(group.newest)} kind=${kind} group=${group} data=${data} open=${open} />
                `,
              )}
            </ul>
            ${
              groups.length > shown.length &&
              html`
                <p class="foot start">
                  <${Button} kind="small" onClick=${() => setAll(true)}>Show all ${count(groups.length)}<//>
                </p>
              `
            }
          `
          : isWhole
            ? html`<${Empty} icon="check" title=${kind.none} />`
            : html`<p class="body muted">None in what was read.</p>`
      }
      ${
        dialog &&
        html`
          <${dialog.view}
            connections=${dialog.connections}
            id=${dialog.connections.length === 1 ? dialog.connections[0] : undefined}
            query=${dialog.query}
            action=${dialog.action}
            onClose=${() => {
              setDialog(null);
              done();
            }}
          />
        `
      }
    </section>
  `;
}

/**
 * Returns the filters of the list that shows the requests of a group. It has no end unless the reader chose one (`to`):
 * each attempt to send a webhook changes its request, which would leave a list that ends with the report.
 */
export const listOf = (kind, one, { since, to }) => ({
  ...kind.filters(one),
  sort: "updated_at",
  range: "custom",
  from: since,
  to,
});

function Group({ kind, group, data, open }) {
  const { members, newest, requests } = group;
  const [title, ...details] = kind.says([newest, ...members]);
  const actions = possible(kind.filters(newest)).filter((name) => kind.noun === "request" || name === "redeliver");
  const one = members.length === 1 ? members[0] : null;
  const numbers = kind.noun === "webhook" ? "Webhooks" : "Requests";
  return html`
    <li class="failure-group">
      <div class="title">
        <span class="strong break"><${Foreign} text=${title} /></span>
        <span class="strong failed nowrap">${plural(requests, kind.noun)}</span>
      </div>
      ${details.map((detail) => detail && html`<div class="muted small break"><${Foreign} text=${detail} /></div>`)}
      <div class="row between">
        <span class="small">
          ${
            one
              ? html`<${ToList} kind=${kind} one=${one} data=${data} />`
              : html`<span>${plural(members.length, "connection")}</span>`
          }
          <span class="muted">
            ${" · first "}<${Ago} at=${group.first_at} />${" · last "}
            <a href=${url(`/queued_requests/${newest.newest_request_id}`)}><${Ago} at=${newest.last_at} /></a>
          </span>
        </span>
        <span class="row">
          ${actions.map(
            (name) => html`<${Button} kind="small" onClick=${() => open(members, name)}>${ACTIONS[name].name}<//>`,
          )}
        </span>
      </div>
      ${
        !one &&
        html`
          <details>
            <summary class="small">By connection</summary>
            <div class="table-wrap" tabindex="0" role="region" aria-label=${`Connections: ${title}`}>
              <table class="responsive">
                <thead>
                  <tr>
                    <th scope="col">Connection</th>
                    <th scope="col" class="number">${numbers}</th>
                    <th scope="col">First</th>
                    <th scope="col">Last</th>
                  </tr>
                </thead>
                <tbody>
                  ${members.map(
                    (member) => html`
                      <tr key=${member.connection_id}>
                        <td class="full"><${ToList} kind=${kind} one=${member} data=${data} /></td>
                        <td class="number" data-label=${numbers}>${count(member.requests)}</td>
                        <td data-label="First"><${Ago} at=${member.first_at} /></td>
                        <td data-label="Last"><${Ago} at=${member.last_at} /></td>
                      </tr>
                    `,
                  )}
                </tbody>
              </table>
            </div>
          </details>
        `
      }
    </li>
  `;
}

const ToList = ({ kind, one, data }) => html`
  <a class="break" href=${url(`/connections/${one.connection_id}`, listOf(kind, one, data))}>
    <${Foreign} text=${one.connection_name ?? "Unnamed connection"} />
  </a>
`;
