// An entry of the audit log.
import { html } from "../vendor/preact.js";
import { PersonName } from "../lib/account.js";
import { ago, isNear } from "../lib/ago.js";
import { url } from "../lib/router.js";
import { count, fullTime } from "../lib/text.js";
import { Foreign } from "../lib/ui.js";

/** The names of the actions. */
export const ACTIONS = {
  connection_created: "Created the connection",
  connection_changed: "Changed settings",
  connection_deleted: "Deleted the connection",
  connection_paused: "Paused sending",
  connection_resumed: "Resumed sending",
  password_set: "Set a new Web Connector password",
  company_file_reset: "Reset the company file",
  company_file_accepted: "Accepted the company file at another path",
  onboarding_link_created: "Created an onboarding link",
  request_approved: "Approved a request",
  request_rejected: "Rejected a request",
  request_discarded: "Discarded a request",
  request_deleted: "Deleted a request",
  request_queued_again: "Queued a request again",
  webhook_redelivered: "Sent a webhook again",
  requests_discarded: "Discarded many requests",
  requests_queued_again: "Queued many requests again",
  webhooks_redelivered: "Sent many webhooks again",
  subscription_created: "Created a subscription",
  subscription_changed: "Changed a subscription",
  subscription_deleted: "Deleted a subscription",
  subscription_run: "Read the objects of a subscription at once",
  subscription_paused: "Paused a subscription",
  subscription_resumed: "Resumed a subscription",
  subscription_resynced: "Read all records of a subscription again",
  app_created: "Created the app",
  app_deleted: "Deleted the app",
  limits_changed: "Changed limits",
  contact_changed: "Changed the contact that customers see",
  environment_changed: "Changed the environment",
  api_key_created: "Created an API key",
  api_key_renamed: "Renamed an API key",
  api_key_revoked: "Revoked an API key",
  webhook_secret_rotated: "Added a webhook secret",
  old_webhook_secrets_retired: "Retired the old webhook secrets",
};

const COUNTS = {
  discarded: "discarded",
  in_flight: "left in flight",
  has_dependants: "kept for requests that wait for them",
  queued: "queued",
  queued_before: "queued before",
  left_out: "left out",
  redelivered: "sent",
};

const words = (name) => name.replaceAll("_", " ").replace("url", "URL");

export function Row({ entry, own, names }) {
  return html`
    <tr>
      <td class="full">
        <div class="strong">${ACTIONS[entry.action] ?? words(entry.action)}</div>
        <${Details} entry=${entry} />
      </td>
      ${names && html`<td class="full"><${ConnectionName} entry=${entry} names=${names} /></td>`}
      <td class="full"><${Actor} actor=${entry.actor} own=${own} /></td>
      <td class="full">
        <time class="nowrap" datetime=${entry.at}>${fullTime(entry.at)}</time>
        ${isNear(entry.at) && html`<div class="muted small nowrap">${ago(entry.at)}</div>`}
      </td>
    </tr>
  `;
}

function Details({ entry }) {
  const { request_id: request, credential_id: credential, settings, counts, name } = entry;
  if (!entry.completed_at)
    return html`<div class="small failed">The call ended early. Some of the requests may have been changed.</div>`;
  if (counts)
    return html`
      <div class="muted small">
        ${Object.entries(counts)
          .filter(([, number], index) => number || !index)
          .map(([name, number]) => `${count(number)} ${COUNTS[name] ?? words(name)}`)
          .join(", ")}
      </div>
    `;
  if (request && entry.action === "request_deleted")
    return html`<div class="muted small"><code>${request.slice(0, 8)}</code></div>`;
  if (request)
    return html`
      <div class="small"><a href=${url(`/queued_requests/${request}`)}><code>${request.slice(0, 8)}</code></a></div>
    `;
  if (settings.length)
    return html`
      <div class="muted small">
        ${entry.action === "connection_created" ? "with " : ""}
        ${settings.map(words).join(", ")}
      </div>
    `;
  return (
    credential &&
    html`<div class="muted small">${name && html`<${Foreign} text=${name} /> `}<code>${credential}</code></div>`
  );
}

function ConnectionName({ entry: { connection_id: id, name }, names }) {
  if (!id) return html`<span class="muted">–</span>`;
  if (!names[id])
    return html`
      ${name && html`<div class="break"><${Foreign} text=${name} /></div>`}
      <code class="muted" title=${id}>${id.slice(0, 8)}</code>
    `;
  return html`<a class="break" href=${url(`/connections/${id}/audit_log`)}><${Foreign} text=${names[id]} /></a>`;
}

/** Whoever did it. */
function Actor({ actor, own }) {
  const { type, id, name } = actor;
  if (type === "operator") return "Operator";
  if (type === "person") {
    return html`
      <div class="break">
        <${PersonName} name=${name} />
        ${id && id === own ? html` <span class="tag">you</span>` : ""}
      </div>
    `;
  }
  return html`
    <div class="break">
      ${name ? html`<${Foreign} text=${name} />` : (ACTORS[type] ?? words(type))}
      ${id && id === own ? html` <span class="tag">this key</span>` : ""}
    </div>
    ${id && html`<div class="muted small nowrap"><code>${id}</code></div>`}
  `;
}

const ACTORS = { api_key: "API key", onboarding_link: "Onboarding link" };
