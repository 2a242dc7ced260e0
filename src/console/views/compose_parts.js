// What surrounds the form of a request: its origin, its version, its attributes and its preview.
import { html, useEffect, useState } from "../vendor/preact.js";
import { samplesOf } from "../lib/code_samples.js";
import { Code } from "../lib/copying.js";
import { wordsOf } from "../lib/error_words.js";
import { isReplaced, isUnsettled } from "../lib/queue_again.js";
import { isOnlyXml, ONLY_XML, sampleBodyOf, written } from "../lib/request_draft.js";
import { url } from "../lib/router.js";
import { fullTime } from "../lib/text.js";
import { Ago, Button, Check, Foreign, Note, Segmented } from "../lib/ui.js";
import { isTooNew, versionsFor } from "../lib/versions.js";

/** Says which version of QBXML the connection supports, and offers it if the request has a higher one. */
export function Version({ version, target, choose }) {
  const supported = target?.qbxml_version;
  if (!isTooNew(version, supported)) return html`<p class="muted small">${supportText(target)}</p>`;
  return html`
    <${Note} tone="amber" title="QuickBooks cannot read QBXML ${version}">
      <p>${supportText(target)}</p>
      <p><${Button} kind="small" onClick=${() => choose(supported)}>Use ${supported}<//></p>
    <//>
  `;
}

/** The choice of the version of QBXML. */
export function VersionSelect({ version, target, choose }) {
  return html`
    <label class="row plain">
      <span class="muted small">QBXML</span>
      <select
        class="compact"
        value=${version}
        title=${supportText(target)}
        onChange=${(event) => choose(event.target.value)}
      >
        ${versionsFor(target?.qbxml_version, version).map(
          (one) => html`<option value=${one} selected=${one === version}>${one}</option>`,
        )}
      </select>
    </label>
  `;
}

function supportText(target) {
  if (!target) return "Choose a connection to see which version of QBXML its QuickBooks supports.";
  if (!target.qbxml_version)
    return "This connection's QuickBooks has not answered yet, so the QBXML version that it supports is unknown.";
  return `This connection's ${target.quickbooks_product_name ?? "QuickBooks"} supports QBXML up to ${target.qbxml_version}.`;
}

/** Where a draft comes from, and what to know before it is queued. */
export function Beginning({ source, draft, target, restoredAt, startOver }) {
  return html`
    ${source && html`<${Source} source=${source} target=${target} />`}
    ${
      restoredAt &&
      html`
        <${Note} title=${draft.unanswered ? "This draft may already be queued" : "Your draft was restored"}>
          <p>
            ${
              draft.unanswered
                ? html`
                  It was sent at ${fullTime(new Date(draft.unanswered).toISOString())}, and no answer arrived.${" "}
                  ${
                    target &&
                    html`
                      <a href=${url(`/connections/${target.id}`)}>Look at the requests</a> before you queue it again.
                    `
                  }
                `
                : html`
                  You last changed it <${Ago} at=${new Date(restoredAt).toISOString()} />. It stays in this tab until
                  you queue it or sign out.
                `
            }
          </p>
          <p><${Button} kind="small" icon="refresh" onClick=${startOver}>Start over<//></p>
        <//>
      `
    }
  `;
}

/** The request that a draft was copied from, and why it failed. */
function Source({ source, target }) {
  const address = url(`/queued_requests/${source.id}`);
  const continues = isReplaced(source) && source.batch_id && source.connection_id === target?.id;
  const batch =
    continues && html`<p>With it, the requests of its batch are queued that were not sent because of it.</p>`;
  if (isUnsettled(source)) {
    return html`
      <${Note} tone="amber" title="QuickBooks may have executed the request that you are editing">
        <p><a href=${address}>Find out first</a>. Otherwise it could be in the books twice.</p>
        ${batch}
      <//>
    `;
  }
  const words = source.error && wordsOf(source.error);
  return html`
    <${Note}
      tone=${words ? "amber" : ""}
      title=${words ? html`<${Foreign} text=${words.message} />` : "This is a copy of an earlier request"}
    >
      ${words?.hint && html`<p><${Foreign} text=${words.hint} /></p>`}
      <p>Correct the copy and queue it. <a href=${address}>The earlier request</a> stays as it is.</p>
      ${batch}
    <//>
  `;
}

/** Returns a tree with another attribute. */
const withAttribute = (tree, name, value) => ({ ...tree, attributes: { ...tree.attributes, [name]: value } });

/** Whether a query fetches all objects in pages. The form for people shows it beside the maximum. */
export const FetchAll = ({ tree, change, children }) => html`
  <${Check}
    checked=${tree.attributes?.iterator === "Start"}
    onChange=${(event) => change(withAttribute(tree, "iterator", event.target.checked ? "Start" : ""))}
  >
    ${children}
  <//>
`;

/** Whether the form for people shows whether a query fetches all. */
export const hasFetchAll = (type, tree) =>
  "iterator" in type.attributes && Boolean(tree.children?.some(({ name }) => name === "MaxReturned"));

/** `requestID`, and the iterator of a query unless `showsAll` says that the form has it. */
export function RequestAttributes({ type, tree, change, showsAll }) {
  const set = (name, value) => change(withAttribute(tree, name, value));
  return html`
    <div class="fieldset">
      <div class="form-line">
        <label class="name" for="request-label">requestID</label>
        <input
          id="request-label"
          maxlength="50"
          value=${tree.attributes?.request_id ?? ""}
          onInput=${(event) => set("request_id", event.target.value)}
        />
        <p class="help">
          QuickBooks gets it and returns it with the response. If it is empty, the ID of the request is used.
        </p>
      </div>
      ${
        "iterator" in type.attributes &&
        !showsAll &&
        html`<${FetchAll} tree=${tree} change=${change}>Fetch all results in pages (needs MaxReturned)<//>`
      }
    </div>
  `;
}

/** `current` is what the draft queues, or null if its text cannot be read. */
export function Preview({ draft, current, assumed, connection = "CONNECTION_ID" }) {
  const { mode } = draft;
  const [form, setForm] = useState("xml");
  // While one form is edited, the preview shows the other one.
  useEffect(() => {
    if (mode === form) setForm(mode === "xml" ? "json" : "xml");
  }, [mode]);
  const problem = !current ? "The text cannot be read yet." : form === "json" && isOnlyXml(draft) ? ONLY_XML : null;
  const text = () =>
    form === "xml" || form === "json"
      ? written(form, current, assumed)
      : samplesOf(connection, sampleBodyOf(draft, current, assumed))[form];
  return html`
    <section class="card" aria-label="Preview">
      <header>
        <h2>Preview</h2>
        <${Segmented}
          label="Show as"
          value=${form}
          onChange=${setForm}
          options=${[
            ["xml", "XML"],
            ["json", "JSON"],
            ["curl", "curl"],
            ["python", "Python"],
            ["typescript", "TypeScript"],
          ]}
        />
      </header>
      <div class="body">
        ${problem ? html`<p class="muted">${problem}</p>` : html`<${Code} label="Preview" text=${text()} />`}
      </div>
    </section>
  `;
}
