// The dialog with the steps that move a Web Connector to a new computer.
import { html, useState } from "../vendor/preact.js";
import { ActionButton, Dialog } from "../lib/dialogs.js";
import { INSTALL, MOVE, RemoveFromOld } from "../lib/new_computer.js";
import { session } from "../lib/session.js";
import { Button } from "../lib/ui.js";
import { downloadQwc, NewPassword, OnboardingLink, Password } from "./web_connector_setup.js";

const mayHandOver = () => session.may("create_onboarding_link") || session.may("set_password");

export function MoveComputer({ connection, onClose }) {
  const [password, setPassword] = useState(null);
  return html`
    <${Dialog}
      title=${MOVE}
      onClose=${onClose}
      actions=${html`<${Button} kind="primary" onClick=${onClose}>Done<//>`}
    >
      <ol class="moves stack">
        <li><p>${INSTALL}</p></li>
        <li><p><${RemoveFromOld} /></p></li>
        <li>
          <div class="stack tight">
            <p>
              Give whoever sets up the new computer an onboarding link, or a new password and the .qwc file. A new
              password locks out the old computer at once, so make it on the day of the move.
            </p>
            ${
              !mayHandOver() &&
              html`<p class="muted">You cannot create them. Ask somebody who may change this connection.</p>`
            }
            ${session.may("create_onboarding_link") && html`<${OnboardingLink} connection=${connection} />`}
            <div class="row">
              <${NewPassword} connection=${connection} done=${setPassword} />
              <${ActionButton} label="Download .qwc file" icon="download" action=${() => downloadQwc(connection)} />
            </div>
            ${password && html`<${Password} password=${password} />`}
          </div>
        </li>
        <li>
          <p>
            On the new computer, open the company file in QuickBooks as Admin, open the .qwc file, type the password
            into the Web Connector, and tick Auto-Run. The page of the link explains each step.
          </p>
        </li>
        <li>
          <p>
            If the company file is at another path now, nothing is sent until somebody chooses${" "}
            <strong>Accept this path</strong> on the page of this connection.
          </p>
        </li>
      </ol>
    <//>
  `;
}
