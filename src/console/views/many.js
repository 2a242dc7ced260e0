// A dialog that discards, queues again or redelivers many requests: it counts them with a dry run, asks, and works in parts.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { url } from "../lib/router.js";
import { count, plural, STATES, WEBHOOK_STATES, webhookConditions } from "../lib/text.js";
import { Button, Dialog, explain, Field, Note } from "../lib/ui.js";

const DAY_MILLISECONDS = 86_400_000;
const MINUTE_AND_ZONE = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
/** A limit of the app is waited for without asking. Other errors stop the work. */
const MAX_WAIT_SECONDS = 90;

/** What can be done, to which states, and what the numbers of the API mean. The first of `numbers` counts what is done. */
const ACTIONS = {
  discard: {
    name: "Discard", states: ["waiting", "retryable"], danger: true, path: "queued_requests/discard",
    explanation: "Takes requests out of the queue. They are never sent to QuickBooks, and their webhooks report it.",
    question: (number) => `Discard ${plural(number, "request")}?`, done: (number) => `${plural(number, "request")} discarded.`,
    numbers: { discarded: null, in_flight: "QuickBooks may be executing them.", has_dependants: "Other requests of their batch wait for them. Run this again to discard them too." },
  },
  queue_again: {
    name: "Queue again", states: ["error", "discarded"], path: "queued_requests/queue_again",
    explanation: "Queues failed and discarded requests as new ones, each at most once. Writes that QuickBooks may have executed are left out.",
    question: (number) => `Queue ${plural(number, "request")} again?`, done: (number) => `${plural(number, "request")} queued again.`,
    numbers: { queued: null, queued_before: "They were queued again before.", left_out: "QuickBooks may have executed them, or they lack what they need, as later pages of a query do. Open each one to check it." },
  },
  redeliver: {
    name: "Redeliver webhooks", path: "redeliver",
    explanation: "Sends webhooks again whose delivery failed. QuickBooks is not asked.",
    question: (number) => `Send ${plural(number, "webhook")} again?`, done: (number) => `${plural(number, "webhook")} sent again.`,
    numbers: { redelivered: null },
  },
};

/** Returns the names of the actions that a filter of the list leaves. */
const possible = (state) => Object.keys(ACTIONS).filter((name) => !state || !ACTIONS[name].states || ACTIONS[name].states.includes(state));

/** Returns the action that a filter of the list suggests. */
function suggested({ state, webhook_state: webhook }) {
  if (webhook === "failed" || webhook === "retrying") return "redeliver";
  return possible(state)[0] ?? "redeliver";
}

export default function ManyDialog({ id, query, onClose }) {
  const [action, setAction] = useState(suggested(query));
  const [conditions, setConditions] = useState({ request_name: "", label_prefix: "", since: localTime(Date.now() - DAY_MILLISECONDS), tooPending: query.webhook_state === "retrying" });
  const [run, setRun] = useState({ phase: "choose" });
  const stopping = useRef(new AbortController());
  const stop = () => stopping.current.abort();
  useEffect(() => stop, []);
  const { path, numbers, question, done, danger } = ACTIONS[action];
  const body = action === "redeliver" ? redelivery(conditions) : { filter: filterOf(query, conditions) };
  const isRunning = run.phase === "counting" || run.phase === "working";

  const number = (sums) => sums?.[Object.keys(numbers)[0]] ?? 0;

  /** Calls until the end, with a dry run or in earnest, and adds up the numbers. Continues a run that was stopped. */
  const work = async (phase, former = {}) => {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    const { expected, counted } = former;
    const meant = former.body ?? body;
    let { cursor = null, sums = {} } = former;
    const show = (more) => setRun({ phase, cursor, sums, expected, counted, body: meant, ...more });
    show();
    try {
      do {
        const part = await callPart(id, path, { ...meant, dry_run: phase === "counting", cursor }, signal, (waits) => show({ waits }));
        if (!part) break;
        sums = added(sums, part.data);
        cursor = part.next;
        show();
      } while (cursor && !signal.aborted);
      if (signal.aborted && cursor) show({ phase: "stopped", was: phase });
      else if (phase === "counting") show({ phase: "ask", cursor: null, expected: number(sums), counted: sums, sums: {} });
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
    choose: html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" disabled=${Boolean(problemOf(query, action, conditions))} onClick=${() => work("counting")}>Count<//>`,
    counting: html`<${Button} onClick=${stop}>Stop<//>`,
    ask: html`<${Button} onClick=${() => setRun({ phase: "choose" })}>Back<//>${run.expected > 0 && html`<${Button} kind="primary ${danger ? "danger" : ""}" onClick=${() => work("working", run)}>${ACTIONS[action].name}<//>`}`,
    working: html`<${Button} onClick=${stop}>Stop<//>`,
    stopped: html`<${Button} onClick=${onClose}>Close<//><${Button} kind="primary" onClick=${() => work(run.was, run)}>Continue<//>`,
    done: html`<${Button} kind="primary" onClick=${onClose}>Close<//>`,
  };
  return html`<${Dialog} title=${run.phase === "ask" ? (run.expected ? question(run.expected) : "Nothing to do") : "Many at once"} onClose=${close} actions=${buttons[run.phase]}>
    ${run.phase === "choose" && html`<${Choice} ...${{ query, action, setAction, conditions, setConditions }} />`}
    ${run.phase === "counting" && html`<${Progress} label="Counting" waits=${run.waits}>${`${count(number(run.sums))} so far. Nothing is changed yet.`}<//>`}
    ${run.phase === "ask" && html`<p class="muted">${run.expected ? describe(query, action, conditions) : `No request can be changed. ${describe(query, action, conditions)}`}</p><${Others} numbers=${numbers} sums=${run.counted} />`}
    ${run.phase === "working" && html`<${Progress} label=${ACTIONS[action].name} value=${number(run.sums)} max=${run.expected} waits=${run.waits}>${`${count(number(run.sums))} of ${count(run.expected)}. Keep this page open.`}<//>`}
    ${run.phase === "stopped" && html`<${Note} tone=${run.error ? "red" : "amber"} role="alert" title=${run.error ? "The work was interrupted." : "Stopped."}>
      ${run.error && html`<p>${explain(run.error)}</p>`}
      <p>${run.was === "counting" ? "Nothing was changed." : `${done(number(run.sums))} What was done stays done. Continue goes on with the rest.${run.error?.status === 0 ? " The last part may be done too; it is then not in this number." : ""}`}</p><//>`}
    ${run.phase === "done" && html`<${Note} tone="green" role="status" title=${done(number(run.sums))}>
      ${number(run.sums) !== run.expected && html`<p>The count was ${count(run.expected)}. Requests have changed since.</p>`}<//><${Others} numbers=${numbers} sums=${run.sums} />
      ${run.sums.left_out > 0 && html`<p><a href=${url(`/connections/${id}`, { state: "error" })} onClick=${onClose}>Show failed requests</a></p>`}`}
  <//>`;
}

/**
 * Makes one call. A call that has begun is not cut off, so its number is known. If a limit of the app is used up, it waits
 * for as long as the service asks, and calls again. Returns null if the work was stopped meanwhile.
 */
async function callPart(id, path, body, signal, waits) {
  for (;;) {
    try {
      return await call("POST", `/connections/${id}/${path}`, { body });
    } catch (error) {
      if (error.status !== 429 || !error.retryAfter || error.retryAfter > MAX_WAIT_SECONDS) throw error;
      waits(error.retryAfter);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, error.retryAfter * 1000);
        signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
      });
      if (signal.aborted) return null;
    }
  }
}

const added = (sums, more) => Object.fromEntries(Object.entries(more).map(([name, value]) => [name, (sums[name] ?? 0) + value]));

/** Returns the filter of the calls. Without a condition, a time in the future means every request. */
function filterOf({ state, webhook_state: webhook }, { request_name: name, label_prefix: prefix }) {
  const filter = { state, ...(webhook ? webhookConditions(webhook) : {}), request_name: name.trim(), label_prefix: prefix.trim() };
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined && value !== ""));
  return Object.keys(given).length ? given : { queued_before: new Date(Date.now() + DAY_MILLISECONDS).toISOString() };
}

const redelivery = ({ since, tooPending }) => ({ failed_since: timeOf(since)?.toISOString() ?? "", include_pending: tooPending });

/** Returns why the action cannot take these filters, or null. */
function problemOf(query, action, conditions) {
  if (action === "redeliver") return timeOf(conditions.since) ? null : "Enter a date and a time.";
  const extra = [query.search && "a search", (query.from || query.to) && "dates"].filter(Boolean);
  return extra.length ? `This cannot be limited by ${extra.join(" or ")}. Clear that in the list, and use the conditions below.` : null;
}

/** Returns in words which requests are meant. */
function describe({ state, webhook_state: webhook }, action, { request_name: name, label_prefix: prefix, since, tooPending }) {
  if (action === "redeliver") return `Webhooks of this connection that failed since ${timeOf(since)?.toLocaleString(undefined, MINUTE_AND_ZONE) ?? "…"}${tooPending ? ", and those that are not delivered yet" : ""}.`;
  const parts = [state && `in the state ${STATES[state].name}`, webhook && `with the webhook ${WEBHOOK_STATES[webhook].name}`, name.trim() && `of the type ${name.trim()}`, prefix.trim() && `whose label begins with “${prefix.trim()}”`].filter(Boolean);
  const names = ACTIONS[action].states.map((one) => STATES[one].name).join(" or ");
  return `Requests of this connection ${parts.length ? parts.join(", ") : `in the states ${names}`}.`;
}

function Choice({ query, action, setAction, conditions, setConditions }) {
  const change = (name) => (event) => setConditions({ ...conditions, [name]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const problem = problemOf(query, action, conditions);
  return html`<div class="stack">
    <fieldset class="options"><legend class="hidden-visually">Action</legend>
      ${possible(query.state).map((name) => html`<label class="option"><input type="radio" name="action" value=${name} checked=${name === action} onChange=${() => setAction(name)} />
        <span><span class="strong">${ACTIONS[name].name}</span><span class="muted small">${ACTIONS[name].explanation}</span></span></label>`)}</fieldset>
    ${action === "redeliver" ? html`<${Field} label="Failed since" help="In your time zone. The filters of the list do not apply." problem=${problem}>${(names) => html`<input type="datetime-local" ...${names} value=${conditions.since} onInput=${change("since")} />`}<//>
      <label class="check"><input type="checkbox" checked=${conditions.tooPending} onChange=${change("tooPending")} />Also webhooks that are pending or retrying</label>`
      : html`<div class="columns"><${Field} label="Request type (optional)" help="For example InvoiceAddRq">${(names) => html`<input ...${names} value=${conditions.request_name} maxlength="100" autocomplete="off" spellcheck="false" onInput=${change("request_name")} />`}<//>
        <${Field} label="Label begins with (optional)">${(names) => html`<input ...${names} value=${conditions.label_prefix} maxlength="50" autocomplete="off" onInput=${change("label_prefix")} />`}<//></div>
        ${problem ? html`<${Note} tone="amber"><p>${problem}</p><//>` : html`<p class="muted small">${describe(query, action, conditions)}</p>`}`}
  </div>`;
}

function Progress({ label, value, max, waits, children }) {
  return html`<div class="stack tight" role="status"><progress aria-label=${label} ...${max ? { value, max } : {}}></progress><p class="muted">${children}</p>
    ${waits && html`<p class="small">A limit of your app is used up. The work goes on in ${plural(waits, "second")}.</p>`}</div>`;
}

/** The requests that match and are left as they are, with the reason. */
const Others = ({ numbers, sums = {} }) => html`${Object.entries(numbers).filter(([name, reason]) => reason && sums[name] > 0)
  .map(([name, reason]) => html`<p class="small"><span class="strong">Left out: ${count(sums[name])}.</span> ${reason}</p>`)}`;

/** Returns a moment in the form of `datetime-local`, in the reader's time zone. */
function localTime(milliseconds) {
  const moment = new Date(milliseconds);
  return new Date(milliseconds - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function timeOf(text) {
  const moment = new Date(text);
  return text && !Number.isNaN(moment.getTime()) ? moment : null;
}
