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
          <p>
            ${
              connection.approval === "required"
                ? html`
                  Why: all writes of this connection need approval${" "}
                  (<a href=${url(`/connections/${id}/settings`)}>settings</a>).
                `
                : html`
                  Why: <${Author} author=${author} /> may only propose writes, or asked for this
                  approval${record.replaces && ", or it replaces a write that needed one"}. Otherwise the connection
                  needed approvals when it was queued. Now it does not.
                `
            }
          </p>
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
  if (author?.type !== "api_key") return "whoever queued it";
  return html`the API key ${author.name ? html`<${Foreign} text=${author.name} />` : html`<code>${author.id}</code>`}`;
}
