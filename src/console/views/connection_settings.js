// The settings of a connection, its Web Connector, and the actions that cannot be undone.
import { html } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { forgetConnections } from "../lib/known_connections.js";
import { navigate, url } from "../lib/router.js";
import { session } from "../lib/session.js";
import { fullTime } from "../lib/text.js";
import { Foreign, SkeletonCard, toast } from "../lib/ui.js";
import { ConnectionFrame } from "./connection_frame.js";
import { General } from "./general_settings.js";
import { WebConnector } from "./web_connector_card.js";

export default function ConnectionSettings({ parts: [id, tab], query }) {
  return html`
    <${ConnectionFrame} id=${id} tab=${tab}>
      ${(connection, load) =>
        connection
          ? html`<${Settings} connection=${connection} load=${load} open=${query.open} />`
          : html`
            <div class="columns">
              <${SkeletonCard} lines=${9} />
              <${SkeletonCard} />
            </div>
          `}
    <//>
  `;
}

function Settings({ connection, load, open }) {
  return html`
    <div class="columns">
      <div class="stack"><${General} connection=${connection} load=${load} /></div>
      <div class="stack">
        ${!connection.simulated && html`<${WebConnector} connection=${connection} open=${open} />`}
        <${Facts} connection=${connection} />
        ${session.may("delete_connection") && html`<${Danger} connection=${connection} load=${load} />`}
      </div>
    </div>
  `;
}

const Facts = ({ connection }) => html`
  <section class="card" aria-label="QuickBooks">
    <header><h2>QuickBooks</h2></header>
    <div class="body">
      <dl class="facts">
        <dt>Company</dt>
        <dd>${connection.company_name ?? html`<span class="muted">Not known yet</span>`}</dd>
        <dt>Product</dt>
        <dd>${connection.quickbooks_product_name ?? html`<span class="muted">Not known yet</span>`}</dd>
        <dt>QBXML version</dt>
        <dd>${connection.qbxml_version ?? html`<span class="muted">Not known yet</span>`}</dd>
        <dt>Country</dt>
        <dd>${connection.country ?? html`<span class="muted">Not known yet</span>`}</dd>
        <dt>Company file</dt>
        <dd>
          ${connection.company_file_pinned ? "Pinned to the file of the first session" : "Set by the next session"}
        </dd>
        ${
          connection.company_file_paths.length > 0 &&
          html`
            <dt>Accepted at</dt>
            <dd>
              ${connection.company_file_paths.map((path) => html`<div><code><${Foreign} text=${path} /></code></div>`)}
            </dd>
          `
        }
        <dt>Created</dt>
        <dd>${fullTime(connection.inserted_at)}</dd>
      </dl>
    </div>
  </section>
`;

function Danger({ connection, load }) {
  const reset = async () => {
    load.reload({ data: await call("POST", ["connections", connection.id, "reset_company_file"]) });
    toast("The next session sets the company file.");
  };
  const remove = async () => {
    await call("DELETE", ["connections", connection.id]);
    forgetConnections();
    toast("The connection is deleted.");
    navigate(url("/"));
  };
  return html`
    <section class="card danger" aria-label="Reset or delete">
      <header><h2>Reset or delete</h2></header>
      <div class="body stack">
        <div class="row between oneline">
          <div>
            <h3>Reset the company file</h3>
            <p class="muted">The next session may open another company file, at any path.</p>
          </div>
          <${ActionButton}
            label="Reset"
            question="Reset the company file?"
            explanation="Waiting requests are then sent to the company file that the next session opens. Make sure that it is the right one."
            danger=${true}
            action=${reset}
          />
        </div>
        <div class="row between oneline">
          <div>
            <h3>Delete the connection</h3>
            <p class="muted">Its requests and responses are deleted too.</p>
          </div>
          <${ActionButton}
            label="Delete"
            question=${`Delete ${connection.name ?? "this connection"}?`}
            explanation="The connection, its requests and their responses are deleted. This cannot be undone."
            danger=${true}
            action=${remove}
          />
        </div>
      </div>
    </section>
  `;
}
