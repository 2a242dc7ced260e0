// The filters of a connection's list of requests: states, webhooks and the search.
import { html } from "../vendor/preact.js";
import { url } from "../lib/router.js";
import { count, STATES, WEBHOOK_FILTERS } from "../lib/text.js";
import { Button, Foreign, Skeleton } from "../lib/ui.js";

/** The states whose requests are counted. Each number is that of the requests which its link lists. */
const CARDS = ["waiting", "retryable", "response_received", "error"];

/** The states and webhooks that are listed by their last change: when they failed. */
const FAILURES = ["error", "failed", "retrying", "failing"];

/** The order that a filter brings along. */
export const orderOf = (filter) => (FAILURES.includes(filter) ? "updated_at" : undefined);

/**
 * Many people look for these webhooks in the morning, so one choice finds them. A webhook that failed in the evening
 * may have been tried again in the morning, so the range has no end.
 */
export const LAST_NIGHT = "failed_last_night";

export const WEBHOOK_CHOICES = { ...WEBHOOK_FILTERS, [LAST_NIGHT]: { name: "Failed since last night" } };

export function Numbers({ id, counts, failed, current }) {
  return html`
    <nav class="numbers" aria-label="Requests by state">
      ${CARDS.filter((state) => state !== "retryable" || counts?.retryable > 0 || current === state).map(
        (state) => html`
          <a
            class="card number-card"
            href=${url(`/connections/${id}`, state === current ? {} : { state, sort: orderOf(state) })}
            aria-current=${state === current ? "true" : undefined}
          >
            <div class="name">${STATES[state].name}</div>
            <div class="value">
              ${counts ? count(counts[state]) : failed ? "–" : html`<${Skeleton} width="60px" />`}
            </div>
          </a>
        `,
      )}
    </nav>
  `;
}

/** Says of which cause or receiver the requests are. The view of failures leads here. */
export function GroupBar({ cause, receiver, change }) {
  if (!cause && !receiver) return null;
  return html`
    <div class="search-note small range">
      ${cause && html`<span><span class="strong">Cause</span> <${Foreign} text=${cause} /></span>`}
      ${receiver && html`<span><span class="strong">Receiver</span> <${Foreign} text=${receiver} /></span>`}
      <${Button} kind="small ghost" icon="close" onClick=${() => change({ cause: "", receiver: "" })}>Any<//>
    </div>
  `;
}

export const Select = ({ label, value = "", options, all, change }) => html`
  <select aria-label=${label} value=${value} onChange=${(event) => change(event.target.value)}>
    <option value="" selected=${!value}>${all}</option>
    ${Object.entries(options).map(
      ([key, { name }]) => html`<option value=${key} selected=${key === value}>${name}</option>`,
    )}
  </select>
`;
