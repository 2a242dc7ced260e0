// A write that waits for approval: why it needs one, as far as that is known, and who can give it.
import { html } from "../vendor/preact.js";
import { PersonName } from "../lib/account.js";
import { url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { messageOf } from "../lib/text.js";
import { Foreign, Note } from "../lib/ui.js";

/** `connection` is undefined while it loads. The record does not keep which rule asked for the approval. */
export function NeedsApproval({ record, connection }) {
  const { approval, connection_id: id, queued_by: author, waiting_reason: reason } = record;
  const isOwn = Boolean(session.actorId) && approval.queued_by === session.actorId;
  return html`
    <${Note} tone="amber" icon="stamp" title=${html`<${Foreign} text=${messageOf(reason)} />`}>
      ${
        connection &&
        html`
          ${
            connection.approval === "required"
              ? html`
                <p>
                  Why: all writes of this connection need approval${" "}
                  (<a href=${url(`/connections/${id}/settings`)}>settings</a>).
                </p>
              `
              : html`
                <p>Why: one of these is the case.</p>
                <ul>
                  <li><${Author} author=${author} /> may only propose writes.</li>
                  <li><${Author} author=${author} /> asked for this approval.</li>
                  ${record.replaces && html`<li>It replaces a write that needed approval.</li>`}
                  <li>This connection needed approvals when it was queued, and does not need them now.</li>
                </ul>
              `
          }
        `
      }
      <p>
        ${isOwn ? "You queued it, so somebody else" : "Somebody other than its author"} approves or rejects it
        under${" "}
        <a href=${url("/approvals", { connection: id })}>Approvals</a>.
      </p>
    <//>
  `;
}

/** Who queued the write, as far as that is known. */
function Author({ author }) {
  if (author?.type === "person") return html`<${PersonName} name=${author.name} />`;
  if (author?.type !== "api_key") return "Whoever queued it";
  return html`The API key ${author.name ? html`<${Foreign} text=${author.name} />` : html`<code>${author.id}</code>`}`;
}
