// What has happened to a request: its timeline.
import { html } from "../vendor/preact.js";
import { url } from "../lib/router.js";
import { executionOf, sendingsOf } from "../lib/sendings.js";
import { duration, ENDED, fullTime, millisecondsBetween, stateOf } from "../lib/text.js";
import { Foreign } from "../lib/ui.js";

/**
 * Whether the receiver accepted the webhook. A record has the attempts of all rounds, so any of them may have
 * succeeded.
 */
const wasDelivered = ({ status_code: status }) => status >= 200 && status < 300;

const ENDS = { response_received: "QuickBooks responded", discarded: "Discarded" };

export function Timeline({ record }) {
  const steps = [{ name: "Queued", at: record.inserted_at, tone: "green" }];
  const { state, sent_at: sentAt, responded_at: respondedAt } = record;
  const [first, ...later] = sendingsOf(record);
  const waited = first && `after ${duration(millisecondsBetween(record.inserted_at, first.at))}`;
  for (const one of [...(first ? [{ ...first, took: waited }] : []), ...later]) {
    const isNow = state === "sent" && one.at === sentAt;
    steps.push({ ...one, ...(isNow ? { tone: "blue", now: true } : {}) });
  }
  const waiting = record.waiting_reason?.code === "approval" ? stateOf(record).name : "Waiting to be sent";
  if (state === "waiting") steps.push({ name: waiting, tone: "blue", now: true });
  if (state === "retryable")
    steps.push({ name: "Interrupted; it will be sent again", at: record.updated_at, tone: "amber", now: true });
  if (state === "ticketed")
    steps.push({ name: "Claimed by a Web Connector session", at: record.updated_at, tone: "blue", now: true });
  const attempts = record.webhook_attempts;
  if (ENDED.has(state)) {
    // A webhook attempt changes the record too, so the last change is the end only before the first attempt.
    const at = respondedAt ?? (attempts.length ? undefined : record.updated_at);
    const took = respondedAt && `in ${duration(millisecondsBetween(sentAt, respondedAt))}`;
    const { name, tone } = stateOf(record);
    steps.push({ name: ENDS[state] ?? `Ended: ${name.toLowerCase()}`, at, took, tone });
  }
  attempts.forEach((attempt, n) => {
    const delivered = wasDelivered(attempt);
    steps.push({
      name: delivered ? "Webhook delivered" : `Webhook attempt ${n + 1} failed`,
      at: attempt.attempted_at,
      took: attempt.duration_ms !== null && `in ${duration(attempt.duration_ms)}`,
      text: attempt.response,
      tone: delivered ? "green" : "red",
    });
  });
  if (ENDED.has(state) && record.webhook_state === "pending")
    steps.push({
      name: attempts.length ? "Next webhook attempt" : "Webhook on its way",
      at: attempts.at(-1)?.next_attempt_at,
      tone: "blue",
      now: true,
    });
  return html`
    <ol class="timeline">
      ${steps.map(
        (step) => html`
          <li class="${step.tone} ${step.now ? "now" : ""}">
            <div class="row between oneline">
              <span>
                <span class="strong">${step.name}</span>
                ${step.took && html` <span class="muted nowrap">${step.took}</span>`}
              </span>
              <span class="when nowrap">
                ${step.at ? html`<time datetime=${step.at} title=${fullTime(step.at)}>${fullTime(step.at)}</time>` : ""}
              </span>
            </div>
            ${
              step.text &&
              html`
                <p class="muted small break mono">
                  <${Foreign} text=${step.text.length > 400 ? `${step.text.slice(0, 400)}…` : step.text} />
                </p>
              `
            }
          </li>
        `,
      )}
    </ol>
    <${Execution} record=${record} />
  `;
}

/** How often a write was sent, and whether it can be in QuickBooks twice. */
function Execution({ record }) {
  const execution = executionOf(record);
  if (!execution) return null;
  const isCopied = record.replaced_by && record.executed !== "no";
  return html`
    <dl class="facts execution">
      <dt>Sent to QuickBooks</dt>
      <dd>${execution.sent}</dd>
      <dt>In QuickBooks</dt>
      <dd>
        ${execution.executed}
        ${execution.why && html`<p class="muted small">${execution.why}</p>`}
        ${
          isCopied &&
          html`
            <p class="small">
              <a href=${url(`/queued_requests/${record.replaced_by}`)}>The request in its place</a> is another write.
              If QuickBooks executes both, the entry is there twice.
            </p>
          `
        }
        ${
          record.replaces &&
          html`
            <p class="small">
              It stands in for <a href=${url(`/queued_requests/${record.replaces}`)}>another request</a>, whose page
              says whether QuickBooks has executed that one.
            </p>
          `
        }
      </dd>
    </dl>
  `;
}
