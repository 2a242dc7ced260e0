// What has happened to a request: its timeline and its pages.
import { html, useEffect, useRef } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { url } from "../lib/router.js";
import { executionOf, sendingsOf } from "../lib/sendings.js";
import { duration, ENDED, fullTime, millisecondsBetween, plural, stateOf } from "../lib/text.js";
import { Foreign, StateBadge } from "../lib/ui.js";

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
  const waiting = record.waiting_reason?.code === "approval" ? "Waiting for approval" : "Waiting to be sent";
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

/** The other pages of an iterated query, which have the same label. */
export function Pages({ record, label }) {
  const isIterated = record.page > 1 || Boolean(record.request_json?.request?.attributes?.iterator);
  const { data, reload } = useLoad(
    async (signal) => {
      if (!isIterated || !label) return null;
      const query = {
        search_phrase: label,
        page_size: 100,
        sort: "inserted_at",
        sort_direction: "asc",
        bodies: false,
      };
      const list = await call("GET", ["connections", record.connection_id, "queued_requests"], { query, signal });
      return list.data.filter((one) => one.request_name === record.request_name);
    },
    [record.id],
  );
  const shown = useRef(record.updated_at);
  useEffect(() => {
    if (shown.current !== record.updated_at) reload();
    shown.current = record.updated_at;
  }, [record.updated_at]);
  if (!data || data.length < 2) return null;
  return html`
    <section class="card" aria-label="Pages">
      <header>
        <h2>Pages of this query</h2>
        <span class="muted">${plural(data.length, "page")}</span>
      </header>
      <div class="body row">
        ${data.map(
          (one) => html`
            <a
              class="button small ${one.id === record.id ? "primary" : ""}"
              aria-current=${one.id === record.id ? "page" : undefined}
              href=${url(`/queued_requests/${one.id}`)}
            >
              Page ${one.page}
              ${one.state === "response_received" ? "" : html` <${StateBadge} request=${one} />`}
            </a>
          `,
        )}
      </div>
    </section>
  `;
}
