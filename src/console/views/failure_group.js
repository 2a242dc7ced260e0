// A group of failures: what is said about it, its requests by connection and as CSV, and its bulk actions.
import { html } from "../vendor/preact.js";
import { ACTIONS, possible } from "../lib/bulk_actions.js";
import { conditionsOf } from "../lib/bulk_run.js";
import { openOf } from "../lib/failure_groups.js";
import { FailedRequestsCsv } from "../lib/list_export.js";
import { daysOf } from "../lib/moments.js";
import { url } from "../lib/router.js";
import { count, plural } from "../lib/text.js";
import { Ago, Button, Foreign } from "../lib/ui.js";

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

/** Why a group has no button that queues it again. */
const NOT_REPEATABLE =
  "These cannot be queued again together, because QuickBooks executed them, or because they cannot be sent on their own. Open each one to see why.";

/** Says that the cause was probably not removed before requests were queued again. */
const failedAgain = (copies, number) =>
  `${copies === number ? (number === 1 ? "It was" : "All were") : `${count(copies)} of them ${copies === 1 ? "was" : "were"}`} queued again before, and failed again.`;

const checkEach = (number) =>
  `QuickBooks may have executed ${number === 1 ? "one" : count(number)} of these. The page of each says what is known, and what to do.`;

/** Returns the lists of the requests of a group, also of connections that were not read, and the name of their file. */
function requestsOf(kind, { members, newest }, data) {
  const query = conditionsOf(listOf(kind, newest, data));
  const named = [
    ...data.incomplete_connections.map((one) => [one.id, one.name]),
    ...members.map((one) => [one.connection_id, one.connection_name]),
  ];
  const isWhole = !data.omitted_connections && !data.omitted_groups;
  return {
    lists: [...new Map(named)].map(([id, name]) => ({ id, name, query })),
    name: `${kind.files.requests}-${kind.name(newest).replace(/\W+/g, "-")}-${daysOf(data.since, data.until)}${isWhole ? "" : "-incomplete"}`,
  };
}

export function Group({ kind, group, data, open }) {
  const { members, newest, open: number, queued_again: again, failed_again: copies, repeatable, unknown } = group;
  const tone = unknown && unknown >= number ? "unknown" : "failed";
  const [title, ...details] = kind.says([newest, ...members]);
  const allowed = possible(kind.filters(newest)).filter((name) => kind.actions.includes(name));
  const actions = allowed.filter((name) => name !== "queue_again" || repeatable > 0);
  const one = members.length === 1 ? members[0] : null;
  const numbers = kind.noun === "webhook" ? "Webhooks" : "Requests";
  return html`
    <li class="failure-group">
      <div class="title">
        <span class="strong break"><${Foreign} text=${title} /></span>
        <span class="nowrap">
          ${number > 0 && html`<span class="strong ${tone}">${plural(number, kind.noun)}</span>`}
          ${again > 0 && html` <span class="muted small">${number ? "+ " : ""}${count(again)} queued again</span>`}
        </span>
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
          <${FailedRequestsCsv} ...${requestsOf(kind, group, data)} />
          ${actions.map(
            (name) => html`<${Button} kind="small" onClick=${() => open(group, name)}>${ACTIONS[name].name}<//>`,
          )}
        </span>
      </div>
      ${copies > 0 && html`<div class="muted small">${failedAgain(copies, number)}</div>`}
      ${unknown > 0 && html`<div class="muted small">${checkEach(unknown)}</div>`}
      ${number > unknown && actions.length < allowed.length && html`<div class="muted small">${NOT_REPEATABLE}</div>`}
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
                    ${again > 0 && html`<th scope="col" class="number">Queued again</th>`}
                    <th scope="col">First</th>
                    <th scope="col">Last</th>
                  </tr>
                </thead>
                <tbody>
                  ${members.map(
                    (member) => html`
                      <tr key=${member.connection_id}>
                        <td class="full"><${ToList} kind=${kind} one=${member} data=${data} /></td>
                        <td class="number" data-label=${numbers}>${count(openOf(member))}</td>
                        ${
                          again > 0 &&
                          html`<td class="number" data-label="Queued again">${count(member.queued_again)}</td>`
                        }
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
