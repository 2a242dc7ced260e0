// The set-up of a Web Connector: its file, its password, and the link for a customer.
import { html, useState } from "../vendor/preact.js";
import { call } from "../lib/api.js";
import { CopyButton } from "../lib/copying.js";
import { ActionButton } from "../lib/dialogs.js";
import { session } from "../lib/session.js";
import { fullTime } from "../lib/text.js";
import { Button, explain, Note, Skeleton } from "../lib/ui.js";

export async function downloadQwc(connection) {
  const text = await call("GET", ["connections", connection.id, "qwc"], {
    headers: { Accept: "application/x-qwc" },
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-qwc" }));
  link.download = `${(connection.name ?? "connection").replace(/[^\p{L}\p{N} _-]+/gu, "").trim() || "connection"}.qwc`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Makes a link with which the customer sets up the Web Connector, and shows it once. */
export function OnboardingLink({ connection, heading = "h3" }) {
  const [link, setLink] = useState(null);
  const make = async () =>
    setLink((await call("POST", ["connections", connection.id, "onboarding_url"], { body: {} })).data);
  return html`
    <div class="stack tight">
      <${heading}>Let your customer set it up<//>
      <p class="muted">
        Send them a link. The page needs no account, explains each step, and shows when QuickBooks has called.
      </p>
      ${
        link
          ? html`
            <div class="secret">
              <code>${link.links.onboarding}</code>
              <${CopyButton} text=${link.links.onboarding} />
            </div>
            <p class="muted small">
              Valid until ${fullTime(link.onboarding_expires_at)}. Copy it now: it is shown only once. A new link makes
              this one invalid.
            </p>
          `
          : html`<div class="row"><${ActionButton} label="Create onboarding link" action=${make} /></div>`
      }
    </div>
  `;
}

export const Password = ({ password }) => html`
  <div class="stack tight">
    <div class="secret">
      <code>${password}</code>
      <${CopyButton} text=${password} />
    </div>
    <p class="muted small">Copy it now: it is shown only once. You can set a new password at any time.</p>
  </div>
`;

/** Sets a new password and returns it. */
export const newPassword = async (id) =>
  (await call("POST", ["connections", id, "password"], { body: {} })).data.password;

/** A button that sets a new password. `done` gets it. */
export const NewPassword = ({ connection, done, isAsking, asked }) =>
  session.may("set_password") &&
  html`
    <${ActionButton}
      label="New password"
      question="Set a new password?"
      explanation="The Web Connector cannot log in until somebody types the new password into it."
      isAsking=${isAsking}
      asked=${asked}
      action=${async () => done(await newPassword(connection.id))}
    />
  `;

/**
 * The password if it is known here, and otherwise a button for a new one. `secret` is `{isComing}`, `{password}`,
 * `{error}`, or undefined after a reload.
 */
function ShownPassword({ connection, secret, done }) {
  if (secret?.password) return html`<${Password} password=${secret.password} />`;
  if (secret?.isComing) return html`<p role="status"><${Skeleton} width="240px" /></p>`;
  return html`
    ${
      secret?.error
        ? html`
          <${Note} tone="red" role="alert" title="The connection is created, but there is no password to show.">
            <p>${explain(secret.error)} Set a new password.</p>
          <//>
        `
        : html`
          <p class="muted">
            A password is shown only once. If none is in the Web Connector yet, set a new one: only the newest one
            works.
          </p>
        `
    }
    <div class="row"><${NewPassword} connection=${connection} done=${done} /></div>
  `;
}

/** How the Web Connector is set up, by the reader or by a customer. */
export function SetUp({ connection, secret, keepPassword, done }) {
  const [error, setError] = useState(null);
  const download = () => downloadQwc(connection).then(() => setError(null), setError);
  return html`
    <div class="card">
      <div class="body stack loose">
        <div class="stack tight">
          <h2>1. Download the .qwc file</h2>
          <p class="muted">
            Copy it to the Windows machine where QuickBooks runs. Open the company file as Admin in single-user mode,
            then double-click the .qwc file and allow access even when QuickBooks is not running.
          </p>
          <div class="row"><${Button} icon="download" onClick=${download}>Download .qwc file<//></div>
          ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
        </div>
        <div class="stack tight">
          <h2>2. Type the password into the Web Connector</h2>
          <p class="muted">
            Click the password field of the new application in the Web Connector, paste the password and save it.
          </p>
          <${ShownPassword} connection=${connection} secret=${secret} done=${keepPassword} />
        </div>
        <div class="stack tight">
          <h2>3. Tick Auto-Run</h2>
          <p class="muted">Tick the application and its Auto-Run box, then choose Update Selected.</p>
        </div>
        ${
          session.may("create_onboarding_link") &&
          html`
            <div class="divided"><${OnboardingLink} connection=${connection} heading="h2" /></div>
          `
        }
        <div class="row end"><${Button} kind="primary" onClick=${done}>Continue<//></div>
      </div>
    </div>
  `;
}
