// The facts about a request: its ids, what it asked for, who approved it, and its webhook.
import { html } from "../vendor/preact.js";
import { PersonName } from "../lib/account.js";
import { call, useLoad } from "../lib/api.js";
import { CopyIcon } from "../lib/copying.js";
import { url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { fullTime, plural, webhookState } from "../lib/text.js";
import { Foreign, WebhookBadge } from "../lib/ui.js";

/** What a request that looked for its object did, by its outcome. */
const IF_EXISTS = {
  created: "It did not exist, and was added",
  found: "It existed, and nothing was added",
  updated: "It existed, and what differed was changed",
  unchanged: "It existed, and nothing differed",
  return: "QuickBooks is asked for it first. If it exists, nothing is added",
  update: "QuickBooks is asked for it first. If it exists, what differs is changed",
};

/** A person who decided has a name, or had one. The name that an API key had then is in the audit log. */
const Decider = ({ record }) =>
  record.approval.decided_by.startsWith("key_")
    ? html`<${DecidingKey} record=${record} />`
    : html`<${PersonName} name=${record.approval.decided_by_name} />`;

/** How far the entry of a decision can be from the time of the decision. */
const NEAR_MILLISECONDS = 1000;

function DecidingKey({ record }) {
  const { decided_by: key, decided_at: at, decision } = record.approval;
  const load = useLoad(
    async (signal) => {
      const [from, to] = [-1, 1].map((way) => new Date(Date.parse(at) + way * NEAR_MILLISECONDS).toISOString());
      const query = { action: `request_${decision}`, from, to, limit: 100 };
      const log = await call("GET", ["connections", record.connection_id, "audit_log"], { query, signal });
      return log.data.find((entry) => entry.request_id === record.id && entry.actor.id === key)?.actor.name ?? null;
    },
    [record.id, at],
    { showsAge: false },
  );
  return html`${load.data && html`<${Foreign} text=${load.data} /> `}<code>${key}</code>`;
}

/** Who decided about a write, and when. */
function Decision({ record }) {
  const { approval, connection_id: connection } = record;
  const { decision, decided_by: by, decided_at: at, reason } = approval;
  if (!decision) return html`<a href=${url("/approvals", { connection })}>Nobody has decided yet</a>`;
  return html`
    ${decision === "approved" ? "Approved" : "Rejected"} ${fullTime(at)}
    ${by && (by === session.person?.person.id ? " by you" : html` by <${Decider} record=${record} />`)}
    ${reason && html`: <${Foreign} text=${reason} />`}
  `;
}

/** Another request, or nothing without its id. */
const Other = ({ term, id }) =>
  id &&
  html`
    <dt>${term}</dt>
    <dd class="id">
      <a href=${url(`/queued_requests/${id}`)}><code>${id}</code></a>
    </dd>
  `;

export function Details({ record, label }) {
  return html`
    <dl class="facts">
      <dt>ID</dt>
      <dd class="id">
        <code>${record.id}</code>
        <${CopyIcon} text=${record.id} what="the ID" />
      </dd>
      ${
        label &&
        label !== record.id &&
        html`
          <dt>requestID</dt>
          <dd><code>${label}</code></dd>
        `
      }
      ${
        record.label &&
        html`
          <dt>Label</dt>
          <dd><${Foreign} text=${record.label} /></dd>
        `
      }
      ${
        Object.keys(record.metadata ?? {}).length > 0 &&
        html`
          <dt>Metadata</dt>
          <dd>
            ${Object.entries(record.metadata).map(
              ([name, value]) =>
                html`<div class="break"><${Foreign} text=${name} />: <${Foreign} text=${value} /></div>`,
            )}
          </dd>
        `
      }
      ${
        record.request_json?.version &&
        html`
          <dt>QBXML version</dt>
          <dd>${record.request_json.version}</dd>
        `
      }
      ${
        record.queued_by &&
        html`
          <dt>Queued by</dt>
          <dd>
            ${
              record.queued_by.type === "person"
                ? html`<${PersonName} name=${record.queued_by.name} />`
                : html`
                  ${record.queued_by.name && html`<${Foreign} text=${record.queued_by.name} /> `}
                  <code>${record.queued_by.id}</code>
                `
            }
          </dd>
        `
      }
      <${Other} term="In place of" id=${record.replaces} />
      <${Other} term="Replaced by" id=${record.replaced_by} />
      ${
        record.send_by &&
        html`
          <dt>Send by</dt>
          <dd>${fullTime(record.send_by)}</dd>
        `
      }
      ${
        record.priority === "low" &&
        html`
          <dt>Priority</dt>
          <dd>Low: requests with normal priority are sent before it</dd>
        `
      }
      ${
        record.if_exists !== "fail" &&
        html`
          <dt>If it exists</dt>
          <dd>${IF_EXISTS[record.outcome ?? record.if_exists]}</dd>
        `
      }
      ${
        record.approval &&
        html`
          <dt>Approval</dt>
          <dd><${Decision} record=${record} /></dd>
        `
      }
      <dt>Last change</dt>
      <dd>${fullTime(record.updated_at)}</dd>
      <dt>Webhook</dt>
      <dd>
        <div class="stack tight">
          <span><${WebhookBadge} state=${webhookState(record)} /></span>
          ${record.webhook_url && html`<code class="break">${record.webhook_url}</code>`}
          ${record.webhook_error && html`<span class="small break"><${Foreign} text=${record.webhook_error} /></span>`}
          ${
            record.webhook_attempts.length > 0 &&
            html`<span class="muted small">${plural(record.webhook_attempts.length, "attempt")}</span>`
          }
        </div>
      </dd>
    </dl>
  `;
}
