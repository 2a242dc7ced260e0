// What failed in all connections: requests by cause, and webhooks by receiver, with the bulk actions on each group.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { conditionsOf } from "../lib/bulk_run.js";
import { downloadCsv } from "../lib/csv.js";
import { hintOfCause, merged, saysOfCauses } from "../lib/failure_groups.js";
import { FailedRequestsCsv, saved } from "../lib/list_export.js";
import { momentsAreWhole } from "../lib/moment_input.js";
import { daysOf } from "../lib/moments.js";
import { navigate, url } from "../lib/router.js";
import { count, plural } from "../lib/text.js";
import { inWords, nameOf, OF_FAILURES, periodOf, RangeBar, RangeSelect, rangeOf } from "../lib/time_range.js";
import { Button, Empty, Problem, SkeletonCard, toast, useTitle } from "../lib/ui.js";
import { Group, listOf } from "./failure_group.js";
import { Earlier, Incomplete } from "./failures_left_out.js";

/** The groups that are shown before the reader asks for more. */
const SHOWN = 20;

/** The period that the page opens with. */
const USUAL = "week";

/** The next longer period of one in which nothing failed. */
const LONGER = { day: "week", week: "month" };

const COLUMNS = {
  connection_id: (one) => one.connection_id,
  connection: (one) => one.connection_name,
  requests: (one) => one.requests,
  first_utc: (one) => one.first_at,
  last_utc: (one) => one.last_at,
  newest_request_id: (one) => one.newest_request_id,
};

/**
 * The two ways to group: the name of a group, what is said about it, its filters in a list, its bulk actions, and its
 * columns as CSV. `all` are the filters of all groups together.
 */
const KINDS = {
  causes: {
    title: "By cause",
    none: (period) => `No request failed in ${period}.`,
    done: (period) => `All requests that failed in ${period} were queued again.`,
    name: (one) => one.cause,
    says: saysOfCauses,
    hint: hintOfCause,
    all: { state: "error" },
    filters: (one) => ({ state: "error", cause: one.cause }),
    actions: ["queue_again"],
    noun: "request",
    files: { groups: "failures-by-cause", requests: "failed-requests" },
    columns: {
      cause: (one) => one.cause,
      code: (one) => one.code,
      message: (one) => one.message,
      ...COLUMNS,
      queued_again: (one) => one.queued_again,
      failed_again: (one) => one.failed_again,
    },
  },
  receivers: {
    title: "By receiver of webhooks",
    none: (period) => `No webhook of ${period} is failing.`,
    name: (one) => one.receiver,
    hint: () => undefined,
    says: ([one]) => [
      one.receiver,
      `${one.last_status_code ? `Status ${one.last_status_code}` : "No response"}${one.last_response ? `: ${one.last_response.slice(0, 160)}` : ""}`,
    ],
    all: { webhook_state: "failing" },
    filters: (one) => ({ webhook_state: "failing", receiver: one.receiver }),
    actions: ["redeliver"],
    noun: "webhook",
    files: { groups: "failures-by-receiver", requests: "requests-with-failed-webhooks" },
    columns: {
      receiver: (one) => one.receiver,
      last_status_code: (one) => one.last_status_code,
      last_response: (one) => one.last_response,
      ...COLUMNS,
    },
  },
};

export default function Failures({ query }) {
  const { from, to, range: chosen } = query.from || query.to ? query : rangeOf(USUAL);
  const range = nameOf({ range: chosen, from, to });
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
  const longer = LONGER[range] && rangeOf(LONGER[range]);
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Failures</h1>
          <p class="sub">What failed in all connections, by the last change of each request</p>
        </div>
        <${RangeSelect} from=${from} to=${to} range=${range} any="" ranges=${OF_FAILURES} change=${change} />
      </div>
      ${
        !OF_FAILURES.includes(range) &&
        html`
          <div class="card">
            <${RangeBar} what="Last change" from=${from} to=${to} range="custom" change=${change} />
          </div>
        `
      }
      ${data && html`<${Earlier} data=${data} longer=${longer} change=${change} />`}
      ${error && html`<${Problem} error=${error} retry=${load.reload} what="The failures could not be loaded." />`}
      ${data && html`<${Incomplete} data=${data} />`}
      ${
        data
          ? Object.keys(KINDS).map(
              (name) =>
                html`
                  <${Groups}
                    key=${name}
                    kind=${KINDS[name]}
                    name=${name}
                    data=${data}
                    period=${periodOf({ range, from, to })}
                    longer=${longer}
                    change=${change}
                    done=${load.reload}
                  />
                `,
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

function Groups({ kind, name, data, period, longer, change, done }) {
  const [isAll, setAll] = useState(false);
  const [showsDone, setShowsDone] = useState(false);
  const [dialog, setDialog] = useState(null);
  const rows = data[name];
  const all = merged(rows, kind.name);
  const groups = showsDone ? all : all.filter(({ open }) => open > 0);
  const hidden = all.length - groups.length;
  const shown = isAll ? groups : groups.slice(0, SHOWN);
  const isWhole = !data.incomplete_connections.length && !data.omitted_connections && !data.omitted_groups;
  const csv = () => {
    if (!momentsAreWhole()) return;
    downloadCsv(
      Object.keys(kind.columns),
      rows.map((one) => Object.values(kind.columns).map((value) => value(one))),
      `${kind.files.groups}-${daysOf(data.since, data.until)}${isWhole ? "" : "-incomplete"}`,
    );
    toast(saved(rows.length));
  };
  const open = ({ members, newest }, action) =>
    momentsAreWhole() &&
    import("./many.js").then(
      (module) =>
        setDialog({
          view: module.default,
          action,
          hint: kind.hint(newest),
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
          ${
            rows.length > 0 &&
            html`
              <${Button} kind="small" icon="download" onClick=${csv}>CSV of groups<//>
              <${FailedRequestsCsv} ...${requestsOf(kind, name, data)} />
            `
          }
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
          `
          : isWhole
            ? html`<${Empty}
                icon="check"
                title=${hidden ? kind.done(period) : kind.none(period)}
                actions=${longer && html`<${Button} onClick=${() => change(longer)}>Look at ${periodOf(longer)}<//>`}
              />`
            : html`<p class="body muted">None in what was read.</p>`
      }
      ${
        (groups.length > shown.length || hidden > 0) &&
        html`
          <p class="foot start">
            ${
              groups.length > shown.length &&
              html`<${Button} kind="small" onClick=${() => setAll(true)}>Show all ${count(groups.length)}<//>`
            }
            ${
              hidden > 0 &&
              html`
                <${Button} kind="small" onClick=${() => setShowsDone(true)}>
                  Show ${plural(hidden, "cause")} with all queued again
                <//>
              `
            }
          </p>
        `
      }
      ${
        dialog &&
        html`
          <${dialog.view}
            connections=${dialog.connections}
            id=${dialog.connections.length === 1 ? dialog.connections[0] : undefined}
            query=${dialog.query}
            action=${dialog.action}
            hint=${dialog.hint}
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

/** Returns the lists of all requests of a kind, also of connections that were not read, and the name of their file. */
function requestsOf(kind, name, data) {
  const named = [
    ...data[name].map((one) => [one.connection_id, one.connection_name]),
    ...data.incomplete_connections.map((one) => [one.id, one.name]),
  ];
  const query = conditionsOf(listOf({ filters: () => kind.all }, null, data));
  const isWhole = !data.omitted_connections && !data.omitted_groups;
  return {
    lists: [...new Map(named)].map(([id, title]) => ({ id, name: title, query })),
    name: `${kind.files.requests}-${daysOf(data.since, data.until)}${isWhole ? "" : "-incomplete"}`,
  };
}
