// The dialogs of the API keys: a form each, and the text of a new key.
import { html, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { CopyButton } from "../lib/copying.js";
import { Dialog } from "../lib/dialogs.js";
import { Choice, FormDialog, useForm } from "../lib/form.js";
import { Button, explain, Field, Note, toast } from "../lib/ui.js";

export const SCOPES = {
  full: ["Full", "Everything but people and API keys."],
  read_only: ["Read only", "Reads everything and changes nothing."],
  propose: ["Propose", "Reads, and queues requests. Writes wait for approval."],
  approve: ["Approve", "Reads, and approves or rejects writes."],
};
const DAY_MILLISECONDS = 86_400_000;
const EXPIRIES = [
  ["", "Never"],
  [30, "In 30 days"],
  [90, "In 90 days"],
  [365, "In a year"],
];

/** Returns how a key is called: by its name or, if it is older than names, otherwise. */
export const nameOf = (key) => key.name ?? key.label ?? key.id;

const expiryOf = (days) => (days ? new Date(Date.now() + Number(days) * DAY_MILLISECONDS).toISOString() : undefined);

export function Create({ close, made, reload }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState("full");
  const [expires, setExpires] = useState("");
  const form = useForm(async () =>
    made(await call("POST", ["api_keys"], { body: { name: name.trim(), scope, expires_at: expiryOf(expires) } })),
  );
  const [{ problems, error }] = form;
  return html`
    <${FormDialog} title="Create an API key" confirm="Create" form=${form} canSend=${name.trim()} close=${close}>
      <${NameField} name=${name} change=${setName} problem=${problems.name} />
      <${Choice} label="Scope" options=${SCOPES} value=${scope} change=${setScope} />
      <${ExpiryField} value=${expires} change=${setExpires} problem=${problems.expires_at} />
      <${Failure} error=${error} reload=${reload} />
    <//>
  `;
}

export function Rotate({ given, close, made, reload }) {
  const [expires, setExpires] = useState("");
  const form = useForm(async () =>
    made(await call("POST", ["api_keys", given.id, "rotate"], { body: { expires_at: expiryOf(expires) } })),
  );
  const [{ problems, error }] = form;
  return html`
    <${FormDialog} title=${`Rotate ${nameOf(given)}?`} confirm="Rotate" form=${form} canSend=${true} close=${close}>
      <p class="muted">
        You get a second key with the same name and scope. Both work until you revoke the old one: replace it in your
        program first. For approvals, both are one.
      </p>
      <${ExpiryField} value=${expires} change=${setExpires} problem=${problems.expires_at} />
      <${Failure} error=${error} reload=${reload} />
    <//>
  `;
}

export function Rename({ given, close, reload }) {
  const [name, setName] = useState(given.name ?? "");
  const form = useForm(async () => {
    await call("PATCH", ["api_keys", given.id], { body: { name: name.trim() } });
    toast("The key is renamed.");
    close();
    reload();
  });
  const [{ problems, error }] = form;
  return html`
    <${FormDialog} title="Rename the key" confirm="Rename" form=${form} canSend=${name.trim()} close=${close}>
      <${NameField} name=${name} change=${setName} problem=${problems.name} />
      ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
    <//>
  `;
}

const NameField = ({ name, change, problem }) => html`
  <${Field} label="Name" problem=${problem} help="What uses the key, such as “Nightly import”.">
    ${(control) => html`
      <input
        ...${control}
        maxlength="80"
        autocomplete="off"
        value=${name}
        onInput=${(event) => change(event.target.value)}
      />
    `}
  <//>
`;

const ExpiryField = ({ value, change, problem }) => html`
  <${Field} label="Expires" problem=${problem}>
    ${(control) => html`
      <select ...${control} value=${value} onChange=${(event) => change(event.target.value)}>
        ${EXPIRIES.map(
          ([days, name]) => html`<option value=${days} selected=${String(days) === value}>${name}</option>`,
        )}
      </select>
    `}
  <//>
`;

/** Why no key was shown. After a lost answer, there may be a key that nobody has seen. */
function Failure({ error, reload }) {
  if (!error) return null;
  const isUnknown = error.status === 0 || error.status >= 500;
  return html`
    <${Note} tone="red" role="alert">
      <p>${explain(error)}</p>
      ${
        isUnknown &&
        html`
          <p>A key may have been created whose text you have not seen. If it is in the list, revoke it.</p>
          <p><${Button} kind="small" icon="refresh" onClick=${reload}>Load the list again<//></p>
        `
      }
    <//>
  `;
}

/** The text of a new key: the only time that it is shown. */
export const Secret = ({ given, close }) => html`
  <${Dialog}
    title="Copy the key now"
    onClose=${close}
    actions=${html`<${Button} kind="primary" onClick=${close}>Done<//>`}
  >
    <p class="muted">It is shown only once, and is not stored. Whoever has it can call the API of this app.</p>
    <div class="secret">
      <code>${given.key}</code>
      <${CopyButton} text=${given.key} />
    </div>
  <//>
`;
