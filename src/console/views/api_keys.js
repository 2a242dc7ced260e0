// The API keys of the app. For those who may manage them.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { day, fullTime, plural } from "../lib/text.js";
import { Ago, Button, Empty, Foreign, Problem, SkeletonRows, toast, useTitle } from "../lib/ui.js";
import { Create, nameOf, Rename, Rotate, SCOPES, Secret } from "./api_key_dialogs.js";

const SOON_MILLISECONDS = 14 * 86_400_000;

const isExpired = (key) => Boolean(key.expires_at) && Date.parse(key.expires_at) <= Date.now();
const isActive = (key) => !key.revoked_at && !isExpired(key);

/** The first key of those that were rotated from each other. */
const familyOf = (key) => key.first_key_id ?? key.id;

/** Keys that were replaced: an active one of the same family is newer. */
const replacedOf = (keys) =>
  keys.filter((key) => keys.some((other) => familyOf(other) === familyOf(key) && other.inserted_at > key.inserted_at));

export default function ApiKeys() {
  useTitle("API keys");
  const load = useLoad((signal) => call("GET", ["api_keys"], { signal }), [], { showsAge: true });
  const [dialog, setDialog] = useState(null);
  const keys = load.data?.data;
  const active = keys?.filter(isActive);
  const ended = keys?.filter((key) => !isActive(key)) ?? [];
  // The dialog before this one says late that it was closed.
  const close = () => setDialog((current) => (current === dialog ? null : current));
  const made = ({ data }) => {
    setDialog({ view: Secret, given: data });
    load.reload();
  };
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>API keys</h1>
          <p class="sub">With a key, a program calls the API of this app.</p>
        </div>
        <div class="row">
          <${Button} kind="primary" icon="plus" onClick=${() => setDialog({ view: Create })}>Create key<//>
        </div>
      </div>
      ${
        load.error &&
        html`<${Problem} error=${load.error} retry=${() => load.reload()} what="The keys could not be loaded." />`
      }
      ${
        (active || !load.error) &&
        html`
          <section class="card" aria-label="Active keys">
            ${
              active?.length === 0
                ? html`<${Empty} icon="key" title="No key is active">Programs need a key to call the API.<//>`
                : html`<${Active} keys=${active} open=${(view, given) => setDialog({ view, given })} load=${load} />`
            }
          </section>
        `
      }
      ${ended.length > 0 && html`<${Ended} keys=${ended} />`}
      ${
        dialog &&
        html`<${dialog.view} given=${dialog.given} close=${close} made=${made} reload=${() => load.reload()} />`
      }
    </div>
  `;
}

function Active({ keys, open, load }) {
  const replaced = replacedOf(keys ?? []);
  return html`
    <div class="table-wrap">
      <table class="responsive">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Scope</th>
            <th scope="col">Last use</th>
            <th scope="col">Expires</th>
            <th scope="col"><span class="hidden-visually">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${
            keys
              ? keys.map(
                  (one) => html`
                    <${Row} key=${one.id} one=${one} isReplaced=${replaced.includes(one)} open=${open} load=${load} />
                  `,
                )
              : html`<${SkeletonRows} rows=${3} columns=${5} />`
          }
        </tbody>
      </table>
    </div>
  `;
}

function Row({ one, isReplaced, open, load }) {
  const name = nameOf(one);
  const revoke = async () => {
    await call("DELETE", ["api_keys", one.id]);
    toast(`${name} is revoked.`);
    load.reload();
  };
  return html`
    <tr>
      <td class="full">
        <span class="strong break"><${Foreign} text=${name} /></span>
        ${isReplaced && html` <span class="tag required">replaced</span>`}
        <div class="muted small break"><code>${one.id}</code></div>
      </td>
      <td class="full">${SCOPES[one.scope]?.[0] ?? one.scope}</td>
      <td class="full" data-label="Last use"><${Ago} at=${one.last_used_at} /></td>
      <td class="full" data-label="Expires"><${Expiry} at=${one.expires_at} /></td>
      <td class="full actions">
        <div class="row end">
          <${Button} kind="small" aria-label=${`Rename ${name}`} onClick=${() => open(Rename, one)}>Rename<//>
          ${
            !isReplaced &&
            html`
              <${Button} kind="small" aria-label=${`Rotate ${name}`} onClick=${() => open(Rotate, one)}>Rotate<//>
            `
          }
          <${ActionButton}
            kind="small"
            label="Revoke"
            danger=${true}
            question=${`Revoke ${name}?`}
            explanation="Programs that use this key can call the API no longer, within minutes. This cannot be undone."
            action=${revoke}
          />
        </div>
      </td>
    </tr>
  `;
}

function Expiry({ at }) {
  if (!at) return html`<span class="muted">Never</span>`;
  const isSoon = Date.parse(at) - Date.now() < SOON_MILLISECONDS;
  return html`<span class=${isSoon ? "tag required" : "nowrap"} title=${fullTime(at)}>${day(at)}</span>`;
}

/** Keys that were revoked or have expired. */
const Ended = ({ keys }) => html`
  <details class="card ended">
    <summary>${plural(keys.length, "key")} that nobody can use</summary>
    <ul class="items">
      ${keys.map(
        (one) => html`
          <li key=${one.id} class="row between">
            <span class="break"><${Foreign} text=${nameOf(one)} /> <code class="muted small">${one.id}</code></span>
            <span class="muted small">
              ${one.revoked_at ? "Revoked" : "Expired"} ${day(one.revoked_at ?? one.expires_at)}
            </span>
          </li>
        `,
      )}
    </ul>
  </details>
`;
