// A dialog that discards, queues again or redelivers many requests: it counts them with a dry run, asks, and works in
// parts.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { url } from "../lib/router.js";
import { count, localZone, plural, STATES, WEBHOOK_FILTERS, webhookConditions } from "../lib/text.js";
import { inWords, localInput, rangeConditions } from "../lib/time_range.js";
import { Button, Dialog, explain, Field, Note } from "../lib/ui.js";
import { ACTIONS, possible } from "./request_list.js";

const DAY_MILLISECONDS = 86_400_000;
const MINUTE_AND_ZONE = {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
};
/** A limit of the app is waited for without asking. Other errors stop the work. */
const MAX_WAIT_SECONDS = 90;
/** A call takes up to 100 ids. The results of a search are read before the first change, up to this many. */
const IDS_PER_CALL = 100;
const MAX_RESULTS = 1000;

/** The words of each action, and what the numbers of the API mean. The first of `numbers` counts what is done. */
const WORDS = {
  discard: {
    danger: true,
    path: ["queued_requests", "discard"],
    explanation:
      "Takes requests out of the queue. They are never sent to QuickBooks. Their webhooks report that they were discarded.",
    question: (number) => `Discard ${plural(number, "request")}?`,
    done: (number) => `${plural(number, "request")} discarded.`,
    numbers: {
      discarded: null,
      in_flight: "QuickBooks may be executing them.",
      has_dependants: "Other requests of their batch wait for them. Run this again to discard them too.",
    },
    others: "They have ended.",
  },
  queue_again: {
    path: ["queued_requests", "queue_again"],
    explanation:
      "Queues failed and discarded requests as new ones, each at most once. Writes that QuickBooks may have executed are left out.",
    question: (number) => `Queue ${plural(number, "request")} again?`,
    done: (number) => `${plural(number, "request")} queued again.`,
    numbers: {
      queued: null,
      queued_before: "They were queued again before.",
      left_out:
        "QuickBooks may have executed them, or they cannot be sent on their own, such as later pages of a query. Open each one to check it.",
    },
    others: "They have neither failed nor been discarded.",
  },
  redeliver: {
    path: ["redeliver"],
    explanation: "Sends failed webhooks again. Nothing is sent to QuickBooks.",
    question: (number) => `Send ${plural(number, "webhook")} again?`,
    done: (number) => `${plural(number, "webhook")} sent again.`,
    numbers: { redelivered: null },
    others:
      "They have no webhook, it was delivered, or they have not ended. A delivered webhook can be sent again on the page of its request.",
  },
};

/** Returns the action that the filters of the list suggest. */
const suggested = (query) =>
  ["failed", "retrying", "failing"].includes(query.webhook_state) ? "redeliver" : possible(query)[0];

/**
 * The dialog. It means the requests with these `ids`, or without them all that match the filters of the list (`query`).
 * With an `action`, it begins to count. Otherwise it lets the reader choose an action and further conditions.
 */
export default function ManyDialog({ id, query: listed, ids, action: given, onClose }) {
  // The Back button can change the list behind the dialog, but not what the dialog means.
  const [query] = useState(listed);
  const [action, setAction] = useState(given ?? suggested(query));
  const [conditions, setConditions] = useState({
    request_name: "",
    label_prefix: "",
    since: given || query.from || query.to ? "" : localInput(Date.now() - DAY_MILLISECONDS),
    tooPending: Boolean(ids) || ["pending", "retrying", "failing"].includes(query.webhook_state),
  });
  const [run, setRun] = useState({ phase: given ? "counting" : "choose" });
  const stopping = useRef(new AbortController());
  const stop = () => stopping.current.abort();
  useEffect(() => {
    if (given) work("counting");
    return stop;
  }, []);
  const { path, numbers, question, done, danger, others } = WORDS[action];
  const { name } = ACTIONS[action];
  const isRunning = run.phase === "counting" || run.phase === "working";

  const number = (sums) => sums?.[Object.keys(numbers)[0]] ?? 0;

  /** Calls until the end, with a dry run or in earnest, and adds up the numbers. Continues a run that was stopped. */
  const work = async (phase, former = {}) => {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    const { expected, counted } = former;
    // `next` is the number of the body of the next call, and `cursor` where this call continues.
    let { meant, next = 0, cursor = null, sums = {} } = former;
    const show = (more) => setRun({ phase, meant, next, cursor, sums, expected, counted, ...more });
    const patient = (make) => patiently(make, signal, (waits) => show({ waits }));
    show();
    try {
      meant ??= await meantBy({ id, query, ids, action, conditions }, patient);
      while (meant && next < meant.bodies.length && !signal.aborted) {
        const part = await patient(() =>
          call("POST", ["connections", id, ...path], {
            body: { ...meant.bodies[next], dry_run: phase === "counting", cursor },
          }),
        );
        if (!part) break;
        sums = added(sums, part.data);
        cursor = part.next;
        if (!cursor) next += 1;
        show();
      }
      if (signal.aborted && next < (meant?.bodies.length ?? 1)) show({ phase: "stopped", was: phase });
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
      <${Button} kind="primary" onClick=${() => work("counting")}>Count<//>
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
            ${describe(query, ids, action, conditions)}
          </p>
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
            ${
              number(run.sums) !== run.expected &&
              html`<p>The count was ${count(run.expected)}. Requests have changed since.</p>`
            }
          <//>
          <${Others} numbers=${numbers} sums=${run.sums} />
          ${
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

/**
 * Makes a call. One that has begun is not cut off, so its numbers are known. If a limit of the app is used up, it waits
 * for as long as the service asks, and calls again. Returns null if the work was stopped meanwhile.
 */
async function patiently(make, signal, waits) {
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (error.status !== 429 || !error.retryAfter || error.retryAfter > MAX_WAIT_SECONDS) throw error;
      waits(error.retryAfter);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, error.retryAfter * 1000);
        signal.addEventListener(
          "abort",
          () => {
            clearTimeout(timer);
            resolve();
          },
          { once: true },
        );
      });
      if (signal.aborted) return null;
    }
  }
}

const added = (sums, more) =>
  Object.fromEntries(Object.entries(more).map(([name, value]) => [name, (sums[name] ?? 0) + value]));

const filled = (conditions) =>
  Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined && value !== ""));

/** Returns the filters of the list as conditions of the API. */
function conditionsOf({ state, webhook_state: webhook, from, to, sort, time }) {
  const name = time === "sent" ? "sent" : sort === "updated_at" ? "updated" : "queued";
  return filled({
    state,
    ...(webhook ? webhookConditions(webhook) : {}),
    [`${name}_since`]: from,
    [`${name}_before`]: to,
  });
}

/**
 * Returns the bodies of the calls: one for a filter, or one for each 100 ids. `chosen` is the number of ids, and
 * `omitted` that of the results of a search that are left out. Returns null if the work was stopped meanwhile.
 */
async function meantBy({ id, query, ids, action, conditions }, patient) {
  const { request_name: name, label_prefix: prefix, since, tooPending } = conditions;
  const more =
    action === "redeliver"
      ? { ...filled({ failed_since: timeOf(since)?.toISOString() }), include_pending: tooPending }
      : {};
  const filter = {
    ...(ids ? {} : conditionsOf(query)),
    ...filled({ request_name: name.trim(), label_prefix: prefix.trim() }),
  };
  if (!ids && !query.search) {
    // Without a condition, a time in the future means every request.
    const every = { queued_before: new Date(Date.now() + DAY_MILLISECONDS).toISOString() };
    return { bodies: [{ filter: Object.keys(filter).length ? filter : every, ...more }] };
  }
  const found = ids ? { ids, total: ids.length } : await results(id, query, patient);
  if (!found) return null;
  const bodies = [];
  for (let at = 0; at < found.ids.length; at += IDS_PER_CALL)
    bodies.push({ filter: { ...filter, ids: found.ids.slice(at, at + IDS_PER_CALL) }, ...more });
  return { bodies, chosen: found.ids.length, omitted: Math.max(found.total - found.ids.length, 0) };
}

/** Returns the ids that a search finds, the oldest first, up to MAX_RESULTS, and their total. */
async function results(id, { state, webhook_state: webhook, search, sort, ...range }, patient) {
  const ids = new Set();
  for (let page = 1; ; page += 1) {
    const query = {
      page,
      page_size: 100,
      sort,
      sort_direction: "asc",
      state,
      ...webhookConditions(webhook),
      search_phrase: search,
      ...rangeConditions(range),
      bodies: false,
    };
    const list = await patient(() => call("GET", ["connections", id, "queued_requests"], { query }));
    if (!list) return null;
    for (const one of list.data) ids.add(one.id);
    if (page >= list.total_pages || ids.size >= MAX_RESULTS) return { ids: [...ids], total: list.total };
  }
}

/** Returns in words which requests are meant. */
function describe(
  { state, webhook_state: webhook, search, from, to, sort, time },
  ids,
  action,
  { request_name: name, label_prefix: prefix, since, tooPending },
) {
  const begin = timeOf(since) ? ` since ${timeOf(since).toLocaleString(undefined, MINUTE_AND_ZONE)}` : "";
  const webhooks = `Webhooks that failed${begin}${tooPending ? " or are not delivered yet" : ""}`;
  const failed = action === "redeliver" ? `${webhooks}, for requests` : "Requests";
  if (ids) return `${failed} that you selected: ${count(ids.length)}.`;
  const parts = [
    search && `that the search “${search}” finds`,
    state && `in the state ${STATES[state].name}`,
    webhook && action !== "redeliver" && `with the webhook ${WEBHOOK_FILTERS[webhook].name}`,
    (from || to) &&
      `${time === "sent" ? "sent" : sort === "updated_at" ? "changed last" : "queued"} ${inWords(from, to)}`,
    name.trim() && `of the type ${name.trim()}`,
    prefix.trim() && `whose label begins with “${prefix.trim()}”`,
  ].filter(Boolean);
  const names =
    action !== "redeliver" &&
    !state &&
    `in the states ${ACTIONS[action].states.map((one) => STATES[one].name).join(" or ")}`;
  return `${failed} of this connection ${[...parts, names].filter(Boolean).join(", ")}`.trim() + ".";
}

function Choice({ query, action, setAction, conditions, setConditions }) {
  const change = (name) => (event) =>
    setConditions({
      ...conditions,
      [name]: event.target.type === "checkbox" ? event.target.checked : event.target.value,
    });
  return html`
    <div class="stack">
      <fieldset class="options">
        <legend class="hidden-visually">Action</legend>
        ${possible(query).map(
          (name) => html`
            <label class="option">
              <input
                type="radio"
                name="action"
                value=${name}
                checked=${name === action}
                onChange=${() => setAction(name)}
              />
              <span>
                <span class="strong">${ACTIONS[name].name}</span>
                <span class="muted small">${WORDS[name].explanation}</span>
              </span>
            </label>
          `,
        )}
      </fieldset>
      ${
        action === "redeliver" &&
        html`
          <${Field} label="Failed since (optional)" help=${`In your time zone, ${localZone()}.`}>
            ${(names) => html`
              <input type="datetime-local" ...${names} value=${conditions.since} onInput=${change("since")} />
            `}
          <//>
          <label class="check">
            <input type="checkbox" checked=${conditions.tooPending} onChange=${change("tooPending")} />
            Also webhooks that are pending or retrying
          </label>
        `
      }
      <div class="columns">
        <${Field} label="Request type (optional)" help="For example InvoiceAddRq">
          ${(names) => html`
            <input
              ...${names}
              value=${conditions.request_name}
              maxlength="100"
              autocomplete="off"
              spellcheck="false"
              onInput=${change("request_name")}
            />
          `}
        <//>
        <${Field} label="Label begins with (optional)">
          ${(names) => html`
            <input
              ...${names}
              value=${conditions.label_prefix}
              maxlength="50"
              autocomplete="off"
              onInput=${change("label_prefix")}
            />
          `}
        <//>
      </div>
      <p class="muted small">${describe(query, null, action, conditions)}</p>
    </div>
  `;
}

function Progress({ label, value, max, waits, children }) {
  return html`
    <div class="stack tight" role="status">
      <progress aria-label=${label} ...${max ? { value, max } : {}}></progress>
      <p class="muted">${children}</p>
      ${
        waits &&
        html`
          <p class="small">Your app has reached one of its limits. The run continues in ${plural(waits, "second")}.</p>
        `
      }
    </div>
  `;
}

/**
 * The requests that are meant and left as they are, with the reason. `chosen` is the number of those that were chosen.
 */
function Others({ numbers, sums = {}, chosen = 0, others }) {
  const counted = Object.keys(numbers).reduce((sum, name) => sum + (sums[name] ?? 0), 0);
  const reasons = [
    ...Object.entries(numbers)
      .filter(([, reason]) => reason)
      .map(([name, reason]) => [sums[name] ?? 0, reason]),
    [chosen - counted, others],
  ];
  return reasons
    .filter(([number, reason]) => number > 0 && reason)
    .map(
      ([number, reason]) =>
        html`<p class="small"><span class="strong">Left out: ${count(number)}.</span> ${reason}</p>`,
    );
}

function timeOf(text) {
  const moment = new Date(text);
  return text && !Number.isNaN(moment.getTime()) ? moment : null;
}
