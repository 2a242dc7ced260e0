// The check of a write whose outcome is unknown: the service asks QuickBooks about it, then a person decides.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { againAction, continueWithout, editAddress, queueAgain } from "../lib/queue_again.js";
import { resultsOf } from "../lib/result_rows.js";
import { ResultTable } from "../lib/result_table.js";
import { navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { messageOf, withLocalTimes } from "../lib/text.js";
import { Ago, Foreign, Icon, Note, Problem, Skeleton, StateBadge, toast } from "../lib/ui.js";

const REFRESH_MILLISECONDS = 2000;
const TONES = { yes: "amber", no: "green", unknown: "" };
const TITLES = { yes: "Do not queue it again", no: "You can queue it again", unknown: "Compare, then decide" };

const QUESTIONS = {
  Add: "Is what it adds in the books?",
  Mod: "Is the object still as it was before this change?",
  Del: "Is the object still there?",
};
const ANSWERS = {
  yes: "The books have exactly one entry that equals this request and was created after it was sent. A copy would be a second one.",
  no: {
    Add: "Nothing of its type was added, changed or deleted since it was sent: QuickBooks did not add it.",
    Mod: "The object is as it was before: QuickBooks did not execute the change.",
    Del: "The object is still there: QuickBooks did not delete it.",
  },
  unknown: "The answer does not settle it. Compare this request with what QuickBooks returned, and look in QuickBooks.",
};

/** @param {{request_name: string}} record */
const verbOf = (record) => /(Add|Mod|Del|Void|Merge)Rq$/.exec(record.request_name)?.[1];

export default function OutcomeCheck({ record, connection }) {
  const [latest, setLatest] = useState(record);
  const current = latest.updated_at > record.updated_at ? latest : record;
  const { settling } = current;
  const found = useLoad((signal) => checkOf(settling, signal), [settling?.query_id]);
  const check = found.data;
  const isRunning = Boolean(settling && !settling.answered);
  useLoad(
    async (signal) => {
      if (!isRunning) return null;
      const [now, first] = await Promise.all([read(record.id, signal), checkOf(settling, signal)]);
      found.reload({ data: first });
      setLatest(now);
      return null;
    },
    [settling?.query_id, isRunning],
    { refresh: isRunning ? REFRESH_MILLISECONDS : 0 },
  );
  const [refusal, setRefusal] = useState(null);
  const start = async () => {
    try {
      setLatest((await call("POST", ["queued_requests", record.id, "settle"])).data);
      toast("QuickBooks will be asked.");
    } catch (error) {
      if (error.code !== "invalid_state") throw error;
      setRefusal(error);
    }
  };
  const answer = settling?.answered ? current.executed : null;
  const results = answer && check?.response_json ? resultsOf(check.response_json) : [];
  const books = connection ? html`<${Foreign} text=${connection.name ?? "this company file"} />` : "the company file";
  const ask = (label, kind) =>
    session.may("settle") &&
    answer !== "yes" &&
    answer !== "no" &&
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
              <${StateBadge} request=${check} />
            </span>
          `
        }
      </header>
      <div class="body stack">
        ${
          found.error &&
          html`<${Problem} error=${found.error} retry=${found.reload} what="The last check could not be loaded." />`
        }
        ${
          found.loading && !check && settling
            ? html`<${Skeleton} width="60%" />`
            : isRunning
              ? html`
                <${Note} title=${QUESTIONS[verbOf(record)] ?? "What do the books show?"}>
                  <p>
                    The check is queued, and changes nothing.${" "}
                    ${check?.waiting_reason && html`<${Foreign} text=${messageOf(check.waiting_reason)} />`}
                  </p>
                <//>
              `
              : answer
                ? html`
                  <${Note}
                    tone=${TONES[answer]}
                    icon=${answer === "yes" ? "alert" : undefined}
                    role="status"
                    title=${TITLES[answer]}
                  >
                    <p>${answer === "no" ? ANSWERS.no[verbOf(record)] : ANSWERS[answer]}</p>
                  <//>
                  <${Decision} record=${current} executed=${answer}>${ask("Check again", "")}<//>
                `
                : html`
                  <p class="strong">${QUESTIONS[verbOf(record)] ?? "What do the books show?"}</p>
                  ${
                    refusal
                      ? html`
                        <${Note} tone="amber" title="QuickBooks cannot be asked now">
                          <p><${Foreign} text=${withLocalTimes(refusal.message)} /></p>
                        <//>
                      `
                      : html`
                        <p class="muted">
                          Queries ask ${books}. They change nothing, and their answer shows whether you may queue the
                          write again.
                        </p>
                      `
                  }
                  <${Decision} record=${record} executed="unchecked">${ask("Check in QuickBooks", "primary")}<//>
                `
        }
      </div>
      ${results.some(([, rows]) => rows.length) && html`<${ResultTable} results=${results} />`}
    </div>
  `;
}

/** Returns a request as it is now. */
const read = async (id, signal) => (await call("GET", ["queued_requests", id], { signal })).data;

/** Returns the first query of a check, or null. */
const checkOf = async (settling, signal) => (settling ? read(settling.query_id, signal) : null);

const RISKS = {
  yes: "QuickBooks has executed it. A copy can make a second entry in the books.",
  no: "QuickBooks has not executed it. If QuickBooks or the Web Connector hangs, close it first: it may still execute the earlier request.",
  unknown: "Queue a copy only if you have seen in QuickBooks that it was not executed.",
  unchecked:
    "Nothing has been checked. Queue a copy only if you have seen in QuickBooks that the request was not executed.",
};

/** The actions after the check, or without it. */
function Decision({ record, executed, children }) {
  const again = async () => {
    const { id } = await queueAgain(record);
    toast("The copy is queued.");
    navigate(url(`/queued_requests/${id}`));
  };
  const goOn = async () => {
    const { id } = await continueWithout(record);
    toast("The batch continues.");
    navigate(url(`/queued_requests/${id}`));
  };
  const isSafe = executed === "no";
  return html`
    <div class="row">
      ${!isSafe && children}
      ${
        executed === "yes" &&
        record.batch_id &&
        session.may("continue_batch") &&
        html`
          <${ActionButton}
            icon="play"
            kind="primary"
            label="Continue without it"
            question="Continue the batch?"
            confirm="Continue the batch"
            explanation="The requests that were not sent because of this one are queued, with the values of the object in QuickBooks."
            action=${goOn}
          />
        `
      }
      ${
        session.may(againAction(record)) &&
        html`
          <${ActionButton}
            icon="copy"
            kind=${isSafe ? "primary" : executed === "unchecked" ? "ghost" : ""}
            danger=${executed === "yes"}
            question="Queue a copy of this request?"
            confirm="Queue a copy"
            label=${{ yes: "Queue again anyway", unchecked: "I have looked myself" }[executed] ?? "Queue again"}
            explanation=${RISKS[executed]}
            action=${again}
          />
        `
      }
      ${
        executed !== "unchecked" &&
        session.may("queue") &&
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
