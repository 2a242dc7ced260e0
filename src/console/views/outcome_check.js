// The check of a write whose outcome is unknown: the query that finds out whether QuickBooks executed it, then the
// decision.
import { html, useState } from "../vendor/preact.js";
import { call, session, useLoad } from "../lib/api.js";
import { Code } from "../lib/copying.js";
import { ActionButton } from "../lib/dialogs.js";
import { outcomeQuery, rowsOf } from "../lib/outcome_query.js";
import { editAddress, newKey, queueAgain } from "../lib/queue_again.js";
import { resultsOf } from "../lib/result_rows.js";
import { ResultTable } from "../lib/result_table.js";
import { navigate, url } from "../lib/router.js";
import { UNFINISHED, withLocalTimes } from "../lib/text.js";
import { Ago, Foreign, Icon, Note, Problem, Skeleton, StateBadge, toast } from "../lib/ui.js";

const REFRESH_MILLISECONDS = 2000;
const TONES = { done: "amber", not_done: "green", look: "" };
const TITLES = { done: "Do not queue it again", not_done: "You can queue it again", look: "Compare, then decide" };

/** By this label, everybody who opens the write finds its checks. */
const labelOf = (record) => `check ${record.id}`;

export default function OutcomeCheck({ record, connection }) {
  const plan = useLoad(() => outcomeQuery(record), [record.id]);
  const [started, setStarted] = useState(null);
  const found = useLoad((signal) => lastCheck(record, started, signal), [record.id, started]);
  const check = found.data;
  const isRunning = check && UNFINISHED.has(check.state);
  useLoad(
    async (signal) => {
      if (isRunning) found.reload({ data: await lastCheck(record, check.id, signal) });
      return null;
    },
    [check?.id, check?.state],
    { refresh: isRunning ? REFRESH_MILLISECONDS : 0 },
  );
  const rows = check && !isRunning ? rowsOf(check) : null;
  const answer = rows && plan.data ? plan.data.judge(rows) : null;
  const start = async () => {
    const body = { request_xml: plan.data.xml, label: labelOf(record), webhook_url: null };
    const { data } = await call("POST", ["connections", record.connection_id, "queued_requests"], {
      body,
      headers: { "Idempotency-Key": newKey() },
    });
    setStarted(data.id);
    toast("The check is queued.");
  };
  const books = connection ? html`<${Foreign} text=${connection.name ?? "this company file"} />` : "the company file";
  const ask = (label, kind) =>
    session.canChange &&
    plan.data &&
    html`<${ActionButton} kind=${kind} icon="search" label=${label} action=${start} />`;

  return html`
    <div class="card check-outcome">
      <header>
        <h2>Was it executed?</h2>
        ${
          check &&
          html`
            <span class="row muted small">
              <a href=${url(`/queued_requests/${check.id}`)}>Check</a> <${Ago} at=${check.inserted_at} />
              <${StateBadge} state=${check.state} />
            </span>
          `
        }
      </header>
      <div class="body stack">
        ${
          plan.error &&
          html`<${Problem} error=${plan.error} retry=${plan.reload} what="The check could not be prepared." />`
        }
        ${
          found.error &&
          html`<${Problem} error=${found.error} retry=${found.reload} what="Earlier checks could not be loaded." />`
        }
        ${
          plan.loading || (found.loading && !check)
            ? html`<${Skeleton} width="60%" />`
            : !plan.data
              ? !plan.error &&
                html`
                  <p>
                    No query can tell whether QuickBooks executed this request. Look in ${books} in QuickBooks, then
                    decide.
                  </p>
                  <${Decision} record=${record} verdict="look" />
                `
              : isRunning
                ? html`
                  <${Note} title=${plan.data.question}>
                    <p>
                      The check is queued, and changes nothing.${" "}
                      ${
                        check.waiting_reason &&
                        html`<${Foreign} text=${withLocalTimes(check.waiting_reason.message)} />`
                      }
                    </p>
                  <//>
                `
                : answer
                  ? html`
                    <${Note}
                      tone=${TONES[answer.verdict]}
                      icon=${answer.verdict === "done" ? "alert" : undefined}
                      role="status"
                      title=${TITLES[answer.verdict]}
                    >
                      <p>${answer.text}</p>
                    <//>
                    <${Decision} record=${record} verdict=${answer.verdict}>${ask("Check again", "")}<//>
                  `
                  : html`
                    ${
                      check &&
                      html`
                        <${Note} tone="red" title="The check failed">
                          <p><${Foreign} text=${check.error?.message ?? "It was discarded."} /></p>
                        <//>
                      `
                    }
                    <p class="strong">${plan.data.question}</p>
                    <p class="muted">
                      This query asks ${books}. It changes nothing, and its answer shows whether you may queue the write
                      again.
                    </p>
                    <details>
                      <summary>The query</summary>
                      <${Code} label="Query of the check" text=${plan.data.xml} />
                    </details>
                    <${Decision} record=${record} verdict="unchecked">
                      ${ask(check ? "Check again" : "Check in QuickBooks", "primary")}
                    <//>
                  `
        }
      </div>
      ${answer && rows.length > 0 && html`<${ResultTable} results=${resultsOf(check.response_json)} />`}
    </div>
  `;
}

/** The check with this id, or the last one, or null. */
async function lastCheck(record, id, signal) {
  let last = id;
  if (!last) {
    const query = {
      label: labelOf(record),
      page_size: 1,
      sort: "inserted_at",
      sort_direction: "desc",
      bodies: false,
    };
    last = (await call("GET", ["connections", record.connection_id, "queued_requests"], { query, signal })).data[0]?.id;
  }
  return last ? (await call("GET", ["queued_requests", last], { signal })).data : null;
}

const RISKS = {
  done: "The check says that QuickBooks has executed it. A copy can make a second entry in the books.",
  not_done:
    "The check says that QuickBooks has not executed it. If QuickBooks or the Web Connector hangs, close it first: it may still execute the earlier request.",
  look: "Queue a copy only if you have seen in QuickBooks that it was not executed.",
  unchecked:
    "Nothing has been checked. Queue a copy only if you have seen in QuickBooks that the request was not executed.",
};

/** The actions after the check, or without it. */
function Decision({ record, verdict, children }) {
  if (!session.canChange) return null;
  const again = async () => {
    const { id } = await queueAgain(record);
    toast("The copy is queued.");
    navigate(url(`/queued_requests/${id}`));
  };
  const isSafe = verdict === "not_done";
  return html`
    <div class="row">
      ${!isSafe && children}
      <${ActionButton}
        icon="copy"
        kind=${isSafe ? "primary" : verdict === "unchecked" ? "ghost" : ""}
        danger=${verdict === "done"}
        question="Queue a copy of this request?"
        confirm="Queue a copy"
        label=${{ done: "Queue again anyway", unchecked: "I have looked myself" }[verdict] ?? "Queue again"}
        explanation=${RISKS[verdict]}
        action=${again}
      />
      ${
        verdict !== "unchecked" &&
        html`
          <a class="button" href=${editAddress(record)}>
            <${Icon} name="pen" />
            ${record.batch_id ? "Fix and continue" : "Edit and queue again"}
          </a>
        `
      }
      ${isSafe && children}
    </div>
  `;
}
