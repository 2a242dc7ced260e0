// A dialog that discards, queues again or redelivers many requests: it counts them with a dry run, asks, and works in
// parts.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { ACTIONS, possible } from "../lib/bulk_actions.js";
import { added, DAY_MILLISECONDS, meantBy, patiently } from "../lib/bulk_run.js";
import { Dialog } from "../lib/dialogs.js";
import { url } from "../lib/router.js";
import { count } from "../lib/text.js";
import { Button, explain, Foreign, Note } from "../lib/ui.js";
import { AlreadySent, Choice, describe, Others, Progress, WORDS } from "./many_parts.js";

/** Returns the action that the filters of the list suggest. */
const suggested = (query) =>
  ["failed", "retrying", "failing"].includes(query.webhook_state) ? "redeliver" : possible(query)[0];

/** The connection was deleted after the list was read. */
const isGone = (error) => error.status === 404;

/**
 * The dialog. It means the requests with these `ids`, or without them all that match the filters of the list (`query`).
 * With an `action`, it begins to count. Otherwise it lets the reader choose an action and further conditions. With the
 * ids of several `connections`, it means the requests of all of them, and works on one after the other. `hint` says how
 * to remove the cause for which they failed.
 */
export default function ManyDialog({ id, connections = [id], query: listed, ids, action: given, hint, onClose }) {
  // The Back button can change the list behind the dialog, but not what the dialog means.
  const [query] = useState(listed);
  const [action, setAction] = useState(given ?? suggested(query));
  const [conditions, setConditions] = useState({
    request_name: "",
    label_prefix: "",
    since: given || query.from || query.to ? "" : new Date(Date.now() - DAY_MILLISECONDS).toISOString(),
    tooPending: Boolean(ids) || ["pending", "retrying", "failing"].includes(query.webhook_state),
  });
  const [run, setRun] = useState({ phase: given ? "counting" : "choose" });
  const stopping = useRef(new AbortController());
  const stop = () => stopping.current.abort();
  useEffect(() => {
    if (given) work("counting");
    return stop;
  }, []);
  const { path, numbers, question, asked, done, after, danger, others } = WORDS[action];
  const { name } = ACTIONS[action];
  const isRunning = run.phase === "counting" || run.phase === "working";

  const number = (sums) => sums?.[Object.keys(numbers)[0]] ?? 0;

  /** Calls until the end, with a dry run or in earnest, and adds up the numbers. Continues a run that was stopped. */
  const work = async (phase, former = {}) => {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    const { expected, counted } = former;
    // `next` is the number of the next of all calls, and `cursor` where this call continues.
    let { meant, next = 0, cursor = null, sums = {} } = former;
    const show = (more) => setRun({ phase, meant, next, cursor, sums, expected, counted, ...more });
    const patient = (make) => patiently(make, signal, (waits) => show({ waits }));
    show();
    try {
      meant ??= await meantBy({ id, query, ids, action, conditions }, patient);
      const calls = connections.flatMap((one) => (meant?.bodies ?? []).map((body) => ({ one, body })));
      while (next < calls.length && !signal.aborted) {
        const { one, body } = calls[next];
        const part = await patient(() =>
          call("POST", ["connections", one, ...path], {
            body: { ...body, dry_run: phase === "counting", cursor },
          }).catch((error) => {
            if (connections.length === 1 || !isGone(error)) throw error;
            return { data: {}, next: null };
          }),
        );
        if (!part) break;
        sums = added(sums, part.data);
        cursor = part.next;
        if (!cursor) next += 1;
        show();
      }
      if (signal.aborted && (!meant || next < calls.length)) show({ phase: "stopped", was: phase });
      else if (phase === "counting")
        show({ phase: "ask", next: 0, cursor: null, expected: number(sums), counted: sums, sums: {} });
      else show({ phase: "done" });
    } catch (error) {
      show({ phase: "stopped", was: phase, error });
    }
  };
  const close = (event) => {
    if (!isRunning) return onClose();
    stop();
    // Escape stops the work and leaves its result on the screen.
    return event.type === "cancel" ? event.preventDefault() : onClose();
  };
  const buttons = {
    choose: html`
      <${Button} onClick=${onClose}>Cancel<//>
      <${Button} kind="primary" onClick=${() => isComplete() && work("counting")}>Count<//>
    `,
    counting: html`<${Button} onClick=${stop}>Stop<//>`,
    ask: html`
      <${Button} onClick=${given ? onClose : () => setRun({ phase: "choose" })}>${given ? "Cancel" : "Back"}<//>
      ${
        run.expected > 0 &&
        html`<${Button} kind="primary ${danger ? "danger" : ""}" onClick=${() => work("working", run)}>${name}<//>`
      }
    `,
    working: html`<${Button} onClick=${stop}>Stop<//>`,
    stopped: html`
      <${Button} onClick=${onClose}>Close<//>
      <${Button} kind="primary" onClick=${() => work(run.was, run)}>Continue<//>
    `,
    done: html`<${Button} kind="primary" onClick=${onClose}>Close<//>`,
  };
  return html`
    <${Dialog}
      title=${
        run.phase === "ask" ? (run.expected ? question(run.expected) : "Nothing to do") : given ? name : "Bulk actions"
      }
      onClose=${close}
      actions=${buttons[run.phase]}
    >
      ${run.phase === "choose" && html`<${Choice} ...${{ query, action, setAction, conditions, setConditions }} />`}
      ${
        run.phase === "counting" &&
        html`
          <${Progress}
            label="Counting"
            waits=${run.waits}
          >${`${count(number(run.sums))} so far. Nothing is changed yet.`}<//>
        `
      }
      ${
        run.phase === "ask" &&
        html`
          <p class="muted">
            ${run.expected ? "" : "No request can be changed. "}
            ${describe(query, ids, action, conditions, connections.length)}
          </p>
          ${run.expected > 0 && asked && html`<p>${asked}</p>`}
          ${
            run.expected > 0 &&
            hint &&
            html`
              <${Note} tone="amber">
                <p>Remove the cause first: <${Foreign} text=${hint} /></p>
              <//>
            `
          }
          ${
            run.meant?.omitted > 0 &&
            html`
              <${Note} tone="amber">
                <p>
                  The search found ${count(run.meant.chosen + run.meant.omitted)} requests. These are the first${" "}
                  ${count(run.meant.chosen)}. Run this again for the others.
                </p>
              <//>
            `
          }
          <${Others} numbers=${numbers} sums=${run.counted} chosen=${run.meant?.chosen} others=${others} />
          ${action === "discard" && !ids && html`<${AlreadySent} id=${id} query=${query} close=${onClose} />`}
        `
      }
      ${
        run.phase === "working" &&
        html`
          <${Progress}
            label=${name}
            value=${number(run.sums)}
            max=${run.expected}
            waits=${run.waits}
          >${`${count(number(run.sums))} of ${count(run.expected)}. Keep this page open.`}<//>
        `
      }
      ${
        run.phase === "stopped" &&
        html`
          <${Note}
            tone=${run.error ? "red" : "amber"}
            role="alert"
            title=${run.error ? "The run was interrupted." : "Stopped."}
          >
            ${run.error && html`<p>${explain(run.error)}</p>`}
            <p>
              ${
                run.was === "counting"
                  ? "Nothing was changed."
                  : `${done(number(run.sums))} These changes remain. Choose Continue to process the rest.`
              }
              ${
                run.was !== "counting" &&
                run.error?.status === 0 &&
                " The last part may also have been processed. This number does not include it."
              }
            </p>
          <//>
        `
      }
      ${
        run.phase === "done" &&
        html`
          <${Note} tone="green" role="status" title=${done(number(run.sums))}>
            ${after && query.state !== "discarded" && number(run.sums) > 0 && html`<p>${after}</p>`}
            ${
              number(run.sums) !== run.expected &&
              html`<p>The count was ${count(run.expected)}. Requests have changed since.</p>`
            }
          <//>
          <${Others} numbers=${numbers} sums=${run.sums} />
          ${action === "discard" && !ids && html`<${AlreadySent} id=${id} query=${query} close=${onClose} />`}
          ${
            id &&
            run.sums.left_out > 0 &&
            html`
              <p>
                <a href=${url(`/connections/${id}`, { state: "error" })} onClick=${onClose}>Show failed requests</a>
              </p>
            `
          }
        `
      }
    <//>
  `;
}

/** Whether each input of the dialog has a whole value. If not, the browser says so at the first one that has not. */
const isComplete = () => [...document.querySelectorAll("dialog[open] input")].every((input) => input.reportValidity());
