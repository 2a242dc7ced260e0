// The parts of the dialog for many requests: the choice of an action, the progress, and what is left out.
import { html } from "../vendor/preact.js";
import { ACTIONS, possible } from "../lib/bulk_actions.js";
import { timeOf } from "../lib/bulk_run.js";
import { url } from "../lib/router.js";
import { MomentInput } from "../lib/moment_input.js";
import { count, localZone, plural, STATES, WEBHOOK_FILTERS } from "../lib/text.js";
import { inWords } from "../lib/time_range.js";
import { Check, Field } from "../lib/ui.js";

const MINUTE_AND_ZONE = {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
};

/** The words of each action, and what the numbers of the API mean. The first of `numbers` counts what is done. */
export const WORDS = {
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
    asked: "The requests are sent as they are.",
    after: "Those whose cause is still there fail again.",
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
    done: (number) =>
      number === 1
        ? "1 webhook is being sent again. The page of its request shows the attempts."
        : `${count(number)} webhooks are being sent again. The pages of their requests show the attempts.`,
    numbers: { redelivered: null },
    others:
      "They have no webhook, it was delivered, or they have not ended. A delivered webhook can be sent again on the page of its request.",
  },
};

/** Returns in words which requests are meant. */
export function describe(
  { state, webhook_state: webhook, cause, receiver, search, from, to, sort, time },
  ids,
  action,
  { request_name: name, label_prefix: prefix, since, tooPending },
  connections = 1,
) {
  const begin = timeOf(since) ? ` since ${timeOf(since).toLocaleString(undefined, MINUTE_AND_ZONE)}` : "";
  const webhooks = `Webhooks that failed${begin}${tooPending ? " or are not delivered yet" : ""}`;
  const failed = action === "redeliver" ? `${webhooks}, for requests` : "Requests";
  if (ids) return `${failed} that you selected: ${count(ids.length)}.`;
  const parts = [
    search && `that the search “${search}” finds`,
    state && `in the state ${STATES[state].name}`,
    cause && `that failed for the cause ${cause}`,
    receiver && `whose webhook goes to ${receiver}`,
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
  const where = connections === 1 ? "this connection" : plural(connections, "connection");
  return `${failed} of ${where} ${[...parts, names].filter(Boolean).join(", ")}`.trim() + ".";
}

export function Choice({ query, action, setAction, conditions, setConditions }) {
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
          <${Field}
            label="Failed since (optional)"
            help=${`In your time zone, ${localZone()}. A date alone means its beginning.`}
          >
            ${(names) => html`
              <${MomentInput}
                label="Failed since (optional)"
                names=${names}
                value=${conditions.since}
                change=${(since) => setConditions({ ...conditions, since })}
              />
            `}
          <//>
          <${Check} checked=${conditions.tooPending} onChange=${change("tooPending")}>
            Also webhooks that are pending or retrying
          <//>
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

/** Leads to the requests of the filters that cannot be discarded any more, because they were sent. */
export const AlreadySent = ({ id, query, close }) => html`
  <p class="small">
    Requests that were sent before are not discarded: see${" "}
    <a href=${url(`/connections/${id}`, { ...query, page: undefined, state: "sent" })} onClick=${close}>
      those that QuickBooks is working on</a
    >${" and "}
    <a href=${url(`/connections/${id}`, { ...query, page: undefined, state: "response_received" })} onClick=${close}>
      those that it has answered</a
    >.
  </p>
`;

export function Progress({ label, value, max, waits, children }) {
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
export function Others({ numbers, sums = {}, chosen = 0, others }) {
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
